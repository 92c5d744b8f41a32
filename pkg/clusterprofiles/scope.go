// SPDX-License-Identifier: Apache-2.0

package clusterprofiles

import (
	"slices"

	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
)

// OptOutLabel with the value "false" on a ManagedClusterSetBinding makes no ClusterProfiles for its set in its namespace.
const OptOutLabel = "placement-hub.open-cluster-management.io/cluster-profiles"

// Membership says whether a ManagedClusterSet has a cluster.
type Membership int

const (
	// NotMember is a cluster that the set does not have.
	NotMember Membership = iota
	// Unknown is a cluster of which is not known whether the set has it, because of a mistake in the set. It keeps the ClusterProfile that there
	// is, and makes none.
	Unknown
	// Member is a cluster that the set has.
	Member
)

// Scope returns the namespaces whose bindings concern a cluster, each with Member if it has the ClusterProfile of the cluster, or Unknown. The
// function says whether a set has the cluster.
func Scope(bindings []*clusterv1beta2.ManagedClusterSetBinding, of func(set string) Membership) map[string]Membership {
	namespaces := map[string]Membership{}
	for _, binding := range Counted(bindings) {
		if membership := of(binding.Spec.ClusterSet); membership > namespaces[binding.Namespace] {
			namespaces[binding.Namespace] = membership
		}
	}
	return namespaces
}

// Counted returns the bindings whose namespaces have ClusterProfiles for them.
func Counted(bindings []*clusterv1beta2.ManagedClusterSetBinding) []*clusterv1beta2.ManagedClusterSetBinding {
	return slices.DeleteFunc(slices.Clone(bindings), func(binding *clusterv1beta2.ManagedClusterSetBinding) bool { return !Counts(binding) })
}

// Counts reports whether the namespace of a binding has ClusterProfiles for it.
func Counts(binding *clusterv1beta2.ManagedClusterSetBinding) bool {
	return binding.Labels[OptOutLabel] != "false"
}
