package controller

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlcontroller "sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/placement-hub/placement-hub/pkg/decision"
	"github.com/placement-hub/placement-hub/pkg/metrics"
	"github.com/placement-hub/placement-hub/pkg/scheduling"
)

const (
	// placementField indexes PlacementDecisions by the placements they may belong to.
	placementField = "placement"
	// notSyncedDelay is how long a placement waits for the initial lists.
	notSyncedDelay = time.Second
)

// placementReconciler keeps the decisions and the status of placements.
type placementReconciler struct {
	*memory

	client   client.Client
	writer   decision.Writer
	reporter reporter
	clock    clock.PassiveClock
	outdated backoff
}

func setupPlacement(mgr manager.Manager, o Options) error {
	r := &placementReconciler{
		memory:   newMemory(o.Clock),
		client:   mgr.GetClient(),
		writer:   decision.Writer{Client: mgr.GetClient()},
		reporter: reporter{recorder: mgr.GetEventRecorder("placement-controller")},
		clock:    o.Clock,
		outdated: newBackoff(),
	}

	err := mgr.GetFieldIndexer().IndexField(context.Background(), &clusterv1beta1.PlacementDecision{}, placementField,
		func(object client.Object) []string {
			page, ok := object.(*clusterv1beta1.PlacementDecision)
			if !ok {
				return nil
			}

			return decision.PlacementsOf(page)
		})
	if err != nil {
		return fmt.Errorf("indexing PlacementDecisions: %w", err)
	}

	options := controllerOptions(o.Workers)
	options.Reconciler = r

	controller, err := ctrlcontroller.New(placementName, mgr, options)
	if err != nil {
		return fmt.Errorf("creating the controller: %w", err)
	}

	return controller.Watch(&feed{memory: r.memory, cache: mgr.GetCache()}) //nolint:wrapcheck // Named by the caller.
}

// Reconcile evaluates one placement and has the answer written.
func (r *placementReconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	if !r.synced.Load() {
		metrics.NotSynced.Inc()

		return reconcile.Result{RequeueAfter: notSyncedDelay}, nil
	}

	placement, err := r.placement(ctx, request)
	if err != nil {
		return reconcile.Result{}, err
	}

	if placement == nil || !managed(placement) {
		r.forget(request.NamespacedName)

		return reconcile.Result{}, nil
	}

	present, err := r.present(ctx, placement)
	if err != nil {
		return reconcile.Result{}, err
	}

	now := r.clock.Now()
	result := scheduling.Schedule(r.requests.of(placement), r.inventory.Snapshot(), present.Incumbents(), now)
	plan := decision.NewPlan(result, present)

	metrics.ObserveScheduling(r.clock.Since(now))

	err = r.carryOut(ctx, placement, present, result, plan)

	if decision.Terminating(err) {
		klog.FromContext(ctx).V(2).Info("The namespace is being deleted; nothing is left to do")

		return reconcile.Result{}, nil
	}

	if decision.Outdated(err) {
		// What was read, or what was believed to be written, is not so. The cache will tell.
		r.forgetWrites(request.NamespacedName)
	}

	if again, err := r.outdated.settle(ctx, request, err); err != nil || again.RequeueAfter > 0 {
		return again, err
	}

	switch {
	case plan.Again:
		return reconcile.Result{RequeueAfter: time.Nanosecond}, nil
	case result.WakeAt.IsZero():
		return reconcile.Result{}, nil
	default:
		return reconcile.Result{RequeueAfter: max(result.WakeAt.Sub(r.clock.Now()), time.Nanosecond)}, nil
	}
}

// placement reads the placement, with our own last status even if the cache does not have it yet; nil when there is none.
func (r *placementReconciler) placement(ctx context.Context, request reconcile.Request) (*clusterv1beta1.Placement, error) {
	cached := &clusterv1beta1.Placement{}

	err := r.client.Get(ctx, request.NamespacedName, cached)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}

	if err != nil {
		return nil, fmt.Errorf("reading Placement %s: %w", request, err)
	}

	return r.statuses.latest(request.NamespacedName, []*clusterv1beta1.Placement{cached})[0], nil
}

