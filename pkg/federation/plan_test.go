// SPDX-License-Identifier: Apache-2.0

package federation

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/placement-hub/placement-hub/test/property"
)

func TestPlanWorks(t *testing.T) {
	for _, c := range []struct {
		name     string
		wanted   []WantedWork
		existing []ExistingWork
		want     WorkPlan
	}{
		{"law 4: nothing to do", []WantedWork{{"a", "1", 0}}, []ExistingWork{{Cluster: "a", Hash: "1"}}, WorkPlan{}},
		{
			"federated-selector F15: the selection moves",
			[]WantedWork{{"us1", "1", 0}}, []ExistingWork{{Cluster: "eu2", Hash: "1"}, {Cluster: "eu1", Hash: "1"}},
			WorkPlan{Gain: []string{"us1"}, Lose: []string{"eu1", "eu2"}},
		},
		{
			"federated-selector F31: edited and deleted works",
			[]WantedWork{{"b", "1", 0}, {"a", "1", 0}}, []ExistingWork{{Cluster: "a", Hash: "2"}},
			WorkPlan{Gain: []string{"b", "a"}},
		},
		{
			"federated-selector 3.1.4: replicas are gained before they are lost",
			[]WantedWork{{"a", "2", 1}, {"b", "2", 8}, {"c", "2", 3}},
			[]ExistingWork{{Cluster: "a", Hash: "1", Replicas: 9}, {Cluster: "b", Hash: "1"}, {Cluster: "c", Hash: "1", Replicas: 3}},
			WorkPlan{Gain: []string{"b", "c"}, Reduce: []string{"a"}},
		},
		{
			"federated-selector 3.1.4: replicas are gained before other changes are written",
			[]WantedWork{{"a", "2", 3}, {"b", "2", 8}},
			[]ExistingWork{{Cluster: "a", Hash: "1", Replicas: 3}, {Cluster: "b", Hash: "1", Replicas: 7}},
			WorkPlan{Gain: []string{"b", "a"}},
		},
		{
			"federated-selector 3.1.4: a foreign work",
			[]WantedWork{{"a", "1", 0}}, []ExistingWork{{Cluster: "a", Foreign: true}, {Cluster: "b", Foreign: true}},
			WorkPlan{Conflicts: []string{"a"}},
		},
		{
			"federated-selector F41: a work that is still being deleted",
			[]WantedWork{{"a", "1", 0}}, []ExistingWork{{Cluster: "a", Hash: "1", Deleting: true}, {Cluster: "b", Deleting: true}},
			WorkPlan{Waiting: []string{"a"}},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := PlanWorks(c.wanted, c.existing)
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestPlanWorksSettles checks that the writes of a plan lead to the wanted works, that the next plan is empty, and that at no moment a cluster
// that is wanted and has a work is without (docs/architecture.md law 5).
func TestPlanWorksSettles(t *testing.T) {
	cluster := rapid.SampledFrom([]string{"a", "b", "c", "d", "e"})
	property.Check(t, func(t *rapid.T) {
		wanted := rapid.SliceOfDistinct(rapid.Custom(func(t *rapid.T) WantedWork {
			return WantedWork{cluster.Draw(t, "cluster"), rapid.SampledFrom([]string{"1", "2"}).Draw(t, "hash"), 0}
		}), func(w WantedWork) string { return w.Cluster }).Draw(t, "wanted")
		existing := rapid.SliceOfDistinct(rapid.Custom(func(t *rapid.T) ExistingWork {
			return ExistingWork{Cluster: cluster.Draw(t, "cluster"), Hash: rapid.SampledFrom([]string{"1", "2"}).Draw(t, "hash")}
		}), func(w ExistingWork) string { return w.Cluster }).Draw(t, "existing")
		plan := PlanWorks(wanted, existing)
		if diff := cmp.Diff(plan, PlanWorks(rapid.Permutation(wanted).Draw(t, "w"), rapid.Permutation(existing).Draw(t, "e"))); diff != "" {
			t.Fatalf("the order matters: %s", diff)
		}

		hashes, after := map[string]string{}, map[string]string{}
		for _, w := range wanted {
			hashes[w.Cluster] = w.Hash
		}
		for _, w := range existing {
			after[w.Cluster] = w.Hash
		}
		for _, name := range slices.Concat(plan.Gain, plan.Reduce) {
			after[name] = hashes[name]
		}

		for _, name := range plan.Lose {
			if _, stays := hashes[name]; stays {
				t.Fatalf("the work of %s is deleted", name)
			}
			delete(after, name)
		}
		if diff := cmp.Diff(hashes, after); diff != "" {
			t.Fatal(diff)
		}

		var settled []ExistingWork
		for name, hash := range after {
			settled = append(settled, ExistingWork{Cluster: name, Hash: hash})
		}
		if next := PlanWorks(wanted, settled); !next.Empty() {
			t.Fatalf("the next plan has writes: %v", next)
		}
	})
}
