// SPDX-License-Identifier: Apache-2.0

package hubs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/authentication/user"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/dashboard"
	"github.com/placement-hub/placement-hub/pkg/explain"
	"github.com/placement-hub/placement-hub/pkg/explain/access"
	"github.com/placement-hub/placement-hub/pkg/explain/answers"
	"github.com/placement-hub/placement-hub/pkg/explain/document"
	"github.com/placement-hub/placement-hub/pkg/explain/endpoint"
	"github.com/placement-hub/placement-hub/pkg/explain/movelist"
	"github.com/placement-hub/placement-hub/pkg/explain/tools"
	federated "github.com/placement-hub/placement-hub/pkg/federation/explain"
	"github.com/placement-hub/placement-hub/pkg/placement/api"
)

// Own is the hub of a dashboard of one user: the API server refuses what the user may not read.
type Own struct {
	*Broadcast

	// Explainer answers with the rights of the user.
	Explainer *answers.Explainer
	// Namespace is where the user works, for users who may not list Placements of all namespaces.
	Namespace string
	// Ask asks the endpoint of explanations, whose address it reads from the hub; if it is nil, no endpoint is asked. The error is an
	// *endpoint.AnswerError if the hub has answered with it.
	Ask func(ctx context.Context, hub client.Reader, question endpoint.Question) (endpoint.Answer, error)
}

var _ dashboard.Hub = (*Own)(nil)

// Holds implements dashboard.Hub: the API server decides about each request, and a page that is made again shows what has become of the rights.
func (*Own) Holds(context.Context, *access.Trail) bool { return false }

// Settings implements dashboard.Hub.
func (o *Own) Settings() dashboard.Settings { return settingsOf(o.Explainer) }

// Reader implements dashboard.Hub.
func (o *Own) Reader(user.Info) client.Client { return o.Explainer.Client }

// Namespaces implements dashboard.Hub.
func (o *Own) Namespaces(ctx context.Context, _ user.Info) (namespaces []string, all bool, err error) {
	list, is := api.V1beta1.EmptyList().(client.ObjectList)
	if !is {
		return nil, false, fmt.Errorf("%T is no list", api.V1beta1.EmptyList())
	}
	err = o.Explainer.Client.List(ctx, list, client.Limit(1))
	if apierrors.IsForbidden(err) {
		return []string{o.Namespace}, false, nil
	}
	return nil, err == nil, err //nolint:wrapcheck // The status code of the response depends on its type.
}

// Explain implements dashboard.Hub: with the rights of the user, or else by the hub.
func (o *Own) Explain(ctx context.Context, who user.Info, question dashboard.Question) (document.Source, error) {
	if question.Command == endpoint.CommandHistory {
		return o.happened(ctx, who, question)
	}
	found, refused := o.Explainer.Find(ctx, &question.Question, question.Rows)
	if !apierrors.IsForbidden(refused) || o.Ask == nil {
		return found, refused
	}
	question.Output = "json"
	answer, err := o.Ask(ctx, o.Explainer.Client, question.Question)
	if !endpoint.Answered(err) {
		return found, endpoint.Unanswered(refused, err)
	}
	if err != nil {
		return nil, err
	}
	category := ""
	if len(question.Objects) > 0 {
		category = o.Explainer.CategoryOf(&question.Question, question.Objects[0].GroupKind()).Name
	}
	return decodeAnswer(question.Command, category, answer.Output)
}

// happened returns what happened to decisions, which the processes of the hub alone know.
func (o *Own) happened(ctx context.Context, who user.Info, question dashboard.Question) (document.Source, error) {
	if o.Explainer.History != nil { // This is such a process.
		within := &Shared{Explainer: o.Explainer, Authority: ownRights{o.Explainer.Client}}
		return within.Explain(ctx, who, question)
	}
	if o.Ask == nil {
		return nil, errNoHub
	}
	question.Output = "json"
	answer, err := o.Ask(ctx, o.Explainer.Client, question.Question)
	refused, is := errors.AsType[*endpoint.StatusError](err)
	switch {
	case is && refused.Code == http.StatusForbidden:
		return nil, apierrors.NewForbidden(schema.GroupResource{Resource: "history"}, "", err)
	case err != nil && !endpoint.Answered(err) && ctx.Err() == nil: // The user sees why, and may mend it.
		return nil, &endpoint.AnswerError{Err: fmt.Errorf("the history is in the memory of the hub, which could not be asked: %w", err)}
	case err != nil:
		return nil, err
	}
	return decodeAnswer(question.Command, "", answer.Output)
}

// errNoHub is about a history without a hub.
var errNoHub = &endpoint.AnswerError{Err: errors.New("the history of decisions is in the memory of a hub, and these pages show objects without " +
	"one: start placement dashboard for a hub whose history is on")}

// decodeAnswer decodes an answer of the endpoint of explanations to a command in JSON. category is that of the objects of an explanation.
func decodeAnswer(command, category, output string) (document.Source, error) {
	var into document.Source
	switch command {
	case endpoint.CommandDiff:
		into = &explain.Differences{}
	case endpoint.CommandFederated:
		into = &federated.Reports{}
	case endpoint.CommandHistory:
		into = &movelist.List{}
	default:
		explainer := tools.ExplainerOf(category)
		if explainer == nil {
			return nil, fmt.Errorf("the hub explains no objects of the family %q", category)
		}
		into = explainer.NewExplanations()
	}
	if err := json.Unmarshal([]byte(output), into); err != nil {
		return nil, fmt.Errorf("reading the answer of the hub: %w", err)
	}
	return into, nil
}
