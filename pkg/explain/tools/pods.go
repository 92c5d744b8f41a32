// SPDX-License-Identifier: Apache-2.0

package tools

import (
	"context"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	kupidv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/kupid/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/explain"
	"github.com/placement-hub/placement-hub/pkg/explain/counterfactual"
	"github.com/placement-hub/placement-hub/pkg/explain/document"
	"github.com/placement-hub/placement-hub/pkg/explain/endpoint"
	"github.com/placement-hub/placement-hub/pkg/explain/hubstate"
	pods "github.com/placement-hub/placement-hub/pkg/podscheduling/explain"
)

// Pods is the System of the Pods of workloads.
type Pods struct{}

var _ interface {
	Explainer
	Reader
	Differ
	Limiter
	Checker
	Reporter
	OtherReporter
	Simulator
} = Pods{}

// Categories implements System.
func (Pods) Categories() []Category {
	return []Category{
		{Name: "policies", GetFor: []string{endpoint.CommandDiff, CommandAdd}, Kinds: kindsAre(policyKind)},
		{
			Name: "workloads", GetFor: []string{endpoint.CommandExplain, CommandAdd}, ListFor: []string{endpoint.CommandDiff},
			Kinds: kindsAre(pods.AddKinds(nil)...),
		},
	}
}

// Changes reports whether the files may change what is admitted.
func (Pods) Changes(o *DiffOptions, given *explain.State) bool { return o.Effects.decidesPods(given) }

// Check returns an error that names the objects that would be refused.
func (Pods) Check(differences *explain.Differences) error { return differences.Pods.Refused() }

// Report reports where the Pods of the workloads of files may run.
func (Pods) Report(o *ReportOptions, state *explain.State, reports *explain.Reports) (err error) {
	reports.Workloads, err = pods.NewFileReports(&state.Pods, workloadsOf(o, state))
	return err
}

// HasReport implements OtherReporter.
func (Pods) HasReport(o *ReportOptions, state *explain.State) bool {
	return len(workloadsOf(o, state)) > 0
}

// Adds implements Simulator.
func (Pods) Adds() explain.Concern { return explain.OfPods }

// policyKind is the kind of PodSchedulingPolicies.
var policyKind = kupidv1alpha1.GroupVersion.WithKind("PodSchedulingPolicy")

// workloadsOf returns the workloads of files that are reported.
func workloadsOf(o *ReportOptions, state *explain.State) []*unstructured.Unstructured {
	if o.PlacementsOnly || !o.Files {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(state.Pods.Workloads), func(object *unstructured.Unstructured) bool {
		return o.Namespace != "" && object.GetNamespace() != o.Namespace
	})
}

// decidesPods reports whether there is a policy, class or Tenant.
func decidesPods(given *explain.State) bool {
	for kind := range given.Each(explain.OfPods) {
		if kind.Admit != nil {
			return true
		}
	}
	return false
}

// Read adds to a State the workloads that policies, classes, Tenants and Namespaces of files may change, and all that decides about their Pods. A
// namespace is enough if all of them are in it.
func (Pods) Read(ctx context.Context, o *DiffOptions, hub client.Client, given, state *explain.State) (unread, err error) {
	if !o.Effects.decidesPods(given) {
		return nil, nil
	}
	change := &given.Pods
	namespaces := namesOf(change.Namespaces)
	for _, policy := range change.Policies {
		namespaces = append(namespaces, policy.Namespace)
	}
	slices.Sort(namespaces)
	namespaces = slices.Compact(namespaces)
	var objects *pods.Objects
	switch {
	case o.Workloads != nil && len(namespaces) == 1:
		objects, unread = hubstate.SomePodsFromCluster(ctx, hub, o.Workloads, namespaces[0])
	case len(change.ClusterPolicies)+len(change.Classes)+len(change.Tenants) > 0 || len(namespaces) != 1:
		objects, unread = hubstate.AllPodsFromCluster(ctx, hub, "")
	default:
		objects, unread = hubstate.AllPodsFromCluster(ctx, hub, namespaces[0])
	}
	if objects == nil {
		return nil, unread
	}
	state.Pods = *objects
	return unread, nil
}

