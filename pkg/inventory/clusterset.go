// SPDX-License-Identifier: Apache-2.0

package inventory

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"

	"github.com/placement-hub/placement-hub/pkg/clusterinfo"
	"github.com/placement-hub/placement-hub/pkg/decoding/unreadable"
	"github.com/placement-hub/placement-hub/pkg/selector"
)

// ClusterSet is a ManagedClusterSet with its selector compiled.
type ClusterSet struct {
	// Name is the name of the set.
	Name string
	// Err describes the mistake in the set, if there is one; the members of such a set are unknown.
	Err error

	uid        types.UID
	generation int64
	exclusive  bool
	selector   *selector.Selector
	// members matches the same clusters as Contains; nil if the set has no members.
	members *selector.Selector
}

// NewClusterSet compiles a ManagedClusterSet. It returns a mistake in Err, because it concerns only the placements that use this set
// (docs/spec/differences.md A4).
func NewClusterSet(compiler *selector.Compiler, set *clusterv1beta2.ManagedClusterSet) *ClusterSet {
	compiled := &ClusterSet{Name: set.Name, uid: set.UID, generation: set.Generation}
	path := field.NewPath("spec", "clusterSelector")
	if fields := unreadable.Of(set).Under("spec"); len(fields) > 0 {
		compiled.Err = fmt.Errorf("ManagedClusterSet %s: %s", set.Name, fields)
		return compiled
	}

	switch kind := set.Spec.ClusterSelector.SelectorType; kind {
	case "", clusterv1beta2.ExclusiveClusterSetLabel:
		compiled.exclusive = true
		// If the name is no valid label value, no cluster has it and members is nil.
		compiled.members, _ = compiler.Compile(selector.Paths{}, selector.Spec{Labels: metav1.LabelSelector{
			MatchLabels: map[string]string{clusterv1beta2.ClusterSetLabel: set.Name},
		}})
	case clusterv1beta2.LabelSelector:
		labels := set.Spec.ClusterSelector.LabelSelector
		if labels == nil {
			break // A set without a selector has no members.
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

// isOf reports whether the set was compiled from this generation of the object.
func (s *ClusterSet) isOf(set *clusterv1beta2.ManagedClusterSet) bool {
	return s.uid == set.UID && s.generation == set.Generation
}

// Contains reports whether the cluster is a member, whether or not it is terminating.
func (s *ClusterSet) Contains(info *clusterinfo.ClusterInfo) bool {
	switch {
	case s.exclusive:
		return info.Labels[clusterv1beta2.ClusterSetLabel] == s.Name
	case s.selector == nil:
		return false
	default:
		return s.selector.Matches(info, &selector.EvalContext{})
	}
}

// Members returns the selector of the members; nil if the set has no members.
func (s *ClusterSet) Members() *selector.Selector { return s.members }
