// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"fmt"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/placement-hub/placement-hub/pkg/affinityclass"
	"github.com/placement-hub/placement-hub/pkg/affinityclass/reader"
	cozystackv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/cozystack/v1alpha1"
	appsv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/cozystackapps/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/hub/objects"
	"github.com/placement-hub/placement-hub/pkg/hub/queue"
)

// Classes is the name of the controller of AffinityClasses.
const Classes = "affinityclass/classes"

// syncDelay is how long a decision waits that needs every application in the cache, while a kind is not.
const syncDelay = time.Second

// classReconciler keeps the finalizer and the status of every AffinityClass.
type classReconciler struct {
	*state

	conflicts queue.ConflictBackoff[reconcile.Request]
}

// setupClasses adds the controller Classes to the manager.
func (s *state) setupClasses(mgr manager.Manager, settings queue.Settings) error {
	if err := s.kinds.setup(mgr, settings); err != nil {
		return err
	}
	r := &classReconciler{s, queue.NewConflictBackoff[reconcile.Request]()}
	return builder.ControllerManagedBy(mgr). //nolint:wrapcheck // Named by the caller.
							Named(Classes).
							For(&cozystackv1alpha1.AffinityClass{}). // With its status: the cache may have shown it without the last write.
							Watches(&appsv1alpha1.Tenant{}, handler.EnqueueRequestsFromMapFunc(classesOfTenant),
			builder.WithPredicates(updated(differs))).
		Watches(newObject(affinityclass.ReleaseKind), handler.EnqueueRequestsFromMapFunc(classOfRelease),
			builder.WithPredicates(updated(classDiffers))).
		WatchesRawSource(applicationSource(s.kinds, func(application *unstructured.Unstructured) []reconcile.Request {
			return requestsFor(classOf(application))
		})).
		WithOptions(queue.Options[reconcile.Request](settings)).
		Complete(r)
}

// requestsFor returns a request for each name but the empty one.
func requestsFor(names ...string) []reconcile.Request {
	var requests []reconcile.Request
	for _, name := range names {
		if name != "" {
			requests = append(requests, reconcile.Request{NamespacedName: types.NamespacedName{Name: name}})
		}
	}
	return requests
}

func classesOfTenant(_ context.Context, object client.Object) []reconcile.Request {
	tenant, isTenant := object.(*appsv1alpha1.Tenant)
	if !isTenant {
		return nil
	}
	return requestsFor(append(slices.Clone(tenant.Spec.AllowedAffinityClasses), tenant.Spec.DefaultAffinityClass)...)
}

func classOfRelease(_ context.Context, release client.Object) []reconcile.Request {
	return requestsFor(release.GetLabels()[affinityclass.ClassLabel])
}

// Reconcile gives an AffinityClass the finalizer, counts its users, and lets it go when it is deleted and has none.
func (r *classReconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	class := &cozystackv1alpha1.AffinityClass{}

	err := r.Cached.Get(ctx, request.NamespacedName, class)
	if apierrors.IsNotFound(err) {
		return reconcile.Result{}, nil
	}
	if err != nil {
		return reconcile.Result{}, fmt.Errorf("reading AffinityClass %s: %w", request.Name, err)
	}
	complete, err := r.sync(ctx, class)

	result, err := r.conflicts.Result(ctx, request, err)
	if err == nil && !complete && result.RequeueAfter == 0 {
		result.RequeueAfter = syncDelay
	}
	return result, err
}

