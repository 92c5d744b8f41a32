// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
)

const (
	everything = "everything"
	production = "production"
	// Reserve is a set that no namespace is bound to: of every fiftieth cluster.
	Reserve = "reserve"
	// reserved is how many clusters there are to one in the reserve.
	reserved = 50
)

// exclusiveSets is how many sets beside the reserve hold each cluster once, by its label. Two more hold clusters by selectors: a large fleet has
// 100 in all.
func (s Size) exclusiveSets() int {
	if s.Large() {
		return 97
	}
	return 8
}

// exclusiveSet is the set that a cluster is a member of by its label.
func (s Size) exclusiveSet(i int) string {
	if i%reserved == reserved-1 {
		return Reserve
	}
	return "set-" + strconv.Itoa(i%s.exclusiveSets())
}

// Sets are all ManagedClusterSets.
func (s Size) Sets() []*clusterv1beta2.ManagedClusterSet {
	set := func(name string, selector *metav1.LabelSelector) *clusterv1beta2.ManagedClusterSet {
		set := &clusterv1beta2.ManagedClusterSet{ObjectMeta: metav1.ObjectMeta{Name: name}}
		if selector != nil {
			set.Spec.ClusterSelector = clusterv1beta2.ManagedClusterSelector{SelectorType: clusterv1beta2.LabelSelector, LabelSelector: selector}
		}
		return set
	}
	sets := append(make([]*clusterv1beta2.ManagedClusterSet, 0, 3+s.exclusiveSets()),
		set(everything, &metav1.LabelSelector{}),
		set(production, &metav1.LabelSelector{MatchLabels: map[string]string{"env": "prod"}}),
		set(Reserve, nil),
	)
	for i := range s.exclusiveSets() {
		sets = append(sets, set("set-"+strconv.Itoa(i), nil))
	}
	return sets
}

// Namespaces is how many namespaces the placements are spread over: a multiple of the four ways in which sets are bound.
func (s Size) Namespaces() int {
	if s.Large() {
		return 500
	}
	return min(max(s.Placements/80*4, 20), 100)
}

// Namespace is the name of a namespace; the numbers go round.
func (s Size) Namespace(i int) string { return "tenant-" + strconv.Itoa(i%s.Namespaces()) }

// bound are the sets that a namespace is bound to: everything, all exclusive ones but the reserve, or those of one half.
func (s Size) bound(namespace int) []string {
	var sets []string
	for i := range s.exclusiveSets() {
		half := i < s.exclusiveSets()/2
		if kind := namespace % 4; kind == 1 || kind == 2 && half || kind == 3 && !half {
			sets = append(sets, "set-"+strconv.Itoa(i))
		}
	}
	switch namespace % 4 {
	case 0:
		return []string{everything}
	case 3:
		return append(sets, production)
	}
	return sets
}

// Gaining are the namespaces that a scenario binds to the reserve at once: all that do not have every cluster anyway, and 100 of a large fleet.
func (s Size) Gaining() []int {
	var namespaces []int
	for i := range s.Namespaces() {
		if i%4 != 0 && (!s.Large() || len(namespaces) < 100) {
			namespaces = append(namespaces, i)
		}
	}
	return namespaces
}

// Bindings are the ManagedClusterSetBindings of a namespace.
func (s Size) Bindings(namespace int) []*clusterv1beta2.ManagedClusterSetBinding {
	sets := s.bound(namespace)
	bindings := make([]*clusterv1beta2.ManagedClusterSetBinding, 0, len(sets))
	for _, set := range sets {
		bindings = append(bindings, s.Binding(namespace, set))
	}
	return bindings
}

// Binding binds a namespace to a set.
func (s Size) Binding(namespace int, set string) *clusterv1beta2.ManagedClusterSetBinding {
	return &clusterv1beta2.ManagedClusterSetBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace(namespace), Name: set},
		Spec:       clusterv1beta2.ManagedClusterSetBindingSpec{ClusterSet: set},
	}
}
