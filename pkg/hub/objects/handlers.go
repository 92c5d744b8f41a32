// SPDX-License-Identifier: Apache-2.0

package objects

import (
	"context"

	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// On returns an event handler of an informer that calls set and gone with typed objects. The old state is nil for an added object; initial
// reports that the object is from the initial list.
func On[T client.Object](set func(before, after T, initial bool), gone func(T)) toolscache.ResourceEventHandler {
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
			if last, ok := Deleted[T](object); ok {
				gone(last)
			}
		},
	}
}

// Deleted returns the object of a deletion event of an informer. If the watch has missed the deletion, that is the last known state; false if
// none is known, or the object is of another type.
func Deleted[T any](object any) (T, bool) {
	if tombstone, ok := object.(toolscache.DeletedFinalStateUnknown); ok {
		object = tombstone.Obj
	}
	last, ok := object.(T)
	return last, ok
}

// Handler returns an event handler of a controller that enqueues the requests that set and gone return for typed objects. The old state is nil
// for a created object; initial reports that the object is from the initial list.
func Handler[T client.Object](
	set func(ctx context.Context, before, after T, initial bool) []reconcile.Request,
	gone func(ctx context.Context, last T) []reconcile.Request,
) handler.EventHandler {
	type queue = workqueue.TypedRateLimitingInterface[reconcile.Request]
	enqueue := func(q queue, requests []reconcile.Request) {
		for _, request := range requests {
			q.Add(request)
		}
	}
	return handler.Funcs{
		CreateFunc: func(ctx context.Context, e event.CreateEvent, q queue) {
			if after, ok := e.Object.(T); ok {
				var none T
				enqueue(q, set(ctx, none, after, e.IsInInitialList))
			}
		},
		UpdateFunc: func(ctx context.Context, e event.UpdateEvent, q queue) {
			before, okBefore := e.ObjectOld.(T)
			if after, ok := e.ObjectNew.(T); ok && okBefore {
				enqueue(q, set(ctx, before, after, false))
			}
		},
		DeleteFunc: func(ctx context.Context, e event.DeleteEvent, q queue) {
			if last, ok := e.Object.(T); ok {
				enqueue(q, gone(ctx, last))
			}
		},
	}
}