// sync writes the finalizer and the status of a class. It returns false if applications are missing in the cache, so that nothing can be
// said about users.
func (r *classReconciler) sync(ctx context.Context, class *cozystackv1alpha1.AffinityClass) (complete bool, err error) {
	deleted := !class.DeletionTimestamp.IsZero()
	if !deleted && !controllerutil.ContainsFinalizer(class, cozystackv1alpha1.InUseFinalizer) {
		// The event of the write enqueues the class again.
		return true, objects.AddFinalizer(ctx, r.writer, class, cozystackv1alpha1.InUseFinalizer)
	}
	if complete, err := r.kinds.complete(ctx); err != nil || !complete {
		return complete, err
	}

	users, err := r.users(ctx, r.Cached, class.Name)
	if err != nil {
		return true, err
	}

	if deleted && !users.InUse() && controllerutil.ContainsFinalizer(class, cozystackv1alpha1.InUseFinalizer) {
		if users, err = r.users(ctx, r.Live, class.Name); err != nil {
			return true, err
		}
		if !users.InUse() {
			return true, r.release(ctx, class)
		}
	}
	return true, r.writeStatus(ctx, class, users, deleted)
}

// release removes the finalizer of a class that is deleted and not in use.
func (r *classReconciler) release(ctx context.Context, class *cozystackv1alpha1.AffinityClass) error {
	if err := objects.RemoveFinalizer(ctx, r.writer, class, cozystackv1alpha1.InUseFinalizer); err != nil {
		return err
	}
	klog.FromContext(ctx).V(2).Info("Let an AffinityClass go that nobody uses", "affinityClass", klog.KObj(class))
	return nil
}

// writeStatus writes the numbers of users, and while the class waits to be deleted who they are.
func (r *classReconciler) writeStatus(
	ctx context.Context, class *cozystackv1alpha1.AffinityClass, users affinityclass.Users, deleted bool,
) error {
	_, err := objects.PatchStatus(ctx, r.writer, class, func(changed *cozystackv1alpha1.AffinityClass) {
		changed.Status.Applications = int32(len(users.Applications))
		changed.Status.Tenants = int32(len(users.Tenants))
		if deleted && users.InUse() {
			meta.SetStatusCondition(&changed.Status.Conditions, metav1.Condition{
				Type: cozystackv1alpha1.ConditionDeletionBlocked, Status: metav1.ConditionTrue, Reason: cozystackv1alpha1.ReasonInUse,
				Message: "used by " + users.String(), LastTransitionTime: metav1.NewTime(r.clock.Now()),
			})
		}
	})
	return err
}

// users returns who uses a class, by what a reader has.
func (r *classReconciler) users(ctx context.Context, from client.Reader, class string) (affinityclass.Users, error) {
	tenants, err := reader.Tenants(ctx, from)
	if err != nil {
		return affinityclass.Users{}, err
	}
	labelled, err := reader.Releases(ctx, from, client.MatchingLabels{affinityclass.ClassLabel: class})
	if err != nil {
		return affinityclass.Users{}, err
	}

	applications, err := r.applications(ctx, from)
	if err != nil {
		return affinityclass.Users{}, err
	}
	return affinityclass.UsersOf(class, uses(class, applications, labelled), tenants), nil
}

// uses returns the applications that name a class, and those that the HelmReleases with its label belong to, each once. A HelmRelease of no
// application is a user itself.
func uses(class string, applications, labelled []*unstructured.Unstructured) []affinityclass.ApplicationUse {
	users := map[string]affinityclass.ApplicationUse{}
	for _, release := range labelled {
		user := fmt.Sprintf("HelmRelease %s/%s", release.GetNamespace(), release.GetName())
		if kind, name, found := affinityclass.ApplicationOf(release.GetLabels()); found {
			user = describe(kind.Kind, release.GetNamespace(), name)
		}
		users[user] = affinityclass.ApplicationUse{Application: user, Released: class}
	}

	for _, application := range applications {
		if classOf(application) != class {
			continue
		}
		user := describe(application.GetKind(), application.GetNamespace(), application.GetName())
		use := users[user]
		use.Application, use.Named = user, class
		users[user] = use
	}

	all := make([]affinityclass.ApplicationUse, 0, len(users))
	for _, use := range users {
		all = append(all, use)
	}
	return all
}

func describe(kind, namespace, name string) string {
	return fmt.Sprintf("%s %s/%s", kind, namespace, name)
}
