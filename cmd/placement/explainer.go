// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/clusterrequest"
	"github.com/placement-hub/placement-hub/pkg/explain/debug"
	"github.com/placement-hub/placement-hub/pkg/explain/document"
	"github.com/placement-hub/placement-hub/pkg/explain/endpoint"
	"github.com/placement-hub/placement-hub/pkg/explain/hubstate"
	"github.com/placement-hub/placement-hub/pkg/explain/printers"
	"github.com/placement-hub/placement-hub/pkg/federation"
	"github.com/placement-hub/placement-hub/pkg/placement/api"
	"github.com/placement-hub/placement-hub/pkg/removalbudget"
)

// hubExplainer explains objects of a hub as placement explain does. The endpoint of the hub has one with the rights of the hub, and the dashboard
// has one with those of each user besides.
type hubExplainer struct {
	hub client.Client
	// limited shows only what the namespace of a question does, to users who may not read all that decides about its objects.
	limited   bool
	delivered []federation.FederatedKind
	limit     removalbudget.Limit
	requests  clusterrequest.Options
	now       func() time.Time
	// live has the inventory of this process; nil if it has none.
	live debug.Hub
}

var _ endpoint.Explainer = (*hubExplainer)(nil)

// Explain implements endpoint.Explainer.
func (e *hubExplainer) Explain(ctx context.Context, question *endpoint.Question) (endpoint.Answer, error) {
	switch question.Command {
	case endpoint.CommandDiff:
		return e.compare(ctx, question)
	case endpoint.CommandSimulate:
		return e.simulate(ctx, question)
	case endpoint.CommandFederated:
		return e.report(ctx, question)
	}
	o := &explainOptions{
		output: question.Output, clusters: question.Clusters, hubLimit: e.limit, requestOptions: e.requests, limited: e.limited,
		allClusters: question.AllClusters,
	}
	o.delivered = e.delivered
	style := o.style()
	style.Color, style.Width = question.Color, question.Width
	if style.Wide {
		style.All = "-o wide with the ClusterRole " + hubstate.FleetViewRole
	}
	found, err := e.explained(ctx, o, question)
	if found == nil {
		return endpoint.Answer{}, err
	}
	answer, failed := answerWith(question, found, style)
	return answer, errors.Join(err, failed)
}

// answerWith returns an answer with the text of a result.
func answerWith(question *endpoint.Question, result document.Source, style printers.Style) (endpoint.Answer, error) {
	var text bytes.Buffer
	err := printers.Print(&text, printers.Format(question.Output), result, style)
	return endpoint.Answer{Output: text.String()}, err
}

// explained explains the objects of a question, or lists the unsatisfied Placements if it names none.
func (e *hubExplainer) explained(ctx context.Context, o *explainOptions, question *endpoint.Question) (document.Source, error) {
	if len(question.Objects) == 0 {
		return e.unsatisfied(ctx, o, question)
	}
	family := e.familyOf(question, question.Objects[0].GroupKind())
	for _, each := range tools {
		if each.family == family.name {
			return each.answer(ctx, e, o, question)
		}
	}
	return nil, nil
}

func (e *hubExplainer) unsatisfied(ctx context.Context, o *explainOptions, question *endpoint.Question) (document.Source, error) {
	state, err := hubstate.AllFromCluster(ctx, e.hub, question.Namespace)
	if err != nil {
		return nil, err
	}
	state.SetsHidden, state.Done = e.limited, ctx.Done()
	// The user may list the Placements of one API.
	state.Placements = slices.DeleteFunc(state.Placements, func(placement api.Object) bool { return api.Read(placement).API != api.V1beta1 })
	return o.unsatisfiedIn(state, question.Namespace, e.now()), nil
}

// notInScope returns the error for a cluster that a namespace may not use, whether it exists or not.
func notInScope(cluster string) error {
	return fmt.Errorf("--cluster: there is no ManagedCluster %s in the sets that the namespace may use; correct the name", cluster)
}
