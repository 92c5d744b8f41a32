// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"fmt"
	"sync"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/placement-hub/placement-hub/pkg/hub/objects"
	"github.com/placement-hub/placement-hub/pkg/hub/queue"
)

// kinds has an informer for each application kind, and hands its events to the controllers. It is safe for concurrent use.
type kinds struct {
	cache cache.Cache
	added bool // to the manager

	mu       sync.RWMutex
	watched  map[string]watchedKind // by the name of the CustomResourceDefinition
	handlers []toolscache.ResourceEventHandler
}

// watchedKind is an application kind and its informer.
type watchedKind struct {
	kind

	informer cache.Informer
}

func newKinds(objects cache.Cache) *kinds {
	return &kinds{cache: objects, watched: map[string]watchedKind{}}
}

// setup follows the CustomResourceDefinitions, on a standby too, so that its caches are warm. Further calls do nothing.
func (k *kinds) setup(mgr manager.Manager, s queue.Settings) error {
	if k.added {
		return nil
	}
	k.added = true
	options := queue.SingleWorkerOptions[reconcile.Request](s)
	options.NeedLeaderElection = ptr.To(false)

	err := builder.ControllerManagedBy(mgr).
		Named("affinityclass/kinds").
		Watches(&apiextensionsv1.CustomResourceDefinition{}, &handler.EnqueueRequestForObject{},
			builder.WithPredicates(predicate.NewPredicateFuncs(definesApplications))).
		WithOptions(options).
		Complete(k)
	if err != nil {
		return fmt.Errorf("following application kinds: %w", err)
	}
	return nil
}

// Reconcile starts or stops the informer of the kind of a CustomResourceDefinition.
func (k *kinds) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	definition := &apiextensionsv1.CustomResourceDefinition{}

	err := k.cache.Get(ctx, request.NamespacedName, definition, client.UnsafeDisableDeepCopy)
	if client.IgnoreNotFound(err) != nil {
		return reconcile.Result{}, fmt.Errorf("reading CustomResourceDefinition %s: %w", request.Name, err)
	}
	wanted, served := kindOf(definition)
	k.mu.Lock()
	defer k.mu.Unlock()

	current, watching := k.watched[request.Name]
	if watching && (!served || current.GroupVersionKind != wanted.GroupVersionKind) {
		if err := k.stop(ctx, current); err != nil {
			return reconcile.Result{}, err
		}
		watching = false
	}

	switch {
	case !served:
		return reconcile.Result{}, nil
	case !watching:
		err := k.start(ctx, wanted)
		if meta.IsNoMatchError(err) { // Discovery shows a definition a moment after it is established.
			return reconcile.Result{RequeueAfter: syncDelay}, nil
		}
		return reconcile.Result{}, err
	case current.kind != wanted:
		k.watched[request.Name] = watchedKind{wanted, current.informer}
		return reconcile.Result{}, k.each(ctx, current, func(h toolscache.ResourceEventHandler, o *unstructured.Unstructured) { h.OnUpdate(o, o) })
	default:
		return reconcile.Result{}, nil
	}
}

// start starts the informer of a kind; mu must be held.
func (k *kinds) start(ctx context.Context, of kind) error {
	informer, err := k.cache.GetInformer(ctx, newObject(of.GroupVersionKind), cache.BlockUntilSynced(false))
	if err != nil {
		return fmt.Errorf("watching %s: %w", of.definition, err)
	}
	for _, handler := range k.handlers {
		if _, err := informer.AddEventHandler(handler); err != nil {
			return fmt.Errorf("watching %s: %w", of.definition, err)
		}
	}

	k.watched[of.definition] = watchedKind{of, informer}
	klog.FromContext(ctx).V(2).Info("Watching an application kind", "customResourceDefinition", of.definition, "version", of.Version)
	return nil
}

