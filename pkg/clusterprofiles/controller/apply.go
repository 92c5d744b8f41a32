// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"cmp"
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterinventory "sigs.k8s.io/cluster-inventory-api/apis/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/clusterprofiles"
	"github.com/placement-hub/placement-hub/pkg/decoding/unreadable"
	"github.com/placement-hub/placement-hub/pkg/hub/problems"
	"github.com/placement-hub/placement-hub/pkg/metrics"
)

// yieldPeriod is how long a ClusterProfile whose values another writer owns is left alone before the hub tries again.
const yieldPeriod = 10 * time.Minute

// ReasonOwnedByAnother is the reason of the Event of a ClusterProfile whose values another writer owns.
const ReasonOwnedByAnother = "ProfileOwnedByAnother"

// apply applies what a ClusterProfile does not say yet; profile is nil if there is none. It returns when to try again.
func (r *reconciler) apply(
	ctx context.Context, key types.NamespacedName, cluster *clusterv1.ManagedCluster, profile *clusterinventory.ClusterProfile,
) (time.Duration, error) {
	wanted, out := r.patterns.Profile(cluster)
	state := metrics.ProfileState{LeftOut: metrics.ClaimsLeftOut(out)}
	write := wanted.Compare(digestsOf(cmp.Or(profile, &clusterinventory.ClusterProfile{})))
	if len(unreadable.Of(cluster).Under("status")) > 0 {
		write.Status = false // What cannot be read would be removed.
	}
	if !write.Any() {
		r.settle(key, state)
		return 0, nil
	}
	now := r.clock.Now()
	if yielded, is := r.yielded.known(key); is && now.Before(yielded.Add(yieldPeriod)) {
		return yielded.Add(yieldPeriod).Sub(now), nil
	}

	if profile != nil && profile.Spec.ClusterManager.Name != clusterprofiles.ClusterManager { // The name is immutable.
		return r.yield(key, state, profile, fmt.Errorf("its spec.clusterManager.name is %q", profile.Spec.ClusterManager.Name))
	}
	version, err := r.send(ctx, key, wanted, write)
	switch {
	case err == nil:
		if profile == nil {
			r.written.CreatedAt(key, version)
		} else {
			r.written.WroteAt(key, version)
		}
		klog.FromContext(ctx).V(2).Info("Applied a ClusterProfile", "clusterProfile", key, "object", write.Object, "status", write.Status)
		r.settle(key, state)
		return 0, nil
	case ownedByAnother(err):
		return r.yield(key, state, profile, err)
	}
	return 0, err
}

// yield leaves a ClusterProfile to another writer for the yieldPeriod.
func (r *reconciler) yield(
	key types.NamespacedName, state metrics.ProfileState, profile *clusterinventory.ClusterProfile, why error,
) (time.Duration, error) {
	state.OwnedByAnother = true
	r.states.Note(key, state)
	r.yielded.set(key, r.clock.Now())
	return yieldPeriod, r.report(profile, key, why)
}

// settle notes that no other writer disagrees.
func (r *reconciler) settle(key types.NamespacedName, state metrics.ProfileState) {
	r.states.Note(key, state)
	r.yielded.forget(key)
	r.problems.Forget(key)
}

// report sends one Event about a ClusterProfile whose values another writer owns.
func (r *reconciler) report(profile *clusterinventory.ClusterProfile, key types.NamespacedName, why error) error {
	if profile == nil {
		profile = &clusterinventory.ClusterProfile{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}}
	}
	fresh, err := r.problems.New(key, problems.Look{
		Notes:   map[string]string{ReasonOwnedByAnother: ReasonOwnedByAnother},
		Changed: func() (time.Time, error) { return profile.CreationTimestamp.Time, nil },
	})
	if err != nil {
		return fmt.Errorf("reporting ClusterProfile %s: %w", key, err)
	}
	about := profile.DeepCopy()
	about.SetGroupVersionKind(clusterinventory.GroupVersion.WithKind("ClusterProfile")) // Objects of a cache have no kind, which an Event needs.
	for _, reason := range fresh {
		r.recorder.Eventf(about, nil, corev1.EventTypeWarning, reason, "Apply",
			"Another writer owns values of this ClusterProfile that differ from those of the ManagedCluster, and the hub leaves it to that writer; "+
				"leave the controller clusterprofiles or the other writer off: %v", why)
	}
	return nil
}

// send applies the object, and then its status. It returns the version after that.
func (r *reconciler) send(
	ctx context.Context, key types.NamespacedName, wanted *clusterprofiles.Profile, write clusterprofiles.Write,
) (version string, err error) {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(wanted)
	if err != nil {
		return "", fmt.Errorf("encoding ClusterProfile %s: %w", key, err)
	}
	part := func(field string) *unstructured.Unstructured {
		applied := &unstructured.Unstructured{Object: map[string]any{field: content[field]}}
		applied.SetGroupVersionKind(clusterinventory.GroupVersion.WithKind("ClusterProfile"))
		applied.SetNamespace(key.Namespace)
		applied.SetName(key.Name)
		return applied
	}

	if write.Object {
		object := part("spec")
		object.SetLabels(wanted.Labels)
		if err := r.client.Apply(ctx, client.ApplyConfigurationFromUnstructured(object)); err != nil {
			return "", fmt.Errorf("applying ClusterProfile %s: %w", key, err)
		}
		version = object.GetResourceVersion()
	}
	if write.Status {
		status := part("status")
		if err := r.client.Status().Apply(ctx, client.ApplyConfigurationFromUnstructured(status)); err != nil {
			return "", fmt.Errorf("applying the status of ClusterProfile %s: %w", key, err)
		}
		version = status.GetResourceVersion()
	}
	return version, nil
}

// ownedByAnother reports whether an apply was refused because other field managers own fields with other values.
func ownedByAnother(err error) bool {
	return apierrors.IsConflict(err) && apierrors.HasStatusCause(err, metav1.CauseTypeFieldManagerConflict)
}
