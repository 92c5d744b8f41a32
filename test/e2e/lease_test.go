package e2e

import (
	"fmt"
	"slices"
	"syscall"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/manifests"
	"github.com/placement-hub/placement-hub/test/env/faults"
)

// leaseWrites are the requests that keep the lead.
var leaseWrites = faults.Match{Verbs: []string{"create", "update", "patch"}, Resources: []string{"leases"}, Namespace: manifests.Namespace}

// TestLeaseThatCannotBeWritten has a leader live through a few refusals, and end when it cannot keep the lease: another one, which can,
// goes on with the decisions.
func TestLeaseThatCannotBeWritten(t *testing.T) {
	h := startHub(t)
	direct := h.kubeconfig
	proxy := throughProxy(t, h)
	key := types.NamespacedName{Namespace: "leased", Name: "p"}
	for _, object := range []client.Object{
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: key.Namespace}},
		&clusterv1beta2.ManagedClusterSetBinding{
			ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: "global"},
			Spec:       clusterv1beta2.ManagedClusterSetBindingSpec{ClusterSet: "global"},
		},
		&clusterv1beta1.Placement{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}},
		&clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: "c1"}},
	} {
		must(t, h.client.Create(t.Context(), object))
	}
	leader := h.startReplica(t, append(slices.Clone(quickElection), unevaluated)...)
	h.wantHolder(t, leader)
	h.wantDecisions(t, key, "c1")
	h.kubeconfig = direct
	second := h.startReplica(t, append(slices.Clone(quickElection), unevaluated)...)

	before := len(proxy.Requests(leaseWrites))
	mend := proxy.Break(faults.Rule{Match: leaseWrites, Fault: faults.Unavailable})
	awaitRequests(t, proxy, leaseWrites, before+1)
	mend()
	awaitRequests(t, proxy, leaseWrites, before+3)
	must(t, h.client.Create(t.Context(), &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: "c2"}}))
	h.wantDecisions(t, key, "c1", "c2")
	if leader.ended() {
		t.Fatalf("one refusal ended the leader; %s", leader)
	}

	mend = proxy.Break(faults.Rule{Match: leaseWrites, Fault: faults.Hang})
	defer mend()
	leader.wantExit(t, 1)
	leader.wantStderr(t, "lease")
	h.wantHolder(t, second)
	must(t, h.client.Create(t.Context(), &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: "c3"}}))
	h.wantDecisions(t, key, "c1", "c2", "c3")
	second.signal(t, syscall.SIGTERM)
	second.wantExit(t, 0)
}

// awaitRequests waits until a proxy has seen so many.
func awaitRequests(t *testing.T, proxy *faults.Proxy, match faults.Match, count int) {
	t.Helper()
	eventually(t, "waiting for requests", func() error {
		if seen := len(proxy.Requests(match)); seen < count {
			return fmt.Errorf("there are %d of %d", seen, count)
		}
		return nil
	})
}
