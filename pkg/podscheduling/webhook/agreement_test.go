// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pmezard/go-difflib/difflib"
	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"pgregory.net/rapid"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	kupidv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/kupid/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/decoding/unreadable"
	"github.com/placement-hub/placement-hub/pkg/explain"
	"github.com/placement-hub/placement-hub/pkg/placement/api"
	pods "github.com/placement-hub/placement-hub/pkg/podscheduling/explain"
	"github.com/placement-hub/placement-hub/test/property"
)

// What diff and simulate say of workloads, where a policy is applied, is what the webhooks do once it is there: whether they refuse the policy, what
// they make of each workload at its next admission, and what comes without the policy. Policies can be unreadable or beyond what admission permits,
// as those can be that are older than the webhooks.
func TestToolsAgreeWithTheHubOnPods(tb *testing.T) {
	property.CheckTimes(tb, 100, func(t *rapid.T) {
		stage := rapid.SampledFrom([]string{"prod", "test"}).Draw(t, "stage")
		namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
			Name: "team-a", Labels: map[string]string{corev1.LabelMetadataName: "team-a", "stage": stage},
		}}
		state := &explain.State{Pods: pods.Objects{Namespaces: []*corev1.Namespace{namespace}}}

		for i := range rapid.IntRange(0, 3).Draw(t, "policies") {
			policy := drawPolicy(t, fmt.Sprint("p", i))
			addTo(t, state, policy)
			if rapid.IntRange(0, 3).Draw(t, "unreadable") == 0 {
				fields := unreadable.Fields{{Path: "spec.tolerations[0]", Value: "7", Problem: "is no object"}}
				if err := unreadable.Mark(policy, fields); err != nil {
					t.Fatal(err)
				}
			}
		}

		for i := range rapid.IntRange(1, 3).Draw(t, "workloads") {
			state.Pods.Workloads = append(state.Pods.Workloads, drawDeployment(t, fmt.Sprint("d", i)))
		}
		applied := drawPolicy(t, rapid.SampledFrom([]string{"p0", "new"}).Draw(t, "applied"))

		after, results, err := state.With(func(yield func(*explain.Kind, api.Object) bool) { yield(kindOf(applied), applied) })
		if err != nil {
			t.Fatal(err)
		}
		said, err := pods.Diff(&state.Pods, &after.Pods)
		if err != nil {
			t.Fatal(err)
		}

		if denied := !validated(tb, t, applied); denied != (len(results[0].Result.Refused) > 0) {
			t.Fatalf("the webhook denies the policy: %v, and diff says %v", denied, results[0].Result.Refused)
		}
		before, then := webhooksOf(tb, state), webhooksOf(tb, after)
		evaluator := pods.NewEvaluator(&after.Pods)

		for _, workload := range state.Pods.Workloads {
			now, next := before.merged(t, workload, admissionv1.Update), then.merged(t, workload, admissionv1.Update)
			at := slices.IndexFunc(said.Workloads, func(d pods.Difference) bool { return d.Name == workload.GetName() })

			difference := pods.Difference{Anyway: true} // Of a workload without a difference diff says nothing.
			if at >= 0 {
				difference = said.Workloads[at]
			}
			if diff := cmp.Diff(next, difference.Patch); diff != "" {
				t.Errorf("diff of %s (-written +said):\n%s", workload.GetName(), diff)
			}

			if difference.Anyway && now != next {
				t.Errorf("diff says that nothing of %s comes from the policy, and its next admission changes from\n%s\nto\n%s",
					workload.GetName(), now, next)
			}
			report, err := evaluator.Explain(workload, true)
			if err != nil {
				t.Fatal(err)
			}

			adds := slices.ContainsFunc(report.Policies, func(policy pods.Policy) bool { return len(policy.Adds) > 0 })
			if created := then.merged(t, workload, admissionv1.Create); adds != (created != "") {
				t.Errorf("simulate says of %s that policies add something: %v, and its creation becomes\n%s", workload.GetName(), adds, created)
			}
		}
	})
}

// drawPolicy draws a policy of the cluster or of the namespace, which can be invalid.
func drawPolicy(t *rapid.T, name string) client.Object {
	spec := kupidv1alpha1.PodSchedulingPolicySpec{PodSelector: &metav1.LabelSelector{
		MatchLabels: map[string]string{"app": rapid.SampledFrom([]string{"etcd", "web"}).Draw(t, "selected")},
	}}
	if rapid.Bool().Draw(t, "has a selector") {
		spec.NodeSelector = map[string]string{"pool": rapid.SampledFrom([]string{"a", "b", "not valid"}).Draw(t, "pool")}
	}
	if rapid.Bool().Draw(t, "has a toleration") {
		spec.Tolerations = []corev1.Toleration{{Key: rapid.SampledFrom([]string{"gpu", "spot"}).Draw(t, "key"), Operator: corev1.TolerationOpExists}}
	}

	if rapid.IntRange(0, 4).Draw(t, "has a node") == 0 {
		spec.NodeName = "n1"
	}
	if rapid.Bool().Draw(t, "of the namespace") {
		return &kupidv1alpha1.PodSchedulingPolicy{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: name}, Spec: spec}
	}

	policy := &kupidv1alpha1.ClusterPodSchedulingPolicy{ObjectMeta: metav1.ObjectMeta{Name: name}}
	policy.Spec.PodSchedulingPolicySpec = spec
	policy.Spec.NamespaceSelector = &metav1.LabelSelector{
		MatchLabels: map[string]string{"stage": rapid.SampledFrom([]string{"prod", "test"}).Draw(t, "selected stage")},
	}
	return policy
}

