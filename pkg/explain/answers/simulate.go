// SPDX-License-Identifier: Apache-2.0

package answers

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"

	"github.com/placement-hub/placement-hub/pkg/explain"
	"github.com/placement-hub/placement-hub/pkg/explain/endpoint"
	"github.com/placement-hub/placement-hub/pkg/explain/tools"
	"github.com/placement-hub/placement-hub/pkg/explain/whatif"
	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/placement/api"
)

// simulate evaluates the Placements of a Question, as placement simulate does, also as if sets were not bound to the namespace. The caller may read
// the Placements and the objects of the kinds, and delete the bindings.
func (e *Explainer) simulate(ctx context.Context, question *endpoint.Question) (endpoint.Answer, error) {
	if question.Manifests != "" {
		return e.simulateAdded(ctx, question)
	}
	visible := e.VisibleIn(question)
	state, err := e.Source().All(ctx, question.Namespace)
	if err == nil && visible.Delivered {
		err = e.Source().AddDelivery(ctx, state, question.Namespace)
	}
	if err != nil {
		return endpoint.Answer{}, err
	}
	e.prepare(ctx, state)
	if err := checkVisible(visible, state); err != nil {
		return endpoint.Answer{}, &endpoint.AnswerError{Err: err}
	}
	now := e.Now()
	if len(question.WithoutBindings) == 0 {
		return answerWith(question, reportsOf(visible, state, now), ReportStyle)
	}
	changes := make([]whatif.Change, 0, len(question.WithoutBindings))
	for _, set := range question.WithoutBindings {
		if !slices.ContainsFunc(state.Bindings, func(binding *clusterv1beta2.ManagedClusterSetBinding) bool { return binding.Name == set }) {
			return endpoint.Answer{}, &endpoint.AnswerError{Err: fmt.Errorf("--without-binding: there is no ManagedClusterSetBinding %s/%s; "+
				"correct the name", question.Namespace, set)}
		}
		changes = append(changes, whatif.WithoutBinding{Namespace: question.Namespace, Set: set})
	}
	after, err := whatif.Apply(state, now, changes...)
	if err != nil {
		return endpoint.Answer{}, &endpoint.AnswerError{Err: err}
	}
	whatIf := whatIfOf(visible, state, after, now)
	for _, change := range changes {
		whatIf.Changes = append(whatIf.Changes, change.String())
	}
	answer, err := answerWith(question, whatIf, DifferenceStyle(question.ShowKept))
	answer.Differs = whatIf.Differs()
	return answer, err
}

// prepare makes a State evaluate with the flags of the hub, on one goroutine until ctx ends.
func (e *Explainer) prepare(ctx context.Context, state *explain.State) {
	state.SetsHidden, state.Done, state.Workers = e.Limited, ctx.Done(), 1
	e.Configure(state)
	if e.Limited {
		state.Federated.Missing = unreadByHub(state.Federated.Missing)
	}
}

// unreadByHub returns notes on what a user may not read as those on what the hub may not read.
func unreadByHub(notes []string) []string {
	replaced := make([]string, 0, len(notes))
	for _, note := range notes {
		replaced = append(replaced, strings.ReplaceAll(note, "by this user", "by the hub"))
	}
	return replaced
}

// checkVisible returns an error about a Placement that is named and does not exist, or if there is none to evaluate.
func checkVisible(visible *tools.Visible, state *explain.State) error {
	found := map[inventory.Key]bool{}
	for _, placement := range state.Placements {
		if key := api.Read(placement).Key(); visible.Has(key) {
			found[key] = true
		}
	}
	var errs []error
	for key := range visible.Objects {
		if !found[key] {
			errs = append(errs, fmt.Errorf("there is no Placement %s; correct the name or the namespace", key))
		}
	}
	slices.SortFunc(errs, func(a, b error) int { return cmp.Compare(a.Error(), b.Error()) })
	if len(found)+len(errs) == 0 {
		return fmt.Errorf("there is no Placement in namespace %s, so there is nothing to evaluate: correct --namespace", visible.Namespace)
	}
	return errors.Join(errs...)
}

// reportsOf evaluates the State as it is.
func reportsOf(visible *tools.Visible, state *explain.State, now time.Time) explain.Reports {
	reports := explain.Reports{Now: metav1.NewTime(now), Placements: []explain.Report{}}
	for _, evaluation := range state.Evaluate(now, visible.Has) {
		reports.Placements = append(reports.Placements, explain.NewReport(evaluation, false))
	}
	if state.Federated.Delivers() {
		reports = reports.WithObjects(state, visible.Has, false)
		reports.ObjectNotes = state.Federated.Missing
	}
	return reports
}

// whatIfOf compares the State with the one after the changes.
func whatIfOf(visible *tools.Visible, state, after *explain.State, now time.Time) explain.WhatIf {
	whatIf := explain.NewWhatIf(state, after, visible.Has, now)
	if visible.Delivered {
		whatIf = whatIf.WithObjects(state, after, visible.Has, now)
	}
	return whatIf
}
