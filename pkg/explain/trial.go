package explain

import (
	"time"

	"github.com/placement-hub/placement-hub/pkg/decision"
	"github.com/placement-hub/placement-hub/pkg/decision/record"
	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/scheduling"
	"github.com/placement-hub/placement-hub/pkg/selector"
)

// Trial puts one placement of a world to the engine again and again, each time with something changed. A run costs what the change
// concerns, and not what the world holds.
type Trial struct {
	world      *World
	key        inventory.PlacementKey
	now        time.Time
	compiler   *selector.Compiler
	known      *inventory.Inventory
	incumbents map[string]bool
}

// NewTrial prepares a world for one of its placements; nil when it has no such placement. The world must not change any more. Decisions are
// those of the world in every run.
func (w *World) NewTrial(key inventory.PlacementKey, now time.Time) *Trial {
	placement := w.placement(key)
	if placement == nil {
		return nil
	}

	compiler := selector.NewCompiler()
	incumbents := decision.NewPresent(placement.API.Form(), placement, w.pagesByPlacement()[key]).Incumbents()

	return &Trial{world: w, key: key, now: now, compiler: compiler, known: w.inventory(compiler), incumbents: incumbents}
}

// Run answers for the placement in another state of the world, as if the placement asked for more prioritizers too. What is the same in
// both worlds must be the same objects. It is nil when that world has no such placement.
func (t *Trial) Run(world *World, more ...scheduling.Prioritizer) *scheduling.Result {
	placement := world.placement(t.key)
	if placement == nil {
		return nil
	}

	t.world.turn(t.known, world)
	defer world.turn(t.known, t.world)

	request := placement.Request(t.compiler)
	request.Prioritizers = append(request.Prioritizers, more...)

	return scheduling.Schedule(request, t.known.Snapshot(), t.incumbents, t.now)
}

// placement is the placement of a key; nil when there is none.
func (w *World) placement(key inventory.PlacementKey) *record.Placement {
	for _, object := range w.Placements {
		if object.GetName() != key.Name || object.GetNamespace() != key.Namespace {
			continue
		}

		if placement := record.Read(object); placement.Key() == key {
			return placement
		}
	}

	return nil
}
