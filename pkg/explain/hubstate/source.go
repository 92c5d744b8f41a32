// SPDX-License-Identifier: Apache-2.0

package hubstate

import (
	"context"
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/client"

	requests "github.com/placement-hub/placement-hub/pkg/clusterrequest/explain"
	"github.com/placement-hub/placement-hub/pkg/explain"
	"github.com/placement-hub/placement-hub/pkg/federation"
	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/placement/api"
	pods "github.com/placement-hub/placement-hub/pkg/podscheduling/explain"
)

// Source is what the inputs of evaluations are read from: Files, or the API of a hub. Missing rights are errors that apierrors.IsForbidden knows;
// Files have none. A result of Files must not be changed.
type Source interface {
	// Find returns those of the keys whose Placements exist, in their order. Namespaces returns the namespaces with a Placement of the same API and
	// name as one of the keys, as far as the user may list them.
	Find(ctx context.Context, keys []inventory.Key) ([]inventory.Key, error)
	Namespaces(ctx context.Context, keys []inventory.Key) []string
	// Placements returns what decides about Placements, and All what decides about those of a namespace, or of all namespaces if it is empty.
	Placements(ctx context.Context, keys []inventory.Key) (*explain.State, error)
	All(ctx context.Context, namespace string) (*explain.State, error)
	// Delivery returns what decides about the objects of a namespace, or of all if it is empty, that are delivered to clusters. A State that comes
	// with an error has what the hub has written.
	Delivery(ctx context.Context, namespace string) (*explain.State, error)
	// AddDelivery adds this to what All has returned.
	AddDelivery(ctx context.Context, state *explain.State, namespace string) error
	// Workloads returns what decides about the Pods of the namespaces, and those of the workloads that exist. Files have all workloads.
	Workloads(ctx context.Context, workloads []Workload, namespaces ...string) (*pods.Objects, error)
	// Requests returns what decides about ClusterRequests, and the ManagedClusters.
	Requests(ctx context.Context) (*requests.Objects, error)
}

var (
	_ Source = (*Files)(nil)
	_ Source = (*API)(nil)
)

// API reads from the API server of a hub with the rights of a client.
type API struct {
	client.Client

	// Delivered are the kinds that the hub delivers to clusters.
	Delivered []federation.FederatedKind
}

// Find implements Source.
func (a *API) Find(ctx context.Context, keys []inventory.Key) ([]inventory.Key, error) {
	return Find(ctx, a, keys)
}

// Namespaces implements Source.
func (a *API) Namespaces(ctx context.Context, keys []inventory.Key) []string {
	return Namespaces(ctx, a, keys)
}

// Placements implements Source.
func (a *API) Placements(ctx context.Context, keys []inventory.Key) (*explain.State, error) {
	return FromCluster(ctx, a, keys)
}

// All implements Source.
func (a *API) All(ctx context.Context, namespace string) (*explain.State, error) {
	return AllFromCluster(ctx, a, namespace)
}

// Delivery implements Source.
func (a *API) Delivery(ctx context.Context, namespace string) (*explain.State, error) {
	return FederatedFromCluster(ctx, a, namespace, a.Delivered)
}

// AddDelivery implements Source.
func (a *API) AddDelivery(ctx context.Context, state *explain.State, namespace string) error {
	return AddFederated(ctx, a, state, namespace, a.Delivered)
}

// Workloads implements Source.
func (a *API) Workloads(ctx context.Context, workloads []Workload, namespaces ...string) (*pods.Objects, error) {
	return SomePodsFromCluster(ctx, a, workloads, namespaces...)
}

// Requests implements Source.
func (a *API) Requests(ctx context.Context) (*requests.Objects, error) {
	objects, err := RequestsFromCluster(ctx, a)
	if err != nil {
		return nil, err
	}
	return objects, ReadManaged(ctx, a, objects)
}

// Files are the objects of a hub in files. Keys without a namespace are those of any.
type Files struct {
	State *explain.State
}

// Find implements Source.
func (f *Files) Find(_ context.Context, keys []inventory.Key) ([]inventory.Key, error) {
	var found []inventory.Key
	for _, object := range f.State.Placements {
		placement := api.Read(object).Key()
		if slices.ContainsFunc(keys, func(key inventory.Key) bool {
			return sameName(placement, key) && (key.Namespace == "" || key.Namespace == placement.Namespace)
		}) {
			found = append(found, placement)
		}
	}
	return found, nil
}

// Namespaces implements Source.
func (f *Files) Namespaces(_ context.Context, keys []inventory.Key) []string {
	var namespaces []string
	for _, object := range f.State.Placements {
		placement := api.Read(object).Key()
		if slices.ContainsFunc(keys, func(key inventory.Key) bool { return sameName(placement, key) }) {
			namespaces = append(namespaces, placement.Namespace)
		}
	}
	slices.Sort(namespaces)
	return slices.Compact(namespaces)
}

// sameName reports whether two keys are of the same API and name.
func sameName(a, b inventory.Key) bool { return a.Name == b.Name && a.API() == b.API() }

// Placements implements Source.
func (f *Files) Placements(context.Context, []inventory.Key) (*explain.State, error) {
	return f.State, nil
}

// All implements Source.
func (f *Files) All(context.Context, string) (*explain.State, error) { return f.State, nil }

// Delivery implements Source.
func (f *Files) Delivery(context.Context, string) (*explain.State, error) { return f.State, nil }

// AddDelivery implements Source.
func (f *Files) AddDelivery(context.Context, *explain.State, string) error { return nil }

// Workloads implements Source.
func (f *Files) Workloads(context.Context, []Workload, ...string) (*pods.Objects, error) {
	objects := f.State.Pods
	return &objects, nil
}

// Requests implements Source.
func (f *Files) Requests(context.Context) (*requests.Objects, error) {
	objects := f.State.ClusterRequests
	objects.Managed = f.State.Clusters
	return &objects, nil
}
