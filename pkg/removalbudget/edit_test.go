// SPDX-License-Identifier: Apache-2.0

package removalbudget_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	"pgregory.net/rapid"

	"github.com/placement-hub/placement-hub/pkg/removalbudget"
	"github.com/placement-hub/placement-hub/test/property"
)

// spellings are merge patches of the spec of newFixture that mean what is there: for each field absent, null, empty, the default written out, and
// another order of a list that is a set.
var spellings = []string{
	`{}`,
	`{"clusterSets": null}`, `{"clusterSets": []}`,
	`{"numberOfClusters": null}`,
	`{"predicates": [{"requiredClusterSelector": {"labelSelector": {"matchExpressions": [{"key": "region", "operator": "In", "values": ["eu"]}]}}}]}`,
	`{"predicates": [{"requiredClusterSelector": {"labelSelector": {"matchLabels": {"region": "eu"}, "matchExpressions": []}}}]}`,
	`{"predicates": [{"requiredClusterSelector": {"labelSelector": {"matchLabels": {"region": "eu"}}, "claimSelector": {}, "celSelector": {}}}]}`,
	`{"predicates": [{"requiredClusterSelector": {"labelSelector": {"matchLabels": {"region": "eu"}},
		"claimSelector": {"matchExpressions": []}, "celSelector": {"celExpressions": []}}}]}`,
	`{"prioritizerPolicy": null}`, `{"prioritizerPolicy": {}}`, `{"prioritizerPolicy": {"mode": ""}}`, `{"prioritizerPolicy": {"mode": "Additive"}}`,
	`{"prioritizerPolicy": {"mode": "Additive", "configurations": []}}`, `{"prioritizerPolicy": {"configurations": null}}`,
	`{"tolerations": null}`, `{"tolerations": []}`,
	`{"spreadPolicy": null}`, `{"spreadPolicy": {}}`, `{"spreadPolicy": {"spreadConstraints": null}}`, `{"spreadPolicy": {"spreadConstraints": []}}`,
	`{"decisionStrategy": null}`, `{"decisionStrategy": {}}`, `{"decisionStrategy": {"groupStrategy": {}}}`,
	`{"decisionStrategy": {"groupStrategy": {"decisionGroups": []}}}`,
	`{"decisionStrategy": {"groupStrategy": {"clustersPerDecisionGroup": 0}}}`,
	`{"decisionStrategy": {"groupStrategy": {"clustersPerDecisionGroup": "100%"}}}`,
	`{"sortBy": ""}`, `{"sortBy": "ClusterName"}`, `{"scoreRateLimit": ""}`, `{"scoreRateLimit": "1m"}`, `{"scoreRateLimit": "60s"}`,
}

// otherSpecs are merge patches that change what the spec means, also so that every cluster is excluded.
var otherSpecs = []string{
	`{"numberOfClusters": 0}`, `{"numberOfClusters": 1}`, `{"numberOfClusters": 4}`, `{"numberOfClusters": 100}`,
	`{"clusterSets": ["all"]}`, `{"clusterSets": ["none"]}`, `{"clusterSets": ["all", "none"]}`,
	`{"predicates": null}`, `{"predicates": []}`, `{"predicates": [{}]}`,
	`{"predicates": [{"requiredClusterSelector": {"labelSelector": {"matchLabels": {"region": "us"}}}}]}`,
	`{"predicates": [{"requiredClusterSelector": {"labelSelector": {"matchExpressions": [{"key": "region", "operator": "Exists"}]}}}]}`,
	`{"tolerations": [{"operator": "Exists"}]}`, `{"sortBy": "Score"}`,
	`{"prioritizerPolicy": {"mode": "Exact"}}`, `{"numberOfClusters": 2, "prioritizerPolicy": {"mode": "Exact"}}`,
	`{"spreadPolicy": {"spreadConstraints": [{"topologyKey": "region", "topologyKeyType": "Label", "whenUnsatisfiable": "ScheduleAnyway"}]}}`,
	`{"decisionStrategy": {"groupStrategy": {"clustersPerDecisionGroup": 2}}}`,
}

