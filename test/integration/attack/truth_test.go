// SPDX-License-Identifier: Apache-2.0

package attack

import (
	"maps"
	"slices"
	"time"

	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	placementv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/placement/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/placement/api"
	"github.com/placement-hub/placement-hub/pkg/scheduling"
	"github.com/placement-hub/placement-hub/pkg/selector"
)

// truth is the state of the world that the API server holds after each write of the tests, and which clusters have been selected in every
// one of these states since the batch began.
type truth struct {
	compiler   *selector.Compiler
	inventory  *inventory.Inventory
	placements map[inventory.Key]*api.Placement
	staying    map[inventory.Key]map[string]bool
	// removed are the placements that were deleted in the batch. The garbage collector deletes their pages in any order.
	removed map[inventory.Key]bool
}

func newTruth() *truth {
	compiler := selector.NewCompiler()
	return &truth{
		compiler: compiler, inventory: inventory.New(compiler), placements: map[inventory.Key]*api.Placement{},
		staying: map[inventory.Key]map[string]bool{}, removed: map[inventory.Key]bool{},
	}
}

// set takes in an object as the API server holds it now.
func (t *truth) set(object client.Object) {
	switch object := object.(type) {
	case *clusterv1.ManagedCluster:
		t.inventory.SetCluster(object)
	case *clusterv1beta2.ManagedClusterSet:
		t.inventory.SetClusterSet(object)
	case *clusterv1beta2.ManagedClusterSetBinding:
		t.inventory.SetBinding(object)
	case *clusterv1alpha1.AddOnPlacementScore:
		t.inventory.SetScores(object)
	case *clusterv1beta1.Placement, *placementv1alpha1.Placement:
		placement := api.Read(object)
		t.placements[placement.Key()] = placement
	default:
		return
	}

	t.look()
}

// remove takes in that an object does not exist any more.
func (t *truth) remove(object client.Object) {
	switch object := object.(type) {
	case *clusterv1.ManagedCluster:
		t.inventory.DeleteCluster(object.Name)
	case *clusterv1beta2.ManagedClusterSet:
		t.inventory.DeleteClusterSet(object.Name)
	case *clusterv1beta2.ManagedClusterSetBinding:
		t.inventory.DeleteBinding(object.Namespace, object.Name)
	case *clusterv1alpha1.AddOnPlacementScore:
		t.inventory.DeleteScores(object.Namespace, object.Name)
	case *clusterv1beta1.Placement, *placementv1alpha1.Placement:
		key := api.Read(object).Key()
		delete(t.placements, key)
		t.removed[key] = true
	default:
		return
	}

	t.look()
}

// begin starts a batch with the decisions of a quiet state.
func (t *truth) begin(decisions map[inventory.Key]map[string]bool) {
	t.staying, t.removed = map[inventory.Key]map[string]bool{}, map[inventory.Key]bool{}
	for key, clusters := range decisions {
		t.staying[key] = maps.Clone(clusters)
	}
	t.look()
}

// look keeps of the clusters that stay those that are selected now.
func (t *truth) look() {
	snapshot := t.inventory.Snapshot()
	now := time.Now()
	for key, staying := range t.staying {
		placement := t.placements[key]
		switch {
		case len(staying) == 0:
		case placement == nil, placement.DeletionTimestamp != nil, natureOf(placement) != certain:
			clear(staying)
		default:
			request := placement.Request(t.compiler)
			t.keep(staying, scheduling.Reference(request, snapshot, staying, now))
			if placement.Wanted != nil { // Others that were selected meanwhile may compete for the places.
				t.keep(staying, scheduling.Reference(request, snapshot, everyCluster(snapshot), now))
			}
		}
	}
}

// keep drops the clusters that are not selected. A result that holds the decisions selects what there is.
func (t *truth) keep(staying map[string]bool, result *scheduling.Result) {
	if result.Outcome() != scheduling.Decided {
		return
	}
	selected := map[string]bool{}
	for _, verdict := range result.Best() {
		selected[verdict.Cluster.Name] = true
	}
	maps.DeleteFunc(staying, func(name string, _ bool) bool { return !selected[name] })
}

// stays are the clusters that were selected in every state of the batch, sorted.
func (t *truth) stays(key inventory.Key) []string {
	return slices.Sorted(maps.Keys(t.staying[key]))
}

func everyCluster(snapshot *inventory.Snapshot) map[string]bool {
	names := map[string]bool{}
	for _, f := range snapshot.Clusters() {
		names[f.Name] = true
	}
	return names
}

// nature is how much can be said of the result of a placement.
type nature int

const (
	// certain results follow from the objects and the decisions of the placement itself.
	certain nature = iota
	// settled results do so once everything is quiet, but on the way there they depend on the order of events or on time.
	settled
	// dependent results depend on the decisions of other placements, or on the order in which clusters came.
	dependent
)

// natureOf tells the nature of a placement by its spec.
func natureOf(placement *api.Placement) nature {
	switch object := placement.Object.(type) {
	case *placementv1alpha1.Placement:
		if object.Spec.NumberOfClusters != nil || object.Spec.AntiAffinity.TopologyKey != "" {
			return dependent
		}
	case *clusterv1beta1.Placement:
		exact := object.Spec.PrioritizerPolicy.Mode == clusterv1beta1.PrioritizerPolicyModeExact
		if len(object.Spec.SpreadPolicy.SpreadConstraints) > 0 || object.Spec.NumberOfClusters != nil && !exact {
			return dependent
		}
		if slices.ContainsFunc(object.Spec.Tolerations, func(t clusterv1beta1.Toleration) bool { return t.TolerationSeconds != nil }) {
			return settled
		}
	}

	return certain
}
