// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"

	"github.com/placement-hub/placement-hub/pkg/explain"
	"github.com/placement-hub/placement-hub/pkg/explain/document"
	"github.com/placement-hub/placement-hub/pkg/explain/endpoint"
	"github.com/placement-hub/placement-hub/pkg/explain/federated"
	"github.com/placement-hub/placement-hub/pkg/explain/hubstate"
	"github.com/placement-hub/placement-hub/pkg/explain/printers"
	"github.com/placement-hub/placement-hub/pkg/inventory"
)

// report reports where objects are delivered, as placement federated does. The caller may read the objects that the Question names, and list those
// of its kinds.
func (e *hubExplainer) report(ctx context.Context, question *endpoint.Question) (endpoint.Answer, error) {
	reports, err := e.reported(ctx, question)
	if err != nil {
		return endpoint.Answer{}, err
	}
	options := document.Options{Scores: len(question.Objects) > 0, Wide: printers.Format(question.Output) == printers.FormatWide}
	return answerWith(question, reports, printers.Style{Options: options, Color: question.Color})
}

// reported returns the reports of the objects of a Question.
func (e *hubExplainer) reported(ctx context.Context, question *endpoint.Question) (*federated.Reports, error) {
	state, err := hubstate.FederatedFromCluster(ctx, e.hub, question.Namespace, e.delivered)
	if err != nil {
		return nil, err
	}
	e.prepare(ctx, state)
	keys, err := e.keysIn(state, question)
	if err != nil {
		return nil, err
	}
	filter := explain.ObjectFilter{Named: len(keys) > 0}
	if e.limited && !e.listsAll(question) {
		filter.Wanted = e.shownIn(question).has
	} else if !e.limited && len(keys) > 0 {
		filter.Wanted = wantedKeys(keys)
	}
	reports := state.ReportObjects(filter, false, e.now())
	return &reports, nil
}

// listsAll reports whether the user may list the objects of all delivered kinds, and so know which of them do not exist any more.
func (e *hubExplainer) listsAll(question *endpoint.Question) bool {
	kinds := e.shownIn(question).kinds
	for _, kind := range e.delivered {
		if !kinds[kind.GroupKind()] {
			return false
		}
	}
	return true
}

// keysIn returns the keys of the delivered objects that a Question names. The error about one that does not exist suggests no name, because a user
// who may get objects need not know the others.
func (*hubExplainer) keysIn(state *explain.State, question *endpoint.Question) ([]inventory.Key, error) {
	keys := make([]inventory.Key, 0, len(question.Objects))
	for _, object := range question.Objects {
		key := keyOfObject(object, question.Namespace)
		if !state.Federated.Has(key) {
			return nil, &endpoint.AnswerError{Err: fmt.Errorf("there is no %s %s; correct the name or the namespace", object.Kind, object.Name)}
		}
		keys = append(keys, key)
	}
	return keys, nil
}
