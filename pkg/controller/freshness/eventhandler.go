package freshness

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	toolscache "k8s.io/client-go/tools/cache"
)

// Observe wraps an event handler so that it records the resourceVersions that it has handled. Where several handlers observe a resource,
// the view shows an object once any of them has handled it.
func Observe(
	observed *Observed, resource schema.GroupVersionResource, handler toolscache.ResourceEventHandler,
) toolscache.ResourceEventHandler {
	return observing{ResourceEventHandler: handler, resource: resource, observed: observed}
}

// observing is an event handler that records the resourceVersions that it has handled.
type observing struct {
	toolscache.ResourceEventHandler

	resource schema.GroupVersionResource
	observed *Observed
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

func (o observing) name(meta metav1.Object) Object {
	return Object{
		Resource: o.resource, NamespacedName: types.NamespacedName{Namespace: meta.GetNamespace(), Name: meta.GetName()},
	}
}
