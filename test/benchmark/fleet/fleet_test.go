// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"encoding/json"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/placement/api"
	"github.com/placement-hub/placement-hub/pkg/scheduling"
	"github.com/placement-hub/placement-hub/pkg/selector"
)

func TestSizesAreReadAsTheyAreWritten(t *testing.T) {
	for _, tc := range []struct {
		reason, text string
		want         []Size
		wrong        bool
	}{
		{reason: "nothing asked for: the usual ones", text: "", want: []Size{{100, 100}, {1000, 500}, {2000, 1000}}},
		{reason: "everything", text: "all", want: Sizes()[:6]},
		{reason: "a large one", text: "50000x10000", want: Sizes()[6:]},
		{reason: "some", text: "100x200,5000x2000", want: []Size{{100, 200}, {5000, 2000}}},
		{reason: "too small for the parts of a fleet", text: "10x100", wrong: true},
		{reason: "not two numbers", text: "100", wrong: true},
		{reason: "not a number", text: "100xmany", wrong: true},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			got, err := ParseSizes(tc.text)
			if (err != nil) != tc.wrong {
				t.Fatalf("ParseSizes(%q): %v, want an error: %t", tc.text, err, tc.wrong)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// evaluator runs the scheduler over all clusters of a fleet.
type evaluator struct {
	compiler *selector.Compiler
	snapshot *inventory.Snapshot
}

func newEvaluator(s Size) evaluator {
	compiler := selector.NewCompiler()
	inv := inventory.New(compiler)
	for i := range s.Clusters {
		if scores := s.Scores(i); scores != nil {
			inv.SetScores(scores)
		}
		inv.SetCluster(s.Cluster(i))
	}
	for i := range s.Namespaces() {
		for _, binding := range s.Bindings(i) {
			inv.SetBinding(binding)
		}
	}
	for _, set := range s.Sets() {
		inv.SetClusterSet(set)
	}
	return evaluator{compiler: compiler, snapshot: inv.Snapshot()}
}

// The averages are those that the sizes are known by; they are worked out from one placement of each kind in each sort of namespace.
func TestPlacementsSelectAsManyClustersAsTheSizeSays(t *testing.T) {
	a := newEvaluator(Size{10000, 1000})
	for _, tc := range []struct {
		size      Size
		want, off float64
	}{{Size{10000, 1000}, 830, 40}, {Size{10000, 10000}, 20, 2}, {Size{50000, 10000}, 20, 2}} {
		t.Run(tc.size.String(), func(t *testing.T) {
			a := a
			if tc.size.Large() {
				a = newEvaluator(tc.size) // The clusters of the others are the same.
			}
			average, weights := 0.0, 0
			for _, kind := range kinds() {
				weight, selected := tc.size.weight(kind), 0
				weights += weight
				const scopes = 4
				for scope := range scopes {
					placement := tc.size.named(scope, kind.name, kind.spec(tc.size, 5+scope))
					result := scheduling.Reference(api.V1beta1.Read(placement).Request(a.compiler), a.snapshot, nil, time.Now())
					if result.Outcome() != scheduling.Decided {
						t.Errorf("kind %s is refused: %v", kind.name, result.Errors)
					}
					selected += len(result.Selected)
				}
				average += float64(weight) / 1000 * float64(selected) / scopes
			}
			for i := range tc.size.Placements {
				if tc.size.selectsAll(i) {
					result := scheduling.Reference(api.V1beta1.Read(tc.size.Placement(i)).Request(a.compiler), a.snapshot, nil, time.Now())
					average += float64(len(result.Selected)) / float64(tc.size.Placements)
				}
			}
			if weights != 1000 {
				t.Errorf("the weights of the kinds add up to %d, want 1000", weights)
			}
			if math.Abs(average-tc.want) > tc.off {
				t.Errorf("%.1f clusters are selected on average, want %.0f ± %.0f", average, tc.want, tc.off)
			}
		})
	}
}

func TestTheLabelConcernsTwentyPlacements(t *testing.T) {
	for _, s := range Sizes() {
		names := map[string]bool{}
		concerned := 0
		for i := range s.Placements {
			placement := s.Placement(i)
			names[placement.Namespace+"/"+placement.Name] = true
			for _, predicate := range placement.Spec.Predicates {
				if _, reads := predicate.RequiredClusterSelector.LabelSelector.MatchLabels[Concern]; reads {
					concerned++
				}
			}
			if i < Concerned && s.bound(i * 4 % s.Namespaces())[0] != everything {
				t.Errorf("%s: placement %d does not see every cluster", s, i)
			}
		}
		if concerned != Concerned || len(names) != s.Placements {
			t.Errorf("%s: %d placements are concerned and %d have names of their own, want %d and %d",
				s, concerned, len(names), Concerned, s.Placements)
		}
	}
	steered := Sizes()[0].Cluster(SteeredCluster)
	if _, has := steered.Labels[Concern]; has || len(steered.Spec.Taints) > 0 {
		t.Errorf("cluster %s has labels %v and taints %v, so that its label would change nothing", steered.Name, steered.Labels, steered.Spec.Taints)
	}
}

func TestClustersAreAsLargeAsReal(t *testing.T) {
	cluster := Sizes()[0].Cluster(42)
	text, err := json.Marshal(cluster)
	if err != nil {
		t.Fatal(err)
	}
	if len(text) < 2500 || len(text) > 4000 || len(cluster.Labels) < 10 || len(cluster.Status.ClusterClaims) != 10 {
		t.Errorf("a cluster has %d bytes, %d labels and %d claims", len(text), len(cluster.Labels), len(cluster.Status.ClusterClaims))
	}
}

func TestAHeartbeatChangesNothingThatPlacementsRead(t *testing.T) {
	compiler := selector.NewCompiler()
	inv := inventory.New(compiler)
	cluster := Sizes()[0].Cluster(1)
	inv.SetCluster(cluster)
	for i := range kinds() {
		placement := Sizes()[0].named(0, kinds()[i].name, kinds()[i].spec(Sizes()[0], i))
		if reads := api.V1beta1.Read(placement).Request(compiler).Dependencies().Reads; len(reads) == 0 && kinds()[i].name != "all" {
			t.Errorf("kind %s reads nothing", kinds()[i].name)
		}
	}
	beaten := cluster.DeepCopy()
	beaten.Status.Conditions = Conditions(1)
	if diff := cmp.Diff(cluster, beaten); diff == "" {
		t.Error("two heartbeats are the same, so the API server would not write the second one")
	}
	beaten.Status.Conditions = cluster.Status.Conditions
	if diff := cmp.Diff(cluster, beaten); diff != "" {
		t.Errorf("a heartbeat changes more than the conditions:\n%s", diff)
	}
}

func TestALargeFleetHasAHundredSetsInFiveHundredNamespaces(t *testing.T) {
	size := Sizes()[6]
	sets := map[string]bool{}
	for _, set := range size.Sets() {
		sets[set.Name] = true
	}
	if len(sets) != 100 || size.Namespaces() != 500 {
		t.Errorf("%d sets and %d namespaces, want 100 and 500", len(sets), size.Namespaces())
	}
	for i := range size.Clusters {
		if set := size.exclusiveSet(i); !sets[set] {
			t.Fatalf("cluster %d is a member of set %s, which is not there", i, set)
		}
	}
}
