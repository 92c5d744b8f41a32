// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/placement/api"
)

// shelf answers reads of one placement as the cache of a manager does, without any search.
type shelf struct {
	client.Client

	placement *clusterv1beta1.Placement
	pages     []clusterv1beta1.PlacementDecision
}

func (s *shelf) Get(_ context.Context, _ client.ObjectKey, object client.Object, options ...client.GetOption) error {
	placement, ok := object.(*clusterv1beta1.Placement)
	if !ok {
		return errors.New("only placements are read")
	}
	asked := (&client.GetOptions{}).ApplyOptions(options)
	if asked.UnsafeDisableDeepCopy != nil && *asked.UnsafeDisableDeepCopy {
		*placement = *s.placement
	} else {
		*placement = *s.placement.DeepCopy()
	}
	return nil
}

func (s *shelf) List(_ context.Context, list client.ObjectList, _ ...client.ListOption) error {
	pages, ok := list.(*clusterv1beta1.PlacementDecisionList)
	if !ok {
		return errors.New("only decisions are listed")
	}
	pages.Items = s.pages
	return nil
}

// BenchmarkReconcileOfASettledPlacement is what an evaluation costs that finds nothing to write, beside the reading of caches.
func BenchmarkReconcileOfASettledPlacement(b *testing.B) {
	for _, selected := range []int{20, 1000} {
		b.Run(fmt.Sprintf("selected=%d", selected), func(b *testing.B) {
			const name = "p"
			store := newClientBuilder().
				WithStatusSubresource(&clusterv1beta1.Placement{}, &clusterv1beta1.PlacementDecision{}).
				WithObjects(&clusterv1beta1.Placement{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name, Generation: 1, UID: "1"}})
			r, hub := newReconciler(b, servedAPIs{apis: []api.Adapter{api.V1beta1}}, store)
			r.state.inventory.SetClusterSet(&clusterv1beta2.ManagedClusterSet{ObjectMeta: metav1.ObjectMeta{Name: "set"}})
			r.state.inventory.SetBinding(&clusterv1beta2.ManagedClusterSetBinding{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "set"}})

			for n := range selected {
				r.state.inventory.SetCluster(&clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{
					Name: fmt.Sprintf("c%04d", n), Labels: map[string]string{clusterv1beta2.ClusterSetLabel: "set"},
				}})
			}
			if _, err := r.Reconcile(b.Context(), placementKey(name)); err != nil {
				b.Fatal(err)
			}
			s := &shelf{Client: hub, placement: &clusterv1beta1.Placement{}}
			pages := &clusterv1beta1.PlacementDecisionList{}

			if err := errors.Join(hub.Get(b.Context(), placementKey(name).NamespacedName, s.placement), hub.List(b.Context(), pages)); err != nil {
				b.Fatal(err)
			}
			if s.pages = pages.Items; meta.LenList(pages) == 0 {
				b.Fatal("nothing is decided")
			}
			r.client, r.applier.writer.Client = s, nil // A write would panic.

			for b.Loop() {
				if _, err := r.Reconcile(b.Context(), placementKey(name)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
