// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/placement-hub/placement-hub/pkg/affinityclass"
	"github.com/placement-hub/placement-hub/pkg/affinityclass/reader"
	"github.com/placement-hub/placement-hub/pkg/hub/queue"
)

// applicationKey identifies an application.
type applicationKey struct {
	types.NamespacedName

	// Kind is one of the group apps.cozystack.io.
	Kind string
}

// QueueNamespace returns the namespace, so that the applications of one tenant do not delay those of another.
func (k applicationKey) QueueNamespace() string { return k.Namespace }

// applicationReconciler resolves the class of every application into its HelmRelease.
type applicationReconciler struct {
	*state

	// releases applies HelmReleases.
	releases  client.Client
	reporter  *reporter
	conflicts queue.ConflictBackoff[applicationKey]
}

// Reconcile resolves the class of an application, and writes its HelmRelease and what came of it.
func (r *applicationReconciler) Reconcile(ctx context.Context, key applicationKey) (reconcile.Result, error) {
	kind, synced, found := r.kinds.of(key.Kind)
	switch {
	case !found:
		r.reporter.forget(key)
		return reconcile.Result{}, nil // The informer of the kind enqueues its objects.
	case !synced:
		return reconcile.Result{RequeueAfter: syncDelay}, nil // The first events of an informer come before it has synced.
	}
	object := newObject(kind.GroupVersionKind)

	err := r.Cached.Get(ctx, key.NamespacedName, object, client.UnsafeDisableDeepCopy)
	if apierrors.IsNotFound(err) || err == nil && object.GetDeletionTimestamp() != nil {
		r.reporter.forget(key)
		return reconcile.Result{}, nil
	}
	if err != nil {
		return reconcile.Result{}, fmt.Errorf("reading %s %s: %w", key.Kind, key.NamespacedName, err)
	}

	outcome, err := r.resolve(ctx, kind, object)
	if err == nil && outcome != nil {
		err = r.reporter.report(ctx, kind, object, *outcome)
	}
	return r.conflicts.Result(ctx, key, err)
}

// resolve writes the HelmRelease of an application. It returns nil if the outcome depends on objects that will come and enqueue the
// application again.
func (r *applicationReconciler) resolve(ctx context.Context, of kind, object *unstructured.Unstructured) (*outcome, error) {
	namespace, err := r.namespaceOf(ctx, object.GetNamespace())
	if err != nil || namespace == nil || !namespace.DeletionTimestamp.IsZero() {
		return nil, err
	}
	application := &affinityclass.Application{
		Kind: of.GroupVersionKind, Namespace: object.GetNamespace(), Name: object.GetName(), UID: object.GetUID(), Spec: specOf(object),
	}

	found, err := reader.Releases(ctx, r.Cached, client.InNamespace(application.Namespace),
		client.MatchingLabels(affinityclass.ReleaseLabels(of.Group, of.Kind, application.Name)))
	if err != nil {
		return nil, err
	}
	release, reason := affinityclass.ChooseRelease(found, of.chart != "")
	if reason != "" {
		return &outcome{metav1.ConditionFalse, reason, withoutRelease(reason, of, found)}, nil
	}

	tree, err := r.Tree(ctx)
	if err != nil {
		return nil, err
	}
	annotation := ""
	if release != nil {
		annotation = release.GetAnnotations()[affinityclass.ResolvedAnnotation]
	}
	resolution, err := affinityclass.Resolve(tree, r.Classes(ctx), r.place(tree, namespace), application.Spec, annotation)
	switch {
	case err != nil:
		return nil, err
	case resolution.Refusal != nil:
		return &outcome{metav1.ConditionFalse, reasonRefused, resolution.Refusal.Error()}, nil //nolint:nilerr // The outcome has it.
	case resolution.Unguarded:
		return nil, nil
	}

	wanted := affinityclass.NewRelease(resolution)
	if err := r.verify(ctx, tree, namespace, wanted.Class); err != nil {
		return nil, err
	}
	if release == nil {
		return r.create(ctx, application, of, wanted)
	}
	if err := r.apply(ctx, application, release, wanted); err != nil {
		return nil, err
	}
	return resolved(wanted.Class), nil
}

// verify labels the namespace of an application with a class before its HelmRelease gets it, so that no Pod of it is admitted unchecked.
func (r *applicationReconciler) verify(ctx context.Context, tree *affinityclass.Tree, namespace *corev1.Namespace, class string) error {
	hasClass := class != ""
	if namespace.Labels[affinityclass.VerifyLabel] == verified || !hasClass || !tree.Verified(r.place(tree, namespace), true, hasClass) {
		return nil
	}
	return r.label(ctx, namespace, ptr.To(verified))
}

// withoutRelease returns the message about an application without a HelmRelease to write.
func withoutRelease(reason string, of kind, found []*unstructured.Unstructured) string {
	if reason == affinityclass.ReasonReleaseNotFound {
		return "no HelmRelease in the namespace has the labels apps.cozystack.io/application.{group,kind,name} of the application: create one, " +
			"or set the annotation " + affinityclass.ChartAnnotation + " on CustomResourceDefinition " + of.definition +
			", so that the hub creates it"
	}
	names := make([]string, 0, len(found))
	for _, release := range found {
		names = append(names, release.GetName())
	}
	return fmt.Sprintf("several HelmReleases have the labels of the application, and none is written: remove the labels from all of %s but one",
		joinSorted(names))
}

// createdName returns the name of the HelmRelease that the hub creates for an application.
func createdName(kind, name string) string { return strings.ToLower(kind) + "-" + name }
