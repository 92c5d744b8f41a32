// SPDX-License-Identifier: Apache-2.0

package hubstate

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/placement-hub/placement-hub/pkg/apis/scheme"
	"github.com/placement-hub/placement-hub/pkg/decoding"
	"github.com/placement-hub/placement-hub/pkg/explain"
	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/placement"
	"github.com/placement-hub/placement-hub/pkg/placement/api"
)

// Watcher reads the State of a hub from caches, and is notified of changes. A broken or expired watch is started again. It is safe for
// concurrent use.
type Watcher struct {
	// allNamespaces caches all namespaces; byNamespace caches the kinds that are limited to some namespaces.
	allNamespaces cache.Cache
	byNamespace   map[string]cache.Cache
	limited       func(kind runtime.Object) bool

	// refused has the errors of lists that are not watched, by their kind, and hub reads single objects.
	refused map[schema.GroupVersionKind]error
	hub     client.Reader
	changed chan struct{}
	failed  chan error
	// touched is called with each Placement that has changed, or whose decisions have; nil for none.
	touched func(inventory.Key)
}

// WatchCache returns a Watcher of all inputs of the Placements of some APIs over the informers of a manager, which starts and ends them. Failed never
// receives anything then. It calls touched with each Placement that has changed, or whose decisions have. It watches nothing of other APIs: a hub
// that runs no controller for them need not have the right to.
func WatchCache(ctx context.Context, informers cache.Cache, apis []api.Adapter, touched func(inventory.Key)) (*Watcher, error) {
	w := newWatcher(explain.OfPlacements)
	w.touched = touched
	w.allNamespaces = informers
	if len(apis) == 0 {
		return w, nil
	}
	err := w.subscribe(ctx, w.kinds(explain.OfPlacements, func(kind *explain.Kind) bool {
		adapter := adapterOf(kind)
		return adapter == nil || slices.Contains(apis, adapter)
	}))
	return w, err
}

func newWatcher(concern explain.Concern) *Watcher {
	return &Watcher{
		byNamespace: map[string]cache.Cache{}, limited: limitedFor(concern), refused: map[schema.GroupVersionKind]error{},
		changed: make(chan struct{}, 1), failed: make(chan error, 1),
	}
}

// NewWatcher returns a Watcher for the inputs of Placements: Placements and bindings of the namespaces, or of all namespaces without any.
// The decisions of uncounted APIs are left out. It has its own watches, which Watch starts; a forbidden one ends it.
func NewWatcher(config *rest.Config, uncounted []api.Adapter, namespaces ...string) (*Watcher, error) {
	w := newWatcher(explain.OfPlacements)
	for _, adapter := range uncounted {
		resource := schema.GroupResource{Group: string(adapter.Name()), Resource: "placementdecisions"}
		w.refused[kindIn(adapter.Codec().EmptyList())] = apierrors.NewForbidden(resource, "", errors.New("this user may not list them"))
	}
	err := w.open(config, cache.Options{}, namespaces...)
	return w, err
}

// open makes the caches of all namespaces, with the limits by kind of the options, and of each of some namespaces.
func (w *Watcher) open(config *rest.Config, options cache.Options, namespaces ...string) error {
	var err error
	config = rest.CopyConfig(config)
	config.Timeout = 0 // A watch has no end.
	options.Scheme, options.DefaultTransform = scheme.Known(), cache.TransformStripManagedFields()
	options.DefaultUnsafeDisableDeepCopy, options.DefaultWatchErrorHandler = ptr.To(true), w.handleWatchError
	if w.allNamespaces, err = decoding.NewCache(config, options); err != nil {
		return fmt.Errorf("preparing to watch %s: %w", config.Host, err)
	}
	options.ByObject = nil

	for _, namespace := range namespaces {
		options.DefaultNamespaces = map[string]cache.Config{namespace: {}}
		if w.byNamespace[namespace], err = decoding.NewCache(config, options); err != nil {
			return fmt.Errorf("preparing to watch namespace %s of %s: %w", namespace, config.Host, err)
		}
	}
	return nil
}

