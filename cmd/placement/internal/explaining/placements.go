// SPDX-License-Identifier: Apache-2.0

package explaining

import (
	"context"
	"errors"
	"io"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/placement-hub/placement-hub/cmd/placement/internal/hubflags"
	"github.com/placement-hub/placement-hub/cmd/placement/internal/objectnames"
	"github.com/placement-hub/placement-hub/pkg/explain"
	"github.com/placement-hub/placement-hub/pkg/explain/counterfactual"
	"github.com/placement-hub/placement-hub/pkg/explain/endpoint"
	"github.com/placement-hub/placement-hub/pkg/explain/hubstate"
	"github.com/placement-hub/placement-hub/pkg/explain/hubstate/statefile"
	"github.com/placement-hub/placement-hub/pkg/inventory"
)

// source reads the files, or connects to the hub, once.
func (o *Options) source(ctx context.Context, stdin io.Reader) (*hubflags.Source, error) {
	if o.opened == nil && o.unread == nil {
		o.opened, o.unread = o.open(ctx, stdin)
	}
	return o.opened, o.unread
}

func (o *Options) open(ctx context.Context, stdin io.Reader) (opened *hubflags.Source, err error) {
	if len(o.Paths) > 0 {
		opened, err = o.OpenFiles(ctx, statefile.Described, o.Delivered, "--filename", o.Paths, stdin)
	} else {
		opened, err = o.OpenHub(ctx, &o.Ask, o.Delivered)
	}
	if err == nil {
		o.HubControllers = opened.Controllers
	}
	return opened, err
}

// explainPlacements explains Placements. When the user may not read their inputs, it returns what the hub has written, and an error.
func (o *Options) explainPlacements(ctx context.Context, s *hubflags.Source, targets []objectnames.Placement, now time.Time) (*output, error) {
	keys, missing := objectnames.FindPlacements(ctx, s, targets, ObjectTypes())
	if len(keys) == 0 {
		return nil, missing
	}
	found, err := o.explainKeys(ctx, s, keys, now)
	return found, errors.Join(missing, err)
}

func (o *Options) explainKeys(ctx context.Context, s *hubflags.Source, keys []inventory.Key, now time.Time) (*output, error) {
	state, err := s.Placements(ctx, keys)
	if err != nil {
		return o.explainUnread(ctx, s, keys, now, err)
	}
	return outputOf(o.explaining().Placements(state, keys, now))
}

// outputOf returns explanations as an output.
func outputOf(explanations *counterfactual.Explanations, err error) (*output, error) {
	if err != nil {
		return nil, err
	}
	return &output{result: explanations}, nil
}

// explainUnread explains Placements to a user who may not read their inputs: the hub does it, or else the result is what the hub has written,
// with an error.
func (o *Options) explainUnread(
	ctx context.Context, s *hubflags.Source, keys []inventory.Key, now time.Time, refused error,
) (*output, error) {
	answer, err := hubflags.AskUnread(refused, func() (endpoint.Answer, error) { return o.askPlacements(ctx, s, keys) })
	if answer != nil {
		return &output{byHub: answer}, err
	}
	return written(ctx, s, keys, now, err)
}

// written returns what the hub has written for Placements, and the error, if that is about a missing right; otherwise it returns only the
// error.
func written(ctx context.Context, s *hubflags.Source, keys []inventory.Key, now time.Time, refused error) (*output, error) {
	if !apierrors.IsForbidden(refused) {
		return nil, refused
	}
	reports, err := hubstate.Written(ctx, s.Hub, keys, "as this user may not read what the placement is decided by")
	explanations := &counterfactual.Explanations{Now: metav1.NewTime(now), Placements: []counterfactual.Explanation{}}
	for _, report := range reports {
		explanations.Placements = append(explanations.Placements, counterfactual.NewExplanation(report, nil))
	}
	return &output{result: explanations}, errors.Join(refused, err)
}

// listUnsatisfied lists the unsatisfied Placements of the namespace, or of all. When the user may not read their inputs, it lists those with an
// unsatisfied status, and returns an error.
func (o *Options) listUnsatisfied(ctx context.Context, s *hubflags.Source, now time.Time) (*output, error) {
	namespace := o.listNamespace(s)
	state, err := s.All(ctx, namespace)
	if err != nil {
		return o.unsatisfiedUnread(ctx, s, namespace, now, err)
	}
	return &output{result: o.unsatisfiedIn(state, namespace, now)}, nil
}

