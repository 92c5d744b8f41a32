// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/placement/api"
)

// A view that nothing is connected to knows nothing, and says so.
func TestViewBeforeItIsConnected(t *testing.T) {
	view := &View{}
	if view.Synced() || view.Serves(api.V1beta1) {
		t.Error("an empty view claims to know something")
	}
}

// What is asked for changes nothing: no placement has a part in the inventory because of it, and what is asked about what is not there is
// not remembered.
func TestViewChangesNothing(t *testing.T) {
	placement := &clusterv1beta1.Placement{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "p", UID: "1"}}
	page := &clusterv1beta1.PlacementDecision{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "ns", Name: "p-decision-1", UID: "2", Labels: map[string]string{clusterv1beta1.PlacementLabel: "p"},
			OwnerReferences: []metav1.OwnerReference{{
				APIVersion: clusterv1beta1.GroupVersion.String(), Kind: "Placement", Name: "p", UID: "1", Controller: ptr.To(true),
			}},
		},
		Status: clusterv1beta1.PlacementDecisionStatus{Decisions: []clusterv1beta1.ClusterDecision{{ClusterName: "c"}}},
	}
	writes := interceptor.Funcs{
		Create: func(context.Context, client.WithWatch, client.Object, ...client.CreateOption) error {
			return errors.New("a write")
		},
		Patch: func(context.Context, client.WithWatch, client.Object, client.Patch, ...client.PatchOption) error {
			return errors.New("a write")
		},
	}
	store := newClientBuilder().WithObjects(placement, page).WithInterceptorFuncs(writes)
	r, _ := newReconciler(t, servedAPIs{apis: []api.Adapter{api.V1beta1}}, store)
	view := &View{}

	view.connect(r.reader)
	if !view.Synced() || !view.Serves(api.V1beta1) || view.Serves(api.V1alpha1) {
		t.Error("the view does not tell what is served")
	}
	key := inventory.NewPlacementKey(inventory.V1beta1, "ns", "p")

	found, err := view.Placement(t.Context(), key)
	if err != nil || found.Key() != key {
		t.Fatalf("found %v, error %v", found, err)
	}
	existing, err := view.Present(t.Context(), found)
	if err != nil || !existing.Incumbents()["c"] {
		t.Errorf("incumbents %v, error %v", existing.Incumbents(), err)
	}

	key.Name = "missing"
	if missing, err := view.Placement(t.Context(), key); missing != nil || err != nil {
		t.Errorf("found %v, error %v, for a placement that is not there", missing, err)
	}
	r.state.inventory.SetClusterSet(&clusterv1beta2.ManagedClusterSet{ObjectMeta: metav1.ObjectMeta{Name: "set"}})
	r.state.inventory.SetBinding(&clusterv1beta2.ManagedClusterSetBinding{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "set"}})

	view.Snapshot()
	affected := r.state.inventory.SetCluster(&clusterv1.ManagedCluster{
		ObjectMeta: metav1.ObjectMeta{Name: "c", Labels: map[string]string{clusterv1beta2.ClusterSetLabel: "set"}},
	})
	if len(affected.Subscribers) > 0 || len(r.state.requests.keys()) > 0 {
		t.Errorf("%v are concerned, %v remembered, because somebody looked", affected.Subscribers, r.state.requests.keys())
	}
}

// Whoever observes has no queue: what concerns placements is taken in, and nobody is woken.
func TestObserverWakesNobody(t *testing.T) {
	shared := newTestState(api.V1beta1)
	shared.Synced.Store(true)
	f := &eventHandlers{state: shared}
	placement := api.V1beta1.Read(&clusterv1beta1.Placement{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "p", UID: types.UID("1")}})
	f.updatePlacement(nil, placement, false)
	f.placements(api.V1beta1).OnDelete(placement.Object)
	f.state.Shared.Set(inventory.Clusters, &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: "c"}})
	if shared.inventory.Snapshot().Cluster("c") == nil {
		t.Error("the cluster is not known")
	}
}

// deafCache gives no informers.
type deafCache struct{ cache.Cache }

func (deafCache) GetInformer(context.Context, client.Object, ...cache.InformerGetOption) (cache.Informer, error) {
	return nil, errors.New("no informers here")
}

func TestObserveFailsWithItsInformers(t *testing.T) {
	o := &observation{feed: &eventHandlers{state: newTestState(), cache: deafCache{}}}
	if err := o.Start(t.Context()); err == nil || !strings.Contains(err.Error(), "no informers here") {
		t.Errorf("error %v, want that of the cache", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := o.Start(ctx); err != nil {
		t.Errorf("error %v at the end", err)
	}

	if o.NeedLeaderElection() {
		t.Error("it waits for a lease that nobody takes")
	}
}
