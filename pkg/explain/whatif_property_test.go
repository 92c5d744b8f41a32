// SPDX-License-Identifier: Apache-2.0

package explain_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	"pgregory.net/rapid"

	placementv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/placement/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/explain"
	"github.com/placement-hub/placement-hub/pkg/explain/whatif"
	"github.com/placement-hub/placement-hub/pkg/placement/api"
	"github.com/placement-hub/placement-hub/test/property"
)

// A what-if equals an evaluation of the whole changed State, whatever decisions exist.
func TestWhatIfMatchesEvaluationOfTheChangedState(t *testing.T) {
	property.Check(t, func(t *rapid.T) {
		state := settled(drawState(t))
		state = drawChanged(t, state, "before") // Now the written decisions may be behind.
		after := drawChanged(t, state, "what if")

		whatIf := explain.NewWhatIf(state, after, nil, noon)
		listed, held := map[string]explain.Difference{}, map[string]bool{}
		for _, difference := range whatIf.Placements {
			listed[difference.Key.String()] = difference
		}
		for _, placement := range whatIf.Stalled {
			held[placement.Placement+placement.API] = true
		}

		for _, want := range explain.Diff(state, after, nil, noon).Placements {
			got, is := listed[want.Key.String()]
			switch {
			case want.Stalled != "":
				if !held[want.Placement+want.API] || is {
					t.Fatalf("%s is held, and not told so", want.Key)
				}
			case is:
				got.ChangesAt = nil // Only a what-if tells that.
				if diff := cmp.Diff(want, got); diff != "" {
					t.Fatalf("%s (-whole world +what if):\n%s", want.Key, diff)
				}
			case due(want):
				t.Fatalf("%s differs, and is not told of: %+v", want.Key, want)
			}
		}
	})
}

// due reports whether anything differs that would not come anyway.
func due(d explain.Difference) bool {
	for _, gain := range d.Gained {
		if !gain.Anyway {
			return true
		}
	}
	for _, loss := range d.Lost {
		if !loss.Anyway {
			return true
		}
	}

	for _, move := range d.Moved {
		if !move.Anyway {
			return true
		}
	}
	return false
}

// settled returns the State after the hub has written its decisions.
func settled(state *explain.State) *explain.State {
	after := *state
	for _, evaluation := range state.Evaluate(noon, nil) {
		for _, write := range evaluation.Plan.Writes {
			after.Decisions = append(after.Decisions, evaluation.Existing.Codec.Write(write.Desired))
		}
	}
	return &after
}

// drawChanged makes up to three changes, of which those that are mistakes are left out.
func drawChanged(t *rapid.T, state *explain.State, label string) *explain.State {
	for range rapid.IntRange(1, 3).Draw(t, label) {
		if changed, err := whatif.Apply(state, noon, drawChange(t, label)); err == nil {
			state = changed
		}
	}
	return state
}

func drawChange(t *rapid.T, label string) whatif.Change {
	cluster := rapid.SampledFrom([]string{"c0", "c1", "c2", "c3", "c9"}).Draw(t, label+": cluster")
	set := rapid.SampledFrom([]string{"prod", "eu", "default"}).Draw(t, label+": set")
	switch rapid.IntRange(0, 9).Draw(t, label+": kind") {
	case 0:
		return whatif.Label{Cluster: cluster, Key: "region", Value: drawRegion(t)}
	case 1:
		return whatif.Label{Cluster: cluster, Key: clusterv1beta2.ClusterSetLabel, Value: set}
	case 2:
		return whatif.Unlabel{Cluster: cluster, Key: "region"}
	case 3:
		return whatif.Claim{Cluster: cluster, Name: "zone", Value: drawRegion(t)}
	case 4:
		return whatif.Taint{Cluster: cluster, Taint: drawTaint(t)}
	case 5:
		return whatif.Drain{Cluster: cluster}
	case 6:
		return whatif.Remove{Cluster: cluster}
	case 7:
		return whatif.WithoutBinding{Namespace: "ns", Set: set}
	case 8:
		return whatif.WithBinding{Namespace: "ns", Set: set}
	default:
		return whatif.Add{
			Clusters: []*clusterv1.ManagedCluster{drawCluster(t, cluster)},
			Scores:   []*clusterv1alpha1.AddOnPlacementScore{drawScores(t, cluster)},
		}
	}
}

