// SPDX-License-Identifier: Apache-2.0

package setlist

import (
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"

	"github.com/placement-hub/placement-hub/pkg/clusterinfo"
	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/selector"
)

// Membership finds the clusters of ManagedClusterSets by the rules of the hub. It is not safe for concurrent use.
type Membership struct{ compiler *selector.Compiler }

// NewMembership returns a Membership.
func NewMembership() *Membership { return &Membership{compiler: selector.NewCompiler()} }

// BySelector returns the members of a set that selects clusters; nil for a set whose clusters name it by a label.
func (m *Membership) BySelector(set *clusterv1beta2.ManagedClusterSet) *Members {
	if kind := set.Spec.ClusterSelector.SelectorType; kind == "" || kind == clusterv1beta2.ExclusiveClusterSetLabel {
		return nil
	}
	return &Members{inventory.NewClusterSet(m.compiler, set)}
}

// Members are the clusters of a set with a selector.
type Members struct{ set *inventory.ClusterSet }

// Err returns the mistake in the set, whose members are unknown then; nil for none.
func (m *Members) Err() error { return m.set.Err }

// Contains reports whether a cluster with some labels is in the set, which reads nothing else of a cluster.
func (m *Members) Contains(labels map[string]string) bool {
	return m.set.Err == nil && m.set.Contains(&clusterinfo.ClusterInfo{Labels: labels})
}
