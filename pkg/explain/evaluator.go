package explain

import (
	"time"

	"github.com/placement-hub/placement-hub/pkg/decision"
	"github.com/placement-hub/placement-hub/pkg/decision/record"
	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/scheduling"
	"github.com/placement-hub/placement-hub/pkg/selector"
)

// Evaluator puts one placement of a world to the engine again and again, each time with something changed. A run costs what the change
// concerns, and not what the world holds.
type Evaluator struct {
	base       *State
	key        inventory.PlacementKey
	now        time.Time
	compiler   *selector.Compiler
	inventory  *inventory.Inventory
	incumbents map[string]bool
}

// NewEvaluator prepares a world for one of its placements; nil when it has no such placement. The world must not change any more. Decisions are
// those of the world in every run.
func (s *State) NewEvaluator(key inventory.PlacementKey, now time.Time) *Evaluator {
	placement := s.placement(key)
	if placement == nil {
		return nil
	}

	compiler := selector.NewCompiler()
	incumbents := decision.NewPresent(placement.API.Form(), placement, s.pagesByPlacement()[key]).Incumbents()

	return &Evaluator{base: s, key: key, now: now, compiler: compiler, inventory: s.inventory(compiler), incumbents: incumbents}
}

// Evaluate answers for the placement in another state of the world, as if the placement asked for more prioritizers too. What is the same in
// both worlds must be the same objects. It is nil when that world has no such placement.
func (t *Evaluator) Evaluate(state *State, more ...scheduling.Prioritizer) *scheduling.Result {
	placement := state.placement(t.key)
	if placement == nil {
		return nil
	}

	t.base.applyDiff(t.inventory, state)
	defer state.applyDiff(t.inventory, t.base)

	request := placement.Request(t.compiler)
	request.Prioritizers = append(request.Prioritizers, more...)

	return scheduling.Schedule(request, t.inventory.Snapshot(), t.incumbents, t.now)
}

// placement is the placement of a key; nil when there is none.
func (s *State) placement(key inventory.PlacementKey) *record.Placement {
	for _, object := range s.Placements {
		if object.GetName() != key.Name || object.GetNamespace() != key.Namespace {
			continue
		}

		if placement := record.Read(object); placement.Key() == key {
			return placement
		}
	}

	return nil
}
