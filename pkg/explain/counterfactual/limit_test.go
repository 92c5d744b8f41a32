// SPDX-License-Identifier: Apache-2.0

package counterfactual

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/placement-hub/placement-hub/pkg/explain/document"
)

func TestE1aClustersOutOfScopeAreNotExplained(t *testing.T) {
	for _, tc := range []struct {
		reason    string
		explained ClusterExplanation
		want      bool
	}{
		{"a cluster of a bound set", ClusterExplanation{Verdict: "Predicate", Taints: []Taint{{Text: "a"}}}, true},
		{"a cluster of no bound set", ClusterExplanation{Verdict: "OutOfScope"}, false},
		{"a held cluster", ClusterExplanation{Verdict: "Held", Hold: &document.Hold{Verdict: "OutOfScope"}}, true},
		{"a misconfigured Placement", ClusterExplanation{Taints: []Taint{{Text: "a"}}}, false},
		{"a misconfigured Placement, and a cluster that is deleted", ClusterExplanation{Terminating: true}, false},
		{"nothing is shown of the cluster", ClusterExplanation{Reason: "no answer"}, true},
	} {
		if got := InScope(tc.explained); got != tc.want {
			t.Errorf("%s: InScope is %t, want %t", tc.reason, got, tc.want)
		}
	}
}

// Of a held cluster that has left the scope nothing is shown that the decisions and their status do not have.
func TestE1aHeldClustersOutOfScopeHaveAVerdictAlone(t *testing.T) {
	verdict := ClusterExplanation{
		Cluster: "eu1", Verdict: "Held", Reason: "not in a bound set", Hold: &document.Hold{Verdict: "OutOfScope", Release: "leaves at noon"},
		Decided: true, Kept: true, Decision: &Location{Page: "p-decision-1"},
	}
	explained := verdict
	explained.Terminating, explained.Gone = true, "secret"
	explained.Sets = []Set{{Name: "secret", Contains: true}}
	explained.Predicates = []Predicate{{Number: 1, Clauses: []Clause{{Failure: "label a: is secret"}}}}
	explained.Taints = []Taint{{Text: "secret:NoSelect"}}
	explained.AntiAffinity = &Domain{Key: "label a", Value: new("secret")}
	explained.Spread = []Domain{*explained.AntiAffinity}
	explained.Counterfactuals = []Counterfactual{{Text: "would be selected if set secret were bound"}}
	LimitCluster(&explained)
	if diff := cmp.Diff(verdict.VerdictAlone(), explained); diff != "" {
		t.Errorf("explanation (-want +got):\n%s", diff)
	}
	if text, err := json.Marshal(explained); err != nil || strings.Contains(string(text), "secret") || strings.Contains(string(text), "terminating") {
		t.Errorf("%s, %v", text, err)
	}
}

func TestE1aSetsThatAreNotBoundAreNotNamed(t *testing.T) {
	explained := ClusterExplanation{
		Sets: []Set{{Name: "secret", Contains: true}, {Name: "prod", Contains: true, Bound: true}},
		Counterfactuals: []Counterfactual{
			{Text: "bind", Changes: []Change{{Kind: "Label"}, {Kind: KindBinding, Text: "secret were bound"}}},
			{Text: "label", Changes: []Change{{Kind: "Label"}}},
		},
	}
	LimitCluster(&explained)

	want := ClusterExplanation{
		Sets:            []Set{{Name: "prod", Contains: true, Bound: true}},
		Counterfactuals: []Counterfactual{{Text: "label", Changes: []Change{{Kind: "Label"}}}},
	}
	if diff := cmp.Diff(want, explained); diff != "" {
		t.Errorf("explanation (-want +got):\n%s", diff)
	}
}
