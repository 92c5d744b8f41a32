// SPDX-License-Identifier: Apache-2.0

package explain

import (
	federated "github.com/placement-hub/placement-hub/pkg/federation/explain"
	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/placement"
)

// delivery is where the federated objects of a State are delivered.
type delivery struct {
	// assumed are the evaluations in the State, and evaluated those with the works that follow from them.
	assumed, evaluated []federated.Evaluation
	evaluator          *federated.Evaluator
	snapshot           *inventory.Snapshot
	// depends are the objects with a selector and the Placements that objects follow.
	depends map[inventory.Key]bool
}

// BaseObjects evaluates the federated objects of the State, sorted by namespace, name and kind. The Placements that they follow are evaluated first.
// An object without ManifestWorks has those of its evaluation, so that what happens to it can be held.
func (v *Variants) BaseObjects() []federated.Evaluation { return v.objects().evaluated }

// Objects evaluates the federated objects of another State as BaseObjects does, with the works of the State of Variants. Objects that do not differ
// must be the same pointers in both States. It returns those of BaseObjects if nothing differs that they depend on. The Snapshot has the clusters.
func (v *Variants) Objects(after *State) ([]federated.Evaluation, *inventory.Snapshot) {
	base := v.objects()
	if after == v.base {
		return base.evaluated, base.snapshot
	}
	concerned := v.base.applyDiff(v.inventory, after)
	defer after.applyDiff(v.inventory, v.base)
	snapshot := v.inventory.Snapshot().WithDone(v.base.Done)

	evaluator := base.evaluator
	if !sameDelivery(v.base, after) {
		evaluator = federated.NewEvaluator(&after.Federated)
		evaluator.Assume(base.assumed)
	} else if !base.depend(concerned) {
		return base.evaluated, snapshot
	}
	return v.deliver(evaluator, after, snapshot), snapshot
}

// depend reports whether the result of an object may differ if these Placements and objects are concerned.
func (d *delivery) depend(concerned map[inventory.Key]bool) bool {
	for key := range concerned {
		if d.depends[key] {
			return true
		}
	}
	return false
}

// objects evaluates the objects in the State, once.
func (v *Variants) objects() *delivery {
	if v.delivery != nil {
		return v.delivery
	}
	v.delivery = &delivery{depends: map[inventory.Key]bool{}, evaluator: federated.NewEvaluator(&v.base.Federated)}
	var keys []inventory.Key
	for _, object := range v.base.Federated.Objects {
		kind, delivered := v.base.Federated.KindOf(object.GroupVersionKind())
		if !delivered {
			continue
		}
		key := federated.Key(kind, object.GetNamespace(), object.GetName())
		if request := v.base.Federated.Request(v.compiler, key); request != nil {
			v.inventory.Subscribe(key, request.Dependencies())
			keys = append(keys, key)
		}
	}
	for name := range v.base.Federated.Placements() {
		key := inventory.NewPlacementKey(inventory.V1beta1, name.Namespace, name.Name)
		if v.settled[key] == nil {
			if settled := v.settledPlacement(key); settled != nil && settled.request != nil {
				v.inventory.Subscribe(key, settled.request.Dependencies())
			}
		}
		keys = append(keys, key)
	}
	for _, key := range keys {
		v.delivery.depends[key] = true
	}
	v.delivery.snapshot = v.inventory.SnapshotFor(keys...).WithDone(v.base.Done)
	v.delivery.assumed = v.deliver(v.delivery.evaluator, v.base, v.delivery.snapshot)
	v.delivery.evaluator.Assume(v.delivery.assumed)
	v.delivery.evaluated = v.deliver(v.delivery.evaluator, v.base, v.delivery.snapshot)
	return v.delivery
}

// deliver evaluates objects in a State, whose clusters, sets and bindings the Snapshot has. The Placements that they follow are settled first.
func (v *Variants) deliver(evaluator *federated.Evaluator, state *State, snapshot *inventory.Snapshot) []federated.Evaluation {
	pages := map[inventory.Key][][]string{}
	for name := range state.Federated.Placements() {
		key := inventory.NewPlacementKey(inventory.V1beta1, name.Namespace, name.Name)
		p := state.placement(key)
		if p == nil || v.base.cancelled() {
			continue
		}
		request, existing := v.changed(p, v.settledPlacement(key))
		for _, clusters := range settle(request, snapshot, existing, state.options(), v.now).Pages {
			pages[key] = append(pages[key], clusters)
		}
	}
	return evaluator.Evaluate(state.federatedHubIn(v.compiler, snapshot, pages), v.now)
}

// settledPlacement returns a Placement of the State with its settled end, also if it was not wanted; nil if there is none.
func (v *Variants) settledPlacement(key inventory.Key) *settledPlacement {
	if settled := v.settled[key]; settled != nil {
		return settled
	}
	p := v.base.placement(key)
	if p == nil {
		return nil
	}
	settled := &settledPlacement{placementInput: &placementInput{placement: p}}
	if managed, _ := p.Managed(); managed {
		settled.request = p.Request(v.compiler)
	}
	existing := placement.NewExisting(p.API.Codec(), p, v.base.PagesByPlacement()[key])
	settled.evaluation = settle(settled.request, v.snapshot, existing, v.base.options(), v.now)
	v.settled[key] = settled
	return settled
}

// sameDelivery reports whether two States have the same federated objects, and the same Placements for them to follow.
func sameDelivery(before, after *State) bool {
	a, b := &before.Federated, &after.Federated
	return sameObjects(a.Objects, b.Objects) && sameObjects(a.Namespaces, b.Namespaces) && sameObjects(a.Works, b.Works) &&
		sameObjects(before.Placements, after.Placements)
}
