// SPDX-License-Identifier: Apache-2.0

package podscheduling

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
	"pgregory.net/rapid"

	kupidv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/kupid/v1alpha1"
	"github.com/placement-hub/placement-hub/test/property"
)

var (
	labelKeys   = rapid.SampledFrom([]string{"a", "b", "c"})
	labelValues = rapid.SampledFrom([]string{"x", "y"})
	nodeNames   = rapid.SampledFrom([]string{"n1", "n2"})

	requirementGen = rapid.Custom(func(t *rapid.T) corev1.NodeSelectorRequirement {
		requirement := corev1.NodeSelectorRequirement{
			Key: labelKeys.Draw(t, "key"),
			Operator: rapid.SampledFrom([]corev1.NodeSelectorOperator{
				corev1.NodeSelectorOpIn, corev1.NodeSelectorOpNotIn, corev1.NodeSelectorOpExists, corev1.NodeSelectorOpDoesNotExist,
			}).Draw(t, "operator"),
		}
		if requirement.Operator == corev1.NodeSelectorOpIn || requirement.Operator == corev1.NodeSelectorOpNotIn {
			requirement.Values = rapid.SliceOfN(labelValues, 1, 2).Draw(t, "values")
		}
		return requirement
	})
	fieldGen = rapid.Custom(func(t *rapid.T) corev1.NodeSelectorRequirement {
		return corev1.NodeSelectorRequirement{
			Key:      metav1.ObjectNameField,
			Operator: rapid.SampledFrom([]corev1.NodeSelectorOperator{corev1.NodeSelectorOpIn, corev1.NodeSelectorOpNotIn}).Draw(t, "operator"),
			Values:   []string{nodeNames.Draw(t, "node")},
		}
	})
	termGen = rapid.Custom(func(t *rapid.T) corev1.NodeSelectorTerm {
		return corev1.NodeSelectorTerm{
			MatchExpressions: rapid.SliceOfN(requirementGen, 0, 2).Draw(t, "expressions"),
			MatchFields:      rapid.SliceOfN(fieldGen, 0, 1).Draw(t, "fields"),
		}
	})
	podTermGen = rapid.Custom(func(t *rapid.T) corev1.PodAffinityTerm {
		return corev1.PodAffinityTerm{
			TopologyKey:   labelKeys.Draw(t, "topologyKey"),
			LabelSelector: rapid.SampledFrom([]*metav1.LabelSelector{nil, {}, {MatchLabels: map[string]string{"app": "x"}}}).Draw(t, "selector"),
		}
	})
	weightedGen = rapid.Custom(func(t *rapid.T) corev1.WeightedPodAffinityTerm {
		return corev1.WeightedPodAffinityTerm{Weight: rapid.Int32Range(1, 2).Draw(t, "weight"), PodAffinityTerm: podTermGen.Draw(t, "term")}
	})
	affinityGen = rapid.Custom(func(t *rapid.T) *corev1.Affinity {
		affinity := &corev1.Affinity{}
		if rapid.Bool().Draw(t, "nodes") {
			affinity.NodeAffinity = &corev1.NodeAffinity{PreferredDuringSchedulingIgnoredDuringExecution: rapid.SliceOfN(
				rapid.Custom(func(t *rapid.T) corev1.PreferredSchedulingTerm {
					return corev1.PreferredSchedulingTerm{Weight: rapid.Int32Range(1, 2).Draw(t, "weight"), Preference: termGen.Draw(t,
						"preference")}
				}), 0, 2).Draw(t, "preferred")}
			if terms := rapid.SliceOfN(termGen, 0, 3).Draw(t, "required"); len(terms) > 0 {
				affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution = &corev1.NodeSelector{NodeSelectorTerms: terms}
			}
		}
		if rapid.Bool().Draw(t, "pods") {
			affinity.PodAffinity = &corev1.PodAffinity{
				RequiredDuringSchedulingIgnoredDuringExecution:  rapid.SliceOfN(podTermGen, 0, 2).Draw(t, "with"),
				PreferredDuringSchedulingIgnoredDuringExecution: rapid.SliceOfN(weightedGen, 0, 2).Draw(t, "preferred with"),
			}
		}
		if rapid.Bool().Draw(t, "not pods") {
			affinity.PodAntiAffinity = &corev1.PodAntiAffinity{
				RequiredDuringSchedulingIgnoredDuringExecution: rapid.SliceOfN(podTermGen, 0, 2).Draw(t, "without"),
			}
		}

		return affinity
	})
	tolerationGen = rapid.Custom(func(t *rapid.T) corev1.Toleration {
		return corev1.Toleration{Key: labelKeys.Draw(t, "key"), Operator: corev1.TolerationOpExists, Effect: rapid.SampledFrom(
			[]corev1.TaintEffect{"", corev1.TaintEffectNoSchedule}).Draw(t, "effect")}
	})
	constraintsGen = rapid.Custom(func(t *rapid.T) Constraints {
		c := Constraints{
			NodeSelector:  rapid.MapOfN(labelKeys, labelValues, 0, 2).Draw(t, "nodeSelector"),
			NodeName:      rapid.SampledFrom([]string{"", "", "n1", "n2"}).Draw(t, "nodeName"),
			SchedulerName: rapid.SampledFrom([]string{"", defaultScheduler, "s1", "s2"}).Draw(t, "schedulerName"),
			Tolerations:   rapid.SliceOfN(tolerationGen, 0, 2).Draw(t, "tolerations"),
		}
		if rapid.Bool().Draw(t, "affinity") {
			c.Affinity = affinityGen.Draw(t, "affinity")
		}
		return c
	})
)

