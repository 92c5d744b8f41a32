// SPDX-License-Identifier: Apache-2.0

package hostile

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/placement-hub/placement-hub/pkg/clusterinfo"
	"github.com/placement-hub/placement-hub/pkg/podscheduling"
	"github.com/placement-hub/placement-hub/pkg/selector"
)

// TestExpressionsCostWhatTheyShould checks that of the hostile expressions one kind costs almost as much over all clusters as it may, and
// one kind more.
func TestExpressionsCostWhatTheyShould(t *testing.T) {
	for _, tc := range []struct {
		reason  string
		kind    int
		exceeds bool
	}{
		{"as costly as it may be", 1, false},
		{"more costly than it may be", 2, true},
		{"the decisions of all others count", 3, false},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			const sample, times = 4, Clusters / 4
			var all, largest uint64
			for _, predicate := range AttackingPlacement(Attacker, tc.kind, 0).Spec.Predicates {
				spec := selector.Spec{CEL: predicate.RequiredClusterSelector.CelSelector.CelExpressions}
				compiled, errs := selector.NewCompiler().Compile(selector.Paths{}, spec)
				if len(errs) > 0 {
					t.Fatal(errs.ToAggregate())
				}
				evaluation := &selector.EvalContext{Now: time.Unix(0, 0)}
				for i := range sample {
					compiled.Match(clusterinfo.New(Size().Cluster(i), nil), evaluation)
				}
				all, largest = all+evaluation.Cost()*times, max(largest, evaluation.Cost()*times)
			}
			exceeds := largest > selector.MaxSelectorCost || all > selector.MaxCost
			if exceeds != tc.exceeds || largest < selector.MaxSelectorCost/2 {
				t.Errorf("the cost is %d, that of a predicate %d; want at least half of the limit, and more than that: %t", all, largest, tc.exceeds)
			}
		})
	}
}

func TestTheBombIsValidAndAsLarge(t *testing.T) {
	size := 0
	for _, policy := range Bomb() {
		content, err := json.Marshal(policy)
		if err != nil {
			t.Fatal(err)
		}
		size += len(content)
		if read := podscheduling.NewPolicy(policy); len(read.Errors) > 0 {
			t.Errorf("%s: %v", policy.Name, read.Errors)
		}
	}
	if size < 165_000 {
		t.Errorf("the policies have %d bytes, want at least 165 kB", size)
	}
}
