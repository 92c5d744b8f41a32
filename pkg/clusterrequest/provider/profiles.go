// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/hub/objects"
	"github.com/placement-hub/placement-hub/pkg/hub/queue"
)

// The reasons of the condition ProviderReady.
const (
	// ReasonProfilesPublished means that the provider makes clusters of the profiles in its status.
	ReasonProfilesPublished = "ProfilesPublished"
	// ReasonNoProfiles means that the provider is not configured.
	ReasonNoProfiles = "NoProfiles"
)

// profileReconciler publishes the profiles of a provider in the status of its ClusterProvider.
type profileReconciler struct {
	provider  Provider
	cached    client.Reader
	writer    client.Client
	clock     clock.PassiveClock
	conflicts queue.ConflictBackoff[reconcile.Request]
}

// Reconcile publishes the profiles where they have changed.
func (r *profileReconciler) Reconcile(ctx context.Context, key reconcile.Request) (reconcile.Result, error) {
	object := &openmcpv1alpha1.ClusterProvider{}

	err := r.cached.Get(ctx, key.NamespacedName, object)
	if apierrors.IsNotFound(err) {
		return reconcile.Result{}, nil // An admin makes it, and its creation calls again.
	}
	if err != nil {
		return reconcile.Result{}, fmt.Errorf("reading ClusterProvider %s: %w", key.Name, err)
	}
	if object.DeletionTimestamp != nil {
		return reconcile.Result{}, nil
	}

	profiles, err := r.provider.Profiles(ctx, r.cached)
	if err != nil {
		return reconcile.Result{}, fmt.Errorf("profiles of ClusterProvider %s: %w", key.Name, err)
	}
	return r.conflicts.Result(ctx, key, r.publish(ctx, object, profiles))
}

// publish writes the status of a ClusterProvider where it has changed.
func (r *profileReconciler) publish(
	ctx context.Context, object *openmcpv1alpha1.ClusterProvider, profiles []openmcpv1alpha1.Profile,
) error {
	now := metav1.NewTime(r.clock.Now())
	before := object.Status
	status := openmcpv1alpha1.ClusterProviderStatus{Ready: len(profiles) > 0, Profiles: profiles}
	status.ObservedGeneration, status.LastReconcileTime = object.Generation, before.LastReconcileTime

	ready := metav1.Condition{
		Type: openmcpv1alpha1.ConditionProviderReady, Status: metav1.ConditionTrue, ObservedGeneration: object.Generation,
		Reason: ReasonProfilesPublished, Message: fmt.Sprintf("the provider makes clusters of %d profiles", len(profiles)), LastTransitionTime: now,
	}
	if object.Spec.LeaseNamespace == "" {
		ready.Message += "; set spec.leaseNamespace to a namespace of the provider, because tenants may write Leases beside its Clusters"
	}

	if !status.Ready {
		ready.Status, ready.Reason = metav1.ConditionFalse, ReasonNoProfiles
		ready.Message = "the provider makes no new clusters, because its configuration has no profile: add one"
	}
	status.Reason, status.Message = ready.Reason, ready.Message
	if former := meta.FindStatusCondition(before.Conditions, ready.Type); former != nil {
		status.Conditions = []metav1.Condition{*former}
	}
	meta.SetStatusCondition(&status.Conditions, ready)

	if equality.Semantic.DeepEqual(before, status) {
		return nil
	}
	status.LastReconcileTime = &now
	return client.IgnoreNotFound(objects.ApplyStatus(ctx, r.writer, object, status))
}
