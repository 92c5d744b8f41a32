// SPDX-License-Identifier: Apache-2.0

package reader

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/affinityclass"
	appsv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/cozystackapps/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/hub/objects"
)

// treeCache has the Tree that was built last.
type treeCache struct {
	// generation is the number of events that can have changed the Tree.
	generation atomic.Int64
	built      atomic.Pointer[builtTree]
}

// builtTree is the Tree of the Tenants that were in the cache at a generation, or after it.
type builtTree struct {
	generation int64
	listed     []*appsv1alpha1.Tenant
	tree       *affinityclass.Tree
}

// TenantsChanged has the next Tree be built anew. An event handler of Tenants calls it before it enqueues anything.
func (r *Reader) TenantsChanged() { r.tree.generation.Add(1) }

// TenantHandler returns an event handler that calls TenantsChanged for each event that can have changed the Tree. The status of a Tenant does
// not matter.
func (r *Reader) TenantHandler() toolscache.ResourceEventHandler {
	return objects.On(func(before, after *appsv1alpha1.Tenant, _ bool) {
		if before == nil || !equality.Semantic.DeepEqual(before.Spec, after.Spec) {
			r.TenantsChanged()
		}
	}, func(*appsv1alpha1.Tenant) { r.TenantsChanged() })
}

// Tenants returns all Tenants that a reader has.
func Tenants(ctx context.Context, from client.Reader) ([]*appsv1alpha1.Tenant, error) {
	list := &appsv1alpha1.TenantList{}
	if err := from.List(ctx, list, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("listing Tenants: %w", err)
	}
	found := make([]*appsv1alpha1.Tenant, 0, len(list.Items))
	for i := range list.Items {
		found = append(found, &list.Items[i])
	}
	return found, nil
}

// Tree returns the Tree of the Tenants in the cache.
func (r *Reader) Tree(ctx context.Context) (*affinityclass.Tree, error) {
	built, err := r.current(ctx)
	if err != nil {
		return nil, err
	}
	return built.tree, nil
}

func (r *Reader) current(ctx context.Context) (*builtTree, error) {
	generation := r.tree.generation.Load()
	if built := r.tree.built.Load(); built != nil && built.generation == generation {
		return built, nil
	}
	listed, err := Tenants(ctx, r.Cached)
	if err != nil {
		return nil, err
	}
	built := &builtTree{generation: generation, listed: listed, tree: affinityclass.NewTree(listed)}
	r.tree.built.Store(built)
	return built, nil
}

// TreeWithOwner returns the Tree for a review in a namespace. If the cache does not have the Tenant that owns the namespace, that Tenant is
// read from the API server, and so are those above it that the cache does not have either.
func (r *Reader) TreeWithOwner(ctx context.Context, namespace string) (*affinityclass.Tree, error) {
	built, err := r.current(ctx)
	if err != nil {
		return nil, err
	}
	listed := slices.Clip(built.listed)

	for built.tree.Owner(namespace) == nil {
		key := client.ObjectKey{}
		var owned bool
		if key.Namespace, key.Name, owned = affinityclass.OwnerOf(namespace); !owned {
			break
		}
		owner := &appsv1alpha1.Tenant{}

		err := r.Live.Get(ctx, key, owner)
		if apierrors.IsNotFound(err) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("reading Tenant %s: %w", key, err)
		}

		listed = append(listed, owner)
		if namespace == affinityclass.RootNamespace {
			break
		}
		namespace = key.Namespace
	}

	if len(listed) == len(built.listed) {
		return built.tree, nil
	}
	return affinityclass.NewTree(listed), nil
}