func drawRegion(t *rapid.T) string { return rapid.SampledFrom([]string{"eu", "us"}).Draw(t, "region") }

func drawTaint(t *rapid.T) clusterv1.Taint {
	return clusterv1.Taint{Key: "gpu", Effect: rapid.SampledFrom([]clusterv1.TaintEffect{
		clusterv1.TaintEffectNoSelect, clusterv1.TaintEffectNoSelectIfNew, clusterv1.TaintEffectPreferNoSelect,
	}).Draw(t, "effect")}
}

func drawCluster(t *rapid.T, name string) *clusterv1.ManagedCluster {
	cluster := &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: name, UID: "uid", ResourceVersion: "1", Labels: map[string]string{
		"region": drawRegion(t), clusterv1beta2.ClusterSetLabel: rapid.SampledFrom([]string{"prod", "default"}).Draw(t, "in set"),
	}}}
	if rapid.Bool().Draw(t, "claims") {
		cluster.Status.ClusterClaims = []clusterv1.ManagedClusterClaim{{Name: "zone", Value: drawRegion(t)}}
	}
	if rapid.IntRange(0, 3).Draw(t, "tainted") == 0 {
		cluster.Spec.Taints = []clusterv1.Taint{drawTaint(t)}
	}
	return cluster
}

func drawScores(t *rapid.T, cluster string) *clusterv1alpha1.AddOnPlacementScore {
	return &clusterv1alpha1.AddOnPlacementScore{
		ObjectMeta: metav1.ObjectMeta{Namespace: cluster, Name: "cpu"},
		Status: clusterv1alpha1.AddOnPlacementScoreStatus{Scores: []clusterv1alpha1.AddOnPlacementScoreItem{
			{Name: "free", Value: rapid.Int32Range(-3, 3).Draw(t, "score")},
		}},
	}
}

func drawState(t *rapid.T) *explain.State {
	state := &explain.State{}
	for _, set := range []struct {
		name   string
		labels *metav1.LabelSelector
	}{
		{"prod", nil}, {"default", nil}, {"eu", &metav1.LabelSelector{MatchLabels: map[string]string{"region": "eu"}}},
		{"broken", &metav1.LabelSelector{MatchLabels: map[string]string{"no key": ""}}},
	} {
		object := &clusterv1beta2.ManagedClusterSet{ObjectMeta: metav1.ObjectMeta{Name: set.name}}
		if set.labels != nil {
			object.Spec.ClusterSelector = clusterv1beta2.ManagedClusterSelector{
				SelectorType: clusterv1beta2.LabelSelector, LabelSelector: set.labels,
			}
		}
		state.ClusterSets = append(state.ClusterSets, object)

		if set.name != "broken" && rapid.Bool().Draw(t, "bound") || rapid.IntRange(0, 9).Draw(t, "bound though broken") == 0 {
			state.Bindings = append(state.Bindings, &clusterv1beta2.ManagedClusterSetBinding{
				ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: set.name},
			})
		}
	}

	for n := range rapid.IntRange(0, 4).Draw(t, "clusters") {
		cluster := drawCluster(t, fmt.Sprint("c", n))
		state.Clusters = append(state.Clusters, cluster)
		if rapid.Bool().Draw(t, "scores") {
			state.Scores = append(state.Scores, drawScores(t, cluster.Name))
		}
	}
	for n := range rapid.IntRange(1, 4).Draw(t, "placements") {
		state.Placements = append(state.Placements, drawPlacement(t, fmt.Sprint("p", n)))
	}
	return state
}

