package placement

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/placement-hub/placement-hub/pkg/controller/queue"
	"github.com/placement-hub/placement-hub/pkg/decision"
	"github.com/placement-hub/placement-hub/pkg/decision/api"
	"github.com/placement-hub/placement-hub/pkg/inventory"
)

// View gives read access to the state of the controllers, on the leader, which sees its own writes before its cache does, and on a standby
// alike. Setup or Observe connects it; before that it serves no API. It is safe for concurrent use from then on.
type View struct {
	known *reconciler
}

// connect connects the view to a reconciler; a nil view ignores it.
func (v *View) connect(known *reconciler) {
	if v != nil {
		v.known = known
	}
}

// Serves reports whether the view has the Placements of an API.
func (v *View) Serves(adapter api.Adapter) bool {
	return v.known != nil && slices.Contains(v.known.state.served.apis, adapter)
}

// Synced reports whether the initial lists were handled. Before that, only Serves may be called.
func (v *View) Synced() bool { return v.known != nil && v.known.state.synced.Load() }

// Placement returns a Placement, or nil if there is none. It is shared and must not be changed.
func (v *View) Placement(ctx context.Context, key inventory.Key) (*api.Placement, error) {
	return v.known.placement(ctx, key)
}

// Present returns the existing decisions of a Placement, which may differ from the Placement on the hub.
func (v *View) Present(ctx context.Context, placement *api.Placement) (decision.Existing, error) {
	return v.known.existing(ctx, placement.API.Codec(), placement)
}

// Snapshot returns the present snapshot of the inventory, and subscribes nobody.
func (v *View) Snapshot() *inventory.Snapshot { return v.known.state.inventory.Snapshot() }

// Options returns how the hub evaluates Placements, as far as this process knows.
func (v *View) Options() decision.Options { return v.known.state.served.options() }

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

	shared := newState(observed, settings.Clock)

	if err := observed.index(ctx, mgr); err != nil {
		return err
	}

	o.View.connect(&reconciler{state: shared, client: mgr.GetClient(), clock: settings.Clock})

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