// patched returns an edit that applies a merge patch to the spec, as clients send it.
func patched(t rapid.TB, patch string) func(*clusterv1beta1.PlacementSpec) {
	return func(spec *clusterv1beta1.PlacementSpec) {
		before, err := json.Marshal(spec)
		if err != nil {
			t.Fatalf("%v", err)
		}
		after, err := jsonpatch.MergePatch(before, []byte(patch))
		if err != nil {
			t.Fatalf("%s: %v", patch, err)
		}
		*spec = clusterv1beta1.PlacementSpec{}
		if err := json.Unmarshal(after, spec); err != nil {
			t.Fatalf("%s: %v", after, err)
		}
	}
}

// stillHeld returns those of the clusters that are held.
func stillHeld(now removalbudget.Result, clusters []string) []string {
	return slices.DeleteFunc(clusters, func(cluster string) bool { return !now.Held || !slices.Contains(now.Leaving, cluster) })
}

// twin returns the same Placement in the same world, which is not edited.
func (fx *fixture) twin() *fixture {
	twin := *fx
	twin.placement, twin.decisions = fx.placement.DeepCopy(), maps.Clone(fx.decisions)
	return &twin
}

// docs/spec/differences.md B16: an edit that means nothing changes nothing, whatever has happened before and happens afterwards, and whether or not
// the hub that evaluates it first knows the former spec.
func TestB16AnEditThatMeansNothingDecidesNothing(t *testing.T) {
	wantNoEdit(t, `{}`, spellings)
}

// docs/spec/differences.md B16: another order of a list that is a set is no edit, nor is the default of a field of its elements.
func TestB16AnotherOrderIsNoEdit(t *testing.T) {
	const (
		in      = `{"requiredClusterSelector": {"labelSelector": {"matchExpressions": [{"key": "region", "operator": "In", "values": `
		eu      = in + `["eu", "asia"]}]}}}`
		asia    = in + `["asia", "eu"]}]}}}`
		zoned   = `{"requiredClusterSelector": {"labelSelector": {"matchExpressions": [{"key": "zone", "operator": "Exists"}]}}}`
		gone    = `{"key": "gone", "operator": "Equal", "value": "a", "effect": "NoSelect"}`
		plain   = `{"key": "gone", "value": "a", "effect": "NoSelect"}`
		absent  = `{"key": "absent", "operator": "Exists"}`
		balance = `{"scoreCoordinate": {"type": "BuiltIn", "builtIn": "Balance"}, "weight": 1}`
		steady  = `{"scoreCoordinate": {"type": "BuiltIn", "builtIn": "Steady"}, "weight": 2}`
		builtIn = `{"scoreCoordinate": {"builtIn": "Balance"}}`
	)
	wantNoEdit(t, `{"clusterSets": ["all", "none"], "predicates": [`+eu+`, `+zoned+`], "tolerations": [`+gone+`, `+absent+`],
		"prioritizerPolicy": {"configurations": [`+balance+`, `+steady+`]}}`, []string{
		`{"clusterSets": ["none", "all"]}`,
		`{"predicates": [` + zoned + `, ` + eu + `]}`, `{"predicates": [` + asia + `, ` + zoned + `]}`,
		`{"tolerations": [` + absent + `, ` + gone + `]}`, `{"tolerations": [` + plain + `, ` + absent + `]}`,
		`{"prioritizerPolicy": {"configurations": [` + steady + `, ` + balance + `]}}`,
		`{"prioritizerPolicy": {"configurations": [` + builtIn + `, ` + steady + `]}}`,
	})
}

