// SPDX-License-Identifier: Apache-2.0

package dashboard

import (
	"cmp"
	"context"
	"maps"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"

	"github.com/placement-hub/placement-hub/pkg/dashboard/lists"
	"github.com/placement-hub/placement-hub/pkg/explain/setlist"
)

// clusterSet is a ManagedClusterSet as the caller may see it.
type clusterSet struct {
	Set string `json:"set"`
	// By says how clusters come into the set: "label" or "selector"; empty if the caller may not read the set.
	By string `json:"by,omitempty"`
	// Clusters are those in the set, and Available those of them that are available; nil if the caller may not list clusters.
	Clusters  *int `json:"clusters,omitempty"`
	Available *int `json:"available,omitempty"`
	// Namespaces are those to which the set is bound, as far as the caller may list the bindings.
	Namespaces []string `json:"namespaces,omitempty"`
	// Problem says why the set has no clusters; empty for nothing.
	Problem string `json:"problem,omitempty"`
	// Link is the list of its clusters.
	Link string `json:"-"`

	selector *setlist.Members // of a set with a selector
}

// Shown are the first namespaces, and NamespacesMore counts the others.
func (s *clusterSet) Shown() []string { return s.Namespaces[:min(len(s.Namespaces), namespacesShown)] }

// NamespacesMore counts the namespaces that are not among those of Shown.
func (s *clusterSet) NamespacesMore() int { return len(s.Namespaces) - len(s.Shown()) }

// namespacesShown bounds the namespaces of a set in a row.
const namespacesShown = 3

// setsResource is the resource of ManagedClusterSets, and bindingsResource that of ManagedClusterSetBindings.
const (
	setsResource     = "managedclustersets"
	bindingsResource = "managedclustersetbindings"
)

// The ways by which clusters come into a set.
const (
	byLabel    = "label"
	bySelector = "selector"
)

// setIndex knows the sets and their namespaces.
type setIndex struct {
	sets []clusterSet
	// bySelector are the indices of the sets with a selector.
	bySelector []int
	// bound are the sets of each namespace, as far as the caller may list the bindings.
	bound      map[string][]string
	membership *setlist.Membership
	// Unread are the resources that the caller may not list.
	Unread []string

	refused error // The first refusal.
}

// readSets returns the sets that the caller may read, and those that are bound to namespaces.
func (v *visit) readSets(ctx context.Context, namespaces []string) (*setIndex, error) {
	x, all := &setIndex{bound: map[string][]string{}, membership: setlist.NewMembership()}, []string{metav1.NamespaceAll}
	err := eachObject(ctx, v.reader(), all, &clusterv1beta2.ManagedClusterSetList{}, func(object runtime.Object) error {
		if set, is := object.(*clusterv1beta2.ManagedClusterSet); is {
			x.addSet(set)
		}
		return nil
	})
	if err := x.tolerate(setsResource, err); err != nil {
		return nil, err
	}
	slices.SortFunc(x.sets, func(a, b clusterSet) int { return cmp.Compare(a.Set, b.Set) })
	for i := range x.sets {
		if x.sets[i].selector != nil {
			x.bySelector = append(x.bySelector, i)
		}
	}
	err = eachObject(ctx, v.reader(), namespaces, &clusterv1beta2.ManagedClusterSetBindingList{}, func(object runtime.Object) error {
		binding, is := object.(*clusterv1beta2.ManagedClusterSetBinding)
		if is && binding.Name == binding.Spec.ClusterSet { // Others have no effect.
			x.bind(binding.Namespace, binding.Name)
		}
		return nil
	})
	if err := x.tolerate(bindingsResource, err); err != nil {
		return nil, err
	}
	return x, nil
}

// tolerate notes that a list was refused; it returns any other error.
func (s *setIndex) tolerate(what string, err error) error {
	if err != nil && !apierrors.IsForbidden(err) {
		return err
	}
	if err != nil {
		s.Unread, s.refused = append(s.Unread, what), cmp.Or(s.refused, err)
	}
	return nil
}

func (s *setIndex) addSet(set *clusterv1beta2.ManagedClusterSet) {
	shown := clusterSet{Set: set.Name, By: byLabel, Link: setLink(set.Name)}
	if shown.selector = s.membership.BySelector(set); shown.selector != nil {
		shown.By = bySelector
		if err := shown.selector.Err(); err != nil {
			shown.Problem = err.Error()
		}
	}
	s.sets = append(s.sets, shown)
}

func setLink(set string) string { return link([]string{clustersPath}, lists.BySet, set) }

// bind notes that a set is bound to a namespace. A set that the caller may not read is known by that.
func (s *setIndex) bind(namespace, set string) {
	s.bound[namespace] = append(s.bound[namespace], set)
	at, known := s.find(set)
	if !known {
		s.sets = slices.Insert(s.sets, at, clusterSet{Set: set, Link: setLink(set)})
		for i := range s.bySelector {
			if s.bySelector[i] >= at {
				s.bySelector[i]++
			}
		}
	}
	s.sets[at].Namespaces = append(s.sets[at].Namespaces, namespace)
}

func (s *setIndex) find(set string) (at int, known bool) {
	return slices.BinarySearchFunc(s.sets, set, func(each clusterSet, set string) int { return cmp.Compare(each.Set, set) })
}

// of returns the sets of a cluster with some labels, sorted. The label of a set that the caller may not read counts, too.
func (s *setIndex) of(given map[string]string) []string {
	var in []string
	if set := given[clusterv1beta2.ClusterSetLabel]; set != "" {
		if at, known := s.find(set); !known || s.sets[at].selector == nil {
			in = append(in, set)
		}
	}
	for _, i := range s.bySelector {
		if s.sets[i].selector.Contains(given) {
			in = append(in, s.sets[i].Set)
		}
	}
	slices.Sort(in)
	return in
}

// count returns the sets with the numbers of their clusters, and one without a name for the clusters that are in none. With a set that the label of a
// cluster names and that does not exist, its clusters are in none that a Placement may use, and it is listed.
func (s *setIndex) count(seen []item) []clusterSet {
	counted := slices.Clone(s.sets)
	numbers := make(map[string]*[2]int, len(counted)+1)
	for i := range seen {
		in := seen[i].Sets
		if len(in) == 0 {
			in = []string{""}
		}
		for _, set := range in {
			if numbers[set] == nil {
				numbers[set] = &[2]int{}
			}
			numbers[set][0]++
			if seen[i].State == clusterAvailable {
				numbers[set][1]++
			}
		}
	}
	for i := range counted {
		number := numbers[counted[i].Set]
		if number == nil {
			number = &[2]int{}
		}
		counted[i].Clusters, counted[i].Available = &number[0], &number[1]
		delete(numbers, counted[i].Set)
	}
	for _, set := range slices.Sorted(maps.Keys(numbers)) {
		missing := clusterSet{Set: set, Clusters: &numbers[set][0], Available: &numbers[set][1], Link: setLink(cmp.Or(set, lists.NoSet))}
		if set != "" && !slices.Contains(s.Unread, setsResource) {
			missing.Problem = "there is no such set"
		}
		counted = append(counted, missing)
	}
	return counted
}
