// SPDX-License-Identifier: Apache-2.0

package inventory

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	"pgregory.net/rapid"

	"github.com/placement-hub/placement-hub/pkg/selector"
	"github.com/placement-hub/placement-hub/test/property"
)

// TestEventsDoNotWaitForAPlacement checks that events are handled while the predicates of a placement are evaluated for the first time: an
// event that had to wait would never return here, because the evaluation goes on only after it. The views follow the events.
func TestEventsDoNotWaitForAPlacement(t *testing.T) {
	for _, tc := range []struct {
		reason string
		// begin makes the inventory build the views of a placement.
		begin func(i *Inventory, key Key, dependencies Dependencies)
	}{
		{"a first snapshot", func(i *Inventory, key Key, dependencies Dependencies) {
			i.Subscribe(key, dependencies)
			i.SnapshotFor(key)
		}},
		{"new dependencies", func(i *Inventory, key Key, dependencies Dependencies) {
			i.Subscribe(key, Dependencies{})
			i.SnapshotFor(key)
			i.UpdateDependencies(key, dependencies)
		}},
		{"dependencies that are held before", func(i *Inventory, key Key, dependencies Dependencies) {
			i.Subscribe(key, Dependencies{})
			i.SnapshotFor(key)
			defer i.HoldViews(key, dependencies)()
			i.UpdateDependencies(key, dependencies)
		}},
		{"a set", func(i *Inventory, _ Key, _ Dependencies) {
			i.SetClusterSet(setOf("b", clusterv1beta2.LabelSelector, &metav1.LabelSelector{MatchLabels: map[string]string{"region": "eu"}}))
		}},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			const clusters = 3 * maxCatchUp
			i := New(selector.NewCompiler())
			for n := range clusters {
				i.SetCluster(managed(fmt.Sprintf("c%d", n), "a", "region", "us"))
			}

			builds := 0
			i.runBuild = func(build *viewBuild) {
				build.run()
				builds++
				evaluated := 0
				for range build.eachCluster {
					evaluated++
				}
				if evaluated != clusters {
					t.Errorf("%d clusters are evaluated, want %d", evaluated, clusters)
				}
				for n := range clusters - 1 {
					i.SetCluster(managed(fmt.Sprintf("c%d", n), "a", "region", "eu"))
				}
				i.DeleteCluster("c0")
			}

			key, dependencies := regional(t, "p", "eu")
			tc.begin(i, key, dependencies)
			if builds != 1 {
				t.Fatalf("%d builds, want one", builds)
			}
			view := i.views.byIdentity[dependencies.Predicates[0].Identity()]
			if got := view.matches.bits.Count(); got != clusters-2 {
				t.Errorf("%d clusters match, want %d", got, clusters-2)
			}
		})
	}
}

// TestViewsOfManyClusters checks that views have the clusters of all chunks, also of one that is added during the build.
func TestViewsOfManyClusters(t *testing.T) {
	const clusters = 2*chunkSize + 2
	add := func(i *Inventory, from, to int) {
		for n := from; n < to; n++ {
			i.SetCluster(managed(fmt.Sprintf("c%d", n), "a", "region", "eu"))
		}
	}
	for _, before := range []int{0, chunkSize, clusters} {
		i := New(selector.NewCompiler())
		add(i, 0, before)
		i.runBuild = func(build *viewBuild) {
			build.run()
			add(i, before, clusters)
		}
		key, dependencies := regional(t, "p", "eu")
		i.Subscribe(key, dependencies)
		s := i.SnapshotFor(key)
		if got := s.Match(dependencies.Predicates[0], s.alive).Count(); got != clusters {
			t.Errorf("%d clusters match if there were %d at first, want %d", got, before, clusters)
		}
	}
}

// TestViewsOfABuildFollowTheClusters checks that after any events, subscriptions and nested builds during a build every view has the
// clusters that its selector matches, that every index has their values, and that nothing is left when all subscribers have gone.
func TestViewsOfABuildFollowTheClusters(t *testing.T) {
	compiler := selector.NewCompiler()
	drawn := []selector.Spec{
		{},
		{Name: "c2"},
		{Labels: metav1.LabelSelector{MatchLabels: map[string]string{"region": "eu"}}},
		{Labels: metav1.LabelSelector{MatchLabels: map[string]string{"region": "us"}}, CEL: []string{`managedCluster.metadata.name != "c1"`}},
		{Labels: metav1.LabelSelector{MatchLabels: map[string]string{"region": "us"}, MatchExpressions: []metav1.LabelSelectorRequirement{
			{Key: "region", Operator: metav1.LabelSelectorOpIn, Values: []string{"eu", "us"}},
			{Key: "absent", Operator: metav1.LabelSelectorOpDoesNotExist},
		}}},
		{Claims: []metav1.LabelSelectorRequirement{{Key: "claim", Operator: metav1.LabelSelectorOpIn, Values: []string{"x"}}}},
	}

	property.Check(t, func(t *rapid.T) {
		i, there := New(compiler), noObjects()
		depth := 0

		subscribe := func(t *rapid.T) {
			key := NewPlacementKey(V1beta1, "ns1", pick(t, "placement", "p", "q"))
			var dependencies Dependencies
			for _, spec := range rapid.SliceOfN(rapid.SampledFrom(drawn), 0, 4).Draw(t, "predicates") {
				predicate, errs := compiler.Compile(selector.Paths{}, spec)
				if err := errs.ToAggregate(); err != nil {
					t.Fatal(err)
				}
				dependencies.Predicates = append(dependencies.Predicates, predicate)
				dependencies.Clauses = append(dependencies.Clauses, predicate.Clauses())
			}

			switch pick(t, "how", "subscribe", "update", "unsubscribe") {
			case "subscribe":
				i.Subscribe(key, dependencies)
				i.SnapshotFor(key)
			case "update":
				i.UpdateDependencies(key, dependencies)
			default:
				i.Unsubscribe(key)
			}
		}

		i.runBuild = func(build *viewBuild) {
			depth++
			if depth > 2 {
				build.run()
				depth--
				return
			}
			before := rapid.Bool().Draw(t, "before")
			if !before {
				build.run()
			}

			for range rapid.IntRange(0, 8).Draw(t, "events during a build") {
				if rapid.IntRange(0, 4).Draw(t, "subscribe") == 0 {
					subscribe(t)
				} else {
					there.event(t, i)
				}
			}
			if before {
				build.run()
			}

			depth--
		}

		for range rapid.IntRange(1, 12).Draw(t, "steps") {
			if rapid.Bool().Draw(t, "event") {
				there.event(t, i)
			} else {
				subscribe(t)
			}
			checkViews(t, i)
		}

		for _, name := range []string{"p", "q"} {
			i.Unsubscribe(NewPlacementKey(V1beta1, "ns1", name))
		}
		if got := len(i.views.byIdentity); got > len(i.members) {
			t.Fatalf("%d views are left for %d sets", got, len(i.members))
		}
	})
}

