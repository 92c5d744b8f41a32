// SPDX-License-Identifier: Apache-2.0

package leaders

import (
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
	"github.com/placement-hub/placement-hub/test/e2e/suite"
	"github.com/placement-hub/placement-hub/test/env/faults"
)

// leaseWrites are the requests that keep the lead.
var leaseWrites = faults.Match{Verbs: []string{"create", "update", "patch"}, Resources: []string{"leases"}, Namespace: manifests.Namespace}

// TestLeaseThatCannotBeWritten has a leader live through a few refusals, and end when it cannot keep the lease: another one, which can,
// goes on with the decisions.
func TestLeaseThatCannotBeWritten(t *testing.T) {
	h := suite.StartHub(t)
	direct := h.Kubeconfig
	proxy := suite.ThroughProxy(t, h)
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
		suite.Must(t, h.Client.Create(t.Context(), object))
	}
	leader := h.StartReplica(t, append(slices.Clone(suite.QuickElection), suite.Unevaluated)...)
	h.WantHolder(t, leader)
	h.WantDecisions(t, key, "c1")
	h.Kubeconfig = direct
	second := h.StartReplica(t, append(slices.Clone(suite.QuickElection), suite.Unevaluated)...)

	before := len(proxy.Requests(leaseWrites))
	mend := proxy.Break(faults.Rule{Match: leaseWrites, Fault: faults.Unavailable})
	suite.AwaitRequests(t, proxy, leaseWrites, before+1)
	mend()
	suite.AwaitRequests(t, proxy, leaseWrites, before+3)
	suite.Must(t, h.Client.Create(t.Context(), &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: "c2"}}))
	h.WantDecisions(t, key, "c1", "c2")
	if leader.Ended() {
		t.Fatalf("one refusal ended the leader; %s", leader)
	}

	mend = proxy.Break(faults.Rule{Match: leaseWrites, Fault: faults.Hang})
	defer mend()
	leader.WantExit(t, 1)
	leader.WantStderr(t, "lease")
	h.WantHolder(t, second)
	suite.Must(t, h.Client.Create(t.Context(), &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: "c3"}}))
	h.WantDecisions(t, key, "c1", "c2", "c3")
	second.Signal(t, syscall.SIGTERM)
	second.WantExit(t, 0)
}
