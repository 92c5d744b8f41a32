// SPDX-License-Identifier: Apache-2.0

package scheduling

import (
	"maps"
	"testing"

	"k8s.io/utils/ptr"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	"pgregory.net/rapid"

	"github.com/placement-hub/placement-hub/pkg/selector"
	"github.com/placement-hub/placement-hub/test/property"
)

// docs/spec/differences.md B18: a cluster that has left the decisions lately counts for Steady, and displaces none that is in them.
func TestB18ClustersThatHaveLeftAreIncumbents(t *testing.T) {
	two := placementSpec{NumberOfClusters: ptr.To[int32](2)}
	unsteady := placementSpec{NumberOfClusters: two.NumberOfClusters, PrioritizerPolicy: exact(builtIn(Balance, 1))}
	for _, tc := range []struct {
		reason     string
		spec       placementSpec
		incumbents Incumbents
		want       []string
		// evaluations is 2 only if a cluster that comes back would displace one in the decisions.
		evaluations int
	}{
		{"without any the names decide", two, nil, []string{"c1", "c2"}, 1},
		{"those that have left come back to an empty decision", two, Incumbents{"c3": false, "c4": false}, []string{"c3", "c4"}, 1},
		{"one comes back beside the other", two, Incumbents{"c3": true, "c4": false}, []string{"c3", "c4"}, 1},
		{"none displaces a cluster in the decisions", two, Incumbents{"c4": true, "c2": false, "c3": false}, []string{"c4", "c1"}, 2},
		{"Steady without weight prefers none", unsteady, Incumbents{"c3": false, "c4": false}, []string{"c1", "c2"}, 1},
		{"without Steady it would not stay", unsteady, Incumbents{"c3": true, "c4": true}, []string{"c1", "c2"}, 1},
		{"without Steady the other does not come back", unsteady, Incumbents{"c3": true, "c4": false}, []string{"c1", "c2"}, 1},
		{"one that does not exist", two, Incumbents{"c9": false}, []string{"c1", "c2"}, 1},
		{"one comes back in place of one that does not exist", two, Incumbents{"c4": false, "c9": true}, []string{"c4", "c1"}, 1},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			w := newRandomHub(named("c1"), named("c2"), named("c3"), named("c4"))
			w.incumbents = tc.incumbents
			expect(t, "selected", tc.want, selected(w.schedule(t, tc.spec)))

			request, evaluations := ConvertV1beta1(selector.NewCompiler(), placementOf(tc.spec)), 0
			tc.incumbents.scheduleFor(func(incumbents Incumbents) *Result {
				evaluations++
				return scheduleRecorded(request, w.inventory.Snapshot(), incumbents, now, NopRecorder)
			})
			expect(t, "evaluations", tc.evaluations, evaluations)
		})
	}

	t.Run("NoSelectIfNew keeps only those in the decisions", func(t *testing.T) {
		tainted := named("c3")
		tainted.Spec.Taints = []clusterv1.Taint{{Key: "k", Effect: clusterv1.TaintEffectNoSelectIfNew}}
		w := newRandomHub(named("c1"), named("c2"), tainted)
		w.incumbents = Incumbents{"c3": false}
		expect(t, "left", []string{"c1", "c2"}, selected(w.schedule(t, two)))
		w.incumbents = Incumbents{"c3": true}
		expect(t, "in the decisions", []string{"c3", "c1"}, selected(w.schedule(t, two)))
	})
}

// docs/spec/differences.md B18: whatever decides, no cluster leaves for one that comes back.
func TestB18NoneLeavesForOneThatComesBack(t *testing.T) {
	property.Check(t, func(t *rapid.T) {
		w := newRandomHub()
		for _, name := range []string{"c1", "c2", "c3", "c4", "c5", "c6"} {
			w.inventory.SetCluster(drawRichCluster(t, name))
			w.inventory.SetScores(drawRichScore(t, name, "demo"))
		}
		spec := drawRichSpec(t)
		request := ConvertV1beta1(selector.NewCompiler(), placementOf(spec))
		all := Incumbents(rapid.MapOf(rapid.SampledFrom([]string{"c1", "c2", "c3", "c4", "c5", "c6"}), rapid.Bool()).Draw(t, "incumbents"))
		decided := maps.Clone(all)
		maps.DeleteFunc(decided, func(_ string, is bool) bool { return !is })

		with, without := same(t, request, w.inventory.Snapshot(), all), same(t, request, w.inventory.Snapshot(), decided)
		kept := map[string]bool{}
		for _, name := range selected(with) {
			kept[name] = true
		}
		if len(with.Selected) < len(without.Selected) {
			t.Fatalf("%v are selected, and %v without those that have left", selected(with), selected(without))
		}
		for _, name := range selected(without) {
			if decided[name] && !kept[name] {
				t.Fatalf("%s leaves: %v are selected, and %v without those that have left", name, selected(with), selected(without))
			}
		}
	})
}
