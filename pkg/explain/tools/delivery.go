// SPDX-License-Identifier: Apache-2.0

package tools

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/explain"
	"github.com/placement-hub/placement-hub/pkg/explain/counterfactual"
	"github.com/placement-hub/placement-hub/pkg/explain/document"
	"github.com/placement-hub/placement-hub/pkg/explain/endpoint"
	"github.com/placement-hub/placement-hub/pkg/explain/hubstate"
	"github.com/placement-hub/placement-hub/pkg/federation"
	federated "github.com/placement-hub/placement-hub/pkg/federation/explain"
	"github.com/placement-hub/placement-hub/pkg/inventory"
	pods "github.com/placement-hub/placement-hub/pkg/podscheduling/explain"
)

// decidesDelivery reports whether there is an object that is delivered, a cluster set, a binding, or a Namespace that says something about delivery.
func decidesDelivery(given *explain.State) bool {
	return len(given.Federated.Objects)+len(given.ClusterSets)+len(given.Bindings) > 0 ||
		slices.ContainsFunc(given.Federated.Namespaces, federated.SaysDelivery)
}

// Delivery is the System of objects that are delivered to clusters.
type Delivery struct{}

var _ interface {
	Explainer
	Reader
	Differ
	Reporter
	OtherReporter
} = Delivery{}

// Categories implements System.
func (Delivery) Categories() []Category {
	return []Category{{
		Name: "delivered", GetFor: []string{endpoint.CommandExplain, endpoint.CommandDiff, endpoint.CommandFederated, endpoint.CommandHistory},
		ListFor: []string{endpoint.CommandDiff, endpoint.CommandSimulate, endpoint.CommandFederated}, Kinds: federated.KindsOf,
	}}
}

// Changes reports whether the files may change what is delivered.
func (Delivery) Changes(o *DiffOptions, given *explain.State) bool {
	return o.Effects.decidesDelivery(given)
}

// Diff compares the clusters that objects are delivered to.
func (Delivery) Diff(o *DiffOptions, c *Comparison, differences *explain.Differences) error {
	*differences = differences.WithObjects(c.Hub, c.After, o.Wanted, c.Now)
	for _, namespace := range c.Given.Federated.Namespaces {
		if err := federation.CheckNames(namespace.Annotations); err != nil {
			differences.Notes = append(differences.Notes,
				"warning: Namespace "+namespace.Name+": "+strings.ReplaceAll(err.Error(), "\n", "; "))
		}
	}
	return nil
}

// Report reports the objects of a State that are delivered.
func (Delivery) Report(o *ReportOptions, state *explain.State, reports *explain.Reports) error {
	if !o.PlacementsOnly {
		*reports = reports.WithObjects(state, o.inNamespace, o.All)
	}
	return nil
}

// HasReport implements OtherReporter.
func (Delivery) HasReport(o *ReportOptions, state *explain.State) bool {
	return !o.PlacementsOnly && state.Federated.Delivers()
}

// namespaceOf returns the namespace of what files may change for delivery; empty if it is more than one.
func namespaceOf(given *explain.State) string {
	if len(given.ClusterSets) > 0 {
		return ""
	}
	namespaces := namesOf(given.Federated.Namespaces)
	for _, placement := range given.Placements {
		namespaces = append(namespaces, placement.GetNamespace())
	}
	for _, object := range given.Federated.Objects {
		namespaces = append(namespaces, object.GetNamespace())
	}
	for _, binding := range given.Bindings {
		namespaces = append(namespaces, binding.Namespace)
	}
	slices.Sort(namespaces)
	if namespaces = slices.Compact(namespaces); len(namespaces) == 1 {
		return namespaces[0]
	}
	return ""
}

// Read adds to a State the objects of a hub that files may change the delivery of, or that may follow their Placements.
func (Delivery) Read(ctx context.Context, o *DiffOptions, hub client.Client, given, state *explain.State) (unread, err error) {
	switch {
	case o.Effects.decidesDelivery(given):
		return nil, hubstate.AddFederated(ctx, hub, state, namespaceOf(given), o.Delivered, given.Federated.Objects...)
	case len(given.Placements) > 0 && !o.Unfollowed:
		return nil, hubstate.AddFederated(ctx, hub, state, namespaceOf(&explain.State{Placements: given.Placements}), o.Delivered)
	default:
		return nil, nil
	}
}

