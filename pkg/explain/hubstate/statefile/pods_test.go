// SPDX-License-Identifier: Apache-2.0

package statefile

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/placement-hub/placement-hub/manifests"
	cozystackv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/cozystack/v1alpha1"
	kupidv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/kupid/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/explain"
	pods "github.com/placement-hub/placement-hub/pkg/podscheduling/explain"
)

const (
	policyHead    = "apiVersion: kupid.gardener.cloud/v1alpha1\nkind: PodSchedulingPolicy\n"
	affinityClass = "apiVersion: cozystack.io/v1alpha1\nkind: AffinityClass\nmetadata: {name: dc1}\nspec: {nodeSelector: {zone: dc1}}\n"
	tenant        = "apiVersion: apps.cozystack.io/v1alpha1\nkind: Tenant\nmetadata: {name: acme, namespace: tenant-root}\nspec: {etcd: true}\n"
	release       = "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: r, namespace: a}\nspec: {any: {thing: 1}}\n"
	postgres      = "apiVersion: apps.cozystack.io/v1alpha1\nkind: Postgres\nmetadata: {name: p, namespace: a}\nspec: {size: 1Gi}\n"
	podHead       = "apiVersion: v1\nkind: Pod\nmetadata: {name: p, namespace: a}\n"
)

// podReader returns a Reader that knows policies, classes and Tenants.
func podReader(t *testing.T, content string) *Reader {
	t.Helper()
	definitions, err := manifests.Definitions()
	if err != nil {
		t.Fatal(err)
	}
	reader, err := NewReader(definitions)
	if err != nil {
		t.Fatal(err)
	}
	reader.Read("pods.yaml", []byte(content))
	return reader
}

func TestReadsWhatDecidesAboutPods(t *testing.T) {
	content := strings.Join([]string{
		policyHead + "metadata: {name: p, namespace: a}\nspec: {podSelector: {}}\n", affinityClass, tenant, release, postgres,
		podHead + "spec: {containers: [], nodeSelector: {a: b}}\n",
		"apiVersion: v1\nkind: Node\nmetadata: {name: n1}\n", "apiVersion: v1\nkind: Namespace\nmetadata: {name: a}\n",
	}, "---\n")
	state, err := podReader(t, content).State()
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"PodSchedulingPolicy a/p", "AffinityClass dc1", "Tenant tenant-root/acme", "Namespace a", "Node n1", "HelmRelease a/r",
		"Postgres a/p", "Pod a/p",
	}
	if diff := cmp.Diff(want, state.Names(explain.OfPods)); diff != "" {
		t.Errorf("objects (-want +got):\n%s", diff)
	}
	if got := state.Pods.Classes[0].Spec.Enforcement; got != cozystackv1alpha1.EnforcementDeny {
		t.Errorf("enforcement %q, want the default", got)
	}
	if state.Pods.Policies[0].Spec.PodSelector == nil {
		t.Error("an empty podSelector, which selects all Pods, is read as an absent one")
	}
}

func TestMistakesInWhatDecidesAboutPods(t *testing.T) {
	for _, tc := range []struct{ reason, content, want string }{
		{
			"an unknown field of a workload has its line", podHead + "spec:\n  containers: []\n  nodeSelektor: {}\n",
			"pods.yaml:6: Pod a/p: spec.nodeSelektor: unknown field: remove it or correct its spelling",
		},
		{"a Pod without a namespace", "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\n", "pods.yaml:3: Pod p: metadata.namespace: is required"},
		{
			"affinity-class A22: an empty class", strings.Replace(affinityClass, "{zone: dc1}", "{}", 1),
			"spec.nodeSelector: Invalid value",
		},
		{"a HelmRelease without a name", strings.Replace(release, "name: r, ", "", 1), "metadata.name: is required"},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			_, err := podReader(t, tc.content).State()
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error is %v, want one with %q", err, tc.want)
			}
		})
	}
}

// Policies are applied as kubectl apply does: fields of the last apply that the file lacks go, and other live fields stay.
func TestApplyPolicies(t *testing.T) {
	definitions, err := manifests.Definitions()
	if err != nil {
		t.Fatal(err)
	}
	changes, err := NewChangeReader(definitions, Namespace{Name: "a"})
	if err != nil {
		t.Fatal(err)
	}
	changes.Read("new.yaml", []byte(policyHead+"metadata: {name: p}\nspec: {podSelector: {}, nodeSelector: {zone: b}}\n---\n"+affinityClass))
	live := &kupidv1alpha1.PodSchedulingPolicy{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "p", Annotations: map[string]string{
		corev1.LastAppliedConfigAnnotation: `{"metadata":{"name":"p"},"spec":{"podSelector":{},"schedulerName":"mine"}}`,
	}}}
	live.Spec.PodSelector, live.Spec.SchedulerName, live.Spec.NodeName = &metav1.LabelSelector{}, "mine", "n1"
	live.Spec.NodeSelector = map[string]string{"pool": "x"}

	hub := &explain.State{Pods: pods.Objects{Policies: []*kupidv1alpha1.PodSchedulingPolicy{live}}}

	after, applied, err := changes.Apply(hub, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := kupidv1alpha1.PodSchedulingPolicySpec{PodSelector: &metav1.LabelSelector{}}
	want.NodeName, want.NodeSelector = "n1", map[string]string{"pool": "x", "zone": "b"}
	if diff := cmp.Diff(want, after.Pods.Policies[0].Spec); diff != "" {
		t.Errorf("spec (-want +got):\n%s", diff)
	}
	wantApplied := []pods.Applied{
		{Object: "PodSchedulingPolicy a/p", Kept: []string{"spec.nodeName", "spec.nodeSelector"}, Gone: []string{"spec.schedulerName"}},
		{Object: "AffinityClass dc1", New: true},
	}
	if diff := cmp.Diff(wantApplied, []pods.Applied{applied[0].Result, applied[1].Result}); diff != "" {
		t.Errorf("applied (-want +got):\n%s", diff)
	}
	if live.Spec.NodeSelector["zone"] != "" {
		t.Error("the live policy was changed")
	}
}
