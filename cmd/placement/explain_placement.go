// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"io"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/placement-hub/placement-hub/pkg/explain"
	"github.com/placement-hub/placement-hub/pkg/explain/counterfactual"
	"github.com/placement-hub/placement-hub/pkg/explain/endpoint"
	"github.com/placement-hub/placement-hub/pkg/explain/hubstate"
	"github.com/placement-hub/placement-hub/pkg/explain/hubstate/statefile"
	"github.com/placement-hub/placement-hub/pkg/inventory"
)

// source reads the files, or connects to the hub, once.
func (o *explainOptions) source(ctx context.Context, stdin io.Reader) (*source, error) {
	if o.opened == nil && o.unread == nil {
		o.opened, o.unread = o.open(ctx, stdin)
	}
	return o.opened, o.unread
}

func (o *explainOptions) open(ctx context.Context, stdin io.Reader) (opened *source, err error) {
	if len(o.files) > 0 {
		opened, err = o.openFiles(ctx, statefile.Described, o.delivered, "--filename", o.files, stdin)
	} else {
		opened, err = o.openHub(ctx, &o.askFlags, o.delivered)
	}
	if err == nil {
		o.hubControllers = opened.controllers
	}
	return opened, err
}

// explain explains Placements. When the user may not read their inputs, it returns what the hub has written, and an error.
func (s *source) explain(ctx context.Context, o *explainOptions, targets []target, now time.Time) (*explainOutput, error) {
	keys, missing := s.resolve(ctx, targets)
	if len(keys) == 0 {
		return nil, missing
	}
	found, err := s.explainKeys(ctx, o, keys, now)
	return found, errors.Join(missing, err)
}

func (s *source) explainKeys(ctx context.Context, o *explainOptions, keys []inventory.Key, now time.Time) (*explainOutput, error) {
	state, err := s.Placements(ctx, keys)
	if err != nil {
		return s.explainUnread(ctx, o, keys, now, err)
	}
	return outputOf(o.explaining().Placements(state, keys, now))
}

// outputOf returns explanations as an output.
func outputOf(explanations *counterfactual.Explanations, err error) (*explainOutput, error) {
	if err != nil {
		return nil, err
	}
	return &explainOutput{result: explanations}, nil
}

// explainUnread explains Placements to a user who may not read their inputs: the hub does it, or else the result is what the hub has written,
// with an error.
func (s *source) explainUnread(
	ctx context.Context, o *explainOptions, keys []inventory.Key, now time.Time, refused error,
) (*explainOutput, error) {
	answer, err := askUnread(refused, func() (endpoint.Answer, error) { return o.askPlacements(ctx, s, keys) })
	if answer != nil {
		return &explainOutput{byHub: answer}, err
	}
	return s.written(ctx, keys, now, err)
}

// written returns what the hub has written for Placements, and the error, if that is about a missing right; otherwise it returns only the
// error.
func (s *source) written(ctx context.Context, keys []inventory.Key, now time.Time, refused error) (*explainOutput, error) {
	if !apierrors.IsForbidden(refused) {
		return nil, refused
	}
	reports, err := hubstate.Written(ctx, s.hub, keys, "as this user may not read what the placement is decided by")
	explanations := &counterfactual.Explanations{Now: metav1.NewTime(now), Placements: []counterfactual.Explanation{}}
	for _, report := range reports {
		explanations.Placements = append(explanations.Placements, counterfactual.NewExplanation(report, nil))
	}
	return &explainOutput{result: explanations}, errors.Join(refused, err)
}

// unsatisfied lists the unsatisfied Placements of the namespace, or of all. When the user may not read their inputs, it lists those with an
// unsatisfied status, and returns an error.
func (s *source) unsatisfied(ctx context.Context, o *explainOptions, now time.Time) (*explainOutput, error) {
	namespace := o.listNamespace(s)
	state, err := s.All(ctx, namespace)
	if err != nil {
		return s.unsatisfiedUnread(ctx, o, namespace, now, err)
	}
	return &explainOutput{result: o.unsatisfiedIn(state, namespace, now)}, nil
}

// unsatisfiedUnread lists the unsatisfied Placements for a user who may not read their inputs: as the hub explains, or else as it has written.
func (s *source) unsatisfiedUnread(
	ctx context.Context, o *explainOptions, namespace string, now time.Time, refused error,
) (*explainOutput, error) {
	answer, err := askUnread(refused, func() (endpoint.Answer, error) { return o.ask(ctx, s, namespace, nil) })
	switch {
	case answer != nil:
		return &explainOutput{byHub: answer}, err
	case o.selector != nil:
		return nil, err
	default:
		return s.writtenUnsatisfied(ctx, namespace, now, err)
	}
}

// writtenUnsatisfied lists the Placements with an unsatisfied status, and returns the error, if that is about a missing right. The list is
// nil when the user may not list any Placement.
func (s *source) writtenUnsatisfied(ctx context.Context, namespace string, now time.Time, refused error) (*explainOutput, error) {
	if !apierrors.IsForbidden(refused) {
		return nil, refused
	}
	list, err := hubstate.WrittenUnsatisfied(ctx, s.hub, namespace)
	if list.Evaluated == 0 {
		return nil, errors.Join(refused, err)
	}
	list.Now, list.Namespace = metav1.NewTime(now), namespace
	return &explainOutput{result: list}, errors.Join(refused, err)
}

// listNamespace returns the namespace of the listed Placements; empty for all.
func (o *explainOptions) listNamespace(from *source) string {
	if o.allNamespaces {
		return ""
	}
	return from.namespace
}

func (o *explainOptions) unsatisfiedIn(state *explain.State, namespace string, now time.Time) explain.Unsatisfied {
	settings := o.settings()
	settings.Configure(state)
	selected := o.placements(state)
	list := state.Unsatisfied(now, func(key inventory.Key) bool {
		return (namespace == "" || key.Namespace == namespace) && selected[key.NamespacedName]
	})
	list.Namespace = namespace
	return list
}