// present collects the PlacementDecisions that exist for the placement, with our own last writes.
func (r *placementReconciler) present(ctx context.Context, placement *clusterv1beta1.Placement) (decision.Present, error) {
	list := &clusterv1beta1.PlacementDecisionList{}

	err := r.client.List(ctx, list, client.InNamespace(placement.Namespace), client.MatchingFields{placementField: placement.Name},
		client.UnsafeDisableDeepCopy)
	if err != nil {
		return decision.Present{}, fmt.Errorf("listing PlacementDecisions of Placement %s: %w", klog.KObj(placement), err)
	}

	cached := make([]*clusterv1beta1.PlacementDecision, 0, len(list.Items))
	for i := range list.Items {
		cached = append(cached, &list.Items[i])
	}

	return decision.NewPresent(placement, r.pages.latest(client.ObjectKeyFromObject(placement), cached)), nil
}

// carryOut writes the plan in its order: pages, the status of the placement, surplus deletes. When a page cannot be written, the status
// tells so, so that it is never empty and never claims what does not stand (ours.md A5, A7).
func (r *placementReconciler) carryOut(
	ctx context.Context, placement *clusterv1beta1.Placement, present decision.Present, result *scheduling.Result, plan decision.Plan,
) error {
	start := r.clock.Now()
	observe := r.observer(ctx, placement, present, result)

	written, err := r.writer.Write(ctx, plan.Writes, observe)
	if err != nil {
		if decision.Outdated(err) || decision.Terminating(err) {
			return err
		}

		return r.admit(ctx, placement, present, result, err)
	}

	status := decision.NewStatus(result, plan, placement, metav1.Time{Time: r.clock.Now()})

	if err := r.writeStatus(ctx, placement, status); err != nil {
		return err
	}

	err = r.writer.Delete(ctx, plan.Deletes, written, observe)

	if !plan.Empty() {
		metrics.ObserveBind(r.clock.Since(start))
	}

	return err
}

// admit says in the status that pages could not be written, and returns that error. It alone decides how the retry goes.
func (r *placementReconciler) admit(
	ctx context.Context, placement *clusterv1beta1.Placement, present decision.Present, result *scheduling.Result, failure error,
) error {
	now, err := r.present(ctx, placement)
	if err != nil {
		klog.FromContext(ctx).Error(err, "Reading the decisions after a failed write")

		now = present
	}

	status := decision.NewFailedStatus(result, now, decision.Cause(failure), metav1.Time{Time: r.clock.Now()})
	if err := r.writeStatus(ctx, placement, status); err != nil && !decision.Outdated(err) {
		klog.FromContext(ctx).Error(err, "Telling of a failed write")
	}

	return failure
}

func (r *placementReconciler) writeStatus(
	ctx context.Context, placement *clusterv1beta1.Placement, status clusterv1beta1.PlacementStatus,
) error {
	patched, err := r.writer.WriteStatus(ctx, placement, status)
	if err != nil {
		countWrite("status", err)

		return err
	}

	if patched != nil {
		countWrite("status", nil)
		r.statuses.wrote(client.ObjectKeyFromObject(placement), patched, false)
	}

	return nil
}

// observer remembers, counts and reports every write of a page.
func (r *placementReconciler) observer(
	ctx context.Context, placement *clusterv1beta1.Placement, present decision.Present, result *scheduling.Result,
) decision.Observer {
	clusters := map[string]int{}
	for _, page := range present.Pages {
		clusters[page.Name] = len(page.Status.Decisions)
	}

	return func(action decision.Action, page *clusterv1beta1.PlacementDecision, err error) {
		countWrite(string(action), err)

		if err != nil {
			return
		}

		klog.FromContext(ctx).V(2).Info("Wrote PlacementDecision", "action", action, "decision", klog.KObj(page),
			"clusters", len(page.Status.Decisions))
		r.pages.wrote(client.ObjectKeyFromObject(placement), page, action == decision.ActionDelete)

		// A list that becomes present and has nothing in it, as before, is no news.
		if action != decision.ActionFill || len(page.Status.Decisions) > 0 || clusters[page.Name] > 0 {
			r.reporter.report(action, placement, page, result)
		}

		clusters[page.Name] = len(page.Status.Decisions)
	}
}

func countWrite(kind string, err error) {
	result := "ok"

	switch {
	case decision.Outdated(err):
		result = "outdated"
	case err != nil:
		result = "error"
	}

	metrics.Writes.WithLabelValues(kind, result).Inc()
}
