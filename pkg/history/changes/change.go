// SPDX-License-Identifier: Apache-2.0

package changes

import (
	"strings"
	"unicode/utf8"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	placementv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/placement/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/clusterinfo"
	"github.com/placement-hub/placement-hub/pkg/history"
)

const (
	// mostFields bounds the changes that one update of an object is recorded as.
	mostFields = 20
	// longestValue bounds a recorded value, in bytes.
	longestValue = 200
)

// The kinds of objects that decisions depend on.
const (
	KindCluster   = "ManagedCluster"
	KindSet       = "ManagedClusterSet"
	KindBinding   = "ManagedClusterSetBinding"
	KindScore     = "AddOnPlacementScore"
	KindPlacement = "Placement"
	KindRequest   = "ClusterRequest"
)

// Change is the change of one field of an object, or its creation or deletion.
type Change struct {
	history.Cause

	// Properties are those of a cluster that the change is of; none for all, and for objects that are no part of a cluster.
	Properties []clusterinfo.Property
	// path leads to the field in the object.
	path []string
}

// Object names the object of the Change.
func (c *Change) Object() history.Object {
	return history.Object{Group: c.Group, Kind: c.Kind, Namespace: c.Namespace, Name: c.Name}
}

// Matters reports whether the Change may matter to who reads these properties of clusters.
func (c *Change) Matters(reads []clusterinfo.Property) bool {
	return len(c.Properties) == 0 || clusterinfo.Affects(reads, c.Properties)
}

// subject returns what every Change of an object says; false for a kind that no decision depends on.
func subject(object metav1.Object) (history.Cause, bool) {
	cause := history.Cause{Namespace: object.GetNamespace(), Name: object.GetName(), UID: string(object.GetUID())}
	switch object.(type) {
	case *clusterv1.ManagedCluster:
		cause.Group, cause.Kind = clusterv1.GroupName, KindCluster
	case *clusterv1beta2.ManagedClusterSet:
		cause.Group, cause.Kind = clusterv1beta2.GroupName, KindSet
	case *clusterv1beta2.ManagedClusterSetBinding:
		cause.Group, cause.Kind = clusterv1beta2.GroupName, KindBinding
	case *clusterv1alpha1.AddOnPlacementScore:
		cause.Group, cause.Kind = clusterv1alpha1.GroupName, KindScore
	case *clusterv1beta1.Placement:
		cause.Group, cause.Kind = clusterv1beta1.GroupName, KindPlacement
	case *placementv1alpha1.Placement:
		cause.Group, cause.Kind = placementv1alpha1.GroupName, KindPlacement
	case *openmcpv1alpha1.ClusterRequest:
		cause.Group, cause.Kind = openmcpv1alpha1.GroupVersion.Group, KindRequest
	default:
		return cause, false
	}
	return cause, true
}

// Between returns the changes between two states of one object, at most 20. A nil state means that there is no object; both states must not be nil.
// The values of Time and Manager are left to the caller.
func Between(before, after metav1.Object) []Change {
	switch {
	case before == nil:
		return whole(after, history.Created)
	case after == nil:
		return whole(before, history.Deleted)
	case before.GetResourceVersion() == after.GetResourceVersion():
		return nil
	}
	found := collector{}
	found.differ(before, after)
	if before.GetDeletionTimestamp() == nil && after.GetDeletionTimestamp() != nil {
		found.add(Change{
			Cause: history.Cause{Field: "metadata.deletionTimestamp", What: "deletion", Action: history.Added},
			path:  []string{"metadata", "deletionTimestamp"},
		})
	}
	if len(found.changes) == 0 {
		return nil
	}
	return named(after, found.changes)
}

// collector collects changes.
type collector struct{ changes []Change }

// differ adds the changes of the fields that decisions depend on.
func (c *collector) differ(before, after metav1.Object) {
	switch after := after.(type) {
	case *clusterv1.ManagedCluster:
		if before, is := before.(*clusterv1.ManagedCluster); is {
			c.cluster(before, after)
		}
	case *clusterv1beta2.ManagedClusterSet:
		if before, is := before.(*clusterv1beta2.ManagedClusterSet); is {
			c.fields(before, after, &before.Spec, &after.Spec)
		}
	case *clusterv1alpha1.AddOnPlacementScore:
		if before, is := before.(*clusterv1alpha1.AddOnPlacementScore); is {
			c.scores(before, after)
		}
	case *clusterv1beta1.Placement:
		if before, is := before.(*clusterv1beta1.Placement); is {
			c.placement(before, after, &before.Spec, &after.Spec)
		}
	case *placementv1alpha1.Placement:
		if before, is := before.(*placementv1alpha1.Placement); is {
			c.placement(before, after, &before.Spec, &after.Spec)
		}
	case *openmcpv1alpha1.ClusterRequest:
		if before, is := before.(*openmcpv1alpha1.ClusterRequest); is {
			c.fields(before, after, &before.Spec, &after.Spec)
		}
	}
}

// whole returns the creation or the deletion of an object.
func whole(object metav1.Object, action history.Action) []Change {
	return named(object, []Change{{Cause: history.Cause{Action: action}}})
}

// named adds the object to its changes.
func named(object metav1.Object, changes []Change) []Change {
	of, known := subject(object)
	if !known {
		return nil
	}
	for i := range changes {
		cause := &changes[i].Cause
		cause.Group, cause.Kind, cause.Namespace, cause.Name, cause.UID = of.Group, of.Kind, of.Namespace, of.Name, of.UID
	}
	return changes
}

// add adds a Change, unless there are enough.
func (c *collector) add(change Change) {
	if len(c.changes) < mostFields {
		change.Old, change.New = cut(change.Old), cut(change.New)
		c.changes = append(c.changes, change)
	}
}

// value adds the change of a value, of which nil means that there is none.
func (c *collector) value(before, after *string, change Change) {
	switch {
	case before == nil && after == nil, before != nil && after != nil && *before == *after:
		return
	case before == nil:
		change.Action, change.New = history.Added, *after
	case after == nil:
		change.Action, change.Old = history.Removed, *before
	default:
		change.Action, change.Old, change.New = history.Changed, *before, *after
	}
	c.add(change)
}

// cut cuts a value that is too long, between two characters.
func cut(value string) string {
	if len(value) <= longestValue {
		return strings.Clone(value) // It would keep a whole object alive.
	}
	end := longestValue
	for end > 0 && !utf8.RuneStart(value[end]) {
		end--
	}
	return value[:end] + "..."
}

// Known reports whether decisions depend on an object of this kind.
func Known(object metav1.Object) bool {
	_, known := subject(object)
	return known
}
