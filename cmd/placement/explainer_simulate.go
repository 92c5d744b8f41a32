// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"

	"github.com/placement-hub/placement-hub/pkg/explain"
	"github.com/placement-hub/placement-hub/pkg/explain/endpoint"
	"github.com/placement-hub/placement-hub/pkg/explain/hubstate"
	"github.com/placement-hub/placement-hub/pkg/explain/whatif"
	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/placement/api"
)

// simulate evaluates the Placements of a Question, as placement simulate does, also as if sets were not bound to the namespace. The caller may read
// the Placements and the objects of the kinds, and delete the bindings.
func (e *hubExplainer) simulate(ctx context.Context, question *endpoint.Question) (endpoint.Answer, error) {
	if question.Manifests != "" {
		return e.simulateAdded(ctx, question)
	}
	shown := e.shownIn(question)
	state, err := hubstate.AllFromCluster(ctx, e.hub, question.Namespace)
	if err == nil && shown.delivered {
		err = hubstate.AddFederated(ctx, e.hub, state, question.Namespace, e.delivered)
	}
	if err != nil {
		return endpoint.Answer{}, err
	}
	e.prepare(ctx, state)
	if err := shown.check(state); err != nil {
		return endpoint.Answer{}, &endpoint.AnswerError{Err: err}
	}
	now := e.now()
	if len(question.WithoutBindings) == 0 {
		return answerWith(question, shown.reports(state, now), reportStyle)
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
	whatIf := shown.whatIf(state, after, now)
	for _, change := range changes {
		whatIf.Changes = append(whatIf.Changes, change.String())
	}
	answer, err := answerWith(question, whatIf, differenceStyle(question.ShowKept))
	answer.Differs = whatIf.Differs()
	return answer, err
}

// prepare makes a State evaluate with the flags of the hub, on one goroutine until ctx ends.
func (e *hubExplainer) prepare(ctx context.Context, state *explain.State) {
	state.SetsHidden, state.Done, state.Workers = e.limited, ctx.Done(), 1
	state.Limit = e.limit
	state.Federated.SetLimit(e.limit)
	if e.limited {
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

// shownObjects are the objects that the answer to a Question may show.
type shownObjects struct {
	namespace string
	named     map[inventory.Key]bool
	kinds     map[schema.GroupKind]bool
	// delivered reports that objects of a delivered kind are among them.
	delivered bool
}

// shownIn returns the objects that the answer to a Question may show: those that it names, and those of its kinds in the namespace.
func (e *hubExplainer) shownIn(question *endpoint.Question) *shownObjects {
	shown := &shownObjects{namespace: question.Namespace, named: map[inventory.Key]bool{}, kinds: map[schema.GroupKind]bool{}}
	for _, object := range question.Objects {
		shown.named[keyOfObject(object, question.Namespace)] = true
		shown.delivered = shown.delivered || e.delivers(object.GroupKind())
	}
	for _, kind := range question.Kinds {
		shown.kinds[kind.GroupKind()] = true
		shown.delivered = shown.delivered || e.delivers(kind.GroupKind())
	}
	return shown
}

// keyOfObject returns the key of an object of a Question.
func keyOfObject(object endpoint.Object, namespace string) inventory.Key {
	return inventory.Key{
		NamespacedName: types.NamespacedName{Namespace: namespace, Name: object.Name},
		GroupKind:      inventory.GroupKind(object.GroupKind().String()),
	}
}

// has reports whether a Placement or an object that is delivered may be shown.
func (s *shownObjects) has(key inventory.Key) bool {
	return s.named[key] || key.Namespace == s.namespace && s.kinds[schema.ParseGroupKind(string(key.GroupKind))]
}

// check returns an error about a Placement that is named and does not exist, or if there is none to evaluate.
func (s *shownObjects) check(state *explain.State) error {
	found := map[inventory.Key]bool{}
	for _, placement := range state.Placements {
		if key := api.Read(placement).Key(); s.has(key) {
			found[key] = true
		}
	}
	var errs []error
	for key := range s.named {
		if !found[key] {
			errs = append(errs, fmt.Errorf("there is no Placement %s; correct the name or the namespace", key))
		}
	}
	slices.SortFunc(errs, func(a, b error) int { return cmp.Compare(a.Error(), b.Error()) })
	if len(found)+len(errs) == 0 {
		return fmt.Errorf("there is no Placement in namespace %s, so there is nothing to evaluate: correct --namespace", s.namespace)
	}
	return errors.Join(errs...)
}

// reports evaluates the State as it is.
func (s *shownObjects) reports(state *explain.State, now time.Time) explain.Reports {
	reports := explain.Reports{Now: metav1.NewTime(now), Placements: []explain.Report{}}
	for _, evaluation := range state.Evaluate(now, s.has) {
		reports.Placements = append(reports.Placements, explain.NewReport(evaluation, false))
	}
	if state.Federated.Delivers() {
		reports = reports.WithObjects(state, s.has, false)
		reports.ObjectNotes = state.Federated.Missing
	}
	return reports
}

// whatIf compares the State with the one after the changes.
func (s *shownObjects) whatIf(state, after *explain.State, now time.Time) explain.WhatIf {
	whatIf := explain.NewWhatIf(state, after, s.has, now)
	if s.delivered {
		whatIf = whatIf.WithObjects(state, after, s.has, now)
	}
	return whatIf
}