func checkViews(t *rapid.T, i *Inventory) {
	t.Helper()
	for _, v := range i.views.byIdentity {
		want := newFlags()
		for id, f := range i.eachCluster {
			want.set(id, v.static.Matches(f, &selector.EvalContext{}))
		}
		if !v.matches.bits.Equal(want.bits) && v.matches.bits.SymmetricDifferenceCardinality(want.bits) > 0 {
			t.Fatalf("%v has the clusters %v, want %v", v.selector, v.matches.bits, want.bits)
		}
	}

	for key, kept := range i.views.index.byKey {
		plain := newValueIndex()
		plain.add(key)
		plain.build(i.eachCluster)
		for _, all := range []map[string][]uint32{plain.byKey[key].ids, kept.ids} {
			for value := range all {
				slices.Sort(all[value])
			}
		}

		if diff := cmp.Diff(plain.byKey[key].ids, kept.ids); diff != "" {
			t.Fatalf("values of %v (-of the clusters +kept):\n%s", key, diff)
		}
	}
}

// BenchmarkFirstSnapshotOfManyPredicates measures the largest placement within the limits that have no common key, on 10,000 clusters, and
// the longest time for which an event had to wait meanwhile.
func BenchmarkFirstSnapshotOfManyPredicates(b *testing.B) {
	const clusters, predicates, requirements = 10_000, 64, 100
	for _, operator := range []metav1.LabelSelectorOperator{metav1.LabelSelectorOpIn, metav1.LabelSelectorOpNotIn} {
		b.Run(string(operator), func(b *testing.B) {
			compiler := selector.NewCompiler()
			i := New(compiler)
			for n := range clusters {
				i.SetCluster(benchCluster(n, 0))
			}
			var dependencies Dependencies

			for n := range predicates {
				var spec selector.Spec
				for m := range requirements {
					spec.Labels.MatchExpressions = append(spec.Labels.MatchExpressions, metav1.LabelSelectorRequirement{
						Key: fmt.Sprintf("key-%d-%d", n, m), Operator: operator, Values: []string{"a"},
					})
				}
				predicate, errs := compiler.Compile(selector.Paths{}, spec)
				if err := errs.ToAggregate(); err != nil {
					b.Fatal(err)
				}

				dependencies.Predicates = append(dependencies.Predicates, predicate)
				dependencies.Clauses = append(dependencies.Clauses, predicate.Clauses())
			}

			key := NewPlacementKey(V1beta1, "ns", "p")
			states := [2]*clusterv1.ManagedCluster{benchCluster(7, 1), benchCluster(7, 2)}
			states[1].Spec.Taints = []clusterv1.Taint{{Key: "a", Effect: clusterv1.TaintEffectNoSelect}}
			b.ReportAllocs()
			longest := measureEvents(b, i, states, func() {
				i.Subscribe(key, dependencies)
				i.SnapshotFor(key)
			})
			b.ReportMetric(float64(longest.Microseconds())/1000, "ms/longest-event")
		})
	}
}

// measureEvents runs the loop of a benchmark while an event comes each millisecond, and returns the longest time of an event.
func measureEvents(b *testing.B, i *Inventory, states [2]*clusterv1.ManagedCluster, run func()) time.Duration {
	b.Helper()
	end, longest := make(chan struct{}), make(chan time.Duration)
	go func() {
		var slowest time.Duration
		events := time.NewTicker(time.Millisecond)
		defer events.Stop()
		for n := 0; ; n++ {
			select {
			case <-end:
				longest <- slowest
				return
			case <-events.C:
				began := time.Now()
				i.SetCluster(states[n%2])
				slowest = max(slowest, time.Since(began))
			}
		}
	}()

	for b.Loop() {
		run()
	}
	close(end)
	return <-longest
}
