// SPDX-License-Identifier: Apache-2.0

package inventory

import (
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"pgregory.net/rapid"

	"github.com/placement-hub/placement-hub/pkg/clusterinfo"
	"github.com/placement-hub/placement-hub/pkg/selector"
	"github.com/placement-hub/placement-hub/test/property"
)

// comparing returns a selector with CEL expressions.
func comparing(t interface{ Fatal(args ...any) }, expressions ...string) *selector.Selector {
	withCEL, errs := selector.NewCompiler().Compile(selector.Paths{CEL: field.NewPath("cel")}, selector.Spec{CEL: expressions})
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	return withCEL
}

// TestOtherValuesAreEvaluatedOnce checks for how many of 100 clusters, of which one has each of some values, an expression is evaluated alone.
func TestOtherValuesAreEvaluatedOnce(t *testing.T) {
	const zone, claims = `managedCluster.metadata.labels["zone"]`, `managedCluster.status.clusterClaims.exists(c, c.name == "id")`
	for _, tc := range []struct {
		reason      string
		expressions []string
		alone       int
	}{
		{"a list of values", []string{zone + ` in ["z1", "z2"]`}, 2},
		{"a value that no cluster has", []string{zone + ` == "none"`}, 0},
		{"all but one", []string{`"z1" != ` + zone}, 1},
		{"two labels", []string{zone + ` == "z1" && managedCluster.metadata.labels.region == "r1"`}, 1},
		{"the first of two decides", []string{zone + ` == "z1"`, claims}, 1},
		{"the first of two does not decide", []string{zone + ` != "z1"`, claims}, 100},
		{"the presence of a label", []string{`has(managedCluster.metadata.labels.zone)`}, 0},
		{"a label that no cluster has", []string{`managedCluster.metadata.labels["none"] == "z1"`}, 100},
		{"more than a comparison", []string{zone + `.startsWith("z1")`}, 100},
		{"more than labels", []string{claims}, 100},
		{
			"too much for an event", []string{
				strings.Repeat(`[1,2,3,4,5,6,7,8,9].all(i, `, 3) + zone + ` == "z1" || i > 0` + strings.Repeat(`)`, 3),
			}, 100,
		},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			i := New(selector.NewCompiler())
			for n := range 100 {
				i.SetCluster(managed(fmt.Sprintf("c%d", n), "a", "region", fmt.Sprintf("r%d", n), "zone", fmt.Sprintf("z%d", n)))
			}
			by, key := comparing(t, tc.expressions...), Key{}
			i.Subscribe(key, Dependencies{Predicates: []*selector.Selector{by}})
			snapshot := i.SnapshotFor(key)
			alone := 0
			i.views.byIdentity[by.Identity()].celCache.evaluating = func() { alone++ }
			snapshot.MatchCEL(by, snapshot.alive.Clone(), &selector.EvalContext{}, func(*clusterinfo.ClusterInfo, selector.Verdict) {})
			if alone != tc.alone {
				t.Errorf("evaluated for %d clusters alone, want %d", alone, tc.alone)
			}
		})
	}
}

// TestSettledVerdictsAreThoseOfTheClusters checks that selectors match the same clusters at the same cost, with the same errors, as when each
// cluster is evaluated alone, whatever changes before and after the view is built.
func TestSettledVerdictsAreThoseOfTheClusters(t *testing.T) {
	selectors := []*selector.Selector{}
	for _, expressions := range [][]string{
		{`managedCluster.metadata.labels["x"] in ["a", "b"]`}, {`managedCluster.metadata.labels["x"] != "a"`},
		{`managedCluster.metadata.labels["x"] == "a"`, `managedCluster.metadata.labels["y"].size() > 1`},
		{`managedCluster.metadata.labels["x"] == "a" || managedCluster.metadata.labels["y"] != "b"`},
		{`"x" in managedCluster.metadata.labels`}, {`has(managedCluster.metadata.labels.x) && managedCluster.metadata.name != "c1"`},
	} {
		selectors = append(selectors, comparing(t, expressions...))
	}
	property.Check(t, func(t *rapid.T) {
		i, indexed := New(selector.NewCompiler()), []*selector.Selector{}
		change := func() {
			name := rapid.SampledFrom([]string{"c1", "c2", "c3", "c4", "c5"}).Draw(t, "name")
			if rapid.IntRange(0, 5).Draw(t, "deleted") == 0 {
				i.DeleteCluster(name)
				return
			}
			labels := []string{}
			for _, label := range []string{"x", "y"} {
				if rapid.IntRange(0, 3).Draw(t, "has") > 0 {
					labels = append(labels, label, rapid.SampledFrom([]string{"a", "b", "cc", "", strings.Repeat("d", 300)}).Draw(t, "value"))
				}
			}
			i.SetCluster(managed(name, "a", labels...))
		}
		for range rapid.IntRange(1, 8).Draw(t, "before") {
			change()
		}
		for range rapid.IntRange(1, 10).Draw(t, "steps") {
			if rapid.Bool().Draw(t, "changes") {
				change()
			}
			by := rapid.SampledFrom(selectors).Draw(t, "selector")
			key := Key{GroupKind: GroupKind(by.Identity())}
			i.Subscribe(key, Dependencies{Predicates: []*selector.Selector{by}})
			snapshot := i.SnapshotFor(key)
			indexed = append(indexed, by)
			for _, by := range indexed {
				expectMatches(t, snapshot, by)
			}
		}
	})
}

