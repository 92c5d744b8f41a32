// SPDX-License-Identifier: Apache-2.0

package podscheduling

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	kupidv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/kupid/v1alpha1"
	"github.com/placement-hub/placement-hub/test/property"
)

// docs/spec/pod-scheduling-policy.md 2.1.1.
func TestMismatch(t *testing.T) {
	app := func(value string) *metav1.LabelSelector {
		return &metav1.LabelSelector{MatchLabels: map[string]string{"app": value}}
	}
	cluster := func(namespaces, pods *metav1.LabelSelector) *Policy {
		policy := &kupidv1alpha1.ClusterPodSchedulingPolicy{ObjectMeta: metav1.ObjectMeta{Name: "p"}}
		policy.Spec.NamespaceSelector, policy.Spec.PodSelector = namespaces, pods
		return NewClusterPolicy(policy)
	}
	namespaced := &kupidv1alpha1.PodSchedulingPolicy{ObjectMeta: metav1.ObjectMeta{Namespace: "b", Name: "p"}}
	namespaced.Spec.PodSelector = &metav1.LabelSelector{}
	exists := &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "team", Operator: metav1.LabelSelectorOpExists}}}
	invalid := &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "team", Operator: "Near"}}}
	for _, tc := range []struct {
		reason string
		policy *Policy
		want   Mismatch
	}{
		{"both selectors match", cluster(app("x"), app("etcd")), Mismatch{}},
		{"K3: without namespaceSelector no effect anywhere", cluster(nil, app("etcd")), Mismatch{Reason: NoNamespaceSelector}},
		{"K4: without podSelector no effect", cluster(&metav1.LabelSelector{}, nil), Mismatch{Reason: NoPodSelector}},
		{"K5: a policy of another namespace", NewPolicy(namespaced), Mismatch{Reason: OtherNamespace}},
		{"K32: only the pod matches", cluster(exists, app("etcd")), Mismatch{NamespaceLabels, "team", "team"}},
		{"K32: only the namespace matches", cluster(app("x"), app("web")), Mismatch{PodLabels, "app=web", "app"}},
		{"an invalid selector is reported wherever it might apply", cluster(invalid, app("etcd")), Mismatch{}},
	} {
		got := tc.policy.Mismatch("a", map[string]string{"app": "x"}, map[string]string{"app": "etcd"})
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
		}
	}
}

// A policy matches exactly if there is no mismatch.
func TestMismatchAgreesWithMatching(t *testing.T) {
	labels := rapid.MapOfN(labelKeys, labelValues, 0, 2)
	selectorGen := rapid.Custom(func(t *rapid.T) *metav1.LabelSelector {
		if rapid.IntRange(0, 4).Draw(t, "absent") == 0 {
			return nil
		}
		selector := &metav1.LabelSelector{MatchLabels: labels.Draw(t, "matchLabels")}
		if rapid.Bool().Draw(t, "expression") {
			selector.MatchExpressions = []metav1.LabelSelectorRequirement{{Key: labelKeys.Draw(t, "key"), Operator: rapid.SampledFrom(
				[]metav1.LabelSelectorOperator{metav1.LabelSelectorOpExists, metav1.LabelSelectorOpDoesNotExist}).Draw(t, "operator")}}
		}
		return selector
	})
	property.Check(t, func(t *rapid.T) {
		policy := &kupidv1alpha1.ClusterPodSchedulingPolicy{ObjectMeta: metav1.ObjectMeta{Name: "p"}}
		policy.Spec.NamespaceSelector, policy.Spec.PodSelector = selectorGen.Draw(t, "namespaceSelector"), selectorGen.Draw(t, "podSelector")
		namespaced := &kupidv1alpha1.PodSchedulingPolicy{ObjectMeta: metav1.ObjectMeta{
			Namespace: rapid.SampledFrom([]string{"a", "b"}).Draw(t, "namespace"), Name: "p",
		}}
		namespaced.Spec.PodSelector = selectorGen.Draw(t, "podSelector of the namespace")
		namespaceLabels, podLabels := labels.Draw(t, "namespace labels"), labels.Draw(t, "pod labels")
		both := []*Policy{NewClusterPolicy(policy), NewPolicy(namespaced)}
		matching := NewPolicies(both).Matching("a", namespaceLabels, podLabels)
		for _, prepared := range both {
			mismatch := prepared.Mismatch("a", namespaceLabels, podLabels)
			if matches := slices.Contains(matching, prepared); matches != (mismatch == Mismatch{}) {
				t.Fatalf("%s matches: %v, and the mismatch is %+v", prepared, matches, mismatch)
			}
		}
	})
}
