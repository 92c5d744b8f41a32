// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"cmp"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/clusterrequest"
)

// ReleaseGone says how a ManagedCluster with the condition ClusterGone loses the condition, or ends.
const ReleaseGone = "to keep one, create its Cluster again, as the hub does for a ClusterRequestGrant; to release one, set its annotation " +
	openmcpv1alpha1.WithdrawAnnotation + " to \"true\", so that it is drained and deleted, or delete it, which waits for nothing that uses it"

// GoneNote returns a note for the condition ClusterGone of a ManagedCluster, with how to release it.
func GoneNote(condition metav1.Condition) string {
	return condition.Type + ": " + condition.Message + "; a deletion of the ManagedCluster releases it, too, and waits for nothing that uses it"
}

// goneNotes returns notes on the ManagedClusters of a granted Cluster that was lost with its CustomResourceDefinition.
func (o *Objects) goneNotes(granted *openmcpv1alpha1.ClusterRequestGrant) []string {
	if granted == nil {
		return nil
	}
	var notes []string

	ref := granted.Spec.ClusterRef
	for _, managed := range o.sortedManaged() {
		condition := meta.FindStatusCondition(managed.Status.Conditions, clusterrequest.ConditionClusterGone)
		if condition != nil && condition.Status == metav1.ConditionTrue &&
			managed.Annotations[openmcpv1alpha1.ClusterAnnotation] == ref.Namespace+"/"+ref.Name {
			notes = append(notes, GoneNote(*condition))
		}
	}
	return notes
}

func (o *Objects) sortedManaged() []*clusterv1.ManagedCluster {
	return slices.SortedFunc(slices.Values(o.Managed), func(a, b *clusterv1.ManagedCluster) int { return cmp.Compare(a.Name, b.Name) })
}
