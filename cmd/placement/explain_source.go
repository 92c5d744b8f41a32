// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/explain"
	"github.com/placement-hub/placement-hub/pkg/explain/counterfactual"
	"github.com/placement-hub/placement-hub/pkg/explain/endpoint"
	"github.com/placement-hub/placement-hub/pkg/explain/hubstate"
	"github.com/placement-hub/placement-hub/pkg/explain/hubstate/statefile"
	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/placement/api"
)

// source is the origin of the State: files, or a hub.
type source struct {
	// namespace is the default namespace of Placements; with files, empty means any.
	namespace string
	// files is the State of the files; nil for a hub.
	files *explain.State
	// config is the connection to the hub, and hub reads from it.
	config *rest.Config
	hub    client.Client
}

// source reads the files, or connects to the hub, once.
func (o *explainOptions) source(ctx context.Context, stdin io.Reader) (*source, error) {
	if o.opened == nil && o.unread == nil {
		o.opened, o.unread = o.open(ctx, stdin)
	}
	return o.opened, o.unread
}

func (o *explainOptions) open(ctx context.Context, stdin io.Reader) (*source, error) {
	if len(o.files) > 0 {
		state, err := o.readHub(ctx, statefile.Described, o.delivered, "--filename", o.files, stdin)
		o.hubControllers = o.controllersTaken()
		return &source{files: state, namespace: o.namespace}, err
	}
	hub, config, namespace, err := o.connectHub()
	if err == nil {
		o.hubControllers, err = o.controllers(ctx, hub)
	}
	return &source{namespace: namespace, config: config, hub: hub}, err
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
	state := s.files
	if state == nil {
		var err error
		if state, err = hubstate.FromCluster(ctx, s.hub, keys); err != nil {
			return s.explainUnread(ctx, o, keys, now, err)
		}
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
	if !apierrors.IsForbidden(refused) {
		return nil, refused
	}
	text, err := o.askPlacements(ctx, s, keys)
	if endpoint.Answered(err) {
		return &explainOutput{byHub: &text}, err
	}
	found, err := s.written(ctx, keys, now, endpoint.Unanswered(refused, err))
	return found, err
}

// resolve returns the keys of the Placements that the targets name, and an error about those that there are not.
func (s *source) resolve(ctx context.Context, targets []target) (keys []inventory.Key, missing error) {
	if s.files != nil {
		return resolveInFiles(s.files, targets)
	}
	for _, target := range targets {
		found, err := hubstate.Find(ctx, s.hub, target.keys())
		if err != nil {
			return nil, err
		}
		if len(found) == 0 {
			missing = errors.Join(missing, fmt.Errorf("there is no Placement %s; %s%s%s", target,
				hintElsewhere(target, hubstate.Namespaces(ctx, s.hub, target.keys())), suggestType(target), s.suggestPlacement(ctx, target)))
		}
		keys = append(keys, found...)
	}
	return keys, missing
}

// suggestPlacement suggests Placements of the namespace with a similar name, as far as the user may list them.
func (s *source) suggestPlacement(ctx context.Context, t target) string {
	names := make([]string, 0, len(t.apis))
	for _, adapter := range t.apis {
		names = append(names, begunNames(ctx, s.hub, adapter.Kind(), t.namespace, "")...)
	}
	return t.suggest(names)
}

func resolveInFiles(state *explain.State, targets []target) (keys []inventory.Key, missing error) {
	for _, target := range targets {
		var found []inventory.Key
		var elsewhere, names []string
		for _, object := range state.Placements {
			key := api.Read(object).Key()
			if target.namespace == "" || target.namespace == key.Namespace {
				names = append(names, key.Name)
			}
			switch {
			case key.Name != target.name || !slices.ContainsFunc(target.apis, func(adapter api.Adapter) bool { return adapter.Name() == key.API() }):
			case target.namespace == "" || target.namespace == key.Namespace:
				found = append(found, key)
			default:
				elsewhere = append(elsewhere, key.Namespace)
			}
		}
		if len(found) == 0 {
			slices.Sort(elsewhere)
			missing = errors.Join(missing, fmt.Errorf("there is no Placement %s in the files; %s%s%s", target,
				hintElsewhere(target, slices.Compact(elsewhere)), suggestType(target), target.suggest(names)))
		}
		keys = append(keys, found...)
	}
	return keys, missing
}

// namespacesShown bounds the namespaces in a hint.
const namespacesShown = 5

func hintElsewhere(t target, namespaces []string) string {
	switch {
	case len(namespaces) == 0 && len(t.apis) == 1:
		return "correct the name, the namespace or the API"
	case len(namespaces) == 0:
		return "correct the name or the namespace"
	case len(namespaces) == 1:
		return fmt.Sprintf("there is %s/%s", namespaces[0], t.name)
	}
	more := ""
	if len(namespaces) > namespacesShown {
		more = fmt.Sprintf(" and %d more", len(namespaces)-namespacesShown)
		namespaces = namespaces[:namespacesShown]
	}
	return fmt.Sprintf("there is one in each of the namespaces %[2]s%[3]s: write NAMESPACE/%[1]s", t.name, strings.Join(namespaces, ", "), more)
}

// delivery returns what decides about the delivery of the objects of a namespace.
func (s *source) delivery(ctx context.Context, o *explainOptions, namespace string) (*explain.State, error) {
	if s.files != nil {
		return s.files, nil
	}
	return hubstate.FederatedFromCluster(ctx, s.hub, namespace, o.delivered)
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
	if s.files != nil {
		return &explainOutput{result: o.unsatisfiedIn(s.files, namespace, now)}, nil
	}
	state, err := hubstate.AllFromCluster(ctx, s.hub, namespace)
	if err != nil {
		return s.unsatisfiedUnread(ctx, o, namespace, now, err)
	}
	return &explainOutput{result: o.unsatisfiedIn(state, namespace, now)}, nil
}

// unsatisfiedUnread lists the unsatisfied Placements for a user who may not read their inputs: as the hub explains, or else as it has written.
func (s *source) unsatisfiedUnread(
	ctx context.Context, o *explainOptions, namespace string, now time.Time, refused error,
) (*explainOutput, error) {
	if !apierrors.IsForbidden(refused) {
		return nil, refused
	}
	if o.selector != nil {
		return nil, endpoint.Unanswered(refused, errSelectorUnread)
	}
	text, err := o.ask(ctx, s, namespace, nil)
	if endpoint.Answered(err) {
		return &explainOutput{byHub: &text}, err
	}
	return s.writtenUnsatisfied(ctx, namespace, now, endpoint.Unanswered(refused, err))
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