// policyOf returns a cluster policy for all pods.
func policyOf(t *rapid.T, name string, c Constraints) *Policy {
	policy := &kupidv1alpha1.ClusterPodSchedulingPolicy{}
	policy.Name = name
	policy.Spec.NamespaceSelector, policy.Spec.PodSelector = &metav1.LabelSelector{}, &metav1.LabelSelector{}
	policy.Spec.PodSchedulingPolicyConstraints = kupidv1alpha1.PodSchedulingPolicyConstraints{
		NodeSelector: c.NodeSelector, NodeName: c.NodeName, Affinity: c.Affinity, SchedulerName: c.SchedulerName, Tolerations: c.Tolerations,
	}
	prepared := NewClusterPolicy(policy)
	if len(prepared.Errors) > 0 {
		t.Fatal(prepared.Errors)
	}
	return prepared
}

// drawPolicies returns policies in their order.
func drawPolicies(t *rapid.T) []*Policy {
	var policies []*Policy
	for i, c := range rapid.SliceOfN(constraintsGen, 0, 3).Draw(t, "policies") {
		policies = append(policies, policyOf(t, fmt.Sprintf("p%d", i), c))
	}
	return policies
}

// drawSpec returns a pod spec.
func drawSpec(t *rapid.T) corev1.PodSpec {
	own := constraintsGen.Draw(t, "own")
	spec := corev1.PodSpec{
		NodeSelector: own.NodeSelector, NodeName: own.NodeName, Affinity: own.Affinity, SchedulerName: own.SchedulerName,
		Tolerations: own.Tolerations,
		Containers:  []corev1.Container{{Name: "c"}},
	}
	if rapid.Bool().Draw(t, "gated") {
		spec.NodeName, spec.SchedulingGates = "", []corev1.PodSchedulingGate{{Name: "g"}}
	}
	return spec
}