// wantNoEdit checks that merge patches of the spec that means a merge patch of the one of newFixture are no edits.
func wantNoEdit(t *testing.T, spec string, spellings []string) {
	t.Helper()
	property.Check(t, func(t *rapid.T) {
		w := newFixture(rapid.IntRange(1, 12).Draw(t, "clusters"))
		patched(t, spec)(&w.placement.Spec)
		percent := rapid.SampledFrom([]int{0, 10, 50, 99}).Draw(t, "percent")
		w.settle(percent)
		for range rapid.IntRange(0, 4).Draw(t, "events before") {
			w.disturb(t, drain)
			w.settle(percent)
		}
		twin := w.twin()

		for range rapid.IntRange(1, 3).Draw(t, "edits") {
			w.edit(patched(t, rapid.SampledFrom(spellings).Draw(t, "edit")))
			if rapid.Bool().Draw(t, "event meanwhile") {
				w.disturb(t, drain)
			}
			w.settle(percent)
			twin.now = w.now
			twin.settle(percent)
			if !maps.Equal(w.decisions, twin.decisions) {
				t.Fatalf("decisions after the edit %v, without it %v", sorted(w.decisions), sorted(twin.decisions))
			}
		}
	})
}

// docs/spec/differences.md B16: no edit has a cluster leave that a hub without the edit holds; one that was held already stays exactly as long as
// without the edit. Over a restart the former spec is not known, and who is held already is known from the status.
func TestB16WhatIsHeldStaysHeldThroughEdits(t *testing.T) {
	property.Check(t, func(t *rapid.T) {
		w := newFixture(rapid.IntRange(1, 12).Draw(t, "clusters"))
		percent := rapid.SampledFrom([]int{0, 10, 50, 99}).Draw(t, "percent")
		w.settle(percent)
		for range rapid.IntRange(0, 4).Draw(t, "events before") {
			w.disturb(t, drain)
			w.settle(percent)
		}
		twin := w.twin()
		already := twin.judge(percent)

		w.edit(patched(t, rapid.SampledFrom(slices.Concat(spellings, otherSpecs)).Draw(t, "edit")))
		restarted := rapid.Bool().Draw(t, "restarted")
		if restarted {
			w.former = nil
		} else if rapid.Bool().Draw(t, "event meanwhile") {
			w.disturb(t, drain)
		}
		twin.now = w.now
		held := twin.judge(percent)
		before := maps.Clone(w.decisions)
		w.settle(percent)
		twin.settle(percent)

		for _, cluster := range held.Leaving {
			last := held.Conditions(true)[0].Reason == removalbudget.ReasonLastCluster
			if held.Held && before[cluster] && !w.decisions[cluster] && (!last || len(w.decisions) == 0) {
				t.Fatalf("%s leaves by the edit, and is held without it; decisions %v", cluster, sorted(w.decisions))
			}
		}
		already.Leaving = stillHeld(held, already.Leaving)
		if !already.Held || already.Conditions(true)[0].Reason == removalbudget.ReasonLastCluster {
			return
		}
		for range rapid.IntRange(1, 4).Draw(t, "times") {
			w.now = w.now.Add(time.Duration(rapid.IntRange(1, 400).Draw(t, "seconds")) * time.Second)
			twin.now = w.now
			held := twin.judge(percent)
			already.Leaving = stillHeld(held, already.Leaving)
			w.settle(percent)
			twin.settle(percent)
			for _, cluster := range already.Leaving {
				if !w.decisions[cluster] {
					t.Fatalf("%s was held before the edit, leaves after it, and does not without it", cluster)
				}
			}
		}
	})
}

// docs/spec/differences.md B16: what an edit alone excludes leaves at once, also beside clusters that are held.
func TestB16AnEditLetsGoWhomItExcludes(t *testing.T) {
	w := newFixture(10)
	w.relabel(0, 6, "region", "us")
	w.settle(50)
	expect(t, "held before the edit", "6 of 10: c00 c01 c02 c03 c04 c05", gone(w.judge(50)))
	w.edit(patched(t, `{"numberOfClusters": 2}`))
	w.settle(50)
	expect(t, "decisions after the edit", []string{name(0), name(1), name(2), name(3), name(4), name(5), name(6), name(7)}, sorted(w.decisions))
	w.now = w.now.Add(time.Hour)
	w.settle(50)
	expect(t, "still held", "6 of 10: c00 c01 c02 c03 c04 c05", gone(w.judge(50)))
	for _, condition := range w.placement.Status.Conditions {
		if strings.Contains(condition.Message, `"applied"`) {
			t.Errorf("the changed spec is not applied: %s", condition.Message)
		}
	}
	w.placement.Annotations[removalbudget.ReleaseAnnotation] = "8"
	w.settle(50)
	expect(t, "decisions after the release", []string{name(6), name(7)}, sorted(w.decisions))
}

