// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/placement-hub/placement-hub/pkg/affinityclass"
	"github.com/placement-hub/placement-hub/pkg/affinityclass/reader"
	cozystackv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/cozystack/v1alpha1"
	appsv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/cozystackapps/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/hub/apply"
	"github.com/placement-hub/placement-hub/pkg/hub/eventwriter"
	"github.com/placement-hub/placement-hub/pkg/hub/problems"
	"github.com/placement-hub/placement-hub/pkg/hub/queue"
)

// Applications is the name of the controller of applications.
const Applications = "affinityclass/applications"

// setupApplications adds the controller Applications to the manager.
func (s *state) setupApplications(mgr manager.Manager, settings queue.Settings) error {
	if err := s.kinds.setup(mgr, settings); err != nil {
		return err
	}
	sink, err := eventwriter.NewSink(mgr.GetConfig(), mgr.GetHTTPClient())
	if err != nil {
		return err
	}

	writer := eventwriter.New(sink, Applications, func() bool { return false })
	if err := mgr.Add(writer); err != nil {
		return err //nolint:wrapcheck // Named by the caller.
	}

	releases, err := apply.NewClient(mgr, apply.Options{FieldManager: FieldManager, Recorder: writer})
	if err != nil {
		return err
	}
	r := &applicationReconciler{
		state: s, releases: releases,
		reporter: &reporter{
			writer: s.writer, recorder: writer, clock: settings.Clock, live: s.Live,
			problems: problems.New[applicationKey](settings.Clock, settings.FormerRenewal),
		},
		conflicts: queue.NewConflictBackoff[applicationKey](),
	}
	mapped := handler.TypedEnqueueRequestsFromMapFunc[client.Object, applicationKey]
	return builder.TypedControllerManagedBy[applicationKey](mgr). //nolint:wrapcheck // Named by the caller.
									Named(Applications).
									WatchesRawSource(applicationSource(s.kinds, keyOf)).
									Watches(newObject(affinityclass.ReleaseKind), mapped(r.ofRelease), builder.WithPredicates(updated(differs))).
									Watches(&cozystackv1alpha1.AffinityClass{}, mapped(r.ofClass), builder.WithPredicates(updated(differs))).
									Watches(&appsv1alpha1.Tenant{}, mapped(r.ofTenant), builder.WithPredicates(updated(differs))).
									Watches(&corev1.Namespace{}, mapped(r.ofNamespace), builder.WithPredicates(updated(namespaceDiffers))).
									WithLogConstructor(queue.Logs(mgr.GetLogger(), Applications, func(key applicationKey) []any {
			return []any{"kind", key.Kind, "application", klog.KRef(key.Namespace, key.Name)}
		})).
		WithOptions(queue.Options[applicationKey](settings)).
		Complete(r)
}

func keyOf(application *unstructured.Unstructured) []applicationKey {
	return []applicationKey{{client.ObjectKeyFromObject(application), application.GetKind()}}
}

// ofRelease returns the application that a HelmRelease has the labels of. One without such labels may stand where the hub wants to create
// another.
func (r *applicationReconciler) ofRelease(_ context.Context, release client.Object) []applicationKey {
	if kind, name, found := affinityclass.ApplicationOf(release.GetLabels()); found {
		if kind.Group != appsv1alpha1.GroupName {
			return nil
		}
		return []applicationKey{{types.NamespacedName{Namespace: release.GetNamespace(), Name: name}, kind.Kind}}
	}
	var keys []applicationKey

	for _, known := range r.kinds.synced() {
		if name, found := strings.CutPrefix(release.GetName(), createdName(known.Kind, "")); found && known.chart != "" {
			keys = append(keys, applicationKey{types.NamespacedName{Namespace: release.GetNamespace(), Name: name}, known.Kind})
		}
	}
	return keys
}

// ofClass returns the applications that have or may get a class.
func (r *applicationReconciler) ofClass(ctx context.Context, class client.Object) []applicationKey {
	tree, err := r.Tree(ctx)
	if err != nil {
		return r.unknown(ctx, err)
	}
	labelled, err := reader.Releases(ctx, r.Cached, client.MatchingLabels{affinityclass.ClassLabel: class.GetName()})
	if err != nil {
		return r.unknown(ctx, err)
	}

	var keys []applicationKey
	for _, release := range labelled {
		keys = append(keys, r.ofRelease(ctx, release)...)
	}
	return append(keys, r.matching(ctx, func(application *unstructured.Unstructured) bool {
		name := classOf(application)
		return name == class.GetName() || name == "" && tree.Effective(application.GetNamespace()).Default == class.GetName()
	})...)
}

// ofTenant returns the applications whose class may depend on a Tenant.
func (r *applicationReconciler) ofTenant(ctx context.Context, tenant client.Object) []applicationKey {
	r.TenantsChanged()
	above := owned(tenant)
	return r.matching(ctx, func(application *unstructured.Unstructured) bool {
		namespace := application.GetNamespace()
		return above == affinityclass.RootNamespace || namespace == above || strings.HasPrefix(namespace, above+"-")
	})
}

func (r *applicationReconciler) ofNamespace(ctx context.Context, namespace client.Object) []applicationKey {
	return r.matching(ctx, func(*unstructured.Unstructured) bool { return true }, client.InNamespace(namespace.GetName()))
}

// matching returns the cached applications for which a function returns true.
func (r *applicationReconciler) matching(
	ctx context.Context, matches func(*unstructured.Unstructured) bool, options ...client.ListOption,
) []applicationKey {
	applications, err := r.applications(ctx, r.Cached, options...)
	if err != nil {
		return r.unknown(ctx, err)
	}
	var keys []applicationKey
	for _, application := range applications {
		if matches(application) {
			keys = append(keys, keyOf(application)...)
		}
	}
	return keys
}

// unknown logs why the applications that an event concerns could not be listed. A List from the cache fails only when the cache stops; the
// next start enqueues every application.
func (*applicationReconciler) unknown(ctx context.Context, err error) []applicationKey {
	klog.FromContext(ctx).Error(err, "Looking for applications that an event concerns")
	return nil
}