// caches returns all caches.
func (w *Watcher) caches() []cache.Cache {
	return append(slices.Collect(maps.Values(w.byNamespace)), w.allNamespaces)
}

// cachesOf returns the caches, by namespace, of the kind of an object or list.
func (w *Watcher) cachesOf(kind runtime.Object) map[string]cache.Cache {
	if len(w.byNamespace) > 0 && w.limited(kind) {
		return w.byNamespace
	}
	return map[string]cache.Cache{"": w.allNamespaces}
}

// limitedFor returns a function that reports whether a Watcher of some namespaces reads only their objects of the kind of an object or list. Kinds
// that are not in the table are those that the hub delivers besides.
func limitedFor(concern explain.Concern) func(runtime.Object) bool {
	return func(object runtime.Object) bool {
		gvk := kindIn(object)
		gvk.Kind = strings.TrimSuffix(gvk.Kind, "List")
		kind := explain.FindKind(gvk)
		return kind == nil || kind.Limited&concern != 0
	}
}

func sameType(kind, other runtime.Object) bool { return reflect.TypeOf(other) == reflect.TypeOf(kind) }

// kindIn returns the kind of an object or list; empty if it has none.
func kindIn(object runtime.Object) schema.GroupVersionKind {
	kind, err := apiutil.GVKForObject(object, scheme.Known())
	if err != nil {
		return schema.GroupVersionKind{}
	}
	return kind
}

// handleWatchError ends the Watcher when a watch is forbidden; any other error is retried by the reflector.
func (w *Watcher) handleWatchError(_ context.Context, _ *toolscache.Reflector, err error) {
	if !apierrors.IsForbidden(err) && !apierrors.IsUnauthorized(err) {
		return
	}
	select {
	case w.failed <- fmt.Errorf("the hub does not allow this user to watch what the result depends on:\n  %w\n"+
		"ask an administrator of the hub for the verbs list and watch on this resource", err):
	default: // One is enough.
	}
}

// Watch starts the watches of the kinds that are served, with Placements of the given APIs, and returns when they are in sync. They end
// with ctx.
func (w *Watcher) Watch(ctx context.Context, apis []api.Adapter) error {
	return w.watch(ctx, w.placementKinds(apis))
}

// watch starts the watches of the kinds that are served, and returns when they are in sync. They end with ctx.
func (w *Watcher) watch(ctx context.Context, kinds []client.Object) error {
	if err := w.subscribe(ctx, kinds); err != nil {
		return err
	}
	return w.start(ctx)
}

// placementKinds returns the kinds that decide about the Placements of the APIs.
func (w *Watcher) placementKinds(apis []api.Adapter) []client.Object {
	return w.kinds(explain.OfPlacements, func(kind *explain.Kind) bool {
		adapter := adapterOf(kind)
		return adapter == nil || kind == decisionsOf(adapter) || slices.Contains(apis, adapter)
	})
}

// kinds returns the kinds with a type that are read for some results, whose lists are not refused and for which wanted is true.
func (w *Watcher) kinds(concern explain.Concern, wanted func(*explain.Kind) bool) []client.Object {
	var kinds []client.Object
	for _, kind := range explain.Kinds() {
		list := kind.GroupVersion().WithKind(kind.Kind + "List")
		if kind.Type != nil && kind.Reads&concern != 0 && wanted(kind) && w.refused[list] == nil {
			kinds = append(kinds, kind.Type)
		}
	}
	return kinds
}

// untyped returns an empty object of a kind.
func untyped(kind schema.GroupVersionKind) *unstructured.Unstructured {
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(kind)
	return object
}

