// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/metadata"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/hub/freshness"
	"github.com/placement-hub/placement-hub/pkg/placement"
	"github.com/placement-hub/placement-hub/pkg/placement/api"
	"github.com/placement-hub/placement-hub/pkg/scheduling"
)

// placementsOnly answers requests for the metadata of placements from a store, as if the hub had no other objects.
type placementsOnly struct {
	metadata.Interface

	store client.Client
}

func (p placementsOnly) Resource(of schema.GroupVersionResource) metadata.Getter {
	return placementGetter{store: p.store, of: of}
}

type placementGetter struct {
	metadata.Getter

	store     client.Client
	of        schema.GroupVersionResource
	namespace string
}

func (g placementGetter) Namespace(name string) metadata.ResourceInterface {
	g.namespace = name
	return g
}

func (g placementGetter) Get(ctx context.Context, name string, _ metav1.GetOptions, _ ...string) (*metav1.PartialObjectMetadata, error) {
	for _, adapter := range api.Adapters() {
		if placements(adapter) != g.of {
			continue
		}
		object := adapter.Empty()
		if err := g.store.Get(ctx, types.NamespacedName{Namespace: g.namespace, Name: name}, object); err != nil {
			return nil, fmt.Errorf("reading placement %s: %w", name, err)
		}
		return &metav1.PartialObjectMetadata{ObjectMeta: adapter.Read(object).ObjectMeta}, nil
	}
	return nil, apierrors.NewNotFound(g.of.GroupResource(), name)
}

func (placementGetter) List(context.Context, metav1.ListOptions) (*metav1.PartialObjectMetadataList, error) {
	return &metav1.PartialObjectMetadataList{}, nil
}

// B10: while the API server shows a later version than the view, every cluster stays, the status says so by the resource, and the metrics and
// the next attempt follow.
func TestARemovalOnAnOldViewIsPostponed(t *testing.T) {
	p := &clusterv1beta1.Placement{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "p", UID: "1", Generation: 1}}
	builder := newClientBuilder().WithObjects(p).
		WithStatusSubresource(&clusterv1beta1.Placement{}, &clusterv1beta1.PlacementDecision{})
	r, hub := newReconciler(t, servedAPIs{apis: []api.Adapter{api.V1beta1}}, builder)
	key := api.V1beta1.Read(p).Key()

	set := &clusterv1beta2.ManagedClusterSet{ObjectMeta: metav1.ObjectMeta{Name: "all"}}
	set.Spec.ClusterSelector = clusterv1beta2.ManagedClusterSelector{
		SelectorType: clusterv1beta2.LabelSelector, LabelSelector: &metav1.LabelSelector{},
	}
	binding := &clusterv1beta2.ManagedClusterSetBinding{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "all"}}
	cluster := &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: "c1"}}
	r.state.inventory.SetClusterSet(set)
	r.state.inventory.SetBinding(binding)
	r.state.inventory.SetCluster(cluster)

	reconcile := func() (again time.Duration, status clusterv1beta1.PlacementStatus) {
		t.Helper()
		result, err := r.Reconcile(t.Context(), key)
		if err != nil {
			t.Fatal(err)
		}
		stored := &clusterv1beta1.Placement{}
		if err := hub.Get(t.Context(), key.NamespacedName, stored); err != nil {
			t.Fatal(err)
		}
		return result.RequeueAfter, stored.Status
	}

	if _, status := reconcile(); status.NumberOfSelectedClusters != 1 {
		t.Fatalf("at first %d clusters are selected, want 1", status.NumberOfSelectedClusters)
	}

	// The view has lost the cluster, and has seen a version of it that the API server does not have.
	c1 := freshness.Object{Resource: freshness.Clusters, NamespacedName: types.NamespacedName{Name: "c1"}}
	r.state.inventory.DeleteCluster("c1")
	r.state.Shared.Observed.Set(c1, "7", nil)
	again, status := reconcile()
	if status.NumberOfSelectedClusters != 1 || again <= 0 || again > firstPostponed {
		t.Errorf("%d clusters are selected, to be looked at after %v, want 1 and %v", status.NumberOfSelectedClusters, again, firstPostponed)
	}
	condition := meta.FindStatusCondition(status.Conditions, placement.ConditionRemovalPostponed)
	want := "Clusters would leave the decisions. They stay, because the watches of the hub have not shown the latest state of managedclusters yet"
	if condition == nil || condition.Reason != placement.ReasonWatchBehind || condition.Message != want {
		t.Errorf("the condition is %v", condition)
	}

	if again, _ := reconcile(); again <= firstPostponed || again > 2*firstPostponed {
		t.Errorf("the second time it is looked at after %v, want up to %v", again, 2*firstPostponed)
	}
	r.state.Shared.Observed.Delete(c1)
	if _, status = reconcile(); status.NumberOfSelectedClusters != 0 ||
		meta.FindStatusCondition(status.Conditions, placement.ConditionRemovalPostponed) != nil {
		t.Errorf("once the view has caught up %d clusters are selected, with the conditions %v", status.NumberOfSelectedClusters, status.Conditions)
	}
}

func TestPostponement(t *testing.T) {
	const (
		behind = "Clusters would leave the decisions. They stay, because the watches of the hub have not shown the latest state of "
		failed = "Clusters would leave the decisions. They stay, because the API server could not be asked whether the hub has its latest state: "
	)

	for _, tc := range []struct {
		reason string
		err    error
		want   scheduling.Postponement
	}{
		{"two resources", &freshness.BehindError{Objects: []freshness.Object{
			{Resource: freshness.Clusters}, {Resource: freshness.Clusters}, {Resource: freshness.Bindings},
		}}, scheduling.Postponement{Reason: "WatchBehind", Message: behind + "managedclusters, managedclustersetbindings yet"}},
		{"everything changes at once", &freshness.BehindError{}, scheduling.Postponement{
			Reason: "WatchBehind", Message: behind + "what decides about them yet",
		}},
		{"no answer", errors.New("dial tcp 10.0.0.1:6443: refused"), scheduling.Postponement{
			Reason: "ReadFailed", Message: failed + "the API server could not be asked",
		}},
		{"too many requests", fmt.Errorf("reading: %w", apierrors.NewTooManyRequests("later", 1)), scheduling.Postponement{
			Reason: "ReadFailed", Message: failed + "TooManyRequests",
		}},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, postponement(tc.err)); diff != "" {
				t.Error(diff)
			}
		})
	}
}
