// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/placement-hub/placement-hub/pkg/hub/objects"
	"github.com/placement-hub/placement-hub/pkg/hub/queue"
	"github.com/placement-hub/placement-hub/pkg/toy"
)

// reconciler writes the condition Greeted.
type reconciler struct {
	client client.Client
	word   string
}

func setup(mgr manager.Manager, settings queue.Settings, word string) error {
	r := &reconciler{client: client.WithFieldOwner(mgr.GetClient(), "placement-hub"), word: word}

	return builder.ControllerManagedBy(mgr).Named(Widgets).For(newWidget()).WithOptions(queue.Options[reconcile.Request](settings)).Complete(r)
}

func newWidget() *unstructured.Unstructured {
	widget := &unstructured.Unstructured{}
	widget.SetGroupVersionKind(version.WithKind("Widget"))

	return widget
}

// Reconcile greets a Widget.
func (r *reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	widget := newWidget()
	if err := r.client.Get(ctx, request.NamespacedName, widget); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}

	_, found, err := unstructured.NestedSlice(widget.Object, "status", "conditions")
	if err != nil || found {
		return reconcile.Result{}, err
	}

	changed := widget.DeepCopy()
	condition := map[string]any{
		"type": "Greeted", "status": "True", "reason": "Greeted", "message": toy.Greeting(r.word, widget.GetName()),
		"lastTransitionTime": widget.GetCreationTimestamp().Format("2006-01-02T15:04:05Z"),
	}

	if err := unstructured.SetNestedSlice(changed.Object, []any{condition}, "status", "conditions"); err != nil {
		return reconcile.Result{}, fmt.Errorf("setting the condition: %w", err)
	}

	return reconcile.Result{}, objects.Patch(ctx, r.client, widget, changed, objects.OfStatus())
}