// stop stops the informer of a kind whose definition is gone, and sends the controllers the deletion of its objects; mu must be held.
func (k *kinds) stop(ctx context.Context, of watchedKind) error {
	if err := k.each(ctx, of, func(h toolscache.ResourceEventHandler, o *unstructured.Unstructured) { h.OnDelete(o) }); err != nil {
		return err
	}
	if err := k.cache.RemoveInformer(ctx, newObject(of.GroupVersionKind)); err != nil {
		return fmt.Errorf("no longer watching %s: %w", of.definition, err)
	}
	delete(k.watched, of.definition)
	klog.FromContext(ctx).V(2).Info("No longer watching an application kind", "customResourceDefinition", of.definition)
	return nil
}

// each calls a function for every handler and every cached object of a kind; mu must be held. Objects of an informer that has not synced are
// left to its initial list.
func (k *kinds) each(ctx context.Context, of watchedKind, tell func(toolscache.ResourceEventHandler, *unstructured.Unstructured)) error {
	if !of.informer.HasSynced() {
		return nil
	}
	list := newList(of.GroupVersionKind)
	if err := k.cache.List(ctx, list, client.UnsafeDisableDeepCopy); err != nil {
		return fmt.Errorf("listing %s: %w", of.definition, err)
	}

	for i := range list.Items {
		for _, handler := range k.handlers {
			tell(handler, &list.Items[i])
		}
	}
	return nil
}

// handle adds a handler of the applications of all kinds.
func (k *kinds) handle(handler toolscache.ResourceEventHandler) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.handlers = append(k.handlers, handler)
	for _, watched := range k.watched {
		if _, err := watched.informer.AddEventHandler(handler); err != nil {
			return fmt.Errorf("watching %s: %w", watched.definition, err)
		}
	}
	return nil
}

// of returns an application kind by its name, and whether its objects are in the cache; false if no established CustomResourceDefinition has
// the name.
func (k *kinds) of(name string) (of kind, synced, found bool) {
	k.mu.RLock()
	defer k.mu.RUnlock()
	for _, watched := range k.watched {
		if watched.Kind == name {
			return watched.kind, watched.informer.HasSynced(), true
		}
	}
	return kind{}, false, false
}

// synced returns the application kinds whose objects are in the cache.
func (k *kinds) synced() []kind {
	k.mu.RLock()
	defer k.mu.RUnlock()
	known := make([]kind, 0, len(k.watched))
	for _, watched := range k.watched {
		if watched.informer.HasSynced() {
			known = append(known, watched.kind)
		}
	}
	return known
}

// complete reports whether the objects of all established application kinds are in the cache.
func (k *kinds) complete(ctx context.Context) (bool, error) {
	definitions := &apiextensionsv1.CustomResourceDefinitionList{}
	if err := k.cache.List(ctx, definitions, client.UnsafeDisableDeepCopy); err != nil {
		return false, fmt.Errorf("listing CustomResourceDefinitions: %w", err)
	}
	k.mu.RLock()
	defer k.mu.RUnlock()

	for i := range definitions.Items {
		wanted, served := kindOf(&definitions.Items[i])
		if !served {
			continue
		}
		watched, found := k.watched[wanted.definition]
		if !found || watched.GroupVersionKind != wanted.GroupVersionKind || !watched.informer.HasSynced() {
			return false, nil
		}
	}
	return true, nil
}

// applicationSource returns a source of the requests that a function returns for an application before and after each change.
func applicationSource[R comparable](k *kinds, requests func(application *unstructured.Unstructured) []R) source.TypedSource[R] {
	return source.TypedFunc[R](func(_ context.Context, q workqueue.TypedRateLimitingInterface[R]) error {
		add := func(application *unstructured.Unstructured) {
			for _, request := range requests(application) {
				q.Add(request)
			}
		}
		return k.handle(objects.On(func(before, after *unstructured.Unstructured, _ bool) {
			if before != nil {
				add(before)
			}
			add(after)
		}, add))
	})
}
