package placement

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/controller/freshness"
	"github.com/placement-hub/placement-hub/pkg/decision/api"
)

// on returns an event handler that calls set and gone with typed objects. The old state is nil for an added object; initial reports that
// the object is from the initial list.
func on[T client.Object](set func(before, after T, initial bool), gone func(T)) toolscache.ResourceEventHandler {
	return toolscache.ResourceEventHandlerDetailedFuncs{
		AddFunc: func(object any, initial bool) {
			if after, ok := object.(T); ok {
				var none T

				set(none, after, initial)
			}
		},
		UpdateFunc: func(old, object any) {
			before, okBefore := old.(T)
			if after, ok := object.(T); ok && okBefore {
				set(before, after, false)
			}
		},
		DeleteFunc: func(object any) {
			if tombstone, ok := object.(toolscache.DeletedFinalStateUnknown); ok {
				object = tombstone.Obj
			}

			if last, ok := object.(T); ok {
				gone(last)
			}
		},
	}
}

// observe wraps an event handler so that it records the resourceVersions that it has handled.
func observe(
	observed *freshness.Observed, resource schema.GroupVersionResource, handler toolscache.ResourceEventHandler,
) toolscache.ResourceEventHandler {
	return observing{ResourceEventHandler: handler, resource: resource, observed: observed}
}

// observing is an event handler that records the resourceVersions that it has handled.
type observing struct {
	toolscache.ResourceEventHandler

	resource schema.GroupVersionResource
	observed *freshness.Observed
}

// OnAdd handles an added object.
func (o observing) OnAdd(object any, initial bool) {
	defer o.begin(object)()

	o.ResourceEventHandler.OnAdd(object, initial)
}

// OnUpdate handles a changed object.
func (o observing) OnUpdate(before, after any) {
	defer o.begin(after)()

	o.ResourceEventHandler.OnUpdate(before, after)
}

// OnDelete handles a deleted object.
func (o observing) OnDelete(last any) {
	object := last
	if tombstone, ok := last.(toolscache.DeletedFinalStateUnknown); ok {
		object = tombstone.Obj
	}

	o.begin(object)
	o.ResourceEventHandler.OnDelete(last)

	if meta, ok := object.(metav1.Object); ok {
		o.observed.Delete(o.name(meta))
	}
}

func (o observing) begin(object any) (done func()) {
	meta, ok := object.(metav1.Object)
	if !ok {
		return func() {}
	}

	return o.observed.Begin(o.name(meta), meta.GetResourceVersion())
}

func (o observing) name(meta metav1.Object) freshness.Object {
	return freshness.Object{Resource: o.resource, NamespacedName: keyOf(meta)}
}

// placements returns the resource of the Placements of an API.
func placements(adapter api.Adapter) schema.GroupVersionResource {
	owner := adapter.Kind()

	return owner.GroupVersion().WithResource("placements")
}
