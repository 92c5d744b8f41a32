// SPDX-License-Identifier: Apache-2.0

package answers

import (
	"bytes"
	"context"
	"errors"
	"slices"

	"github.com/placement-hub/placement-hub/pkg/explain"
	"github.com/placement-hub/placement-hub/pkg/explain/document"
	"github.com/placement-hub/placement-hub/pkg/explain/endpoint"
	"github.com/placement-hub/placement-hub/pkg/explain/hubstate"
	"github.com/placement-hub/placement-hub/pkg/explain/printers"
	"github.com/placement-hub/placement-hub/pkg/explain/tools"
	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/placement/api"
)

// Explainer explains objects of a hub as placement explain does. The endpoint of the hub has one with the rights of the hub, and the dashboard has
// one with those of each user besides.
type Explainer struct {
	tools.Hub

	// Definitions are those that the manifests of questions are validated with.
	Definitions tools.Definitions
	// History has what happened to decisions; nil if the hub keeps none.
	History History
	// Suggest returns the end of an error about a name that does not exist, with those of the names that are similar; nil suggests none. Users with
	// fewer rights get no suggestion.
	Suggest func(name string, names []string) string
}

var _ endpoint.Explainer = (*Explainer)(nil)

// Explain implements endpoint.Explainer.
func (e *Explainer) Explain(ctx context.Context, question *endpoint.Question) (endpoint.Answer, error) {
	switch question.Command {
	case endpoint.CommandDiff:
		return e.compare(ctx, question)
	case endpoint.CommandSimulate:
		return e.simulate(ctx, question)
	case endpoint.CommandFederated:
		return e.report(ctx, question)
	case endpoint.CommandHistory:
		return e.happened(ctx, question)
	}
	style := ExplanationStyle(question.Output, question.AllClusters)
	style.Color, style.Width = question.Color, question.Width
	if style.Wide {
		style.All = "-o wide with the ClusterRole " + hubstate.FleetViewRole
	}
	found, err := e.explained(ctx, question, nil)
	if found == nil {
		return endpoint.Answer{}, err
	}
	answer, failed := answerWith(question, found, style)
	return answer, errors.Join(err, failed)
}

// Find returns the result of a question that explains, compares or reports, without its text. rows selects the clusters of the report of a Placement
// whose stages are explained, and which is an Outline then; nil for none.
func (e *Explainer) Find(
	ctx context.Context, question *endpoint.Question, rows func(report *explain.Report) []explain.ClusterReport,
) (document.Source, error) {
	switch question.Command {
	case endpoint.CommandDiff:
		found, err := e.compared(ctx, question)
		if err != nil {
			return nil, err
		}
		return found, nil
	case endpoint.CommandFederated:
		found, err := e.reported(ctx, question)
		if err != nil {
			return nil, err
		}
		return found, nil
	case endpoint.CommandHistory:
		found, err := e.moves(ctx, question)
		if err != nil {
			return nil, err
		}
		return found, nil
	default:
		return e.explained(ctx, question, rows)
	}
}

// answerWith returns an answer with the text of a result.
func answerWith(question *endpoint.Question, result document.Source, style printers.Style) (endpoint.Answer, error) {
	var text bytes.Buffer
	err := printers.Print(&text, printers.Format(question.Output), result, style)
	return endpoint.Answer{Output: text.String()}, err
}

// explained explains the objects of a question, or lists the unsatisfied Placements if it names none.
func (e *Explainer) explained(
	ctx context.Context, question *endpoint.Question, rows func(report *explain.Report) []explain.ClusterReport,
) (document.Source, error) {
	if len(question.Objects) == 0 {
		return e.unsatisfied(ctx, question)
	}
	explainer := tools.ExplainerOf(e.CategoryOf(question, question.Objects[0].GroupKind()).Name)
	if explainer == nil {
		return nil, nil
	}
	return explainer.Explain(ctx, &e.Hub, &tools.ExplainOptions{
		Settings: e.Settings, Limited: e.Limited, Clusters: question.Clusters, Wide: printers.Format(question.Output) == printers.FormatWide,
		Rows: rows, Suggest: e.Suggest,
	}, question)
}

func (e *Explainer) unsatisfied(ctx context.Context, question *endpoint.Question) (document.Source, error) {
	state, err := e.Source().All(ctx, question.Namespace)
	if err != nil {
		return nil, err
	}
	state.SetsHidden, state.Done = e.Limited, ctx.Done()
	// The user may list the Placements of one API.
	state.Placements = slices.DeleteFunc(state.Placements, func(placement api.Object) bool { return api.Read(placement).API != api.V1beta1 })
	e.Configure(state)
	list := state.Unsatisfied(e.Now(), func(key inventory.Key) bool { return question.Namespace == "" || key.Namespace == question.Namespace })
	list.Namespace = question.Namespace
	return list, nil
}
