package placement

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlcontroller "sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/placement-hub/placement-hub/pkg/controller/freshness"
	"github.com/placement-hub/placement-hub/pkg/controller/queue"
	"github.com/placement-hub/placement-hub/pkg/decision"
	"github.com/placement-hub/placement-hub/pkg/decision/api"
	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/lenient"
	"github.com/placement-hub/placement-hub/pkg/metrics"
	"github.com/placement-hub/placement-hub/pkg/scheduling"
)

const (
	// placementField indexes PlacementDecisions by the placements they may belong to.
	placementField = "placement"
	// notSyncedDelay is how long a placement waits for the initial lists.
	notSyncedDelay = time.Second
	// longestWait bounds how long a placement waits for the time at which its answer changes. The timer of the queue is monotonic: it does
	// not follow a clock that is put right, and stands still while the machine is suspended. An evaluation that finds nothing new sends
	// nothing.
	longestWait = 10 * time.Minute
)

// reconciler writes the decisions and the status of Placements.
type reconciler struct {
	// state is shared with the event handlers.
	state  *state
	client client.Client
	// live reads from the API server itself, and not from the cache.
	live      client.Reader
	engine    engine
	writer    decision.Writer
	reporter  recorders
	tracer    tracer
	clock     clock.PassiveClock
	conflicts queue.ConflictBackoff[inventory.Key]
	removals  removals
}

// service is what is written for placements, and who is shown what is known for that.
type service struct {
	served servedAPIs
	view   *View
}

// setup serves the placements of the APIs, and connects the view to what is known of them.
func (s service) setup(mgr manager.Manager, settings queue.Settings) error {
	shared := newState(s.served, settings.Clock)

	recorder, err := recorderOf(mgr, shared.queue.Busy)
	if err != nil {
		return err
	}

	checker, err := newChecker(mgr, shared.observed)
	if err != nil {
		return err
	}

	live, err := lenient.NewClient(mgr.GetConfig(), client.Options{
		HTTPClient: mgr.GetHTTPClient(), Scheme: mgr.GetScheme(), Mapper: mgr.GetRESTMapper(),
	})
	if err != nil {
		return fmt.Errorf("preparing to read from the API server: %w", err)
	}

	r := &reconciler{
		state:     shared,
		removals:  newRemovals(checker),
		client:    mgr.GetClient(),
		live:      live,
		engine:    newEngine(shared.inventory),
		writer:    decision.Writer{Client: mgr.GetClient()},
		reporter:  recorders{recorder: recorder},
		tracer:    newTracer(settings.Tracing),
		clock:     settings.Clock,
		conflicts: queue.NewConflictBackoff[inventory.Key](),
	}

	if err := r.state.served.index(context.Background(), mgr); err != nil {
		return err
	}

	s.view.connect(r)

	typed := queue.Options[inventory.Key](settings)
	typed.Reconciler = r
	typed.LogConstructor = queue.Logs(mgr.GetLogger(), Name, func(key inventory.Key) []any {
		return []any{"placement", klog.KRef(key.Namespace, key.Name), "api", key.API()}
	})

	controller, err := ctrlcontroller.NewTyped(Name, mgr, typed)
	if err != nil {
		return fmt.Errorf("creating the controller: %w", err)
	}

	if err := mgr.Add(r.comparer()); err != nil {
		return fmt.Errorf("adding the comparer: %w", err)
	}

	if err := mgr.Add(shared.standings); err != nil {
		return fmt.Errorf("adding the metrics of placements: %w", err)
	}

	return controller.Watch(&eventHandlers{ //nolint:wrapcheck // Named by the caller.
		state: r.state, cache: mgr.GetCache(), live: r.live, elected: mgr.Elected(), checker: checker, recorder: recorder,
	})
}

// index has PlacementDecisions found by the placements they may belong to.
func (o servedAPIs) index(ctx context.Context, mgr manager.Manager) error {
	for _, codec := range o.forms() {
		err := mgr.GetFieldIndexer().IndexField(ctx, codec.Empty(), placementField, func(object client.Object) []string {
			return decision.PlacementsOf(codec, api.MetadataOnly(object))
		})
		if err != nil {
			return fmt.Errorf("indexing %T: %w", codec.Empty(), err)
		}
	}

	return nil
}

