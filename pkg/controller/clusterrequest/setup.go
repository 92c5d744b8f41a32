package clusterrequest

import (
	"context"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/clusterrequest"
	"github.com/placement-hub/placement-hub/pkg/controller/queue"
)

const (
	// Requests is the name of the controller of ClusterRequests.
	Requests = "clusterrequest/requests"
	// FieldManager is the field manager of all writes of this controller.
	FieldManager = "placement-hub"
)

// SetupRequests adds the controller of ClusterRequests to a manager.
func SetupRequests(mgr manager.Manager, settings queue.Settings, options clusterrequest.Options) error {
	writer := client.WithFieldOwner(mgr.GetClient(), FieldManager)
	ledger := newLedger(mgr.GetAPIReader(), writer, options)
	r := &reconciler{
		ledger: ledger, cached: mgr.GetCache(), live: mgr.GetAPIReader(), writer: writer, clock: settings.Clock,
		conflicts: queue.NewConflictBackoff[reconcile.Request](),
	}

	return builder.ControllerManagedBy(mgr). //nolint:wrapcheck // Named by the caller.
							Named(Requests).
							For(&openmcpv1alpha1.ClusterRequest{}). // With its status: the cache may have shown it without the last write.
							Watches(&openmcpv1alpha1.ClusterRequestGrant{}, handlerOf(ledger.grantEvent)).
							Watches(&openmcpv1alpha1.Cluster{}, handlerOf(ledger.clusterEvent)).
							Watches(&openmcpv1alpha1.Purpose{}, handlerOf(ledger.purposeEvent)).
							Watches(&openmcpv1alpha1.ClusterProvider{}, handlerOf(ledger.providerEvent)).
							Watches(&openmcpv1alpha1.TraitEquivalence{}, handlerOf(ledger.equivalenceEvent)).
							WithOptions(queue.Options[reconcile.Request](settings)).
							Complete(r)
}

// handlerOf makes a handler of a function that takes an object into the ledger and returns the requests that it concerns. The former state
// is nil for a new object.
func handlerOf[T client.Object](take func(old, object T, deleted bool) []types.NamespacedName) handler.EventHandler {
	type queued = workqueue.TypedRateLimitingInterface[reconcile.Request]

	enqueue := func(q queued, old, object client.Object, deleted bool) {
		current, known := object.(T)
		if !known {
			return
		}

		former, _ := old.(T) // Nil for a new object.
		for _, request := range take(former, current, deleted) {
			q.Add(reconcile.Request{NamespacedName: request})
		}
	}

	return handler.Funcs{
		CreateFunc: func(_ context.Context, e event.CreateEvent, q queued) { enqueue(q, nil, e.Object, false) },
		UpdateFunc: func(_ context.Context, e event.UpdateEvent, q queued) { enqueue(q, e.ObjectOld, e.ObjectNew, false) },
		DeleteFunc: func(_ context.Context, e event.DeleteEvent, q queued) { enqueue(q, nil, e.Object, true) },
	}
}