// docs/spec/differences.md B16: clusters that are lost at the moment of an edit are held like those before it, although the new spec wants
// fewer clusters than there are, and the numbers stay as they were.
func TestB16ALossAtTheMomentOfAnEditIsHeld(t *testing.T) {
	w := newFixture(8)
	w.settle(50)
	w.relabel(2, 8, "region", "us")
	w.edit(patched(t, `{"numberOfClusters": 5}`))
	for range 3 {
		w.settle(50)
		expect(t, "held", "6 of 8: c02 c03 c04 c05 c06 c07", gone(w.judge(50)))
		expect(t, "decisions", 8, len(w.decisions))
	}
}

// docs/spec/differences.md B16: clusters that are held since before an edit stay held when a cluster that the new spec selects joins, however often
// the hub has evaluated the new spec before.
func TestB16AClusterOfTheNewSpecReplacesNoHeldOne(t *testing.T) {
	const all = "6 of 6: c00 c01 c02 c03 c04 c05"
	w := newFixture(6)
	w.settle(20)
	w.remove(0, 6)
	w.settle(20)
	expect(t, "held before the edit", all, gone(w.judge(20)))
	w.edit(patched(t, `{"numberOfClusters": 2, "predicates": [{"requiredClusterSelector": {"labelSelector": {"matchLabels": {"region": "us"}}}}]}`))
	for range 3 {
		w.settle(20)
		expect(t, "held after the edit", all, gone(w.judge(20)))
	}
	w.relabel(6, 7, "region", "us")
	w.settle(20)
	expect(t, "held beside the new cluster", all, gone(w.judge(20)))
}

// docs/spec/differences.md B16: the numbers in the condition have the clusters that have left before the edit, whether or not the new spec counts
// them.
func TestB16EarlierRemovalsStayInTheNumbers(t *testing.T) {
	w := newFixture(8)
	w.settle(20)
	w.remove(7, 8)
	w.settle(20)
	w.remove(1, 3)
	w.edit(patched(t, `{"numberOfClusters": 1}`))
	for range 3 {
		w.settle(20)
		expect(t, "held", "3 of 8: c01 c02", gone(w.judge(20)))
	}
}

// docs/spec/differences.md B16: an edit that changes what is selected keeps the holds of the former spec, until so few of their clusters are left
// without a place that the budget permits their removal. One that means nothing takes them over.
func TestB16WhatFitsAgainIsNotLost(t *testing.T) {
	memory := func(w *fixture) string {
		return meta.FindStatusCondition(w.placement.Status.Conditions, removalbudget.MemoryCondition).Message
	}
	w := newFixture(10)
	w.relabel(20, 22, "region", "asia")
	w.relabel(0, 4, "region", "us")
	w.settle(30)
	expect(t, "held", "4 of 10: c00 c01 c02 c03", gone(w.judge(30)))
	w.edit(meaningless)
	w.settle(30)
	expect(t, "an edit that means nothing", true, strings.Contains(memory(w), `"generation":8`))

	w.edit(func(spec *clusterv1beta1.PlacementSpec) {
		spec.Predicates[0].RequiredClusterSelector.LabelSelector = metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{
			{Key: "region", Operator: metav1.LabelSelectorOpIn, Values: []string{"eu", "asia"}},
		}}
	})
	w.settle(30)
	expect(t, "an edit that selects more", true, strings.Contains(memory(w), `"generation":8`))
	expect(t, "held after it", 12, len(w.decisions))
	w.relabel(0, 1)
	w.settle(30)
	expect(t, "after one fits again", 9, len(w.decisions))
}
