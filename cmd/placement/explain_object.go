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

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/placement-hub/placement-hub/pkg/explain"
	"github.com/placement-hub/placement-hub/pkg/explain/access"
	"github.com/placement-hub/placement-hub/pkg/explain/counterfactual"
	"github.com/placement-hub/placement-hub/pkg/explain/document"
	"github.com/placement-hub/placement-hub/pkg/explain/endpoint"
	"github.com/placement-hub/placement-hub/pkg/explain/federated"
	"github.com/placement-hub/placement-hub/pkg/explain/hubstate"
	"github.com/placement-hub/placement-hub/pkg/explain/pods"
	"github.com/placement-hub/placement-hub/pkg/explain/printers"
	"github.com/placement-hub/placement-hub/pkg/federation"
	"github.com/placement-hub/placement-hub/pkg/inventory"
)

// runObjects prints where objects that arguments name are delivered, and why.
func runObjects(ctx context.Context, o *explainOptions, args []string, stdin io.Reader, stdout io.Writer) error {
	names, err := o.parseObjects(args)
	if err == nil {
		err = o.checkWorkloadFlags(false, true)
	}
	if err != nil {
		return &usageError{err}
	}
	source, err := o.source(stdin)
	if err != nil {
		return err
	}
	if o.watch {
		return o.printObjectChanges(ctx, source, names, stdout)
	}
	state, unread := source.files, error(nil)
	if state == nil {
		if state, unread = hubstate.FederatedFromCluster(ctx, source.hub, source.namespace, o.delivered); state == nil {
			return unread
		}
	}
	if unread != nil && apierrors.IsForbidden(unread) {
		text, err := o.askObjects(ctx, source, names)
		if answered(err) {
			return writeAnswer(stdout, text, nil, err)
		}
		unread = unanswered(unread, err)
	}
	return o.printObjects(state, names, source.namespace, unread, stdout)
}

// askObjects asks the hub to explain objects that are delivered.
func (o *explainOptions) askObjects(ctx context.Context, from *source, names []deliveredName) (string, error) {
	return o.ask(ctx, from, from.namespace, deliveredObjects(names))
}

// printObjects prints explanations of objects of a State. unread says which rights are missing.
func (o *explainOptions) printObjects(state *explain.State, names []deliveredName, namespace string, unread error, stdout io.Writer) error {
	keys, err := keysOf(state, names, namespace)
	if err != nil {
		return errors.Join(err, unread)
	}
	explanations, err := o.explainObjects(state, keys, unread, time.Now())
	if err != nil {
		return err
	}
	return errors.Join(o.print(stdout, explanations), unread)
}

// explainObjects explains objects of a State. With missing rights the result is what the hub has written.
func (o *explainOptions) explainObjects(
	state *explain.State, keys []inventory.Key, unread error, now time.Time,
) (*counterfactual.ObjectExplanations, error) {
	explanations := &counterfactual.ObjectExplanations{
		Now: metav1.NewTime(now), Objects: []counterfactual.ObjectExplanation{}, Notes: state.Federated.Missing,
	}
	wanted := wantedKeys(keys)
	if unread != nil && apierrors.IsForbidden(unread) {
		for _, report := range state.ReportWrittenObjects(explain.ObjectFilter{Wanted: wanted, Named: true}, now).Objects {
			explanations.Objects = append(explanations.Objects, counterfactual.ObjectExplanation{Report: report})
		}
		return explanations, nil
	}
	state.Federated.SetLimit(o.hubLimit)
	wide := !o.limited && printers.Format(o.output) == printers.FormatWide
	for _, evaluation := range state.EvaluateWanted(wanted, now) {
		explanation, unknown := counterfactual.NewObjectExplanation(state, evaluation, o.clusters, wide, now)
		switch {
		case o.limited && (unknown != "" || !limitObject(&explanation)):
			return nil, notInScope(strings.Join(o.clusters, ", "))
		case unknown != "":
			return nil, fmt.Errorf("--cluster: there is no ManagedCluster %s; correct the name, kubectl get managedclusters lists them", unknown)
		}
		explanations.Objects = append(explanations.Objects, explanation)
	}
	return explanations, nil
}

// limitObject removes from an explanation what its namespace does not show; false if it is about a cluster that the namespace may not use.
func limitObject(explanation *counterfactual.ObjectExplanation) bool {
	for i := range explanation.Explanations {
		if !access.InScope(explanation.Explanations[i]) {
			return false
		}
		access.LimitCluster(&explanation.Explanations[i])
	}
	return true
}

// deliveredWorkloads explains the workloads whose Namespace takes part in delivery; nil if there are none. The error may come with a result.
func (o *explainOptions) deliveredWorkloads(
	ctx context.Context, from *source, objects *pods.Objects,
) (explanations *counterfactual.ObjectExplanations, err error) {
	var keys []inventory.Key
	namespace := ""
	for _, workload := range objects.Workloads {
		at := slices.IndexFunc(o.delivered, func(kind federation.FederatedKind) bool {
			return kind.GroupVersionKind == workload.GroupVersionKind()
		})
		if at >= 0 && takesPart(objects, workload.GetNamespace()) {
			namespace = workload.GetNamespace()
			keys = append(keys, federated.Key(o.delivered[at], namespace, workload.GetName()))
		}
	}
	switch {
	case len(keys) == 0 && len(o.clusters) > 0:
		return nil, fmt.Errorf("--cluster: the namespace takes no part in the delivery to clusters; label it %s=true, or leave --cluster out",
			federation.FederatedLabel)
	case len(keys) == 0:
		return nil, nil
	}
	state, unread := from.files, error(nil)
	if state == nil {
		if state, unread = hubstate.FederatedFromCluster(ctx, from.hub, namespace, o.delivered); state == nil {
			return nil, unread
		}
	}
	if explanations, err = o.explainObjects(state, keys, unread, time.Now()); err != nil {
		return nil, err
	}
	return explanations, unread
}

func takesPart(objects *pods.Objects, name string) bool {
	return slices.ContainsFunc(objects.Namespaces, func(namespace *corev1.Namespace) bool {
		return namespace.Name == name && federation.ExcludedNamespace(name, "", namespace.Labels, false) == ""
	})
}

func answerDelivered(ctx context.Context, e *hubExplainer, o *explainOptions, question *endpoint.Question) (document.Source, error) {
	state, err := hubstate.FederatedFromCluster(ctx, e.hub, question.Namespace, e.delivered)
	if err != nil {
		return nil, err
	}
	state.SetsHidden, state.Done = o.limited, ctx.Done()
	keys, err := e.keysIn(state, question)
	if err != nil {
		return nil, err
	}
	explanations, err := o.explainObjects(state, keys, nil, e.now())
	if err != nil {
		return nil, &endpoint.AnswerError{Err: err}
	}
	return explanations, nil
}
