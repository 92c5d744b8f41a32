// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
	clusterinventory "sigs.k8s.io/cluster-inventory-api/apis/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/clusterprofiles"
	"github.com/placement-hub/placement-hub/pkg/metrics"
)

// lookAgain is how long a ClusterProfile that is to go waits for the slices that name it before it looks again.
const lookAgain = 5 * time.Second

// decisionsGo is how long a ClusterProfile waits for the slices beyond the hold: the decisions of a Placement that has lost its scope are kept as
// long as the hold, and leave the slices after that.
const decisionsGo = time.Minute

// withdraw deletes a ClusterProfile that the hub has applied, once no slice names it, or the hold and decisionsGo have passed. It returns when to
// look again.
func (r *reconciler) withdraw(ctx context.Context, key types.NamespacedName, profile *clusterinventory.ClusterProfile) (time.Duration, error) {
	if !slices.ContainsFunc(profile.ManagedFields, clusterprofiles.IsOwn) || profile.Spec.ClusterManager.Name != clusterprofiles.ClusterManager {
		r.settle(key, metrics.ProfileState{})
		return 0, nil
	}
	if !profile.DeletionTimestamp.IsZero() {
		return 0, nil
	}
	now := r.clock.Now()
	lost := r.lost.since(key, now)

	if left := lost.Add(r.hold + decisionsGo).Sub(now); left > 0 {
		named, err := r.slices.names(ctx, key, lost)
		if err != nil {
			return 0, err
		}
		if named {
			return min(left, lookAgain), nil
		}
	}

	doomed := &clusterinventory.ClusterProfile{}
	doomed.Namespace, doomed.Name = key.Namespace, key.Name
	err := r.client.Delete(ctx, doomed, client.Preconditions{UID: &profile.UID, ResourceVersion: &profile.ResourceVersion})
	if err != nil {
		return 0, fmt.Errorf("deleting ClusterProfile %s: %w", key, err)
	}
	klog.FromContext(ctx).V(2).Info("Deleted a ClusterProfile whose cluster is in no bound set", "clusterProfile", key)
	r.forget(key)
	return 0, nil
}

// sliceReader reads which ClusterProfiles the PlacementDecisions of multicluster.x-k8s.io name from the API server. ClusterProfiles that go at the
// same time share a list. It is safe for concurrent use.
type sliceReader struct {
	live  client.Reader
	clock clock.PassiveClock

	mu sync.Mutex
	// read is when the last list was asked for, and named are the ClusterProfiles that it named.
	read  time.Time
	named map[types.NamespacedName]bool
}

// pageSize is how many slices are read at a time.
const pageSize = 500

// names reports whether a slice names a ClusterProfile, by a list that was asked for after the given time and within lookAgain.
func (s *sliceReader) names(ctx context.Context, profile types.NamespacedName, after time.Time) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.clock.Now()
	if s.read.After(after) && now.Sub(s.read) < lookAgain/2 {
		return s.named[profile], nil
	}

	named := map[types.NamespacedName]bool{}
	list := &clusterinventory.PlacementDecisionList{}
	for {
		if err := s.live.List(ctx, list, client.Limit(pageSize), client.Continue(list.Continue)); err != nil {
			return false, fmt.Errorf("listing PlacementDecisions of %s: %w", clusterinventory.Group, err)
		}
		for i := range list.Items {
			addNamed(named, &list.Items[i])
		}
		if list.Continue == "" {
			break
		}
	}
	s.read, s.named = now, named
	return named[profile], nil
}

// addNamed adds the ClusterProfiles that a slice names. A reference without a namespace is to that of the slice.
func addNamed(named map[types.NamespacedName]bool, slice *clusterinventory.PlacementDecision) {
	for _, decision := range slice.Decisions {
		namespace := decision.ClusterProfileRef.Namespace
		if namespace == "" {
			namespace = slice.Namespace
		}
		named[types.NamespacedName{Namespace: namespace, Name: decision.ClusterProfileRef.Name}] = true
	}
}
