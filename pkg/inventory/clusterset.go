package inventory

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"

	"github.com/placement-hub/placement-hub/pkg/clusterinfo"
	"github.com/placement-hub/placement-hub/pkg/selector"
	"github.com/placement-hub/placement-hub/pkg/unreadable"
)

// ClusterSet is a ManagedClusterSet with its selector compiled.
type ClusterSet struct {
	// Name is the name of the set.
	Name string
	// Err says what is wrong with the selector; a broken set holds no cluster that anybody could tell.
	Err error

	exclusive bool
	selector  *selector.Selector
	// members says what Holds says, for the views; nil for a set that holds nothing.
	members *selector.Selector
}

// NewClusterSet compiles a set. A mistake in it is kept in Err: it concerns the placements that use this set, and no others
// (docs/spec/differences.md A4).
func NewClusterSet(compiler *selector.Compiler, set *clusterv1beta2.ManagedClusterSet) *ClusterSet {
	compiled := &ClusterSet{Name: set.Name}
	path := field.NewPath("spec", "clusterSelector")

	if fields := unreadable.Of(set).Under("spec"); len(fields) > 0 {
		compiled.Err = fmt.Errorf("ManagedClusterSet %s: %s", set.Name, fields)

		return compiled
	}

	switch kind := set.Spec.ClusterSelector.SelectorType; kind {
	case "", clusterv1beta2.ExclusiveClusterSetLabel:
		compiled.exclusive = true
		// A name that cannot stand in a label holds nothing.
		compiled.members, _ = compiler.Compile(selector.Paths{}, selector.Spec{Labels: metav1.LabelSelector{
			MatchLabels: map[string]string{clusterv1beta2.ClusterSetLabel: set.Name},
		}})
	case clusterv1beta2.LabelSelector:
		labels := set.Spec.ClusterSelector.LabelSelector
		if labels == nil {
			break // A set without a selector holds nothing.
		}

		path := path.Child("labelSelector")
		matcher, errs := compiler.Compile(selector.Paths{Labels: path}, selector.Spec{Labels: *labels})
		compiled.selector, compiled.members = matcher, matcher

		if err := errs.ToAggregate(); err != nil {
			compiled.Err = fmt.Errorf("ManagedClusterSet %s: %w", set.Name, err)
		}
	default:
		compiled.Err = fmt.Errorf("ManagedClusterSet %s: %w", set.Name, field.NotSupported(path.Child("selectorType"), kind,
			[]clusterv1beta2.SelectorType{clusterv1beta2.ExclusiveClusterSetLabel, clusterv1beta2.LabelSelector}))
	}

	return compiled
}

// Contains reports whether the cluster is a member, terminating or not.
func (s *ClusterSet) Contains(f *clusterinfo.ClusterInfo) bool {
	switch {
	case s.exclusive:
		return f.Labels[clusterv1beta2.ClusterSetLabel] == s.Name
	case s.selector == nil:
		return false
	default:
		return s.selector.Matches(f, &selector.EvalContext{})
	}
}

// Members is the selector of the members; nil for a set that holds nothing.
func (s *ClusterSet) Members() *selector.Selector { return s.members }

// ClusterSets are all sets, sorted by name.
func (s *Snapshot) ClusterSets() []*ClusterSet {
	sets := make([]*ClusterSet, 0, s.sets.Len())

	s.sets.Root().Walk(func(_ []byte, set *ClusterSet) bool {
		sets = append(sets, set)

		return false
	})

	return sets
}
