package e2e

import (
	"fmt"
	"syscall"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/manifests"
	kupidv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/kupid/v1alpha1"
)

// Every replica injects policies, the leader or not, with the rights that the manifests grant.
func TestEveryReplicaInjectsPolicies(t *testing.T) {
	h := startHub(t)
	// The rights and definitions come first: without them a replica does not start.
	must(t, manifests.InstallSystem(t.Context(), h.environment.AdminConfig(), manifests.PodScheduling, ""))
	leader := h.startReplica(t, "--controllers=podscheduling/*", "--webhook-failure-policy=Fail")
	h.wantHolder(t, leader)
	standby := h.startReplica(t, "--controllers=podscheduling/*", "--webhook-failure-policy=Fail")
	policy := &kupidv1alpha1.PodSchedulingPolicy{ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceDefault, Name: "etcd"}}
	policy.Spec.PodSelector = &metav1.LabelSelector{}
	policy.Spec.NodeSelector = map[string]string{"pool": "etcd"}
	eventually(t, "waiting for the validation of policies", func() error {
		h.callReplica(t, standby, manifests.PodScheduling)
		return h.client.Create(t.Context(), policy)
	})
	eventually(t, "waiting for the standby", func() error { return h.tryPolicy(t) })

	h.callReplica(t, leader, manifests.PodScheduling)
	standby.signal(t, syscall.SIGTERM)
	standby.wantExit(t, 0)
	eventually(t, "waiting for the leader", func() error { return h.tryPolicy(t) })
	leader.signal(t, syscall.SIGTERM)
	leader.wantExit(t, 0)
}

// callReplica has the API server call a replica with the reviews of a system.
func (h *hub) callReplica(t *testing.T, r *replica, system string) {
	t.Helper()
	found := webhookAddress.FindStringSubmatch(r.stderr.String())
	if found == nil {
		t.Fatalf("the replica does not say where it serves the webhooks; %s", r)
	}
	must(t, manifests.InstallSystem(t.Context(), h.environment.AdminConfig(), system, "https://"+found[1]))
}

// tryPolicy is nil when a new Pod would get the constraints of the policy.
func (h *hub) tryPolicy(t *testing.T) error {
	t.Helper()
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceDefault, Name: "etcd"}}
	pod.Spec.Containers = []corev1.Container{{Name: "c", Image: "i"}}
	if err := client.NewDryRunClient(h.client).Create(t.Context(), pod); err != nil {
		return err
	}
	if pod.Spec.NodeSelector["pool"] != "etcd" {
		return fmt.Errorf("a new Pod has the nodeSelector %v", pod.Spec.NodeSelector)
	}
	return nil
}
