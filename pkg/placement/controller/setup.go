// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"

	"k8s.io/klog/v2"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlcontroller "sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/placement-hub/placement-hub/pkg/history/recorder"
	"github.com/placement-hub/placement-hub/pkg/hub/eventwriter"
	"github.com/placement-hub/placement-hub/pkg/hub/objects"
	"github.com/placement-hub/placement-hub/pkg/hub/queue"
	"github.com/placement-hub/placement-hub/pkg/hub/queue/seats"
	"github.com/placement-hub/placement-hub/pkg/hub/sharedinventory"
	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/placement"
	"github.com/placement-hub/placement-hub/pkg/placement/api"
	"github.com/placement-hub/placement-hub/pkg/removalbudget"
)

// The names of the controllers, as --controllers takes them.
const (
	Name         = "placement"
	V1alpha1Name = "placement-v1alpha1"
)

// Options say which placements are served and how.
type Options struct {
	// Controllers are the names of the enabled controllers; those of this package count.
	Controllers []string
	// ProfileDecisions writes the decisions of v1beta1 placements as PlacementDecisions of multicluster.x-k8s.io too.
	ProfileDecisions bool
	// RemovalLimit says which share of the clusters in the decisions of a placement may leave them within ten minutes for causes outside of
	// the placement; annotations of the placement win over it. Nil is off for Setup, and not known for Observe.
	RemovalLimit removalbudget.Limit
	// WarnRemovalPercent is the share, from 0 to 100, above which an event warns that the decisions of a placement have lost so many of their
	// clusters at once. Nil means DefaultWarnRemovalPercent, and 100 never.
	WarnRemovalPercent *int
	// View is connected to what the controllers know; nil without explanations.
	View *View
	// Inventory is what all controllers of the manager share.
	Inventory *sharedinventory.Shared
	// History records what happens to decisions; a nil Recorder records nothing.
	History *recorder.Recorder
}

// Setup adds the controllers to the manager.
func (o Options) Setup(mgr manager.Manager, settings queue.Settings) error {
	written := o.outputs()
	if err := o.History.Setup(mgr, o.Inventory, written.apis); err != nil {
		return fmt.Errorf("preparing the history: %w", err)
	}
	return service{written, o.View, o.Inventory, o.History}.setup(mgr, settings)
}

// outputs returns the APIs to serve and the formats to write.
func (o Options) outputs() servedAPIs {
	limit := removalbudget.Limit{
		Percent:       ptr.To(ptr.Deref(o.RemovalLimit.Percent, removalbudget.NoLimit)),
		CountReplaced: ptr.To(ptr.Deref(o.RemovalLimit.CountReplaced, false)),
		LostScopeHold: o.RemovalLimit.LostScopeHold,
		LastCluster:   o.RemovalLimit.LastCluster,
	}
	written := servedAPIs{limit: limit, warned: o.WarnRemovalPercent}
	if slices.Contains(o.Controllers, Name) {
		written.apis = append(written.apis, api.V1beta1)
		written.profiles = o.ProfileDecisions
	}

	if slices.Contains(o.Controllers, V1alpha1Name) {
		written.apis = append(written.apis, api.V1alpha1)
	}
	return written
}

// service is what is written for placements, who is shown what is known for that, and the inventory that has it.
type service struct {
	served    servedAPIs
	view      *View
	inventory *sharedinventory.Shared
	history   *recorder.Recorder
}

