// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/placement-hub/placement-hub/pkg/affinityclass"
	"github.com/placement-hub/placement-hub/pkg/affinityclass/reader"
	appsv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/cozystackapps/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/hub/queue"
)

// Namespaces is the name of the controller of the label of namespaces whose Pods are verified.
const Namespaces = "affinityclass/namespaces"

// verified is the value of affinityclass.VerifyLabel.
const verified = "true"

// namespaceReconciler keeps affinityclass.VerifyLabel and affinityclass.AllowedAnnotation: docs/spec/affinity-class.md 1.5 and 1.3.
type namespaceReconciler struct {
	*state

	conflicts queue.ConflictBackoff[reconcile.Request]
}

// setupNamespaces adds the controller Namespaces to the manager.
func (s *state) setupNamespaces(mgr manager.Manager, settings queue.Settings) error {
	if err := s.kinds.setup(mgr, settings); err != nil {
		return err
	}
	r := &namespaceReconciler{s, queue.NewConflictBackoff[reconcile.Request]()}
	holder := func(_ context.Context, object client.Object) []reconcile.Request {
		return requestsFor(object.GetNamespace())
	}
	return builder.ControllerManagedBy(mgr). //nolint:wrapcheck // Named by the caller.
							Named(Namespaces).
							For(&corev1.Namespace{}, builder.WithPredicates(updated(namespaceDiffers))).
							Watches(&appsv1alpha1.Tenant{}, handler.EnqueueRequestsFromMapFunc(r.ownedBy), builder.WithPredicates(updated(differs))).
							Watches(newObject(affinityclass.ReleaseKind), handler.EnqueueRequestsFromMapFunc(holder),
			builder.WithPredicates(updated(classDiffers))).
		WatchesRawSource(applicationSource(s.kinds, func(application *unstructured.Unstructured) []reconcile.Request {
			return requestsFor(application.GetNamespace())
		})).
		WithOptions(queue.Options[reconcile.Request](settings)).
		Complete(r)
}

// ownedBy returns the workload namespace of a Tenant, and those whose settings depend on that Tenant.
func (r *namespaceReconciler) ownedBy(ctx context.Context, tenant client.Object) []reconcile.Request {
	r.TenantsChanged()
	requests := requestsFor(owned(tenant))

	listed, err := reader.Tenants(ctx, r.Cached)
	if err != nil {
		klog.FromContext(ctx).Error(err, "The namespaces below a Tenant are not looked at before their own next event", "tenant", klog.KObj(tenant))
	}
	for _, below := range listed {
		if namespace := owned(below); namespace != owned(tenant) && concerns(below, owned(tenant)) {
			requests = append(requests, requestsFor(namespace)...)
		}
	}
	return requests
}

// Reconcile adds or removes the label of a Namespace.
func (r *namespaceReconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	namespace, err := r.namespaceOf(ctx, request.Name)
	if err != nil || namespace == nil || !namespace.DeletionTimestamp.IsZero() {
		return reconcile.Result{}, err
	}
	complete, err := r.sync(ctx, namespace)
	result, err := r.conflicts.Result(ctx, request, err)
	if err == nil && !complete && result.RequeueAfter == 0 {
		result.RequeueAfter = syncDelay
	}
	return result, err
}

// sync writes the label of a Namespace. It returns false if applications are missing in the cache, so that a label is neither
// removed nor known to be unwanted.
func (r *namespaceReconciler) sync(ctx context.Context, namespace *corev1.Namespace) (complete bool, err error) {
	tree, err := r.Tree(ctx)
	if err != nil {
		return true, err
	}
	if recorded, err := r.record(ctx, tree, namespace); err != nil || recorded {
		return true, err // The event of the Namespace brings the rest.
	}
	value, labelled := namespace.Labels[affinityclass.VerifyLabel]

	switch wanted, err := r.wanted(ctx, r.Cached, tree, namespace); {
	case err != nil:
		return true, err
	case wanted && value != verified:
		return true, r.label(ctx, namespace, ptr.To(verified))
	case wanted:
		return true, nil
	}

	complete, err = r.kinds.complete(ctx)
	if err != nil || !complete || !labelled {
		return complete, err
	}
	present, err := reader.Tenants(ctx, r.Live)
	if err != nil {
		return true, err
	}

	if wanted, err := r.wanted(ctx, r.Live, affinityclass.NewTree(present), namespace); err != nil || wanted {
		return true, err
	}
	return true, r.label(ctx, namespace, nil)
}

// record writes the classes that the Tenant of a Namespace allows, and reports whether it did. Without a Tenant the record stays.
func (r *namespaceReconciler) record(ctx context.Context, tree *affinityclass.Tree, namespace *corev1.Namespace) (bool, error) {
	if tree.Owner(namespace.Name) == nil {
		return false, nil
	}
	record, err := tree.Effective(namespace.Name).Allowed.Record()
	if err != nil || record == namespace.Annotations[affinityclass.AllowedAnnotation] {
		return false, err
	}

	var value *string
	if record != "" {
		value = &record
	}
	err = r.patchNamespace(ctx, namespace, "annotations", affinityclass.AllowedAnnotation, value)
	return err == nil, err
}

// wanted reports whether a Namespace has to have the label, by what a reader has.
func (r *namespaceReconciler) wanted(
	ctx context.Context, from client.Reader, tree *affinityclass.Tree, namespace *corev1.Namespace,
) (bool, error) {
	place := r.place(tree, namespace)
	if !tree.Verified(place, true, true) || tree.Verified(place, false, false) {
		return tree.Verified(place, false, false), nil
	}
	classes, err := reader.Releases(ctx, from, client.InNamespace(namespace.Name), withClass)
	if err != nil {
		return false, err
	}

	applications, err := r.applications(ctx, from, client.InNamespace(namespace.Name))
	if err != nil {
		return false, err
	}
	return tree.Verified(place, len(applications) > 0, len(classes) > 0), nil
}

// label sets the label of a Namespace, or removes it if the value is nil.
func (s *state) label(ctx context.Context, namespace *corev1.Namespace, value *string) error {
	return s.patchNamespace(ctx, namespace, "labels", affinityclass.VerifyLabel, value)
}

// patchNamespace sets a label or an annotation of a Namespace, or removes it if the value is nil.
func (s *state) patchNamespace(ctx context.Context, namespace *corev1.Namespace, field, key string, value *string) error {
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{
		"resourceVersion": namespace.ResourceVersion, field: map[string]any{key: value},
	}})
	if err != nil {
		return fmt.Errorf("encoding a patch of Namespace %s: %w", namespace.Name, err)
	}
	patched := namespace.DeepCopy()
	if err := s.writer.Patch(ctx, patched, client.RawPatch(types.MergePatchType, patch)); err != nil {
		return fmt.Errorf("writing %s of Namespace %s: %w", key, namespace.Name, err)
	}

	klog.FromContext(ctx).V(2).Info("Wrote what is known of the classes of a namespace", "namespace", namespace.Name, field, key,
		"value", ptr.Deref(value, "removed"))
	return nil
}
