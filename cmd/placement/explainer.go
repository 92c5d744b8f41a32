// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/clusterrequest"
	"github.com/placement-hub/placement-hub/pkg/explain/access"
	"github.com/placement-hub/placement-hub/pkg/explain/counterfactual"
	"github.com/placement-hub/placement-hub/pkg/explain/endpoint"
	"github.com/placement-hub/placement-hub/pkg/explain/hubstate"
	"github.com/placement-hub/placement-hub/pkg/explain/pods"
	"github.com/placement-hub/placement-hub/pkg/explain/printers"
	"github.com/placement-hub/placement-hub/pkg/explain/requests"
	"github.com/placement-hub/placement-hub/pkg/federation"
	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/placement/api"
	"github.com/placement-hub/placement-hub/pkg/removalbudget"
)

// hubExplainer explains objects with the rights of the hub, as placement explain does with those of a user. What it shows is limited to the
// namespace of the question.
type hubExplainer struct {
	hub       client.Client
	delivered []federation.Kind
	limit     removalbudget.Limit
	requests  clusterrequest.Options
	now       func() time.Time
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
		output: question.Output, clusters: question.Clusters, hubLimit: e.limit, requestOptions: e.requests, limited: true,
		allClusters: question.AllClusters,
	}
	o.delivered = e.delivered
	style := o.style()
	style.Color, style.Width = question.Color, question.Width
	if style.Wide {
		style.All = "-o wide with the ClusterRole " + hubstate.FleetViewRole
	}
	var text bytes.Buffer
	var err error
	switch {
	case len(question.Objects) == 0:
		err = e.explainUnsatisfied(ctx, o, question, style, &text)
	case e.familyOf(question, question.Objects[0].GroupKind()) == familyPlacements:
		err = e.explainPlacements(ctx, o, question, style, &text)
	case e.familyOf(question, question.Objects[0].GroupKind()) == familyRequests:
		err = e.explainRequests(ctx, o, question, style, &text)
	case e.familyOf(question, question.Objects[0].GroupKind()) == familyWorkloads:
		err = e.explainWorkloads(ctx, o, question, style, &text)
	default:
		err = e.explainDelivered(ctx, o, question, style, &text)
	}
	return endpoint.Answer{Output: text.String()}, err
}

func (e *hubExplainer) explainUnsatisfied(
	ctx context.Context, o *explainOptions, question *endpoint.Question, style printers.Style, out *bytes.Buffer,
) error {
	state, err := hubstate.AllFromCluster(ctx, e.hub, question.Namespace)
	if err != nil {
		return err
	}
	state.SetsHidden, state.Done = true, ctx.Done()
	// The user may list the Placements of one API.
	state.Placements = slices.DeleteFunc(state.Placements, func(placement api.Object) bool { return api.Read(placement).API != api.V1beta1 })
	return o.unsatisfiedIn(state, question.Namespace, e.now()).write(out, printers.Format(o.output), style)
}

func (e *hubExplainer) explainPlacements(
	ctx context.Context, o *explainOptions, question *endpoint.Question, style printers.Style, out *bytes.Buffer,
) error {
	keys := make([]inventory.Key, 0, len(question.Objects))
	for _, object := range question.Objects {
		keys = append(keys, inventory.NewPlacementKey(inventory.API(object.Group), question.Namespace, object.Name))
	}
	state, err := hubstate.FromCluster(ctx, e.hub, keys)
	if err != nil {
		return err
	}
	state.SetsHidden, state.Done = true, ctx.Done()
	for _, key := range keys {
		if !slices.ContainsFunc(state.Placements, func(placement api.Object) bool { return api.Read(placement).Key() == key }) {
			return &endpoint.AnswerError{Err: fmt.Errorf("there is no Placement %s; correct the name or the namespace", key)}
		}
	}
	found, err := o.explainIn(state, keys, e.now())
	if err != nil {
		return &endpoint.AnswerError{Err: err}
	}
	return found.write(out, printers.Format(o.output), style)
}

func (e *hubExplainer) explainRequests(
	ctx context.Context, o *explainOptions, question *endpoint.Question, style printers.Style, out *bytes.Buffer,
) error {
	if len(o.clusters) > 0 {
		return &endpoint.AnswerError{Err: errors.New("clusters: the report of a ClusterRequest has all Clusters, so leave them out")}
	}
	objects, err := readRequestObjects(ctx, e.hub)
	if err != nil {
		return err
	}
	objects.Options = o.requestOptions
	reports := requests.Reports{Requests: []requests.Report{}, Notes: objects.Missing}
	for _, object := range question.Objects {
		found := objects.Find(question.Namespace, object.Name)
		if len(found) == 0 {
			return &endpoint.AnswerError{Err: fmt.Errorf("there is no ClusterRequest %s; correct the name or the namespace", object.Name)}
		}
		report := requests.NewReport(objects, found[0], metav1.NewTime(e.now()))
		access.LimitRequest(&report)
		reports.Requests = append(reports.Requests, report)
	}
	return printers.Requests(out, printers.Format(o.output), reports, style)
}

// explainWorkloads explains where the Pods of workloads may run, and where the workloads are delivered. The report has a note on what the hub may
// not read.
func (e *hubExplainer) explainWorkloads(
	ctx context.Context, o *explainOptions, question *endpoint.Question, style printers.Style, out *bytes.Buffer,
) error {
	var workloads []hubstate.Workload
	for _, object := range question.Objects {
		for _, kind := range pods.Kinds() {
			if kind.GroupKind() == object.GroupKind() {
				workloads = append(workloads, hubstate.Workload{Kind: kind, Namespace: question.Namespace, Name: object.Name})
			}
		}
	}
	objects, err := hubstate.PodsFromCluster(ctx, e.hub, workloads)
	if objects == nil {
		return err
	}
	reports, err := explainWorkloads(objects, objects.Workloads, false)
	if err != nil {
		return err
	}
	for i := range reports.Workloads {
		access.LimitWorkload(&reports.Workloads[i])
	}
	explanations := counterfactual.WorkloadExplanations{Reports: reports}
	explanations.Federated, err = o.deliveredWorkloads(ctx, &source{namespace: question.Namespace, hub: e.hub}, objects)
	if err != nil && len(o.clusters) > 0 {
		return &endpoint.AnswerError{Err: err}
	}
	return errors.Join(err, printers.Workloads(out, printers.Format(o.output), explanations, style))
}

func (e *hubExplainer) explainDelivered(
	ctx context.Context, o *explainOptions, question *endpoint.Question, style printers.Style, out *bytes.Buffer,
) error {
	state, err := hubstate.FederatedFromCluster(ctx, e.hub, question.Namespace, e.delivered)
	if err != nil {
		return err
	}
	state.SetsHidden, state.Done = true, ctx.Done()
	keys, err := e.keysIn(state, question)
	if err != nil {
		return err
	}
	explanations, err := o.explainObjects(state, keys, nil, e.now())
	if err != nil {
		return &endpoint.AnswerError{Err: err}
	}
	return printers.ObjectExplanations(out, printers.Format(o.output), *explanations, style)
}

// notInScope returns the error for a cluster that a namespace may not use, whether it exists or not.
func notInScope(cluster string) error {
	return fmt.Errorf("--cluster: there is no ManagedCluster %s in the sets that the namespace may use; correct the name", cluster)
}
