// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/clusterrequest"
	"github.com/placement-hub/placement-hub/pkg/history/recorder"
	"github.com/placement-hub/placement-hub/pkg/hub/consistency"
	"github.com/placement-hub/placement-hub/pkg/hub/eventwriter"
	"github.com/placement-hub/placement-hub/pkg/hub/objects"
	"github.com/placement-hub/placement-hub/pkg/hub/queue"
	"github.com/placement-hub/placement-hub/pkg/metrics"
)

const (
	// Requests is the name of the controller of ClusterRequests.
	Requests = "clusterrequest/requests"
	// FieldManager is the field manager of all writes of this controller.
	FieldManager = "placement-hub"
	// component is the name by which the controller sends Events.
	component = "placement-hub-clusterrequest"
	// orphansName is the name of the controller that removes finalizers of requests that do not exist. It runs with Requests.
	orphansName = "clusterrequest/requests-orphans"
)

// SetupRequests adds the controller of ClusterRequests to a manager. The history records Grants; a nil Recorder records nothing.
func SetupRequests(mgr manager.Manager, settings queue.Settings, options clusterrequest.Options, history *recorder.Recorder) error {
	if err := options.Strategy.Validate(); err != nil {
		return err
	}
	writer := countedClient{client.WithFieldOwner(mgr.GetClient(), FieldManager)}

	live, err := objects.NewConfirmed(mgr)
	if err != nil {
		return err
	}
	ledger := newLedger(live, writer, options)
	r := &reconciler{
		ledger: ledger, cached: mgr.GetCache(), live: live, writer: writer, clock: settings.Clock,
		conflicts: queue.NewConflictBackoff[reconcile.Request](), states: metrics.NewRequestStates[types.NamespacedName](),
		written: consistency.NewStore(settings.Clock),
	}

	if err := mgr.Add(r.states); err != nil {
		return fmt.Errorf("adding the metrics: %w", err)
	}
	events, err := eventwriter.Add(mgr, component, func() bool { return r.running.Load() > 0 })
	if err != nil {
		return fmt.Errorf("preparing events: %w", err)
	}
	r.recorder = events

	if err := setupOrphans(mgr, settings, ledger, events); err != nil {
		return err
	}
	history.ForgetGrants()
	return builder.ControllerManagedBy(mgr). //nolint:wrapcheck // Named by the caller.
							Named(Requests).
							For(&openmcpv1alpha1.ClusterRequest{}). // With its status: see reconciler.written.
							Watches(&openmcpv1alpha1.ClusterRequestGrant{}, handlerOf(ledger.grantEvent)).
							Watches(&openmcpv1alpha1.ClusterRequest{}, recordedRequests(history)).
							Watches(&openmcpv1alpha1.ClusterRequestGrant{}, recordedGrants(history)).
							Watches(&openmcpv1alpha1.Cluster{}, handlerOf(ledger.clusterEvent)).
							Watches(&openmcpv1alpha1.Purpose{}, handlerOf(ledger.purposeEvent)).
							Watches(&openmcpv1alpha1.ClusterProvider{}, handlerOf(ledger.providerEvent)).
							Watches(&openmcpv1alpha1.TraitEquivalence{}, handlerOf(ledger.equivalenceEvent)).
							WithOptions(queue.Options[reconcile.Request](settings)).
							Complete(r)
}

// recordedRequests has the history note changes of ClusterRequests. It enqueues nothing.
func recordedRequests(history *recorder.Recorder) handler.EventHandler {
	return objects.Handler(
		func(_ context.Context, before, after *openmcpv1alpha1.ClusterRequest, initial bool) []reconcile.Request {
			if before == nil {
				history.Observe(nil, after, initial)
			} else {
				history.Observe(before, after, initial)
			}
			return nil
		},
		func(_ context.Context, last *openmcpv1alpha1.ClusterRequest) []reconcile.Request {
			history.Observe(last, nil, false)
			return nil
		})
}

// recordedGrants has the history note which Clusters Grants name. It enqueues nothing.
func recordedGrants(history *recorder.Recorder) handler.EventHandler {
	return objects.Handler(
		func(_ context.Context, _, after *openmcpv1alpha1.ClusterRequestGrant, initial bool) []reconcile.Request {
			history.SetGrant(after, after.Spec.ClusterRef.Namespace+"/"+after.Spec.ClusterRef.Name, initial)
			return nil
		},
		func(_ context.Context, last *openmcpv1alpha1.ClusterRequestGrant) []reconcile.Request {
			history.DeleteGrant(last)
			return nil
		})
}

// setupOrphans adds the controller that removes finalizers of requests that do not exist.
func setupOrphans(mgr manager.Manager, settings queue.Settings, ledger *ledger, recorder events.EventRecorder) error {
	if err := indexRequests(context.Background(), mgr); err != nil {
		return err
	}
	o := &orphans{
		ledger: ledger, cached: mgr.GetCache(), live: ledger.live, recorder: recorder,
		conflicts: queue.NewConflictBackoff[reconcile.Request](),
	}

	err := builder.ControllerManagedBy(mgr).
		Named(orphansName).
		For(&openmcpv1alpha1.Cluster{}).
		Watches(&openmcpv1alpha1.ClusterRequest{}, handlerOf(o.requestEvent)).
		Watches(&openmcpv1alpha1.ClusterRequestGrant{}, handlerOf(o.grantEvent)).
		WithOptions(queue.SingleWorkerOptions[reconcile.Request](settings)).
		Complete(o)
	if err != nil {
		return fmt.Errorf("setting up %s: %w", orphansName, err)
	}
	return nil
}

// handlerOf makes a handler of a function that takes an object into account and returns the keys that it concerns. The former state
// is nil for a new object.
func handlerOf[T client.Object](take func(old, object T, deleted bool) []types.NamespacedName) handler.EventHandler {
	return objects.Handler(
		func(_ context.Context, before, after T, _ bool) []reconcile.Request {
			return requestsFor(take(before, after, false))
		},
		func(_ context.Context, last T) []reconcile.Request {
			var none T
			return requestsFor(take(none, last, true))
		})
}

func requestsFor(keys []types.NamespacedName) []reconcile.Request {
	requests := make([]reconcile.Request, len(keys))
	for i, key := range keys {
		requests[i] = reconcile.Request{NamespacedName: key}
	}
	return requests
}
