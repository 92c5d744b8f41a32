// SPDX-License-Identifier: Apache-2.0

package setlist

// List has the sets that a user may use in a namespace. Its JSON names are stable.
type List struct {
	// Namespace is the namespace whose bindings are listed; empty for all namespaces.
	Namespace string `json:"namespace"`
	// Sets are those that the user may bind or that are bound to a listed namespace, sorted by name.
	Sets []Set `json:"sets"`
	// Hidden is the number of other sets of the hub; absent when Unlisted is not empty.
	Hidden *int `json:"hidden,omitempty"`
	// Unreviewed reports that the list is of a snapshot, which does not have the rights of users. Sets are then all sets.
	Unreviewed bool `json:"unreviewed,omitempty"`
	// Unlisted says why the sets of the hub could not be listed; Sets are then the bound ones.
	Unlisted string `json:"unlisted,omitempty"`
}

// Set is a ManagedClusterSet.
type Set struct {
	Name string `json:"name"`
	// MayBind says that the user may create a ManagedClusterSetBinding for it in any namespace in which the user may create bindings.
	MayBind bool `json:"mayBind"`
	// Bound says that a binding is there, and Managed that the controller clustersetbinding-rbac keeps it, in every namespace if several are listed.
	Bound   bool `json:"bound"`
	Managed bool `json:"managed,omitempty"`
	// Namespaces are those with a binding, sorted, if the bindings of all namespaces are listed.
	Namespaces []string `json:"namespaces,omitempty"`
	// Missing says that there is no such set on the hub.
	Missing bool `json:"missing,omitempty"`
}