// setup serves the placements of the APIs, and connects the view to what is known of them.
func (s service) setup(mgr manager.Manager, settings queue.Settings) error {
	if err := s.inventory.Connect(mgr); err != nil {
		return fmt.Errorf("preparing proofs: %w", err)
	}
	shared := newState(s.inventory, s.served, settings.Clock)

	events, err := eventwriter.Add(mgr, component, shared.Queue.Busy)
	if err != nil {
		return fmt.Errorf("preparing events: %w", err)
	}
	live, err := objects.NewLiveClient(mgr)
	if err != nil {
		return err
	}

	known, tracer := &reader{state: shared, client: mgr.GetClient()}, newTracer(settings.Tracing)
	r := &reconciler{
		reader: known,
		decider: &decider{
			reader: known, engine: newEngine(shared.inventory), removals: newRemovals(s.inventory.Checker), seats: seats.New(runtime.GOMAXPROCS(0)),
			tracer: tracer,
		},
		applier: &applier{
			reader: known, live: live, writer: placement.Writer{Client: known.client, Timeout: settings.Timeout},
			reporter: recorders{recorder: events}, tracer: tracer, history: s.history,
		},
		tracer:    tracer,
		conflicts: queue.NewConflictBackoff[inventory.Key](),
		timeout:   settings.Timeout,
	}

	if err := shared.served.index(context.Background(), mgr); err != nil {
		return err
	}
	s.view.connect(known)
	typed := queue.Options[inventory.Key](settings)
	typed.Reconciler, typed.ReconciliationTimeout = r, 0 // See reconciler.timeout.
	typed.LogConstructor = queue.Logs(mgr.GetLogger(), Name, func(key inventory.Key) []any {
		return []any{"placement", klog.KRef(key.Namespace, key.Name), "api", key.API()}
	})

	controller, err := ctrlcontroller.NewTyped(Name, mgr, typed)
	if err != nil {
		return fmt.Errorf("creating the controller: %w", err)
	}
	if err := mgr.Add(r.decider.comparer()); err != nil {
		return fmt.Errorf("adding the comparer: %w", err)
	}
	if err := mgr.Add(shared.placements); err != nil {
		return fmt.Errorf("adding the metrics of placements: %w", err)
	}

	handlers := &eventHandlers{
		state: shared, cache: mgr.GetCache(), live: live, elected: mgr.Elected(), recorder: events, formerRenewal: settings.FormerRenewal,
	}
	return controller.Watch(handlers.source()) //nolint:wrapcheck // Named by the caller.
}

// index has PlacementDecisions found by the placements they may belong to.
func (s servedAPIs) index(ctx context.Context, mgr manager.Manager) error {
	for _, codec := range s.forms() {
		err := mgr.GetFieldIndexer().IndexField(ctx, codec.Empty(), placementField, func(object client.Object) []string {
			return placement.PlacementsOf(codec, api.MetadataOnly(object))
		})
		if err != nil {
			return fmt.Errorf("indexing %T: %w", codec.Empty(), err)
		}
	}
	return nil
}

// Observe keeps o.View up to date without a controller: it needs no lease and writes nothing. The APIs of the view are those of
// o.Controllers.
func Observe(ctx context.Context, mgr manager.Manager, settings queue.Settings, o Options) error {
	if o.View == nil {
		return errors.New("observing for nobody: Options.View is nil")
	}
	observed := o.outputs()
	observed.profiles, observed.outside, observed.limit = false, true, o.RemovalLimit
	if len(observed.apis) == 0 {
		return fmt.Errorf("%q serve no placements; name %s, %s or both", o.Controllers, Name, V1alpha1Name)
	}
	shared := newState(o.Inventory, observed, settings.Clock)

	if err := observed.index(ctx, mgr); err != nil {
		return err
	}
	o.View.connect(&reader{state: shared, client: mgr.GetClient()})
	if err := mgr.Add(&observation{feed: &eventHandlers{state: shared, cache: mgr.GetCache()}}); err != nil {
		return fmt.Errorf("adding the observer of placements: %w", err)
	}
	return nil
}

// observation keeps the inventory up to date while the manager runs.
type observation struct {
	feed *eventHandlers
}

var _ manager.LeaderElectionRunnable = (*observation)(nil)

// NeedLeaderElection returns false: it runs on every replica.
func (*observation) NeedLeaderElection() bool { return false }

// Start handles events until the context ends.
func (o *observation) Start(ctx context.Context) error {
	if err := o.feed.listen(ctx); err != nil && ctx.Err() == nil {
		return err
	}
	<-ctx.Done()
	return nil
}
