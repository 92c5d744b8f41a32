// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/placement-hub/placement-hub/pkg/federation"
	federated "github.com/placement-hub/placement-hub/pkg/federation/explain"
	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/placement/api"
	"github.com/placement-hub/placement-hub/pkg/selector"
)

// EvaluateObjects evaluates the objects of an Evaluator in the State at a time, with the decisions of the State.
func (s *State) EvaluateObjects(evaluator *federated.Evaluator, now time.Time) []federated.Evaluation {
	return evaluator.Evaluate(s.federatedHub(s.writtenDecisions()), now)
}

// EvaluateWanted evaluates the wanted objects of the State, as ReportObjects does.
func (s *State) EvaluateWanted(wanted func(inventory.Key) bool, now time.Time) []federated.Evaluation {
	return slices.DeleteFunc(s.EvaluateObjects(federated.NewEvaluator(&s.Federated), now), func(e federated.Evaluation) bool {
		return !wanted(e.Key())
	})
}

// ObjectFilter selects the objects of a report.
type ObjectFilter struct {
	// Wanted selects objects; nil selects all.
	Wanted func(inventory.Key) bool
	// Named reports that the objects were asked for by name: then those that are never delivered are reported too, instead of counted.
	Named bool
}

// takes reports whether an object in a state belongs to the report. It counts the objects that are left out because they are never delivered.
func (f ObjectFilter) takes(key inventory.Key, state federation.State, excluded *int) bool {
	if f.Wanted != nil && !f.Wanted(key) {
		return false
	}
	if state == federation.NotDelivered && !f.Named {
		*excluded++
		return false
	}
	return true
}

// ReportObjects reports the objects of the State that a filter selects, at a time. With all it lists the clusters out of scope too. A report of all
// objects has notes on works whose object does not exist.
func (s *State) ReportObjects(filter ObjectFilter, all bool, now time.Time) federated.Reports {
	evaluator := federated.NewEvaluator(&s.Federated)
	reports := federated.Reports{Now: metav1.NewTime(now), Objects: []federated.Report{}, Notes: append([]string{}, s.Federated.Missing...)}
	for _, evaluation := range s.EvaluateObjects(evaluator, now) {
		if filter.takes(evaluation.Key(), evaluation.State, &reports.Excluded) {
			reports.Objects = append(reports.Objects, federated.NewReport(evaluation, all))
		}
	}
	if filter.Wanted == nil {
		reports.Notes = append(reports.Notes, evaluator.Stray()...)
	}
	return reports
}

// WithObjects returns Reports with where the wanted objects of the State are delivered, if any are; all is that of ReportObjects. The Placements
// that objects follow are evaluated first, and the objects by their results.
func (r Reports) WithObjects(state *State, wanted func(inventory.Key) bool, all bool) Reports {
	if !state.Federated.Delivers() {
		return r
	}
	now := r.Now.Time
	evaluator := federated.NewEvaluator(&state.Federated)
	for _, evaluation := range evaluator.Evaluate(state.federatedHub(state.evaluatedDecisions(now)), now) {
		if evaluation.State != federation.NotDelivered && wanted(evaluation.Key()) {
			r.Objects = append(r.Objects, federated.NewReport(evaluation, all))
		}
	}

	r.ObjectNotes = slices.Concat(state.Federated.Missing, evaluator.Stray())
	return r
}

// federatedHub returns the State around the federated objects, with the clusters of the PlacementDecisions of each Placement.
func (s *State) federatedHub(pages map[inventory.Key][][]string) federated.Hub {
	compiler := selector.NewCompiler()
	return s.federatedHubIn(compiler, s.inventory(compiler).Snapshot().WithDone(s.Done), pages)
}

// federatedHubIn returns what federatedHub does, with a Snapshot of the State.
func (s *State) federatedHubIn(compiler *selector.Compiler, snapshot *inventory.Snapshot, pages map[inventory.Key][][]string) federated.Hub {
	return federated.Hub{
		Compiler: compiler, Snapshot: snapshot,
		Decisions: func(name types.NamespacedName) federation.Decisions {
			key := inventory.NewPlacementKey(inventory.V1beta1, name.Namespace, name.Name)
			placement := s.placement(key)
			if placement == nil {
				return federation.MissingPlacement(name.Name, s.placementNames(name.Namespace))
			}
			return federation.DecisionsOf(&placement.ObjectMeta, pages[key])
		},
	}
}

// placementNames returns the names of the Placements of a namespace that objects may follow.
func (s *State) placementNames(namespace string) []string {
	var names []string
	for _, object := range s.Placements {
		if placement := api.Read(object); placement.API == api.V1beta1 && placement.Namespace == namespace {
			names = append(names, placement.Name)
		}
	}
	return names
}

// writtenDecisions returns the clusters of each existing PlacementDecision of the Placements.
func (s *State) writtenDecisions() map[inventory.Key][][]string {
	clusters := map[inventory.Key][][]string{}
	for key, pages := range s.PagesByPlacement() {
		if key.API() == api.V1beta1.Name() {
			clusters[key] = clustersOf(pages)
		}
	}
	return clusters
}

func clustersOf(pages []*api.Page) [][]string {
	clusters := make([][]string, 0, len(pages))
	for _, page := range pages {
		clusters = append(clusters, page.Clusters())
	}
	return clusters
}

// ReportWrittenObjects reports what the hub has written for the objects that a filter selects, as ReportObjects does, without an evaluation.
func (s *State) ReportWrittenObjects(filter ObjectFilter, now time.Time) federated.Reports {
	reports := federated.Reports{Now: metav1.NewTime(now), Objects: []federated.Report{}, Notes: append([]string{}, s.Federated.Missing...)}
	for _, report := range federated.NewEvaluator(&s.Federated).Written() {
		if filter.takes(report.Key, federation.State(report.State), &reports.Excluded) {
			reports.Objects = append(reports.Objects, report)
		}
	}
	return reports
}
