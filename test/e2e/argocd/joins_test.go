// SPDX-License-Identifier: Apache-2.0

package argocd

import (
	"fmt"
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/test/e2e/suite"
)

// checkJoins measures the time from the creation of a ManagedCluster to that of its Application, with the hub, the process with its default flags
// and the imitated ApplicationSet controller. A cluster joins alone, or right after another one, which waits for --min-interval.
func checkJoins(t *testing.T, h *suite.Hub) {
	t.Helper()
	const alone, soon = 5 * time.Second, 15 * time.Second
	p := newPlace(t, h, "joins")
	hub := h.StartReplica(t, append([]string{suite.Unevaluated}, suite.QuickElection...)...)
	h.WantHolder(t, hub)
	suite.Must(t, h.Client.Create(t.Context(), &clusterv1beta2.ManagedClusterSetBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: p.namespace, Name: "global"},
		Spec:       clusterv1beta2.ManagedClusterSetBindingSpec{ClusterSet: "global"},
	}))
	suite.Must(t, h.Client.Create(t.Context(), &clusterv1beta1.Placement{ObjectMeta: metav1.ObjectMeta{Namespace: p.namespace, Name: "p"}}))
	h.WantDecisions(t, client.ObjectKey{Namespace: p.namespace, Name: "p"})
	p.create(t, "s", decided("p"))
	p.runController(t)
	process := p.follow(t)

	var alones, soons []time.Duration
	for n := range 4 {
		alones = append(alones, p.join(t, fmt.Sprintf("joins-%d-a", n)))
		soons = append(soons, p.join(t, fmt.Sprintf("joins-%d-b", n)))
		pause(t, 11*time.Second) // --min-interval is over.
	}
	slices.Sort(alones)
	slices.Sort(soons)
	const most = 2 // The others may have met a machine that was busy.
	if took := alones[most]; took > alone {
		t.Errorf("the Application of a cluster that joined alone took %s, want at most %s", took, alone)
	}
	if took := soons[most]; took > soon {
		t.Errorf("the Application of a cluster that joined after another one took %s, want at most %s", took, soon)
	}
	t.Logf("from join to Application: alone %s, soon after another one %s", alones, soons)
	end(t, process)
}

// join creates a cluster and returns how long its Application took.
func (p *place) join(t *testing.T, name string) time.Duration {
	t.Helper()
	begin := time.Now()
	suite.Must(t, p.Client.Create(t.Context(), &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: name}}))
	application := &unstructured.Unstructured{}
	application.SetGroupVersionKind(argoproj.WithKind("Application"))
	application.SetNamespace(p.namespace)
	application.SetName("s-" + name)
	p.WantMade(t, application)
	return time.Since(begin)
}