// Diff compares the workloads of a cluster as they are admitted before and after the changes.
func (Pods) Diff(o *DiffOptions, c *Comparison, differences *explain.Differences) error {
	if !o.Effects.decidesPods(c.Given) {
		return nil
	}
	of, err := pods.Diff(&c.Hub.Pods, &c.After.Pods)
	of.Objects = slices.Concat(
		applyResults(c.Applied, func(kind *explain.Kind) bool { return kind.GroupVersionKind == namespaceKind }),
		applyResults(c.Applied, isAdmitted))
	differences.Pods = &of
	return err
}

// Limit leaves out what the namespace does not show, and adds notes on workloads that are left out.
func (Pods) Limit(_ *Visible, differences *explain.Differences, question *endpoint.Question) {
	if differences.Pods != nil {
		pods.LimitDifferences(differences.Pods)
		noteWorkloads(differences.Pods, question)
	}
}

// isAdmitted reports whether objects of a kind are policies, classes or Tenants, of which admission says something.
func isAdmitted(kind *explain.Kind) bool {
	return kind.Admit != nil && kind.Concerns&explain.OfPods != 0
}

// applyResults returns the results of the objects of some kinds; the list is never nil.
func applyResults(applied []explain.Applied, of func(*explain.Kind) bool) []pods.Applied {
	results := []pods.Applied{}
	for _, one := range applied {
		if of(one.Kind) {
			results = append(results, one.Result)
		}
	}
	return results
}

// NewExplanations implements Explainer.
func (Pods) NewExplanations() document.Source { return &counterfactual.WorkloadExplanations{} }

// Explain explains where the Pods of workloads may run, and where the workloads are delivered. The report has a note on what could not be
// read; an error Forbidden comes with it if that is for a user, and not for the hub.
func (Pods) Explain(ctx context.Context, hub *Hub, o *ExplainOptions, question *endpoint.Question) (document.Source, error) {
	var workloads []hubstate.Workload
	for _, object := range question.Objects {
		if kind, known := pods.KindOfGroup(object.GroupKind()); known {
			workloads = append(workloads, hubstate.Workload{Kind: kind, Namespace: question.Namespace, Name: object.Name})
		}
	}
	objects, unread := hubstate.PodsFromCluster(ctx, hub.Client, workloads)
	if objects == nil {
		return nil, unread
	}
	delivery := func(namespace string) (*explain.State, error) { return hub.Source().Delivery(ctx, namespace) }
	explanations, err := o.Workloads(objects, delivery, hub.Now())
	switch {
	case explanations == nil:
		return nil, err
	case unread != nil && !o.Limited: // Where the user may not read all, the hub can explain more.
		return *explanations, unread
	case err != nil && len(o.Clusters) > 0:
		return nil, &endpoint.AnswerError{Err: err}
	default:
		return *explanations, err
	}
}

// Workloads explains where the Pods of workloads may run, and where the workloads are delivered, as far as read reads what decides about that of a
// namespace. The error may come with a result, which has no delivery if that could not be explained.
func (o *ExplainOptions) Workloads(
	objects *pods.Objects, read func(namespace string) (*explain.State, error), now time.Time,
) (*counterfactual.WorkloadExplanations, error) {
	reports, err := pods.NewReports(objects, objects.Workloads)
	if err != nil {
		return nil, err
	}
	for i := range reports.Workloads {
		if o.Limited {
			pods.LimitReport(&reports.Workloads[i])
		}
	}
	explanations := &counterfactual.WorkloadExplanations{Reports: reports}
	explanations.Federated, err = o.delivery(objects, read, now)
	return explanations, err
}
