// SPDX-License-Identifier: Apache-2.0

package tools

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	requests "github.com/placement-hub/placement-hub/pkg/clusterrequest/explain"
	"github.com/placement-hub/placement-hub/pkg/explain"
	"github.com/placement-hub/placement-hub/pkg/explain/document"
	"github.com/placement-hub/placement-hub/pkg/explain/endpoint"
	"github.com/placement-hub/placement-hub/pkg/explain/hubstate"
)

// Requests is the System of ClusterRequests.
type Requests struct{}

var _ interface {
	Explainer
	Reader
	Differ
	Limiter
	Reporter
	OtherReporter
	Simulator
} = Requests{}

// Categories implements System.
func (Requests) Categories() []Category {
	return []Category{
		{
			Name: "requests", GetFor: []string{endpoint.CommandExplain, endpoint.CommandDiff, endpoint.CommandHistory}, Kinds: kindsAre(requestKind),
		},
		{Name: "purposes", GetFor: []string{endpoint.CommandDiff}, Use: true, Kinds: kindsAre(purposeKind)},
	}
}

// Changes reports whether the files may change what ClusterRequests get.
func (Requests) Changes(_ *DiffOptions, given *explain.State) bool {
	return given.Has(explain.OfRequests)
}

// HasReport implements OtherReporter.
func (Requests) HasReport(o *ReportOptions, state *explain.State) bool {
	return !o.PlacementsOnly && len(state.ClusterRequests.Requests) > 0
}

// Adds implements Simulator.
func (Requests) Adds() explain.Concern { return explain.OfRequests }

// The kinds of ClusterRequests, and of the Purposes that they use.
var (
	requestKind = openmcpv1alpha1.GroupVersion.WithKind("ClusterRequest")
	purposeKind = openmcpv1alpha1.GroupVersion.WithKind("Purpose")
)

// RequestObject returns a ClusterRequest as a question names it.
func RequestObject(name string) endpoint.Object {
	return endpoint.Object{Group: requestKind.Group, Kind: requestKind.Kind, Name: name}
}

// purposesIn returns the Purposes that the ClusterRequests of files use, as a question names them.
func purposesIn(given *explain.State) []endpoint.Object {
	var objects []endpoint.Object
	used := map[string]bool{}
	for _, request := range given.ClusterRequests.Requests {
		for _, purpose := range request.Spec.Purposes {
			if !used[string(purpose)] {
				used[string(purpose)] = true
				objects = append(objects, endpoint.Object{Group: purposeKind.Group, Kind: purposeKind.Kind, Name: string(purpose)})
			}
		}
	}
	return objects
}

// Read adds to a State what decides about ClusterRequests on a hub.
func (Requests) Read(ctx context.Context, _ *DiffOptions, hub client.Client, given, state *explain.State) (unread, err error) {
	if !given.Has(explain.OfRequests) {
		return nil, nil
	}
	objects, err := hubstate.RequestsFromCluster(ctx, hub)
	if err != nil {
		return nil, err
	}
	state.ClusterRequests = *objects
	return nil, nil
}

// Diff compares what ClusterRequests get.
func (Requests) Diff(_ *DiffOptions, c *Comparison, differences *explain.Differences) error {
	if c.Given.Has(explain.OfRequests) {
		differences.Requests = requests.Compare(&c.Hub.ClusterRequests, &c.After.ClusterRequests, differences.Now)
	}
	return nil
}

// Limit leaves out the ClusterRequests that may not be shown.
func (Requests) Limit(visible *Visible, differences *explain.Differences, _ *endpoint.Question) {
	if differences.Requests != nil {
		requests.LimitDifference(differences.Requests, func(name types.NamespacedName) bool {
			return visible.Has(KeyOf(RequestObject(name.Name), name.Namespace))
		})
	}
}

