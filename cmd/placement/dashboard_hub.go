// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/client-go/rest"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/dashboard"
	"github.com/placement-hub/placement-hub/pkg/explain"
	"github.com/placement-hub/placement-hub/pkg/explain/access"
	"github.com/placement-hub/placement-hub/pkg/explain/counterfactual"
	"github.com/placement-hub/placement-hub/pkg/explain/document"
	"github.com/placement-hub/placement-hub/pkg/explain/endpoint"
	"github.com/placement-hub/placement-hub/pkg/explain/federated"
	"github.com/placement-hub/placement-hub/pkg/explain/requests"
	"github.com/placement-hub/placement-hub/pkg/placement/api"
)

// find answers a question of the dashboard with the rights of the client of the explainer.
func (e *hubExplainer) find(ctx context.Context, question *dashboard.Question) (document.Source, error) {
	asked := &question.Question
	switch asked.Command {
	case endpoint.CommandDiff:
		found, err := e.compared(ctx, asked)
		if err != nil {
			return nil, err
		}
		return found, nil
	case endpoint.CommandFederated:
		found, err := e.reported(ctx, asked)
		if err != nil {
			return nil, err
		}
		return found, nil
	default:
		return e.explained(ctx, &explainOptions{
			kindFlags: kindFlags{delivered: e.delivered}, output: asked.Output, clusters: asked.Clusters, hubLimit: e.limit,
			requestOptions: e.requests,
			limited:        e.limited, rows: question.Rows,
		}, asked)
	}
}

// sharedHub is the hub of the dashboard of a process of the hub: every user is asked about with reviews.
type sharedHub struct {
	*broadcast

	explainer *hubExplainer
	authority access.Authorizer
}

var _ dashboard.Hub = (*sharedHub)(nil)

// Holds implements dashboard.Hub.
func (h *sharedHub) Holds(ctx context.Context, reviews *access.Trail) bool {
	holds, err := reviews.Holds(ctx, h.authority)
	return err == nil && holds
}

// Settings implements dashboard.Hub.
func (h *sharedHub) Settings() dashboard.Settings { return h.explainer.settings() }

func (e *hubExplainer) settings() dashboard.Settings {
	return dashboard.Settings{Limit: e.limit, Delivered: e.delivered}
}

// Reader implements dashboard.Hub.
func (h *sharedHub) Reader(caller user.Info) client.Client {
	return access.NewReader(h.explainer.hub, h.authority, caller)
}

// Explain implements dashboard.Hub: with the rights of the user, or else as the endpoint of explanations does.
func (h *sharedHub) Explain(ctx context.Context, caller user.Info, question dashboard.Question) (document.Source, error) {
	whole := *h.explainer
	whole.hub, whole.limited = h.Reader(caller), false
	found, err := whole.find(ctx, &question)
	if !apierrors.IsForbidden(err) {
		return found, err
	}
	limited := *h.explainer
	limited.limited = true
	asked, err := limited.Asked(&question.Question)
	if err != nil {
		return nil, &endpoint.AnswerError{Err: err}
	}
	if err := access.Check(ctx, h.authority, caller, asked...); err != nil {
		return nil, err
	}
	found, err = limited.find(ctx, &question)
	if apierrors.IsForbidden(err) {
		return nil, errHubMayNotRead
	}
	return found, err
}

// errHubMayNotRead is about a question that the hub cannot answer.
var errHubMayNotRead = &endpoint.AnswerError{Err: errors.New("the hub itself may not read what decides about it: the system is not " +
	"installed, or a role is " +
	"missing")}

const (
	// reviewedAtOnce bounds the reviews for the namespaces of a user at a time, and reviewedNamespaces the namespaces.
	reviewedAtOnce     = 8
	reviewedNamespaces = 2000
)

// Namespaces implements dashboard.Hub.
func (h *sharedHub) Namespaces(ctx context.Context, caller user.Info) (namespaces []string, all bool, err error) {
	resource := placementResource(api.V1beta1)
	err = access.Allowed(ctx, h.authority, caller, access.VerbList, resource, "", "")
	if !apierrors.IsForbidden(err) {
		return nil, err == nil, err
	}
	known, err := h.knownNamespaces(ctx)
	if err != nil {
		return nil, false, err
	}
	known = known[:min(len(known), reviewedNamespaces)]
	errs := make([]error, len(known))
	limit := make(chan struct{}, reviewedAtOnce)
	var reviews sync.WaitGroup
	for i, namespace := range known {
		limit <- struct{}{}
		reviews.Go(func() {
			errs[i] = access.Allowed(ctx, h.authority, caller, access.VerbList, resource, namespace, "")
			<-limit
		})
	}
	reviews.Wait()
	for i, refused := range errs {
		switch {
		case refused == nil:
			namespaces = append(namespaces, known[i])
		case !apierrors.IsForbidden(refused):
			return nil, false, refused
		}
	}
	return namespaces, false, nil
}

