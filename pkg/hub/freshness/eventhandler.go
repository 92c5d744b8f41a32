// SPDX-License-Identifier: Apache-2.0

package freshness

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	toolscache "k8s.io/client-go/tools/cache"

	"github.com/placement-hub/placement-hub/pkg/hub/objects"
)

// Observe wraps an event handler so that it records the resourceVersions that it has handled. Each of them counts as a change of everything
// in the object. Where several handlers observe a resource, the view shows an object once any of them has handled it.
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
	o.changing(object)
	o.ResourceEventHandler.OnAdd(object, initial)
	o.set(object)
}

// OnUpdate handles a changed object.
func (o observing) OnUpdate(before, after any) {
	o.changing(after)
	o.ResourceEventHandler.OnUpdate(before, after)
	o.set(after)
}

// OnDelete handles a deleted object.
func (o observing) OnDelete(last any) {
	o.changing(last)
	o.ResourceEventHandler.OnDelete(last)
	if meta, ok := objects.Deleted[metav1.Object](last); ok {
		o.observed.Delete(ObjectOf(o.resource, meta))
	}
}

// changing records that an object of an event, or the last known state of a deleted one, is about to be handled.
func (o observing) changing(of any) {
	if meta, ok := objects.Deleted[metav1.Object](of); ok {
		o.observed.Changing(ObjectOf(o.resource, meta))
	}
}

func (o observing) set(object any) {
	if meta, ok := object.(metav1.Object); ok {
		named := ObjectOf(o.resource, meta)
		o.observed.Set(named, meta.GetResourceVersion(), everything(named))
	}
}

// ObjectOf names an object of a resource.
func ObjectOf(resource schema.GroupVersionResource, meta metav1.Object) Object {
	return Object{Resource: resource, NamespacedName: types.NamespacedName{Namespace: meta.GetNamespace(), Name: meta.GetName()}}
}
