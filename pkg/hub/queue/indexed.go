// SPDX-License-Identifier: Apache-2.0

package queue

import (
	"context"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// Indexed returns an event handler for the objects that others name: it enqueues those of the type of List that an index of the cache has under
// "namespace/name" of the object of the event.
func Indexed[List any, P interface {
	*List
	client.ObjectList
}](cached client.Reader, index string) handler.EventHandler {
	return handler.EnqueueRequestsFromMapFunc(func(ctx context.Context, object client.Object) []reconcile.Request {
		found := P(new(List))
		if err := cached.List(ctx, found, client.MatchingFields{index: client.ObjectKeyFromObject(object).String()}); err != nil {
			klog.FromContext(ctx).Error(err, "Objects could not be listed from the cache", "index", index)
			return nil
		}
		var requests []reconcile.Request

		err := meta.EachListItem(found, func(item runtime.Object) error {
			of, err := meta.Accessor(item)
			if err == nil {
				key := types.NamespacedName{Namespace: of.GetNamespace(), Name: of.GetName()}
				requests = append(requests, reconcile.Request{NamespacedName: key})
			}
			return err //nolint:wrapcheck // It is logged below.
		})
		if err != nil {
			klog.FromContext(ctx).Error(err, "Objects of the cache could not be read", "index", index)
		}

		return requests
	})
}
