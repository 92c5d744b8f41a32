// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
	"pgregory.net/rapid"

	"github.com/placement-hub/placement-hub/pkg/affinityclass"
	cozystackv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/cozystack/v1alpha1"
	kupidv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/kupid/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/podscheduling"
	"github.com/placement-hub/placement-hub/test/property"
)

var (
	keys      = rapid.SampledFrom([]string{"a", "b", "c"})
	values    = rapid.SampledFrom([]string{"x", "y"})
	labelSets = rapid.MapOfN(keys, values, 0, 2)

	selectors = rapid.Custom(func(t *rapid.T) *metav1.LabelSelector {
		if rapid.IntRange(0, 4).Draw(t, "absent") == 0 {
			return nil
		}
		return &metav1.LabelSelector{MatchLabels: rapid.MapOfN(keys, values, 0, 1).Draw(t, "matchLabels")}
	})
	affinities = rapid.Custom(func(t *rapid.T) *corev1.Affinity {
		if rapid.Bool().Draw(t, "no affinity") {
			return nil
		}
		terms := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) corev1.NodeSelectorTerm {
			return corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{{
				Key: keys.Draw(t, "key"), Operator: corev1.NodeSelectorOpIn, Values: []string{values.Draw(t, "value")},
			}}}
		}), 1, 2).Draw(t, "terms")
		return &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: terms},
		}}
	})
	tolerations = rapid.SliceOfN(rapid.Custom(func(t *rapid.T) corev1.Toleration {
		return corev1.Toleration{Key: keys.Draw(t, "key"), Operator: corev1.TolerationOpExists}
	}), 0, 2)
	constraints = rapid.Custom(func(t *rapid.T) kupidv1alpha1.PodSchedulingPolicyConstraints {
		return kupidv1alpha1.PodSchedulingPolicyConstraints{
			NodeSelector: labelSets.Draw(t, "nodeSelector"), Affinity: affinities.Draw(t, "affinity"),
			Tolerations: tolerations.Draw(t, "tolerations"), NodeName: rapid.SampledFrom([]string{"", "", "", "n0"}).Draw(t, "nodeName"),
		}
	})
	worlds = rapid.Custom(drawWorld)
)

// drawWorld draws policies, nodes, and a class that the HelmRelease "r" of the namespace "a" has.
func drawWorld(t *rapid.T) *Objects {
	objects := &Objects{Namespaces: []*corev1.Namespace{{ObjectMeta: metav1.ObjectMeta{Name: "a", Labels: labelSets.Draw(t, "namespace")}}}}
	for i := range rapid.IntRange(0, 3).Draw(t, "policies") {
		policy := &kupidv1alpha1.ClusterPodSchedulingPolicy{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("p", i)}}
		policy.Spec.NamespaceSelector, policy.Spec.PodSelector = selectors.Draw(t, "namespaceSelector"), selectors.Draw(t, "podSelector")
		policy.Spec.PodSchedulingPolicyConstraints = constraints.Draw(t, "constraints")
		objects.ClusterPolicies = append(objects.ClusterPolicies, policy)
	}

	for i := range rapid.IntRange(0, 4).Draw(t, "nodes") {
		node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("n", i), Labels: labelSets.Draw(t, "node")}}
		node.Spec.Unschedulable = rapid.IntRange(0, 4).Draw(t, "unschedulable") == 0
		if rapid.Bool().Draw(t, "tainted") {
			node.Spec.Taints = []corev1.Taint{{Key: keys.Draw(t, "taint"), Effect: rapid.SampledFrom([]corev1.TaintEffect{
				corev1.TaintEffectNoSchedule, corev1.TaintEffectPreferNoSchedule, corev1.TaintEffectNoExecute,
			}).Draw(t, "effect")}}
		}
		objects.Nodes = append(objects.Nodes, node)
	}

	class := &cozystackv1alpha1.AffinityClass{ObjectMeta: metav1.ObjectMeta{Name: "k"}}
	class.Spec.NodeSelector = map[string]cozystackv1alpha1.NodeLabelValue{}
	class.Spec.Enforcement = rapid.SampledFrom([]cozystackv1alpha1.Enforcement{
		cozystackv1alpha1.EnforcementDeny, cozystackv1alpha1.EnforcementWarn,
	}).Draw(t, "enforcement")
	for key, value := range labelSets.Draw(t, "class") {
		class.Spec.NodeSelector[key] = cozystackv1alpha1.NodeLabelValue(value)
	}

	objects.Classes = []*cozystackv1alpha1.AffinityClass{class}
	release := &unstructured.Unstructured{}
	release.SetAPIVersion("helm.toolkit.fluxcd.io/v2")
	release.SetKind("HelmRelease")
	release.SetNamespace("a")
	release.SetName("r")
	release.SetLabels(map[string]string{
		applicationGroup: "apps.cozystack.io", applicationKind: "Redis", applicationName: "x",
		affinityclass.ClassLabel: rapid.SampledFrom([]string{"k", "gone", ""}).Draw(t, "of class"),
	})
	objects.Releases = []*unstructured.Unstructured{release}

	return objects
}