// unsatisfiedUnread lists the unsatisfied Placements for a user who may not read their inputs: as the hub explains, or else as it has written.
func (o *Options) unsatisfiedUnread(
	ctx context.Context, s *hubflags.Source, namespace string, now time.Time, refused error,
) (*output, error) {
	answer, err := hubflags.AskUnread(refused, func() (endpoint.Answer, error) { return o.ask(ctx, s, namespace, nil) })
	switch {
	case answer != nil:
		return &output{byHub: answer}, err
	case o.Selector != nil:
		return nil, err
	default:
		return writtenUnsatisfied(ctx, s, namespace, now, err)
	}
}

// writtenUnsatisfied lists the Placements with an unsatisfied status, and returns the error, if that is about a missing right. The list is
// nil when the user may not list any Placement.
func writtenUnsatisfied(ctx context.Context, s *hubflags.Source, namespace string, now time.Time, refused error) (*output, error) {
	if !apierrors.IsForbidden(refused) {
		return nil, refused
	}
	list, err := hubstate.WrittenUnsatisfied(ctx, s.Hub, namespace)
	if list.Evaluated == 0 {
		return nil, errors.Join(refused, err)
	}
	list.Now, list.Namespace = metav1.NewTime(now), namespace
	return &output{result: list}, errors.Join(refused, err)
}

// listNamespace returns the namespace of the listed Placements; empty for all.
func (o *Options) listNamespace(from *hubflags.Source) string {
	if o.AllNamespaces {
		return ""
	}
	return from.Namespace
}

func (o *Options) unsatisfiedIn(state *explain.State, namespace string, now time.Time) explain.Unsatisfied {
	settings := o.HubSettings()
	settings.Configure(state)
	selected := o.Placements(state)
	list := state.Unsatisfied(now, func(key inventory.Key) bool {
		return (namespace == "" || key.Namespace == namespace) && selected[key.NamespacedName]
	})
	list.Namespace = namespace
	return list
}

// maxAskedWidth bounds the columns of a terminal that the hub is asked to use.
const maxAskedWidth = 1000

// ask asks the hub to explain objects of a namespace; none lists the unsatisfied Placements. The error is an *endpoint.AnswerError if the hub
// has answered with it.
func (o *Options) ask(ctx context.Context, from *hubflags.Source, namespace string, objects []endpoint.Object) (endpoint.Answer, error) {
	switch {
	case o.Now != "":
		return endpoint.Answer{}, errors.New("the hub explains the present, so it was not asked because of --now")
	case o.Selector != nil:
		return endpoint.Answer{}, hubflags.ErrSelectorUnread
	case namespace == "":
		return endpoint.Answer{}, errors.New("the hub explains the objects of one namespace at a time, so it was not asked; " +
			"name one with -n instead of -A")
	}
	return o.Send(ctx, from.Hub, from.Config, endpoint.Question{
		Command: endpoint.CommandExplain, Namespace: namespace, Objects: objects, Clusters: o.Clusters, Output: o.Output, Color: o.color,
		AllClusters: o.AllClusters, Width: min(o.width, maxAskedWidth),
	})
}

// askPlacements asks the hub to explain Placements, of each namespace in a request of its own.
func (o *Options) askPlacements(ctx context.Context, from *hubflags.Source, keys []inventory.Key) (endpoint.Answer, error) {
	var (
		namespaces []string
		objects    = map[string][]endpoint.Object{}
	)
	for _, key := range keys {
		if _, known := objects[key.Namespace]; !known {
			namespaces = append(namespaces, key.Namespace)
		}
		objects[key.Namespace] = append(objects[key.Namespace], objectnames.PlacementObject(key))
	}
	var (
		texts []string
		errs  []error
	)
	for _, namespace := range namespaces {
		answer, err := o.ask(ctx, from, namespace, objects[namespace])
		if !endpoint.Answered(err) {
			return endpoint.Answer{}, err
		}
		texts, errs = append(texts, answer.Output), append(errs, err)
	}
	return endpoint.Answer{Output: strings.Join(texts, o.between())}, errors.Join(errs...)
}