// ReadHub reads what decides about ClusterRequests from the hub.
func (Requests) ReadHub(ctx context.Context, hub client.Client, _ string) (state *explain.State, unread, err error) {
	objects, err := hubstate.RequestsFromCluster(ctx, hub)
	if err != nil {
		return nil, nil, err
	}
	return &explain.State{ClusterRequests: *objects}, nil, nil
}

// Simulate reports the requests of a namespace, or of all if it is empty, that get another result, and how many Clusters all need.
func (Requests) Simulate(a *Addition, whatIf *explain.WhatIf, namespace string) (incomplete, err error) {
	after, _, err := a.Hub.With(a.Given.Each(explain.OfRequests))
	if err != nil {
		return nil, err
	}
	difference := requests.Compare(&a.Hub.ClusterRequests, &after.ClusterRequests, whatIf.Now)
	difference.Requests = slices.DeleteFunc(difference.Requests, func(d requests.RequestDifference) bool {
		return namespace != "" && d.Namespace != namespace
	})
	whatIf.Requests = difference
	whatIf.Changes = append(whatIf.Changes, describeAdded(a.Given.Names(explain.OfRequests)))
	return nil, nil
}

// Report explains the ClusterRequests of files.
func (Requests) Report(o *ReportOptions, state *explain.State, reports *explain.Reports) error {
	if !o.PlacementsOnly && o.Files {
		reports.Requests = requests.NewReports(&state.ClusterRequests, o.Namespace, reports.Now)
	}
	return nil
}

// NewExplanations implements Explainer.
func (Requests) NewExplanations() document.Source { return &requests.Reports{} }

// Explain explains what ClusterRequests get, and why.
func (Requests) Explain(ctx context.Context, hub *Hub, o *ExplainOptions, question *endpoint.Question) (document.Source, error) {
	if len(o.Clusters) > 0 {
		return nil, &endpoint.AnswerError{Err: errors.New("clusters: the report of a ClusterRequest has all Clusters, so leave them out")}
	}
	objects, err := hub.Source().Requests(ctx)
	if err != nil {
		return nil, err
	}
	names := make([]string, 0, len(question.Objects))
	for _, object := range question.Objects {
		names = append(names, object.Name)
	}
	reports, missing := o.ClusterRequests(objects, question.Namespace, names, hub.Now())
	if missing != nil {
		return nil, &endpoint.AnswerError{Err: missing}
	}
	return *reports, nil
}

// ClusterRequests explains what the ClusterRequests of a namespace, or of any if it is empty, have or get. The error is about names for which there
// is not one, and comes with the reports of the others.
func (o *ExplainOptions) ClusterRequests(
	objects *requests.Objects, namespace string, names []string, now time.Time,
) (reports *requests.Reports, missing error) {
	objects.Options = o.Requests
	reports = &requests.Reports{Requests: []requests.Report{}, Notes: objects.Missing}
	for _, name := range names {
		found := objects.Find(namespace, name)
		switch len(found) {
		case 0:
			missing = errors.Join(missing, fmt.Errorf("there is no ClusterRequest %s; correct the name or the namespace%s", name,
				o.suggestRequest(objects, namespace, name)))
			continue
		case 1:
		default:
			missing = errors.Join(missing, fmt.Errorf("there is a ClusterRequest %s in each of the namespaces %s and %s: choose one with -n",
				name, found[0].Namespace, found[1].Namespace))
			continue
		}
		report := requests.NewReport(objects, found[0], metav1.NewTime(now))
		if o.Limited {
			requests.LimitReport(&report)
		}
		reports.Requests = append(reports.Requests, report)
	}
	return reports, missing
}

// suggestRequest suggests ClusterRequests of a namespace, or of any if it is empty. A user with fewer rights gets no suggestion.
func (o *ExplainOptions) suggestRequest(objects *requests.Objects, namespace, name string) string {
	if o.Suggest == nil || o.Limited {
		return ""
	}
	var names []string
	for _, request := range objects.Requests {
		if namespace == "" || namespace == request.Namespace {
			names = append(names, request.Name)
		}
	}
	return o.Suggest(name, names)
}