// knownNamespaces returns the namespaces with Placements or bindings, sorted. They are read with the rights of the hub, and each is reviewed.
func (h *sharedHub) knownNamespaces(ctx context.Context) ([]string, error) {
	lists := []client.ObjectList{&clusterv1beta2.ManagedClusterSetBindingList{}}
	for _, adapter := range api.Adapters() {
		if list, is := adapter.EmptyList().(client.ObjectList); is {
			lists = append(lists, list)
		}
	}
	seen := map[string]bool{}
	for _, list := range lists {
		if err := h.explainer.hub.List(ctx, list); err != nil {
			if apierrors.IsForbidden(err) || apierrors.IsNotFound(err) || meta.IsNoMatchError(err) {
				continue // The hub does not run with this API.
			}
			return nil, fmt.Errorf("listing namespaces: %w", err)
		}
		err := meta.EachListItem(list, func(item runtime.Object) error {
			if object, is := item.(client.Object); is {
				seen[object.GetNamespace()] = true
			}
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("listing namespaces: %w", err)
		}
	}
	return slices.Sorted(maps.Keys(seen)), nil
}

// ownHub is the hub of a dashboard of one user: the API server refuses what the user may not read.
type ownHub struct {
	*broadcast

	explainer *hubExplainer
	// namespace is where the user works, for users who may not list Placements of all namespaces.
	namespace string
	config    *rest.Config
	ask       *askFlags
}

var _ dashboard.Hub = (*ownHub)(nil)

// Holds implements dashboard.Hub: the API server decides about each request, and a page that is made again shows what has become of the rights.
func (*ownHub) Holds(context.Context, *access.Trail) bool { return false }

// Settings implements dashboard.Hub.
func (h *ownHub) Settings() dashboard.Settings { return h.explainer.settings() }

// Reader implements dashboard.Hub.
func (h *ownHub) Reader(user.Info) client.Client { return h.explainer.hub }

// Namespaces implements dashboard.Hub.
func (h *ownHub) Namespaces(ctx context.Context, _ user.Info) (namespaces []string, all bool, err error) {
	list, is := api.V1beta1.EmptyList().(client.ObjectList)
	if !is {
		return nil, false, fmt.Errorf("%T is no list", api.V1beta1.EmptyList())
	}
	err = h.explainer.hub.List(ctx, list, client.Limit(1))
	if apierrors.IsForbidden(err) {
		return []string{h.namespace}, false, nil
	}
	return nil, err == nil, err //nolint:wrapcheck // Its kind decides what the user is told.
}

// Explain implements dashboard.Hub: with the rights of the user, or else by the hub.
func (h *ownHub) Explain(ctx context.Context, _ user.Info, question dashboard.Question) (document.Source, error) {
	whole := *h.explainer
	found, refused := whole.find(ctx, &question)
	if !apierrors.IsForbidden(refused) || h.ask == nil {
		return found, refused
	}
	question.Output = "json"
	answer, err := h.ask.send(ctx, h.explainer.hub, h.config, question.Question)
	if !answered(err) {
		return found, unanswered(refused, err)
	}
	if err != nil {
		return nil, err
	}
	family := ""
	if len(question.Objects) > 0 {
		family = h.explainer.familyOf(&question.Question, question.Objects[0].GroupKind()).name
	}
	return decodeAnswer(question.Command, family, answer.Output)
}

// decodeAnswer decodes an answer of the endpoint of explanations to a command in JSON. family is that of the objects of an explanation.
func decodeAnswer(command, family, output string) (document.Source, error) {
	var into document.Source
	switch {
	case command == endpoint.CommandDiff:
		into = &explain.Differences{}
	case command == endpoint.CommandFederated:
		into = &federated.Reports{}
	case family == familyPlacements:
		into = &counterfactual.Explanations{}
	case family == familyRequests:
		into = &requests.Reports{}
	case family == familyWorkloads:
		into = &counterfactual.WorkloadExplanations{}
	default:
		into = &counterfactual.ObjectExplanations{}
	}
	if err := json.Unmarshal([]byte(output), into); err != nil {
		return nil, fmt.Errorf("reading the answer of the hub: %w", err)
	}
	return into, nil
}

// broadcast passes on to any number of followers that something has changed. It is safe for concurrent use.
type broadcast struct {
	version atomic.Uint64

	mu        sync.Mutex
	followers map[chan struct{}]bool
}

func newBroadcast() *broadcast { return &broadcast{followers: map[chan struct{}]bool{}} }

// Changes implements dashboard.Hub.
func (b *broadcast) Changes(ctx context.Context) <-chan struct{} {
	follower := make(chan struct{}, 1)
	b.mu.Lock()
	b.followers[follower] = true
	b.mu.Unlock()
	context.AfterFunc(ctx, func() {
		b.mu.Lock()
		delete(b.followers, follower)
		b.mu.Unlock()
	})
	return follower
}

// Version implements dashboard.Hub: it is 0 until something has changed.
func (b *broadcast) Version() uint64 { return b.version.Load() }

// run passes on what changed receives until ctx ends.
func (b *broadcast) run(ctx context.Context, changed <-chan struct{}) {
	for {
		select {
		case <-changed:
		case <-ctx.Done():
			return
		}
		b.version.Add(1)
		b.mu.Lock()
		for follower := range b.followers {
			select {
			case follower <- struct{}{}:
			default: // The pending notification covers this change too.
			}
		}
		b.mu.Unlock()
	}
}
