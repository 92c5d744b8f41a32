// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	clusterinventory "sigs.k8s.io/cluster-inventory-api/apis/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/placement-hub/placement-hub/pkg/clusterprofiles"
	"github.com/placement-hub/placement-hub/pkg/hub/apply"
	"github.com/placement-hub/placement-hub/pkg/hub/consistency"
	"github.com/placement-hub/placement-hub/pkg/hub/eventwriter"
	"github.com/placement-hub/placement-hub/pkg/hub/objects"
	"github.com/placement-hub/placement-hub/pkg/hub/problems"
	"github.com/placement-hub/placement-hub/pkg/hub/queue"
	"github.com/placement-hub/placement-hub/pkg/metrics"
	"github.com/placement-hub/placement-hub/pkg/removalbudget"
)

// Name is the name of the controller, as --controllers takes it.
const Name = "clusterprofiles"

// Options say which ClusterProfiles are made.
type Options struct {
	// Claims are the patterns of the names of the claims that are published, as clusterprofiles.ParsePatterns takes them; nil means all.
	Claims []string
	// Hold is how long decisions are kept by the hub that have lost their scope; nil means removalbudget.DefaultLostScopeHold.
	Hold *time.Duration
	// FormerWriters are the field managers from which ClusterProfiles are taken over.
	FormerWriters []string
}

// Setup adds the controller to the manager. It returns an error if a pattern is invalid or a watch cannot be added.
func (o Options) Setup(mgr manager.Manager, settings queue.Settings) error {
	claims := o.Claims
	if claims == nil {
		claims = []string{"*"}
	}
	patterns, err := clusterprofiles.ParsePatterns(claims)
	if err != nil {
		return fmt.Errorf("reading the patterns of claims: %w", err)
	}
	recorder, err := eventwriter.Add(mgr, clusterprofiles.FieldManager, func() bool { return false })
	if err != nil {
		return fmt.Errorf("preparing events: %w", err)
	}
	writes, err := apply.NewClient(mgr, apply.Options{FieldManager: clusterprofiles.FieldManager, Recorder: recorder})
	if err != nil {
		return fmt.Errorf("preparing writes: %w", err)
	}
	live, err := objects.NewLiveClient(mgr)
	if err != nil {
		return fmt.Errorf("preparing reads: %w", err)
	}

	r := &reconciler{
		client: writes, sets: newSets(mgr.GetClient(), settings.Clock), patterns: patterns, slices: &sliceReader{live: live, clock: settings.Clock},
		recorder: recorder, clock: settings.Clock, hold: ptr.Deref(o.Hold, removalbudget.DefaultLostScopeHold),
		formerWriters: o.FormerWriters, looked: newTimes(), lost: newTimes(), yielded: newTimes(),
		problems: problems.New[types.NamespacedName](settings.Clock, settings.FormerRenewal),
		states:   metrics.NewProfileStates[types.NamespacedName](), conflicts: queue.NewConflictBackoff[reconcile.Request](),
		written: consistency.NewStore(settings.Clock),
	}
	if err := mgr.Add(r.states); err != nil {
		return fmt.Errorf("adding the metrics of ClusterProfiles: %w", err)
	}
	handlers := &eventHandlers{cache: mgr.GetClient(), sets: r.sets, patterns: patterns, bound: newBound()}
	return builder.ControllerManagedBy(mgr). //nolint:wrapcheck // Named by the caller.
							Named(Name).
							For(&clusterinventory.ClusterProfile{}).
							Watches(&clusterv1.ManagedCluster{}, handlers.clusters()).
							Watches(&clusterv1beta2.ManagedClusterSet{}, handlers.boundSets()).
							Watches(&clusterv1beta2.ManagedClusterSetBinding{}, handlers.bindings()).
							WithOptions(queue.Options[reconcile.Request](settings)).
							Complete(r)
}

// Cache has the cache of the system keep compact ClusterProfiles.
func (o Options) Cache(options *cache.Options) {
	if options.ByObject == nil {
		options.ByObject = map[client.Object]cache.ByObject{}
	}
	options.ByObject[&clusterinventory.ClusterProfile{}] = cache.ByObject{Transform: func(in any) (any, error) {
		if profile, is := in.(*clusterinventory.ClusterProfile); is {
			compact(profile, o.FormerWriters)
		}
		return in, nil
	}}
}
