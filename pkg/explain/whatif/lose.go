// SPDX-License-Identifier: Apache-2.0

package whatif

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"

	"github.com/placement-hub/placement-hub/pkg/clustersets"
	"github.com/placement-hub/placement-hub/pkg/explain"
)

// Lose makes a cluster unreachable: no agent reports its availability any more, so that the condition Available is Unknown and it has the taint
// unreachable. A cluster that is being deleted, or whose taints cannot be read, gets no taint, as on a hub.
type Lose struct {
	Cluster string
	// Ago is how long before the change the cluster became unreachable, so that tolerations of the taint end.
	Ago time.Duration
}

// String is "lose c7".
func (l Lose) String() string { return "lose " + l.Cluster }

// Apply implements Change.
func (l Lose) Apply(state *explain.State, now time.Time) (*explain.State, error) {
	since := stamp(now.Add(-l.Ago))
	return withCluster(state, l.Cluster, func(cluster *clusterv1.ManagedCluster) error {
		meta.SetStatusCondition(&cluster.Status.Conditions, metav1.Condition{
			Type: clusterv1.ManagedClusterConditionAvailable, Status: metav1.ConditionUnknown, LastTransitionTime: since,
		})
		if !clustersets.IsTaintable(cluster) {
			return nil
		}
		cluster.Spec.Taints = slices.DeleteFunc(cluster.Spec.Taints, clustersets.IsAvailabilityTaint)
		cluster.Spec.Taints = append(cluster.Spec.Taints, clusterv1.Taint{
			Key: clusterv1.ManagedClusterTaintUnreachable, Effect: clusterv1.TaintEffectNoSelect, TimeAdded: since,
		})
		return nil
	})
}
