// SPDX-License-Identifier: Apache-2.0

package localplane

import (
	"context"
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
)

// nodeCapacity is the capacity of a Node that names none.
var nodeCapacity = corev1.ResourceList{
	corev1.ResourceCPU:    resource.MustParse("8"),
	corev1.ResourceMemory: resource.MustParse("32Gi"),
	corev1.ResourcePods:   resource.MustParse("110"),
}

// CreateNode creates a Node without a kubelet: kube-scheduler binds pods to it, and nothing runs them. The Node gets the labels and taints of
// node and its capacity, by default 8 CPUs, 32 GiB and 110 pods; everything is allocatable. It returns an error if the Node exists.
//
// A bound pod that is deleted with a grace period stays, because no kubelet confirms its end: delete it with a grace period of 0, or give
// it spec.terminationGracePeriodSeconds 0.
func (c *ControlPlane) CreateNode(ctx context.Context, node *corev1.Node) error {
	client, err := corev1client.NewForConfig(c.admin)
	if err != nil {
		return fmt.Errorf("making a client: %w", err)
	}
	if _, err := client.Nodes().Create(ctx, node, metav1.CreateOptions{}); err != nil {
		return fmt.Errorf("creating node %s: %w", node.Name, err)
	}
	status := node.Status.DeepCopy()
	if len(status.Capacity) == 0 {
		status.Capacity = nodeCapacity
	}
	status.Allocatable = status.Capacity
	status.Conditions = []corev1.NodeCondition{{
		Type: corev1.NodeReady, Status: corev1.ConditionTrue, Reason: "NoKubelet", Message: "This Node has no kubelet; its pods are bound, not run.",
	}}
	// The API server gives every new Node the taint node.kubernetes.io/not-ready, which no kubelet removes here.
	for _, change := range []struct {
		subresources []string
		object       map[string]any
	}{
		{[]string{"status"}, map[string]any{"status": status}},
		{nil, map[string]any{"spec": map[string]any{"taints": node.Spec.Taints}}},
	} {
		patch, err := json.Marshal(change.object)
		if err != nil {
			return fmt.Errorf("writing a patch of node %s: %w", node.Name, err)
		}
		_, err = client.Nodes().Patch(ctx, node.Name, types.MergePatchType, patch, metav1.PatchOptions{}, change.subresources...)
		if err != nil {
			return fmt.Errorf("making node %s ready: %w", node.Name, err)
		}
	}
	return nil
}