func podJSON(t *rapid.T, spec corev1.PodSpec) []byte {
	raw, err := json.Marshal(&corev1.Pod{Spec: spec})
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// injectInto returns a Pod after policies.
func injectInto(tb testing.TB, t *rapid.T, raw []byte, policies []*Policy) []byte {
	tb.Helper()
	w, err := ReadWorkload(podKind, raw)
	if err != nil {
		t.Fatal(err)
	}
	return apply(tb, raw, Inject(w, policies))
}

func decodePod(t *rapid.T, raw []byte) *corev1.Pod {
	pod := &corev1.Pod{}
	if err := json.Unmarshal(raw, pod); err != nil {
		t.Fatal(err)
	}
	return pod
}

func TestInjectTwiceIsInjectOnce(t *testing.T) {
	property.Check(t, func(r *rapid.T) {
		policies := drawPolicies(r)
		once := injectInto(t, r, podJSON(r, drawSpec(r)), policies)
		w, err := ReadWorkload(podKind, once)
		if err != nil {
			r.Fatal(err)
		}
		if again := Inject(w, policies); len(again.Operations) > 0 {
			r.Fatalf("the second injection into %s: %v", once, again.Operations)
		}
		for _, policy := range policies {
			if again := Inject(w, []*Policy{policy}); policy.inject.schedulerName == "" && len(again.Operations) > 0 {
				r.Fatalf("the injection of %s alone into %s: %v", policy, once, again.Operations)
			}
		}
	})
}

func TestInjectRemovesNothing(t *testing.T) {
	property.Check(t, func(r *rapid.T) {
		raw := podJSON(r, drawSpec(r))
		before, after := decodePod(r, raw), decodePod(r, injectInto(t, r, raw, drawPolicies(r)))
		if name := before.Spec.NodeName; name != "" && after.Spec.NodeName != name {
			r.Fatalf("nodeName %s became %s", name, after.Spec.NodeName)
		}
		if name := before.Spec.SchedulerName; name != "" && name != defaultScheduler && after.Spec.SchedulerName != name {
			r.Fatalf("schedulerName %s became %s", name, after.Spec.SchedulerName)
		}
		for key, value := range before.Spec.NodeSelector {
			if after.Spec.NodeSelector[key] != value {
				r.Fatalf("nodeSelector %v became %v", before.Spec.NodeSelector, after.Spec.NodeSelector)
			}
		}
		old, changed := listsOf(r, &before.Spec), listsOf(r, &after.Spec)
		for name, items := range old {
			if got := changed[name]; len(got) < len(items) || !slices.Equal(items, got[:len(items)]) {
				r.Fatalf("%s %v became %v", name, items, got)
			}
		}
		rest := func(spec *corev1.PodSpec) corev1.PodSpec {
			other := *spec
			other.NodeName, other.NodeSelector, other.SchedulerName, other.Affinity, other.Tolerations = "", nil, "", nil, nil
			return other
		}
		if !reflect.DeepEqual(rest(&before.Spec), rest(&after.Spec)) {
			r.Fatalf("another field of %v changed: %v", before.Spec, after.Spec)
		}
	})
}

// listsOf returns the lists of a pod spec that are appended to, as texts.
func listsOf(t *rapid.T, spec *corev1.PodSpec) map[string][]string {
	object := generic(spec)
	lists := map[string][]string{}
	for _, path := range listPaths {
		for _, item := range at[[]any](object, path...) {
			lists[strings.Join(path, ".")] = append(lists[strings.Join(path, ".")], canonical(item))
		}
	}
	if len(lists) == 0 && len(spec.Tolerations) > 0 {
		t.Fatal("the lists are not found")
	}
	return lists
}

// Each node is accepted by the merged required terms exactly when the workload's and each policy's terms accept it, as kube-scheduler
// matches them. Policies whose terms are all empty do not count, and a workload with such terms still matches nothing:
// docs/spec/pod-scheduling-policy.md 2.1.4.
func TestMergedTermsAcceptWhatBothSidesAccept(t *testing.T) {
	property.Check(t, func(r *rapid.T) {
		spec, sides := drawSpec(r), []*corev1.NodeSelector{}
		var policies []*Policy
		for i, c := range rapid.SliceOfN(constraintsGen, 0, 3).Draw(r, "policies") {
			policies = append(policies, policyOf(r, fmt.Sprintf("p%d", i), c))
			if terms := c.requiredTerms(); slices.ContainsFunc(terms, func(term corev1.NodeSelectorTerm) bool { return !emptyTerm(term) }) {
				sides = append(sides, &corev1.NodeSelector{NodeSelectorTerms: terms})
			}
		}
		own := Constraints{Affinity: spec.Affinity}
		if terms := own.requiredTerms(); len(terms) > 0 {
			sides = append(sides, &corev1.NodeSelector{NodeSelectorTerms: terms})
		}
		after := decodePod(r, injectInto(t, r, podJSON(r, spec), policies))
		merged := Constraints{Affinity: after.Spec.Affinity}
		for range 8 {
			node := &corev1.Node{}
			node.Name, node.Labels = nodeNames.Draw(r, "node"), rapid.MapOfN(labelKeys, labelValues, 0, 3).Draw(r, "labels")
			want := !slices.ContainsFunc(sides, func(side *corev1.NodeSelector) bool { return !accepts(r, side, node) })
			got := len(merged.requiredTerms()) == 0 || accepts(r, &corev1.NodeSelector{NodeSelectorTerms: merged.requiredTerms()}, node)
			if got != want {
				r.Fatalf("node %s with %v is accepted: %t, want %t; merged %v", node.Name, node.Labels, got, want, merged.requiredTerms())
			}
		}
	})
}

func accepts(t *rapid.T, terms *corev1.NodeSelector, node *corev1.Node) bool {
	selector, err := nodeaffinity.NewNodeSelector(terms)
	if err != nil {
		t.Fatal(err)
	}
	return selector.Match(node)
}

func TestRequiredTermsAreOrderFree(t *testing.T) {
	property.Check(t, func(r *rapid.T) {
		policies, raw := drawPolicies(r), podJSON(r, drawSpec(r))
		absorbed := func(policies []*Policy) [][]string {
			w, err := ReadWorkload(podKind, injectInto(t, r, raw, policies))
			if err != nil {
				r.Fatal(err)
			}
			var sets [][]string
			terms := nodeTerms(at[[]any](w.spec, requiredPath...))
			for _, kept := range absorb(new(vocabulary).list(terms).sets) {
				var keys []string
				for _, requirement := range terms[kept].requirements {
					keys = append(keys, requirement.key)
				}
				slices.Sort(keys)
				sets = append(sets, slices.Compact(keys))
			}
			slices.SortFunc(sets, slices.Compare)

			return sets
		}
		reversed := slices.Clone(policies)
		slices.Reverse(reversed)
		if first, second := absorbed(policies), absorbed(reversed); !reflect.DeepEqual(first, second) {
			r.Fatalf("%v, in the other order %v", first, second)
		}
	})
}

// A Pod that is made of a template with injected policies needs no patch, also after the API server has added its tolerations
// (docs/spec/kubernetes.md V2).
func TestTemplatesAndTheirPodsAgree(t *testing.T) {
	property.Check(t, func(r *rapid.T) {
		policies := drawPolicies(r)
		pod := decodePod(r, injectInto(t, r, podJSON(r, drawSpec(r)), policies))
		seconds := int64(300)
		pod.Spec.Tolerations = append(pod.Spec.Tolerations, corev1.Toleration{
			Key: corev1.TaintNodeNotReady, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute, TolerationSeconds: &seconds,
		})
		if pod.Spec.SchedulerName == "" {
			pod.Spec.SchedulerName = defaultScheduler
		}
		w, err := ReadWorkload(podKind, podJSON(r, pod.Spec))
		if err != nil {
			r.Fatal(err)
		}
		if result := Inject(w, policies); len(result.Operations) > 0 {
			r.Fatalf("a Pod of the template is patched: %v", result.Operations)
		}
	})
}
