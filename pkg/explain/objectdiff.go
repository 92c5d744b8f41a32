// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"slices"
	"time"

	federated "github.com/placement-hub/placement-hub/pkg/federation/explain"
	"github.com/placement-hub/placement-hub/pkg/inventory"
)

// DiffObjects compares the delivery of the wanted objects with what it would be if the hub became the State after; a nil wanted selects all.
// The Placements that objects follow are evaluated first, in both States, and the objects by their results.
//
// The base are the existing works. An object that has none yet gets those of its evaluation without the change. Differences that come
// without the change are marked.
func (s *State) DiffObjects(after *State, wanted func(inventory.Key) bool, now time.Time) []federated.Difference {
	hub, evaluator := s.federatedHub(s.evaluatedDecisions(now)), federated.NewEvaluator(&s.Federated)
	assumed := evaluator.Evaluate(hub, now)
	evaluator.Assume(assumed)
	changed := federated.NewEvaluator(&after.Federated)
	changed.Assume(assumed)
	differences := federated.Differences(
		evaluator.Evaluate(hub, now), changed.Evaluate(after.federatedHub(after.since(s).evaluatedDecisions(now)), now))
	return slices.DeleteFunc(differences, func(d federated.Difference) bool { return wanted != nil && !wanted(d.Key) })
}

// WithObjects returns a WhatIf with what the changes would do to the delivery of the wanted objects of the hub.
func (w WhatIf) WithObjects(hub, after *State, wanted func(inventory.Key) bool, now time.Time) WhatIf {
	if !hub.Federated.Delivers() && !after.Federated.Delivers() {
		return w
	}
	w.Objects = hub.DiffObjects(after, wanted, now)
	summary := federated.Summarize(w.Objects)
	w.ObjectSummary, w.ObjectNotes = &summary, hub.Federated.Missing
	return w
}

// WithObjects returns Differences with what the State after would do to the delivery of the wanted objects; a nil wanted selects all.
func (d Differences) WithObjects(hub, after *State, wanted func(inventory.Key) bool, now time.Time) Differences {
	if !hub.Federated.Delivers() && !after.Federated.Delivers() {
		return d
	}
	d.Objects = hub.DiffObjects(after, wanted, now)
	summary := federated.Summarize(d.Objects)
	d.ObjectSummary, d.ObjectNotes = &summary, hub.Federated.Missing
	return d
}

// evaluatedDecisions returns the clusters of each PlacementDecision that the hub would write for the Placements that objects follow.
func (s *State) evaluatedDecisions(now time.Time) map[inventory.Key][][]string {
	named := s.Federated.Placements()
	clusters := map[inventory.Key][][]string{}
	if len(named) == 0 {
		return clusters
	}
	wanted := func(key inventory.Key) bool { return key.API() == inventory.V1beta1 && named[key.NamespacedName] }
	for _, evaluation := range s.Evaluate(now, wanted) {
		key := evaluation.Placement.Key()
		for _, page := range evaluation.Pages {
			clusters[key] = append(clusters[key], page)
		}
	}

	return clusters
}
