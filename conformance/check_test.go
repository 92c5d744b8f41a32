// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	inventory "sigs.k8s.io/cluster-inventory-api/apis/v1alpha1"
)

// slice is short for the tables.
type slice = inventory.PlacementDecision

// fleetOf returns n profiles in the namespace fleet.
func fleetOf(n int) []inventory.ClusterProfile {
	profiles := make([]inventory.ClusterProfile, n)
	for i := range profiles {
		profiles[i].Namespace, profiles[i].Name = "fleet", fmt.Sprintf("c%d", i)
	}
	return profiles
}

// sliceOf returns a slice of two that conform, with the profiles from one number to another.
func sliceOf(index, from, to int) slice {
	s := slice{
		ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: fmt.Sprintf("s%d", index), Labels: map[string]string{
			inventory.DecisionKeyLabel: "d", inventory.DecisionIndexLabel: strconv.Itoa(index),
		}},
		SchedulerName: "scheduler", Decisions: []inventory.ClusterDecision{},
	}
	for i := from; i < to; i++ {
		s.Decisions = append(s.Decisions, inventory.ClusterDecision{
			ClusterProfileRef: inventory.ClusterProfileReference{Namespace: "fleet", Name: fmt.Sprintf("c%d", i)},
		})
	}
	return s
}

func TestCheck(t *testing.T) {
	for _, tc := range []struct {
		reason string
		change func(a, b *slice)
		rules  []string
	}{
		{"conforms", func(_, _ *slice) {}, nil},
		{"no index at all", func(a, b *slice) {
			delete(a.Labels, inventory.DecisionIndexLabel)
			delete(b.Labels, inventory.DecisionIndexLabel)
		}, nil},
		{"an empty slice", func(_, b *slice) { b.Decisions = []inventory.ClusterDecision{} }, nil},
		{"PD1: no list", func(_, b *slice) { b.Decisions = nil }, []string{RuleSchema}},
		{"PD1: a reference without a name", func(_, b *slice) { b.Decisions[0].ClusterProfileRef.Name = "" }, []string{RuleSchema}},
		{"PD1: more than 100", func(_, b *slice) { b.Decisions = sliceOf(1, 3, 104).Decisions }, []string{RuleSchema}},
		{"PD2: a namespace is left out", func(a, _ *slice) { a.Decisions[1].ClusterProfileRef.Namespace = "" }, []string{RuleNamespace}},
		{"PD2: a namespace may be left out", func(a, b *slice) {
			a.Namespace, b.Namespace = "fleet", "fleet"
			a.Decisions[1].ClusterProfileRef.Namespace = ""
		}, nil},
		{"PD3: an unknown name", func(a, _ *slice) { a.Decisions[1].ClusterProfileRef.Name = "gone" }, []string{RuleReference}},
		{"PD3: another namespace", func(a, _ *slice) { a.Decisions[1].ClusterProfileRef.Namespace = "x" }, []string{RuleReference}},
		{"PD4: no key", func(a, b *slice) {
			delete(a.Labels, inventory.DecisionKeyLabel)
			delete(b.Labels, inventory.DecisionKeyLabel)
		}, []string{RuleDecisionKey, RuleDecisionKey}},
		{"PD4: another key", func(_, b *slice) { b.Labels[inventory.DecisionKeyLabel] = "e" }, []string{RuleDecisionKey}},
		{"PD5: from 1", func(a, _ *slice) { a.Labels[inventory.DecisionIndexLabel] = "2" }, []string{RuleDecisionIndex}},
		{"PD5: twice", func(a, _ *slice) { a.Labels[inventory.DecisionIndexLabel] = "1" },
			[]string{RuleDecisionIndex, RuleDecisionIndex}},
		{"PD5: no number", func(_, b *slice) { b.Labels[inventory.DecisionIndexLabel] = "last" }, []string{RuleDecisionIndex}},
		{"PD5: another spelling", func(_, b *slice) { b.Labels[inventory.DecisionIndexLabel] = "01" }, []string{RuleDecisionIndex}},
		{"PD6: another namespace", func(_, b *slice) { b.Namespace = "x" }, []string{RuleOneNamespace}},
		{"PD7: twice in a slice", func(a, _ *slice) { a.Decisions = append(a.Decisions, a.Decisions[0]) }, []string{RuleNoDuplicate}},
		{"PD7: in two slices", func(a, b *slice) { b.Decisions = append(b.Decisions, a.Decisions[0]) }, []string{RuleNoDuplicate}},
		{"PD8: none", func(a, b *slice) { a.SchedulerName, b.SchedulerName = "", "" }, []string{RuleSchedulerName, RuleSchedulerName}},
		{"PD8: two", func(_, b *slice) { b.SchedulerName = "x" }, []string{RuleSchedulerName}},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			decision := []slice{sliceOf(0, 0, 3), sliceOf(1, 3, 5)}
			tc.change(&decision[0], &decision[1])
			before := []slice{*decision[0].DeepCopy(), *decision[1].DeepCopy()}
			var rules []string
			for _, finding := range Check(decision, fleetOf(110)) {
				rules = append(rules, finding.Rule)
			}
			if !slices.Equal(rules, tc.rules) {
				t.Errorf("rules %v, want %v: %v", rules, tc.rules, Check(decision, fleetOf(110)))
			}
			if !reflect.DeepEqual(before, decision) {
				t.Error("Check has changed its arguments")
			}
		})
	}
}

func TestASingleSliceNeedsNoLabels(t *testing.T) {
	single := sliceOf(0, 0, 2)
	single.Labels = nil
	if findings := Check([]slice{single}, fleetOf(2)); len(findings) > 0 {
		t.Errorf("PD4, PD5: %v", findings)
	}
	if findings := Check(nil, nil); len(findings) > 0 {
		t.Errorf("no slice is no finding: %v", findings)
	}
}
