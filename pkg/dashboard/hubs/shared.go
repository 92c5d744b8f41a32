// SPDX-License-Identifier: Apache-2.0

package hubs

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/authentication/user"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/dashboard"
	"github.com/placement-hub/placement-hub/pkg/explain/access"
	"github.com/placement-hub/placement-hub/pkg/explain/answers"
	"github.com/placement-hub/placement-hub/pkg/explain/document"
	"github.com/placement-hub/placement-hub/pkg/explain/endpoint"
	"github.com/placement-hub/placement-hub/pkg/placement/api"
)

// Shared is the hub of the dashboard of a process of the hub: every user is asked about with reviews.
type Shared struct {
	*Broadcast

	// Explainer answers with the rights of the hub.
	Explainer *answers.Explainer
	Authority access.Authorizer
}

var _ dashboard.Hub = (*Shared)(nil)

// Settings implements dashboard.Hub.
func (s *Shared) Settings() dashboard.Settings { return settingsOf(s.Explainer) }

func settingsOf(explainer *answers.Explainer) dashboard.Settings {
	return dashboard.Settings{Controllers: explainer.Controllers, Limit: explainer.Limit, Delivered: explainer.Delivered}
}

// Holds implements dashboard.Hub.
func (s *Shared) Holds(ctx context.Context, reviews *access.Trail) bool {
	holds, err := reviews.Holds(ctx, s.Authority)
	return err == nil && holds
}

// Reader implements dashboard.Hub.
func (s *Shared) Reader(caller user.Info) client.Client {
	return access.NewReader(s.Explainer.Client, s.Authority, caller)
}

// Explain implements dashboard.Hub: with the rights of the user, or else as the endpoint of explanations does.
func (s *Shared) Explain(ctx context.Context, caller user.Info, question dashboard.Question) (document.Source, error) {
	if question.Command == endpoint.CommandHistory { // Its rows are in this process, and what is shown of each is reviewed.
		return s.explainLimited(access.WithCaller(ctx, s.Authority, caller), caller, question)
	}
	whole := *s.Explainer
	whole.Client, whole.Limited = s.Reader(caller), false
	found, err := whole.Find(ctx, &question.Question, question.Rows)
	if !apierrors.IsForbidden(err) {
		return found, err
	}
	return s.explainLimited(ctx, caller, question)
}

// explainLimited answers as the endpoint of explanations does.
func (s *Shared) explainLimited(ctx context.Context, caller user.Info, question dashboard.Question) (document.Source, error) {
	limited := *s.Explainer
	limited.Limited = true
	asked, err := limited.Asked(&question.Question)
	if err != nil {
		return nil, &endpoint.AnswerError{Err: err}
	}
	if err := access.Check(ctx, s.Authority, caller, asked...); err != nil {
		return nil, err
	}
	found, err := limited.Find(ctx, &question.Question, question.Rows)
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
func (s *Shared) Namespaces(ctx context.Context, caller user.Info) (namespaces []string, all bool, err error) {
	resource := answers.PlacementResource(api.V1beta1)
	err = access.Allowed(ctx, s.Authority, caller, access.VerbList, resource, "", "")
	if !apierrors.IsForbidden(err) {
		return nil, err == nil, err
	}
	known, err := s.knownNamespaces(ctx)
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
			errs[i] = access.Allowed(ctx, s.Authority, caller, access.VerbList, resource, namespace, "")
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
func (s *Shared) knownNamespaces(ctx context.Context) ([]string, error) {
	lists := []client.ObjectList{&clusterv1beta2.ManagedClusterSetBindingList{}}
	for _, adapter := range api.Adapters() {
		if list, is := adapter.EmptyList().(client.ObjectList); is {
			lists = append(lists, list)
		}
	}
	seen := map[string]bool{}
	for _, list := range lists {
		if err := s.Explainer.Client.List(ctx, list); err != nil {
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