// Reconcile evaluates one placement and has the answer written.
func (r *reconciler) Reconcile(ctx context.Context, key inventory.Key) (reconcile.Result, error) {
	change := r.state.queue.Get(key)

	if !r.state.synced.Load() {
		metrics.NotSynced.Inc()
		r.state.queue.Requeue(key, change)

		return reconcile.Result{RequeueAfter: notSyncedDelay}, nil
	}

	ctx, span := r.tracer.reconcile(ctx, key, change)
	defer span.End()

	placement, err := r.placement(ctx, key)
	if err != nil {
		return reconcile.Result{}, r.fail(key, change, span, err)
	}

	switch {
	case placement == nil:
		r.state.forget(key)

		return r.conflicts.Result(ctx, key, nil)
	case !managed(placement):
		r.state.skip(placement)

		return r.conflicts.Result(ctx, key, nil)
	}

	carriedOut := false

	r.state.pause(key)

	defer func() {
		if !carriedOut {
			r.restore(ctx, placement)
		}

		r.state.resume(key)
	}()

	pass, err := r.plan(ctx, placement)
	if errors.Is(err, freshness.ErrPlacementChanged) {
		r.state.queue.Requeue(key, change)

		return reconcile.Result{RequeueAfter: time.Nanosecond}, nil
	}

	if err != nil {
		return reconcile.Result{}, r.fail(key, change, span, err)
	}

	err = r.applyTraced(ctx, pass)
	carriedOut = err == nil
	r.recordMetrics(change, span, pass, err)

	if decision.Terminating(err) {
		klog.FromContext(ctx).V(2).Info("The namespace is being deleted; nothing is left to do")

		return r.conflicts.Result(ctx, key, nil)
	}

	if again, err := r.conflicts.Result(ctx, key, err); err != nil || again.RequeueAfter > 0 {
		return again, err
	}

	return pass.next(r.clock.Now()), nil
}

// cycle is one reconcile of a Placement.
type cycle struct {
	decision.Evaluation

	// placement is the Placement with its latest known status.
	placement *api.Placement
	// outputs are the plans by format; the first one is in the API of the Placement.
	outputs []output
	// stats counts the requests, changes has the pages that were written, and refused the objects that conflicted.
	stats   writeStats
	changes pageChanges
	refused refused
}

// output is what to write in one format.
type output struct {
	present decision.Existing
	plan    decision.Plan
}

func (p *cycle) own() *output { return &p.outputs[0] }

// next returns when the Placement has to be reconciled again without an event.
func (p *cycle) next(now time.Time) reconcile.Result {
	wake := p.Result.RequeueAt
	if due := p.own().plan.RequeueAt; wake.IsZero() || !due.IsZero() && due.Before(wake) {
		wake = due
	}

	for _, output := range p.outputs {
		if output.plan.Requeue {
			wake = now
		}
	}

	if p.deletesForNewSpec() {
		wake = now
	}

	if wake.IsZero() {
		return reconcile.Result{}
	}

	return reconcile.Result{RequeueAfter: min(max(wake.Sub(now), time.Nanosecond), longestWait)}
}

// plan evaluates the Placement and compares the result with the existing decisions.
func (r *reconciler) plan(ctx context.Context, placement *api.Placement) (*cycle, error) {
	existing, err := r.existing(ctx, placement.API.Codec(), placement)
	if err != nil {
		return nil, err
	}

	now := r.clock.Now()

	evaluation, err := r.schedule(ctx, placement, existing, now)
	if err != nil {
		return nil, err
	}

	p := &cycle{
		Evaluation: evaluation, placement: placement, outputs: []output{{present: existing, plan: evaluation.Plan}},
		stats: writeStats{clock: r.clock},
	}

	metrics.ObserveScheduling(r.clock.Since(now))
	metrics.ObserveResult(p.Result)

	if !r.state.served.writesProfiles(placement.Key()) {
		return p, nil
	}

	references, err := r.existing(ctx, multicluster{}, placement)
	if err != nil {
		return nil, err
	}

	answer, _ := decision.Profiles(p.Result, existing, references)
	p.outputs = append(p.outputs, output{present: references, plan: answer.Plan()})

	return p, nil
}