// subscribe adds a handler to the informers of the kinds that are served. Changed receives their events.
func (w *Watcher) subscribe(ctx context.Context, kinds []client.Object) error {
	note := func(object any) {
		if w.touched != nil {
			placementsOf(object, w.touched)
		}
		select {
		case w.changed <- struct{}{}:
		default: // The pending notification covers this change too.
		}
	}
	handler := toolscache.ResourceEventHandlerFuncs{
		AddFunc: note, UpdateFunc: func(_, object any) { note(object) }, DeleteFunc: note,
	}

	for _, kind := range kinds {
		for _, in := range w.cachesOf(kind) {
			informer, err := in.GetInformer(ctx, kind, cache.BlockUntilSynced(false))
			if isUnserved(err) {
				continue
			}
			if err != nil {
				return fmt.Errorf("watching %T: %w", kind, err)
			}
			if _, err := informer.AddEventHandler(handler); err != nil {
				return fmt.Errorf("watching %T: %w", kind, err)
			}
		}
	}

	return nil
}

// placementsOf calls visit with the Placement that an object is, or whose decisions it may have.
func placementsOf(object any, visit func(inventory.Key)) {
	if deleted, is := object.(toolscache.DeletedFinalStateUnknown); is {
		object = deleted.Obj
	}
	known, is := object.(api.Object)
	if !is {
		return
	}
	if own := api.Read(known); own != nil {
		visit(own.Key())
		return
	}
	for _, adapter := range api.Adapters() {
		page := adapter.Codec().Read(known)
		if page == nil {
			continue
		}
		for _, name := range placement.PlacementsOf(adapter.Codec(), page) {
			visit(inventory.NewPlacementKey(adapter.Name(), page.Namespace, name))
		}
	}
}

func (w *Watcher) start(ctx context.Context) error {
	for _, each := range w.caches() {
		go func() {
			if err := each.Start(ctx); err != nil {
				w.failed <- fmt.Errorf("watching the hub: %w", err)
			}
		}()
	}

	synced := make(chan bool, 1)
	go func() {
		synced <- !slices.ContainsFunc(w.caches(), func(each cache.Cache) bool { return !each.WaitForCacheSync(ctx) })
	}()

	select {
	case err := <-w.failed:
		return err
	case complete := <-synced:
		if !complete && ctx.Err() == nil {
			return errors.New("the watches of the hub did not start; try again")
		}
		return ctx.Err()
	}
}

// Client returns a client that lists what the Watcher watches from its caches, and reads everything else by live. Call it after Watch, of a Watcher
// of all namespaces.
func (w *Watcher) Client(live client.Client) *Informed {
	return NewInformed(live, w.allNamespaces, func(api.Adapter) bool { return true })
}

// Changed receives a value when an object may have changed since the last receive. It has one receiver.
func (w *Watcher) Changed() <-chan struct{} { return w.changed }

// Failed receives the error after which the Watcher is no longer brought up to date. It has one receiver.
func (w *Watcher) Failed() <-chan error { return w.failed }

// Read returns the State from the caches, as FromCluster does from a hub.
func (w *Watcher) Read(ctx context.Context, placements []inventory.Key) (*explain.State, error) {
	return FromCluster(ctx, watchedReader{w.hub, w}, placements)
}

// ReadAll returns the State from the caches, as AllFromCluster does from a hub.
func (w *Watcher) ReadAll(ctx context.Context, namespace string) (*explain.State, error) {
	return AllFromCluster(ctx, watchedReader{w.hub, w}, namespace)
}

// watchedReader lists from the caches of a Watcher, and returns for lists that are not watched the error that the hub has returned.
type watchedReader struct {
	client.Reader

	*Watcher
}

func (w watchedReader) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	if err := w.refused[kindIn(list)]; err != nil {
		return err
	}
	var given client.ListOptions
	given.ApplyOptions(options)
	in, followed := w.cachesOf(list)[given.Namespace]
	if whole := w.cachesOf(list)[""]; !followed && whole != nil {
		in, followed = whole, true
	}

	if !followed {
		return fmt.Errorf("%T of namespace %q are not watched", list, given.Namespace)
	}
	err := in.List(ctx, list, client.InNamespace(given.Namespace), client.UnsafeDisableDeepCopy)
	list.SetContinue("")
	return err //nolint:wrapcheck // Its kind decides what is done.
}
