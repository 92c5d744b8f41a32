package controller

import (
	"context"
	"fmt"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/affinityclass"
	cozystackv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/cozystack/v1alpha1"
	appsv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/cozystackapps/v1alpha1"
)

// state is what the controllers share.
type state struct {
	// cached reads from the informers, live from the API server.
	cached, live client.Reader
	// writer sends every write as FieldManager.
	writer client.Client
	kinds  *kinds
	trees  treeCache
	clock  clock.PassiveClock
	// namespace is that of the hub.
	namespace string
}

// treeCache keeps the tree of the cached Tenants until one of them changes. It is safe for concurrent use.
type treeCache struct {
	mu   sync.Mutex
	tree *affinityclass.Tree
}

// invalidate has the next tree be built anew. A handler of Tenants calls it before it enqueues anything.
func (c *treeCache) invalidate() {
	c.mu.Lock()
	defer c.mu.Unlock()

	c.tree = nil
}

// tree returns the tree of the cached Tenants.
func (s *state) tree(ctx context.Context) (*affinityclass.Tree, error) {
	s.trees.mu.Lock()
	defer s.trees.mu.Unlock()

	if s.trees.tree != nil {
		return s.trees.tree, nil
	}

	tenants, err := tenants(ctx, s.cached)
	if err != nil {
		return nil, err
	}

	s.trees.tree = affinityclass.NewTree(tenants)

	return s.trees.tree, nil
}

// tenants returns all Tenants, which must not be changed.
func tenants(ctx context.Context, reader client.Reader) ([]*appsv1alpha1.Tenant, error) {
	list := &appsv1alpha1.TenantList{}
	if err := reader.List(ctx, list, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("listing Tenants: %w", err)
	}

	found := make([]*appsv1alpha1.Tenant, 0, len(list.Items))
	for i := range list.Items {
		found = append(found, &list.Items[i])
	}

	return found, nil
}

// classes returns a function that reads an AffinityClass from the cache, and one that is missing there from the API server.
func (s *state) classes(ctx context.Context) affinityclass.Classes {
	return func(name string) (*cozystackv1alpha1.AffinityClass, error) {
		class, key := &cozystackv1alpha1.AffinityClass{}, types.NamespacedName{Name: name}

		err := s.cached.Get(ctx, key, class, client.UnsafeDisableDeepCopy)
		if apierrors.IsNotFound(err) {
			class = &cozystackv1alpha1.AffinityClass{}
			err = s.live.Get(ctx, key, class)
		}

		switch {
		case apierrors.IsNotFound(err):
			return nil, nil
		case err != nil:
			return nil, fmt.Errorf("reading AffinityClass %s: %w", name, err)
		default:
			return class, nil
		}
	}
}

// releases returns HelmReleases, which must not be changed.
func releases(ctx context.Context, reader client.Reader, options ...client.ListOption) ([]*unstructured.Unstructured, error) {
	list := newList(affinityclass.ReleaseKind)
	if err := reader.List(ctx, list, append(options, client.UnsafeDisableDeepCopy)...); err != nil {
		return nil, fmt.Errorf("listing HelmReleases: %w", err)
	}

	return pointers(list), nil
}

// withClass selects HelmReleases with a class.
var withClass = client.HasLabels{affinityclass.ClassLabel}

// applications returns the applications of the kinds that are in the cache; they must not be changed.
func (s *state) applications(ctx context.Context, reader client.Reader, options ...client.ListOption) ([]*unstructured.Unstructured, error) {
	var found []*unstructured.Unstructured

	for _, kind := range s.kinds.synced() {
		list := newList(kind.GroupVersionKind)
		if err := reader.List(ctx, list, append(options, client.UnsafeDisableDeepCopy)...); err != nil {
			return nil, fmt.Errorf("listing %s: %w", kind.definition, err)
		}

		found = append(found, pointers(list)...)
	}

	return found, nil
}

func pointers(list *unstructured.UnstructuredList) []*unstructured.Unstructured {
	objects := make([]*unstructured.Unstructured, 0, len(list.Items))
	for i := range list.Items {
		objects = append(objects, &list.Items[i])
	}

	return objects
}

// namespaceOf returns a cached Namespace, which must not be changed; nil if it does not exist.
func (s *state) namespaceOf(ctx context.Context, name string) (*corev1.Namespace, error) {
	namespace := &corev1.Namespace{}

	err := s.cached.Get(ctx, types.NamespacedName{Name: name}, namespace, client.UnsafeDisableDeepCopy)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}

	if err != nil {
		return nil, fmt.Errorf("reading Namespace %s: %w", name, err)
	}

	return namespace, nil
}

// place returns what the rules read of a Namespace.
func (s *state) place(tree *affinityclass.Tree, namespace *corev1.Namespace) affinityclass.Namespace {
	return affinityclass.Namespace{
		Name: namespace.Name, System: tree.SystemNamespace(namespace.Name, namespace.Labels, s.namespace),
		Recorded: namespace.Annotations[affinityclass.AllowedAnnotation],
	}
}

// specOf returns the spec of an application; nil if it has none.
func specOf(application *unstructured.Unstructured) map[string]any {
	spec, isMap := application.Object["spec"].(map[string]any)
	if !isMap {
		return nil
	}

	return spec
}

// classOf returns the class that the spec of an application names; empty for none.
func classOf(application *unstructured.Unstructured) string {
	class, isText := specOf(application)["affinityClass"].(string)
	if !isText {
		return ""
	}

	return class
}
