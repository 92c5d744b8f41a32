// SPDX-License-Identifier: Apache-2.0

package freshness

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/placement-hub/placement-hub/pkg/clusterinfo"
)

// ProofRequest asks for the proof of a result that removes clusters from a Placement or another object that asks for clusters.
type ProofRequest struct {
	// Since is the number of the last change of the view before the snapshot of the result was taken, as Observed.Now returns it.
	Since uint64
	// Object names the object, and Meta is its metadata as it was evaluated.
	Object Object
	Meta   metav1.ObjectMeta
	// Annotations returns those annotations of the object that Meta has; nil if Meta has all.
	Annotations func(map[string]string) map[string]string
	// Others are further objects that decide about the removal by their names, in any order, whether they exist or not. The event handlers
	// of their kinds must be wrapped by Observe.
	Others []Object
	// Unobserved reports that the result depends on further objects whose events the view does not have. No request that was sent before the snapshot
	// serves the proof then, unless it is for a list of all clusters, of which each is expensive.
	Unobserved bool
	// ClusterSets are the sets that the object asks for; empty means every set that is bound to its namespace.
	ClusterSets []string
	// AnyScope reports that the clusters would be removed with any bindings and sets, so that these are not read: an object that asks for all
	// matching clusters loses one that does not match, whichever clusters are in scope.
	AnyScope bool
	// KnownBindings reports that a binding which the view does not show would not keep the clusters, because they are in scope and not feasible, or
	// are gone. A few bindings are read one by one then, and not by a list, which an API server may answer only after 100 ms.
	KnownBindings bool
	// Clusters are the clusters that decide about the removal: those that are removed and, where they are outranked, those that are selected.
	Clusters []string
	// Ranked reports that the clusters decide about each other; otherwise each one decides about itself. AllClusters reports that every cluster
	// of the hub decides.
	Ranked, AllClusters bool
	// Reads are the properties of the clusters that the result depends on; nil means all.
	Reads []clusterinfo.Property
	// Scores reports that the result depends on AddOnPlacementScores.
	Scores bool
}

// many reports whether the clusters may be compared with lists of all of them.
func (r ProofRequest) many() bool { return r.AllClusters || len(r.Clusters) > minSingleReads }

// readsBindings reports whether the shown bindings are read one by one.
func (r ProofRequest) readsBindings(shown []Object) bool {
	return r.KnownBindings && len(shown) <= minSingleReads
}

// includes reports whether the object selects from a set that is bound to its namespace.
func (r ProofRequest) includes(set string) bool {
	return !r.AnyScope && (len(r.ClusterSets) == 0 || slices.Contains(r.ClusterSets, set))
}

// sets returns the sets of the bindings that the object uses, if they decide about the removal.
func (r ProofRequest) sets(bindings []types.NamespacedName) []Object {
	var sets []Object
	for _, binding := range bindings {
		if r.includes(binding.Name) {
			sets = append(sets, Object{Resource: ClusterSets, NamespacedName: types.NamespacedName{Name: binding.Name}})
		}
	}
	return sets
}

// reads reports whether the result depends on one of the changed properties of a cluster.
func (r ProofRequest) reads(changed []clusterinfo.Property) bool {
	return len(changed) > 0 && (r.Reads == nil || clusterinfo.Affects(r.Reads, changed) ||
		slices.ContainsFunc(changed, func(of clusterinfo.Property) bool { return of.Kind == clusterinfo.Name }))
}
