// SPDX-License-Identifier: Apache-2.0

package publish

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"
	clusterv1 "open-cluster-management.io/api/cluster/v1"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/decoding/unreadable"
	"github.com/placement-hub/placement-hub/pkg/hub/objects"
)

// patch sends what differs between two states of a ManagedCluster, in its status or elsewhere, unless the ManagedCluster has changed meanwhile.
// It sets the resourceVersion of the wanted state.
func (r *reconciler) patch(ctx context.Context, present, wanted *clusterv1.ManagedCluster, status bool) error {
	if equality.Semantic.DeepEqual(present, wanted) {
		return nil
	}

	// Writing a list with undecodable entries would lose them.
	if fields := unreadable.Of(present); len(fields) > 0 {
		return fmt.Errorf("ManagedCluster %s has fields that cannot be read; correct them: %s", present.Name, fields)
	}
	options := []objects.Option{objects.MetadataOnly(), counted(requestPatch)} // The response might be undecodable as a ManagedCluster.
	if status {
		options = []objects.Option{objects.MetadataOnly(), counted(requestStatus), objects.OfStatus()}
	}
	if err := objects.Patch(ctx, r.client, present, wanted, options...); err != nil {
		return fmt.Errorf("writing ManagedCluster %s: %w", present.Name, err)
	}

	klog.FromContext(ctx).V(2).Info("Wrote a ManagedCluster", "managedCluster", present.Name, "ofStatus", status)
	return nil
}

// reportTaken says on the Cluster that its ManagedCluster cannot be created.
func (r *reconciler) reportTaken(ctx context.Context, c *cycle) error {
	message := fmt.Sprintf("%s %s is not that of this Cluster: delete or rename it, or create the Cluster with another name", c.taken, c.name())
	last := meta.FindStatusCondition(c.cluster.Status.Conditions, openmcpv1alpha1.ConditionPublished)
	if last == nil || last.Message != message {
		r.event(c, corev1.EventTypeWarning, openmcpv1alpha1.ReasonNameTaken, message)
	}
	return r.writeStatus(ctx, c, metav1.ConditionFalse, openmcpv1alpha1.ReasonNameTaken, message)
}

// writeStatus applies the condition Published and the name of the ManagedCluster to the status of the Cluster where they have changed.
func (r *reconciler) writeStatus(ctx context.Context, c *cycle, status metav1.ConditionStatus, reason, message string) error {
	conditions := []metav1.Condition{}
	if last := meta.FindStatusCondition(c.cluster.Status.Conditions, openmcpv1alpha1.ConditionPublished); last != nil {
		conditions = append(conditions, *last)
	}
	changed := meta.SetStatusCondition(&conditions, metav1.Condition{
		Type: openmcpv1alpha1.ConditionPublished, Status: status, Reason: reason, Message: message,
		ObservedGeneration: c.cluster.Generation, LastTransitionTime: metav1.NewTime(r.clock.Now()),
	})

	name := ""
	if c.managed != nil {
		name = c.managed.Name
	}
	if !changed && name == c.cluster.Status.ManagedCluster {
		return nil
	}
	return objects.ApplyStatus(ctx, r.client, c.cluster, &openmcpv1alpha1.ClusterStatus{
		ConditionedStatus: openmcpv1alpha1.ConditionedStatus{Conditions: conditions}, ManagedCluster: name,
	}, objects.WithoutLock(), counted(requestStatus))
}
