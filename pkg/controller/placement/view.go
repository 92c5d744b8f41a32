package placement

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/placement-hub/placement-hub/pkg/controller/queue"
	"github.com/placement-hub/placement-hub/pkg/decision"
	"github.com/placement-hub/placement-hub/pkg/decision/record"
	"github.com/placement-hub/placement-hub/pkg/inventory"
)

// View is what the placement controllers know at the moment, for those who ask and change nothing: on the leader, which sees its own writes
// before the cache does, and on a standby alike. Setup or Observe connects it; before that it serves nothing. It is safe for concurrent use
// from then on.
type View struct {
	known *reconciler
}

// connect lets the view show what is known; a nil view shows nothing to nobody.
func (v *View) connect(known *reconciler) {
	if v != nil {
		v.known = known
	}
}

// Serves reports whether the placements of an API are known here.
func (v *View) Serves(api record.API) bool {
	return v.known != nil && slices.Contains(v.known.apis, api)
}

// Synced reports whether everything that existed at the start is known. Before that, nothing else may be asked.
func (v *View) Synced() bool { return v.known != nil && v.known.synced.Load() }

// Placement is the placement of that name; nil when there is none. It is shared and must not be changed.
func (v *View) Placement(ctx context.Context, key inventory.PlacementKey) (*record.Placement, error) {
	return v.known.placement(ctx, key)
}

// Present are the decisions that exist for a placement, which need not be as it is on the hub.
func (v *View) Present(ctx context.Context, placement *record.Placement) (decision.Present, error) {
	return v.known.present(ctx, placement.API.Form(), placement)
}

// Snapshot is the world of the present moment. No placement is told of what changes in it because of this.
func (v *View) Snapshot() *inventory.Snapshot { return v.known.inventory.Snapshot() }

// Options are how the hub evaluates placements, as far as that is known here.
func (v *View) Options() decision.Options { return v.known.options() }

// Observe keeps o.View up to date and does nothing else: no controller runs, no lease is needed, and nothing is written. Of o.Controllers
// those count that serve placements; their APIs are those of the view.
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

// observation feeds the inventory, for as long as the manager runs.
type observation struct {
	feed *eventHandlers
}

var _ manager.LeaderElectionRunnable = (*observation)(nil)

// NeedLeaderElection says that it runs beside a leader.
func (*observation) NeedLeaderElection() bool { return false }

// Start listens until the context ends.
func (o *observation) Start(ctx context.Context) error {
	if err := o.feed.listen(ctx); err != nil && ctx.Err() == nil {
		return err
	}

	<-ctx.Done()

	return nil
}
