// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"

	"github.com/placement-hub/placement-hub/pkg/clustersets"
	"github.com/placement-hub/placement-hub/pkg/metrics"
)

// Names of the Event on a binding that is left by a revocation.
const (
	reasonUnmanagedLeft = "UnmanagedBindingLeft"
	actionReview        = "ReviewBinding"
)

// leftBindings names the unmanaged bindings whose set the ServiceAccount of their namespace may not bind any more. The hub does not delete them. It
// is safe for concurrent use; one worker at a time reconciles a namespace.
type leftBindings struct {
	recorder events.EventRecorder

	mu    sync.Mutex
	known map[string]sets.Set[string] // by namespace with unmanaged bindings: those that are left
}

func newLeftBindings(recorder events.EventRecorder) *leftBindings {
	return &leftBindings{recorder: recorder, known: map[string]sets.Set[string]{}}
}

// look takes note of the unmanaged bindings of a namespace. One that is left since the last look has an Event and a line of the log; the first look
// at a namespace, after a start, tells nothing, because the former process may have told it. A right that the cache does not show is asked for at
// the API server.
func (l *leftBindings) look(
	ctx context.Context, namespace string, wanted entitlement, existing []clusterv1beta2.ManagedClusterSetBinding, reviews *reviewCache,
) error {
	left, unmanaged := sets.New[string](), 0
	for i := range existing {
		binding := &existing[i]
		if !clustersets.Unmanaged(binding) || !binding.DeletionTimestamp.IsZero() {
			continue
		}
		unmanaged++
		why := wanted.reasonUnbound(binding.Name)
		if wanted.sets.Has(binding.Name) || why == noSet {
			continue
		}
		if why != noAccount {
			may, err := reviews.mayBind(ctx, binding.Name)
			if err != nil {
				return err
			}
			if may {
				continue
			}
		}
		left.Insert(binding.Name)
	}

	told, looked := l.replace(namespace, left, unmanaged > 0)
	for i := range existing {
		binding := &existing[i]
		if !looked || !left.Has(binding.Name) || told.Has(binding.Name) {
			continue
		}
		why := wanted.reasonUnbound(binding.Name)
		klog.FromContext(ctx).Info("An unmanaged ManagedClusterSetBinding stays although its right is gone",
			"managedClusterSetBinding", klog.KObj(binding), "reason", why)
		about := &corev1.ObjectReference{ // The items of a list do not know their kind.
			APIVersion: clusterv1beta2.GroupVersion.String(), Kind: "ManagedClusterSetBinding", Namespace: namespace, Name: binding.Name,
			UID: binding.UID,
		}
		l.recorder.Eventf(about, nil, corev1.EventTypeWarning, reasonUnmanagedLeft, actionReview,
			"%s, and this binding stays, because %s is \"true\": delete it, or remove %s to have the hub delete it", why, clustersets.UnmanagedKey,
			clustersets.UnmanagedKey)
	}
	return nil
}

// replace replaces what is known of a namespace, and returns what was known, and whether anything was.
func (l *leftBindings) replace(namespace string, left sets.Set[string], unmanaged bool) (before sets.Set[string], known bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	before, known = l.known[namespace]
	if unmanaged {
		l.known[namespace] = left
	} else {
		delete(l.known, namespace)
	}
	if before.Len()+left.Len() > 0 {
		l.count()
	}
	return before, known
}

// forget drops a namespace that does not exist any more.
func (l *leftBindings) forget(namespace string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if before := l.known[namespace]; before != nil {
		delete(l.known, namespace)
		l.count()
	}
}

// count writes the metric. The lock is held.
func (l *leftBindings) count() {
	n := 0
	for _, left := range l.known {
		n += left.Len()
	}
	metrics.SetUnmanagedBindingsLeft(n)
}
