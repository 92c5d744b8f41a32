// SPDX-License-Identifier: Apache-2.0

package pods

import (
	"fmt"
	"syscall"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/manifests"
	kupidv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/kupid/v1alpha1"
	"github.com/placement-hub/placement-hub/test/e2e/suite"
)

// Every replica injects policies, the leader or not, with the rights that the manifests grant.
func TestEveryReplicaInjectsPolicies(t *testing.T) {
	h := suite.StartHub(t)
	// The rights and definitions come first: without them a replica does not start.
	suite.Must(t, manifests.InstallSystem(t.Context(), h.Environment.AdminConfig(), manifests.PodScheduling, ""))
	leader := h.StartReplica(t, "--controllers=podscheduling/*", "--webhook-failure-policy=Fail")
	h.WantHolder(t, leader)
	standby := h.StartReplica(t, "--controllers=podscheduling/*", "--webhook-failure-policy=Fail")
	policy := &kupidv1alpha1.PodSchedulingPolicy{ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceDefault, Name: "etcd"}}
	policy.Spec.PodSelector = &metav1.LabelSelector{}
	policy.Spec.NodeSelector = map[string]string{"pool": "etcd"}
	suite.Eventually(t, "waiting for the validation of policies", func() error {
		h.CallReplica(t, standby, manifests.PodScheduling)
		return h.Client.Create(t.Context(), policy)
	})
	suite.Eventually(t, "waiting for the standby", func() error { return tryPolicy(t, h) })

	h.CallReplica(t, leader, manifests.PodScheduling)
	standby.Signal(t, syscall.SIGTERM)
	standby.WantExit(t, 0)
	suite.Eventually(t, "waiting for the leader", func() error { return tryPolicy(t, h) })
	leader.Signal(t, syscall.SIGTERM)
	leader.WantExit(t, 0)
}

// tryPolicy is nil when a new Pod would get the constraints of the policy.
func tryPolicy(t *testing.T, h *suite.Hub) error {
	t.Helper()
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceDefault, Name: "etcd"}}
	pod.Spec.Containers = []corev1.Container{{Name: "c", Image: "i"}}
	if err := client.NewDryRunClient(h.Client).Create(t.Context(), pod); err != nil {
		return err
	}
	if pod.Spec.NodeSelector["pool"] != "etcd" {
		return fmt.Errorf("a new Pod has the nodeSelector %v", pod.Spec.NodeSelector)
	}
	return nil
}
