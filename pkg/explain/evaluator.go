// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"time"

	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/placement"
	"github.com/placement-hub/placement-hub/pkg/placement/api"
	"github.com/placement-hub/placement-hub/pkg/scheduling"
	"github.com/placement-hub/placement-hub/pkg/selector"
)

// Evaluator schedules one Placement, or one federated object, of a State in many variants of that State. The cost of an evaluation grows with
// the change, not with the State. It is not safe for concurrent use.
type Evaluator struct {
	base      *State
	key       inventory.Key
	now       time.Time
	compiler  *selector.Compiler
	inventory *inventory.Inventory
	// existing are the decisions of a Placement; zero for an object.
	existing placement.Existing
}

// NewEvaluator returns an Evaluator for a Placement or an object with a selector; nil when the State has no such Placement or object. The
// State must not change afterwards. Every evaluation sees the decisions of this State.
func (s *State) NewEvaluator(key inventory.Key, now time.Time) *Evaluator {
	compiler := selector.NewCompiler()
	if s.request(key, compiler) == nil {
		return nil
	}
	evaluator := &Evaluator{base: s, key: key, now: now, compiler: compiler, inventory: s.inventory(compiler)}
	if p := s.placement(key); p != nil {
		evaluator.existing = placement.NewExisting(p.API.Codec(), p, s.PagesByPlacement()[key])
	}
	return evaluator
}

// request returns the request of a Placement or of an object with a selector; nil if there is none.
func (s *State) request(key inventory.Key, compiler *selector.Compiler) *scheduling.Request {
	if placement := s.placement(key); placement != nil {
		return placement.Request(compiler)
	}
	return s.Federated.Request(compiler, key)
}

// Evaluate schedules the Placement or object in another State, with additional prioritizers. Objects that do not differ between the two States must
// be the same pointers. The result is nil when that State has no such Placement or object.
func (e *Evaluator) Evaluate(state *State, more ...scheduling.Prioritizer) *scheduling.Result {
	request := state.request(e.key, e.compiler)
	if request == nil {
		return nil
	}
	e.base.applyDiff(e.inventory, state)
	defer state.applyDiff(e.inventory, e.base)
	request.Prioritizers = append(request.Prioritizers, more...)
	return placement.Schedule(request, e.inventory.Snapshot(), e.existing, e.now)
}

// placement returns the Placement of a key; nil when there is none.
func (s *State) placement(key inventory.Key) *api.Placement {
	for _, object := range s.Placements {
		if object.GetName() != key.Name || object.GetNamespace() != key.Namespace {
			continue
		}
		if placement := api.Read(object); placement.Key() == key {
			return placement
		}
	}
	return nil
}