func drawPlacement(t *rapid.T, name string) api.Object {
	meta := metav1.ObjectMeta{Namespace: "ns", Name: name}
	number := rapid.SampledFrom([]*int32{nil, nil, ptr.To[int32](1), ptr.To[int32](2), ptr.To[int32](-1)}).Draw(t, "number")
	sets := rapid.SampledFrom([][]string{nil, nil, {"prod"}, {"eu", "default"}}).Draw(t, "sets")
	eu := metav1.LabelSelector{MatchLabels: map[string]string{"region": "eu"}}

	if rapid.IntRange(0, 3).Draw(t, "older") == 0 {
		placement := &placementv1alpha1.Placement{
			ObjectMeta: meta, Spec: placementv1alpha1.PlacementSpec{NumberOfClusters: number, ClusterSets: sets},
		}
		if rapid.Bool().Draw(t, "apart") {
			placement.Spec.AntiAffinity = placementv1alpha1.AntiAffinity{
				TopologyKey: "region", TopologyKeyType: placementv1alpha1.TopologyKeyTypeLabel,
			}
		}
		return placement
	}

	placement := &clusterv1beta1.Placement{
		ObjectMeta: meta, Spec: clusterv1beta1.PlacementSpec{NumberOfClusters: number, ClusterSets: sets},
	}
	switch rapid.IntRange(0, 3).Draw(t, "predicate") {
	case 0:
		placement.Spec.Predicates = []clusterv1beta1.ClusterPredicate{{RequiredClusterSelector: clusterv1beta1.ClusterSelector{LabelSelector: eu}}}
	case 1:
		placement.Spec.Predicates = []clusterv1beta1.ClusterPredicate{{RequiredClusterSelector: clusterv1beta1.ClusterSelector{
			CelSelector: clusterv1beta1.ClusterCelSelector{CelExpressions: []string{`managedCluster.metadata.labels["region"] == "us"`}},
		}}}
	default:
	}

	if rapid.Bool().Draw(t, "tolerates") {
		placement.Spec.Tolerations = []clusterv1beta1.Toleration{{Key: "gpu", Operator: clusterv1beta1.TolerationOpExists}}
	}
	if rapid.Bool().Draw(t, "scored") {
		free := &clusterv1beta1.ScoreCoordinate{
			Type: clusterv1beta1.ScoreCoordinateTypeAddOn, AddOn: &clusterv1beta1.AddOnScore{ResourceName: "cpu", ScoreName: "free"},
		}
		placement.Spec.PrioritizerPolicy.Configurations = []clusterv1beta1.PrioritizerConfig{{Weight: 2, ScoreCoordinate: free}}
		if rapid.Bool().Draw(t, "worst") {
			placement.Annotations = map[string]string{api.MissingScoreAnnotation: "worst"}
		}
	}

	if rapid.Bool().Draw(t, "groups") {
		placement.Spec.DecisionStrategy.GroupStrategy.DecisionGroups = []clusterv1beta1.DecisionGroup{{
			GroupName: "first", ClusterSelector: clusterv1beta1.GroupClusterSelector{LabelSelector: eu},
		}}
	}
	if rapid.Bool().Draw(t, "spread") {
		placement.Spec.SpreadPolicy.SpreadConstraints = []clusterv1beta1.SpreadConstraintsTerm{{
			TopologyKey: "region", TopologyKeyType: clusterv1beta1.TopologyKeyTypeLabel, MaxSkew: 1, WhenUnsatisfiable: clusterv1beta1.DoNotSchedule,
		}}
	}
	return placement
}

// A toleration that expires is reported before it does.
func TestWhatIfSaysWhatChangesLater(t *testing.T) {
	state := settled(read(t, diffFleet+placementA("", "{tolerations: [{key: gpu, operator: Exists, tolerationSeconds: 60}]}")))

	after, err := whatif.Apply(state, noon, whatif.Taint{
		Cluster: "eu1", Taint: clusterv1.Taint{Key: "gpu", Effect: clusterv1.TaintEffectNoSelect},
	})
	if err != nil {
		t.Fatal(err)
	}
	whatIf := explain.NewWhatIf(state, after, nil, noon)
	if want := (explain.WhatIfSummary{Later: 1}); whatIf.Summary != want || len(whatIf.Placements) != 1 {
		t.Fatalf("summary is %+v of %d placements, want %+v of 1", whatIf.Summary, len(whatIf.Placements), want)
	}

	if at := whatIf.Placements[0].ChangesAt; at == nil || at.Before(&metav1.Time{Time: noon.Add(time.Minute)}) {
		t.Errorf("it changes at %v, want a minute after %v", at, noon)
	}
}