// schedule evaluates the Placement, with a Result whose removals are proved. If the status needs new subscriptions and an event arrived
// before they were made, it evaluates again.
func (r *reconciler) schedule(
	ctx context.Context, placement *api.Placement, existing decision.Existing, now time.Time,
) (decision.Evaluation, error) {
	key, request := placement.Key(), r.state.requests.of(placement)

	for {
		var (
			incumbents map[string]bool
			plan       span
			failure    error
		)

		scheduler := func(request *scheduling.Request, decided map[string]bool, now time.Time) (result *scheduling.Result) {
			incumbents = decided

			if result, failure = r.decideProved(ctx, placement, existing, request, decided, now); failure == nil {
				_, plan = r.tracer.begin(ctx, "plan", key)
			}

			return result
		}

		evaluation := decision.Evaluate(request, scheduler, existing, r.state.served.options(), now)
		if failure != nil {
			return decision.Evaluation{}, failure
		}

		plan.planned(&evaluation)
		plan.End()

		if evaluation.Result.Outcome() != scheduling.Decided {
			r.assume(key, evaluation.Result, incumbents)
		}

		if !r.state.requests.updateDependencies(key, evaluation.Result) {
			return evaluation, nil
		}
	}
}

// decideProved returns the Result of a Request with its removals proved; nil with an error.
func (r *reconciler) decideProved(
	ctx context.Context, placement *api.Placement, existing decision.Existing, request *scheduling.Request, incumbents map[string]bool,
	now time.Time,
) (*scheduling.Result, error) {
	key := placement.Key()

	_, span := r.tracer.begin(ctx, "schedule", key)
	defer span.End()

	result, err := r.proved(ctx, placement, existing, now, func() *scheduling.Result { return r.decide(request, key, incumbents, now) })
	if err != nil {
		span.failed(err)

		return nil, err
	}

	span.answered(result)

	return result, nil
}

// placement returns a Placement with the last status that was written, or nil if there is none.
func (r *reconciler) placement(ctx context.Context, key inventory.Key) (*api.Placement, error) {
	adapter := r.state.served.api(key)
	cached := adapter.Empty()

	err := r.client.Get(ctx, key.NamespacedName, cached, client.UnsafeDisableDeepCopy) // It is only read.
	if apierrors.IsNotFound(err) {
		return nil, nil
	}

	if err != nil {
		return nil, fmt.Errorf("reading Placement %s: %w", key, err)
	}

	for _, latest := range r.state.statuses.List(key, []*api.Placement{adapter.Read(cached)}) {
		return latest, nil
	}

	return nil, nil // It is gone; the cache does not know it yet.
}

// existing returns the PlacementDecisions of a Placement in a format, with the last own writes.
func (r *reconciler) existing(ctx context.Context, codec api.Codec, placement *api.Placement) (decision.Existing, error) {
	list, ok := codec.EmptyList().(client.ObjectList)
	if !ok {
		return decision.Existing{}, fmt.Errorf("listing PlacementDecisions of Placement %s: %T is no list", klog.KObj(placement), codec.EmptyList())
	}

	err := r.client.List(ctx, list, client.InNamespace(placement.Namespace), client.MatchingFields{placementField: placement.Name},
		client.UnsafeDisableDeepCopy)
	if err != nil {
		return decision.Existing{}, fmt.Errorf("listing PlacementDecisions of Placement %s: %w", klog.KObj(placement), err)
	}

	var cached []*api.Page

	err = meta.EachListItem(list, func(object runtime.Object) error {
		cached = append(cached, codec.Read(object))

		return nil
	})
	if err != nil {
		return decision.Existing{}, fmt.Errorf("reading PlacementDecisions of Placement %s: %w", klog.KObj(placement), err)
	}

	return decision.NewExisting(codec, placement, r.state.pages[codec].List(placement.Key(), cached)), nil
}
