// SPDX-License-Identifier: Apache-2.0

package answers

import (
	"context"

	"github.com/placement-hub/placement-hub/pkg/explain"
	"github.com/placement-hub/placement-hub/pkg/explain/document"
	"github.com/placement-hub/placement-hub/pkg/explain/endpoint"
	"github.com/placement-hub/placement-hub/pkg/explain/printers"
	"github.com/placement-hub/placement-hub/pkg/explain/tools"
	federated "github.com/placement-hub/placement-hub/pkg/federation/explain"
	"github.com/placement-hub/placement-hub/pkg/inventory"
)

// report reports where objects are delivered, as placement federated does. The caller may read the objects that the Question names, and list those
// of its kinds.
func (e *Explainer) report(ctx context.Context, question *endpoint.Question) (endpoint.Answer, error) {
	reports, err := e.reported(ctx, question)
	if err != nil {
		return endpoint.Answer{}, err
	}
	options := document.Options{Scores: len(question.Objects) > 0, Wide: printers.Format(question.Output) == printers.FormatWide}
	return answerWith(question, reports, printers.Style{Options: options, Color: question.Color})
}

// reported returns the reports of the objects of a Question.
func (e *Explainer) reported(ctx context.Context, question *endpoint.Question) (*federated.Reports, error) {
	state, err := e.Source().Delivery(ctx, question.Namespace)
	if err != nil {
		return nil, err
	}
	e.prepare(ctx, state)
	keys, err := tools.KeysIn(state, question)
	if err != nil {
		return nil, err
	}
	filter := explain.ObjectFilter{Named: len(keys) > 0}
	if e.Limited && !e.listsAll(question) {
		filter.Wanted = e.VisibleIn(question).Has
	} else if !e.Limited && len(keys) > 0 {
		filter.Wanted = tools.WantedKeys(keys)
	}
	reports := state.ReportObjects(filter, false, e.Now())
	tools.SortByKeys(reports.Objects, keys, func(report federated.Report) inventory.Key { return report.Key })
	return &reports, nil
}

// listsAll reports whether the user may list the objects of all delivered kinds, and so know which of them do not exist any more.
func (e *Explainer) listsAll(question *endpoint.Question) bool {
	kinds := e.VisibleIn(question).Kinds
	for _, kind := range e.Delivered {
		if !kinds[kind.GroupKind()] {
			return false
		}
	}
	return true
}