func expectMatches(t *rapid.T, snapshot *Snapshot, by *selector.Selector) {
	errors, wantErrors := map[string]string{}, map[string]string{}
	evaluation, want := &selector.EvalContext{}, &selector.EvalContext{}
	matching := snapshot.MatchCEL(by, snapshot.alive.Clone(), evaluation, func(info *clusterinfo.ClusterInfo, verdict selector.Verdict) {
		errors[info.Name] = verdict.Err.Error()
	})
	for id := range snapshot.alive.EachSet() {
		info := snapshot.ClusterInfo(id)
		verdict := by.Match(info, want)
		if verdict.Err != nil {
			wantErrors[info.Name] = verdict.Err.Error()
		}
		if matching.Test(id) != verdict.Matched {
			t.Fatalf("%s on %s with %v: %t, want %t", by, info.Name, info.Labels, matching.Test(id), verdict.Matched)
		}
	}
	if fmt.Sprint(errors) != fmt.Sprint(wantErrors) || evaluation.Cost() != want.Cost() {
		t.Fatalf("%s costs %d with errors %v, want %d and %v", by, evaluation.Cost(), errors, want.Cost(), wantErrors)
	}
	if v, known := snapshot.views.Get([]byte(by.Identity())); !known || v.celCache.totalCost != want.Cost() {
		t.Fatalf("the cached verdicts of %s do not cost %d together", by, want.Cost())
	}
}

// TestOthersLeavesOutFewClusters checks that no more clusters are left out under the mutex than is quick.
func TestOthersLeavesOutFewClusters(t *testing.T) {
	zone, index, all := clusterinfo.Property{Kind: clusterinfo.Label, Name: "zone"}, newValueIndex(), newFlags()
	index.add(zone)
	for id := range uint(maxListed + 1) {
		index.byKey[zone].add("common", id)
		all.set(id, true)
	}
	index.byKey[zone].add("rare", maxListed+1)
	all.set(maxListed+1, true)

	if others := index.others(all.bits, []selector.RequiredValue{{Key: zone, Values: []string{"common"}}}); others != nil {
		t.Errorf("%d clusters are left out", maxListed+1)
	}
	index.byKey[zone].remove("common", 0)
	if others := index.others(all.bits, []selector.RequiredValue{{Key: zone, Values: []string{"common"}}}); others == nil || others.Count() != 1 {
		t.Errorf("the others are %v, want one", others)
	}
	index.byKey[zone].add("common", 0)
	others := index.others(all.bits, []selector.RequiredValue{{Key: zone, Values: []string{"rare"}}})
	if others == nil || others.Count() != maxListed+1 {
		t.Errorf("the others are %v, want all but one", others)
	}
}

// TestOthersNeedValuesOfLabels checks that no cluster has the verdict of others while a cluster has a value that is too long for a label.
func TestOthersNeedValuesOfLabels(t *testing.T) {
	zone, index, all := clusterinfo.Property{Kind: clusterinfo.Label, Name: "zone"}, newValueIndex(), newFlags()
	index.add(zone)
	all.set(1, true)
	indexed := index.byKey[zone]
	longest := strings.Repeat("z", validation.LabelValueMaxLength)
	for _, step := range []struct {
		reason string
		do     func()
		found  bool
	}{
		{"the longest value of a label", func() { indexed.add(longest, 1) }, true},
		{"it is removed", func() { indexed.remove(longest, 1) }, true},
		{"a longer value", func() { indexed.add(longest+"z", 1) }, false},
		{"it is removed", func() { indexed.remove(longest+"z", 1) }, true},
	} {
		step.do()
		if others := index.others(all.bits, []selector.RequiredValue{{Key: zone, Values: []string{"none"}}}); (others != nil) != step.found {
			t.Errorf("%s: the others are %v, want any: %t", step.reason, others, step.found)
		}
	}
}