// Objects explains objects of a State, in the order of their keys. With missing rights the result is what the hub has written.
func (o *ExplainOptions) Objects(
	state *explain.State, keys []inventory.Key, unread error, now time.Time,
) (*counterfactual.ObjectExplanations, error) {
	explanations := &counterfactual.ObjectExplanations{
		Now: metav1.NewTime(now), Objects: []counterfactual.ObjectExplanation{}, Notes: state.Federated.Missing,
	}
	wanted := WantedKeys(keys)
	if unread != nil && apierrors.IsForbidden(unread) {
		for _, report := range state.ReportWrittenObjects(explain.ObjectFilter{Wanted: wanted, Named: true}, now).Objects {
			explanations.Objects = append(explanations.Objects, counterfactual.ObjectExplanation{Report: report})
		}
		SortByKeys(explanations.Objects, keys, func(explanation counterfactual.ObjectExplanation) inventory.Key { return explanation.Key })
		return explanations, nil
	}
	o.Configure(state)
	wide := !o.Limited && o.Wide
	evaluations := state.EvaluateWanted(wanted, now)
	SortByKeys(evaluations, keys, func(evaluation federated.Evaluation) inventory.Key { return evaluation.Key() })
	for _, evaluation := range evaluations {
		explanation, unknown := counterfactual.NewObjectExplanation(state, evaluation, o.Clusters, wide, now)
		switch {
		case o.Limited && (unknown != "" || !limitObject(&explanation)):
			return nil, notInScope(strings.Join(o.Clusters, ", "))
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
		if !counterfactual.InScope(explanation.Explanations[i]) {
			return false
		}
		counterfactual.LimitCluster(&explanation.Explanations[i])
	}
	return true
}

// delivery explains the delivery of the workloads whose Namespace takes part in it, as far as read reads what decides about that of a namespace; nil
// if there are none. The error may come with a result.
func (o *ExplainOptions) delivery(
	objects *pods.Objects, read func(namespace string) (*explain.State, error), now time.Time,
) (explanations *counterfactual.ObjectExplanations, err error) {
	var keys []inventory.Key
	namespace := ""
	for _, workload := range objects.Workloads {
		at := slices.IndexFunc(o.Delivered, func(kind federation.FederatedKind) bool {
			return kind.GroupVersionKind == workload.GroupVersionKind()
		})
		if at >= 0 && takesPart(objects, workload.GetNamespace()) {
			namespace = workload.GetNamespace()
			keys = append(keys, federated.Key(o.Delivered[at], namespace, workload.GetName()))
		}
	}
	switch {
	case len(keys) == 0 && len(o.Clusters) > 0:
		return nil, fmt.Errorf("--cluster: the namespace takes no part in the delivery to clusters; label it %s=true, or leave --cluster out",
			federation.FederatedLabel)
	case len(keys) == 0:
		return nil, nil
	}
	state, unread := read(namespace)
	if state == nil {
		return nil, unread
	}
	if explanations, err = o.Objects(state, keys, unread, now); err != nil {
		return nil, err
	}
	return explanations, unread
}

func takesPart(objects *pods.Objects, name string) bool {
	return slices.ContainsFunc(objects.Namespaces, func(namespace *corev1.Namespace) bool {
		return namespace.Name == name && federation.ExcludedNamespace(name, "", namespace.Labels, false) == ""
	})
}

// NewExplanations implements Explainer.
func (Delivery) NewExplanations() document.Source { return &counterfactual.ObjectExplanations{} }

// Explain explains where objects are delivered.
func (Delivery) Explain(ctx context.Context, hub *Hub, o *ExplainOptions, question *endpoint.Question) (document.Source, error) {
	state, err := hub.Source().Delivery(ctx, question.Namespace)
	if err != nil {
		return nil, err
	}
	state.SetsHidden, state.Done = o.Limited, ctx.Done()
	keys, err := KeysIn(state, question)
	if err != nil {
		return nil, err
	}
	explanations, err := o.Objects(state, keys, nil, hub.Now())
	if err != nil {
		return nil, &endpoint.AnswerError{Err: err}
	}
	return explanations, nil
}

// KeysIn returns the keys of the delivered objects that a question names. The error about one that does not exist suggests no name, because a user
// who may get objects need not know the others.
func KeysIn(state *explain.State, question *endpoint.Question) ([]inventory.Key, error) {
	keys := make([]inventory.Key, 0, len(question.Objects))
	for _, object := range question.Objects {
		key := KeyOf(object, question.Namespace)
		if !state.Federated.Has(key) {
			return nil, &endpoint.AnswerError{Err: fmt.Errorf("there is no %s %s; correct the name or the namespace", object.Kind, object.Name)}
		}
		keys = append(keys, key)
	}
	return keys, nil
}

// SortByKeys sorts results in the order in which keys name their objects.
func SortByKeys[R any](results []R, keys []inventory.Key, keyOf func(R) inventory.Key) {
	slices.SortStableFunc(results, func(a, b R) int { return slices.Index(keys, keyOf(a)) - slices.Index(keys, keyOf(b)) })
}

// WantedKeys returns a function that reports whether a key is among some; nil if there are none.
func WantedKeys(keys []inventory.Key) func(inventory.Key) bool {
	if len(keys) == 0 {
		return nil
	}
	return func(key inventory.Key) bool { return slices.Contains(keys, key) }
}