// drawDeployment draws a Deployment, which can have a part of what policies inject.
func drawDeployment(t *rapid.T, name string) *unstructured.Unstructured {
	spec := "nodeSelector: {" + rapid.SampledFrom([]string{"", "pool: a", "pool: b"}).Draw(t, "has") + "}"
	document := "apiVersion: apps/v1\nkind: Deployment\nmetadata: {namespace: team-a, name: " + name + ", uid: u-" + name + "}\n" +
		"spec: {template: {metadata: {labels: {app: " + rapid.SampledFrom([]string{"etcd", "web", "other"}).Draw(t, "app") + "}}, spec: {" + spec +
		", containers: [{name: c}]}}}\n"
	object := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(document), &object.Object); err != nil {
		t.Fatal(err)
	}
	return object
}

// kindOf returns the kind of a policy in the table of the pods.
func kindOf(policy client.Object) *explain.Kind {
	name := "PodSchedulingPolicy"
	if policy.GetNamespace() == "" {
		name = "ClusterPodSchedulingPolicy"
	}
	return explain.FindKind(kupidv1alpha1.GroupVersion.WithKind(name))
}

func addTo(t *rapid.T, state *explain.State, policy client.Object) {
	if err := kindOf(policy).Add(state, policy); err != nil {
		t.Fatal(err)
	}
}

// validated reports whether the webhook admits a policy.
func validated(tb testing.TB, t *rapid.T, policy client.Object) bool {
	tb.Helper()
	raw, err := json.Marshal(policy)
	if err != nil {
		t.Fatal(err)
	}
	return review(tb, &validator{}, &admissionv1.AdmissionRequest{
		UID: "1", Kind: policyKind(kindOf(policy).Kind), Namespace: policy.GetNamespace(), Name: policy.GetName(),
		Operation: admissionv1.Create, Object: runtime.RawExtension{Raw: raw},
	}).Allowed
}

// webhooks are those of a hub.
type webhooks struct {
	tb      testing.TB
	mutator *mutator
}

// webhooksOf returns the webhooks of a hub that has the objects of a State.
func webhooksOf(tb testing.TB, state *explain.State) webhooks {
	tb.Helper()
	source := newSource(broken(tb))
	for _, namespace := range state.Pods.Namespaces {
		source.OnAdd(namespace, true)
	}
	for _, policy := range state.Pods.ClusterPolicies {
		source.OnAdd(policy, true)
	}

	for _, policy := range state.Pods.Policies {
		source.OnAdd(policy, true)
	}
	return webhooks{tb, &mutator{source: source, reporter: newReporter(&sentEvents{})}}
}

// merged returns what an admission makes of a workload, as kubectl diff shows it; empty if nothing.
func (w webhooks) merged(t *rapid.T, workload *unstructured.Unstructured, operation admissionv1.Operation) string {
	raw, err := json.Marshal(workload.Object)
	if err != nil {
		t.Fatal(err)
	}

	answer := review(w.tb, w.mutator, &admissionv1.AdmissionRequest{
		UID: "1", Kind: deployments, Namespace: workload.GetNamespace(), Name: workload.GetName(), Operation: operation,
		Object: runtime.RawExtension{Raw: raw},
	})
	if len(answer.Patch) == 0 {
		return ""
	}

	patch, err := jsonpatch.DecodePatch(answer.Patch)
	if err != nil {
		t.Fatal(err)
	}
	written, err := patch.Apply(raw)
	if err != nil {
		t.Fatal(err)
	}
	var lines [2][]string

	for i, content := range [][]byte{raw, written} {
		text, err := yaml.JSONToYAML(content)
		if err != nil {
			t.Fatal(err)
		}
		lines[i] = difflib.SplitLines(strings.TrimSuffix(string(text), "\n"))
	}
	name := "apps.v1.Deployment.team-a." + workload.GetName()

	text, err := difflib.GetUnifiedDiffString(difflib.UnifiedDiff{
		A: lines[0], B: lines[1], FromFile: "LIVE/" + name, ToFile: "MERGED/" + name, Context: 3,
	})
	if err != nil {
		t.Fatal(err)
	}
	return text
}