// drawPod draws a Pod that is not bound.
func drawPod(t *rapid.T) *unstructured.Unstructured {
	pod := &corev1.Pod{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}}
	pod.Namespace, pod.Name, pod.Labels = "a", "p", maps.Clone(labelSets.Draw(t, "pod labels"))
	pod.Labels["helm.toolkit.fluxcd.io/name"] = "r"
	drawn := constraints.Draw(t, "pod constraints")
	pod.Spec = corev1.PodSpec{
		NodeSelector: drawn.NodeSelector, Affinity: drawn.Affinity, Tolerations: drawn.Tolerations, Containers: []corev1.Container{{Name: "c"}},
	}
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(pod)
	if err != nil {
		t.Fatal(err)
	}

	return &unstructured.Unstructured{Object: fields}
}

// The report about a Pod says what podscheduling.Inject does, what affinityclass.CheckPod answers about the result, and which nodes the libraries of
// kube-scheduler accept.
func TestReportAgreesWithAdmission(t *testing.T) {
	property.Check(t, func(t *rapid.T) {
		objects, object := worlds.Draw(t, "world"), drawPod(t)
		evaluator := NewEvaluator(objects)
		report, err := evaluator.Explain(object, true)
		if err != nil {
			t.Fatal(err)
		}
		raw, err := object.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		workload, err := podscheduling.ReadWorkload(podKind.GroupKind(), raw)
		if err != nil {
			t.Fatal(err)
		}
		prepared := make([]*podscheduling.Policy, 0, len(objects.ClusterPolicies))
		for _, policy := range objects.ClusterPolicies {
			prepared = append(prepared, podscheduling.NewClusterPolicy(policy))
		}
		namespace := maps.Clone(objects.Namespaces[0].Labels)
		namespace[corev1.LabelMetadataName] = "a"
		result := podscheduling.Inject(workload, podscheduling.NewPolicies(prepared).Matching("a", namespace, object.GetLabels()))

		checkPolicies(t, report, result)
		injected, err := patched(object, &result)
		if err != nil {
			t.Fatal(err)
		}
		spec, err := specOf(injected)
		if err != nil {
			t.Fatal(err)
		}
		ev := &evaluation{object: object, pod: &pod{object: walked(podKind.GroupKind(), object), spec: spec}}
		verdict := affinityclass.CheckPod(ev.pod.object, spec.NodeSelector, evaluator.lookup(ev), evaluator.class)
		if report.Class.Denial != verdict.Message || !slices.Equal(report.Class.Warnings, verdict.Warnings) {
			t.Fatalf("class %+v, and admission says %+v", report.Class, verdict)
		}
		checkNodes(t, report.Nodes, spec, objects.Nodes)

		again, err := evaluator.Explain(injected, false)
		if err != nil {
			t.Fatal(err)
		}
		if len(again.Drift) > 0 {
			t.Fatalf("what was just injected drifts: %v", again.Drift)
		}
	})
}

func checkPolicies(t *rapid.T, report Report, result podscheduling.Result) {
	t.Helper()
	for i, done := range result.Policies {
		explained := report.Policies[i]
		if !explained.Matches || explained.Policy != done.Policy.String() || !slices.Equal(explained.Adds, done.Added) ||
			len(explained.Skipped) != len(done.Skipped) {
			t.Fatalf("policy %d is %+v, and Inject says %+v", i, explained, done)
		}
		for _, field := range explained.Has {
			if slices.Contains(explained.Adds, field) {
				t.Fatalf("%s is added and there", field)
			}
		}
	}
	for _, other := range report.Policies[len(result.Policies):] {
		if other.Matches || other.Mismatch == "" {
			t.Fatalf("%+v does not match, and does not say why", other)
		}
	}
}

// checkNodes compares the nodes with a plain evaluation.
func checkNodes(t *rapid.T, explained *Nodes, spec *corev1.PodSpec, nodes []*corev1.Node) {
	t.Helper()
	tolerates := func(key string) bool {
		return slices.ContainsFunc(spec.Tolerations, func(toleration corev1.Toleration) bool { return toleration.Key == key })
	}
	fit := []string{}
	for _, node := range nodes {
		matches, err := nodeaffinity.GetRequiredNodeAffinity(&corev1.Pod{Spec: *spec}).Match(node)
		if err != nil {
			t.Fatal(err)
		}
		for _, taint := range node.Spec.Taints {
			matches = matches && (taint.Effect == corev1.TaintEffectPreferNoSchedule || tolerates(taint.Key))
		}
		if matches && !node.Spec.Unschedulable && (spec.NodeName == "" || spec.NodeName == node.Name) {
			fit = append(fit, node.Name)
		}
	}
	rejected := 0
	for _, rejection := range explained.Rejected {
		rejected += len(rejection.Nodes)
	}
	if diff := cmp.Diff(fit, explained.Fit); diff != "" || len(fit)+rejected != len(nodes) {
		t.Fatalf("%d rejected; nodes that fit (-want +got):\n%s", rejected, diff)
	}
}

// Equal objects in another order have the same report.
func TestReportDoesNotDependOnTheOrder(t *testing.T) {
	property.Check(t, func(t *rapid.T) {
		objects, object := worlds.Draw(t, "world"), drawPod(t)
		report, err := NewEvaluator(objects).Explain(object, false)
		if err != nil {
			t.Fatal(err)
		}
		slices.Reverse(objects.ClusterPolicies)
		slices.Reverse(objects.Nodes)
		again, err := NewEvaluator(objects).Explain(object, false)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(report, again); diff != "" {
			t.Fatalf("reports differ (-first +second):\n%s", diff)
		}
	})
}
