package webhook

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
)

// tenants has the Tree of all Tenants. It is an event handler of their informer: an event that can change the Tree makes the next review
// build another one from the cache, and reviews between two such events share one.
type tenants struct {
	cached, live client.Reader
	// generation is the number of events that can have changed the Tree.
	generation atomic.Int64
	built      atomic.Pointer[builtTree]
}

var _ toolscache.ResourceEventHandler = (*tenants)(nil)

// builtTree is the Tree of the Tenants that were in the cache at a generation, or after it.
type builtTree struct {
	generation int64
	listed     []*appsv1alpha1.Tenant
	tree       *affinityclass.Tree
}

// OnAdd handles a new Tenant.
func (t *tenants) OnAdd(any, bool) { t.generation.Add(1) }

// OnDelete handles a Tenant that is gone.
func (t *tenants) OnDelete(any) { t.generation.Add(1) }

// OnUpdate handles a Tenant that may have another spec. Its status does not matter.
func (t *tenants) OnUpdate(before, after any) {
	old, isOld := before.(*appsv1alpha1.Tenant)

	tenant, isNew := after.(*appsv1alpha1.Tenant)
	if isOld && isNew && equality.Semantic.DeepEqual(old.Spec, tenant.Spec) {
		return
	}

	t.generation.Add(1)
}

// current returns the Tree of the Tenants in the cache.
func (t *tenants) current(ctx context.Context) (*builtTree, error) {
	generation := t.generation.Load()
	if built := t.built.Load(); built != nil && built.generation == generation {
		return built, nil
	}

	list := &appsv1alpha1.TenantList{}
	if err := t.cached.List(ctx, list, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("listing Tenants: %w", err)
	}

	listed := make([]*appsv1alpha1.Tenant, 0, len(list.Items))
	for i := range list.Items {
		listed = append(listed, &list.Items[i])
	}

	built := &builtTree{generation: generation, listed: listed, tree: affinityclass.NewTree(listed)}
	t.built.Store(built)

	return built, nil
}

// treeWithOwner returns the Tree for a review in a namespace. If the cache does not have the Tenant that owns the namespace, that Tenant is
// read from the API server, and so are those above it that the cache does not have either.
func (t *tenants) treeWithOwner(ctx context.Context, namespace string) (*affinityclass.Tree, error) {
	built, err := t.current(ctx)
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

		err := t.live.Get(ctx, key, owner)
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
