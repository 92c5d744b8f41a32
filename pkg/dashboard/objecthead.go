// SPDX-License-Identifier: Apache-2.0

package dashboard

import (
	"context"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/explain/counterfactual"
	"github.com/placement-hub/placement-hub/pkg/explain/document"
	federated "github.com/placement-hub/placement-hub/pkg/federation/explain"
	pods "github.com/placement-hub/placement-hub/pkg/podscheduling/explain"
)

// shownObject is the object of a page that is neither a Placement nor a cluster.
type shownObject struct {
	kind            schema.GroupVersionKind
	namespace, name string
}

// addHead adds the head of an object: its state with the headline of its explanation, the time since which it has the state, its owner, age and
// labels. A caller who may not get the object gets no head, and the explanation keeps its headline.
func (v *visit) addHead(ctx context.Context, made *page, of shownObject, found document.Source, told *document.Document) {
	key := client.ObjectKey{Namespace: of.namespace, Name: of.name}
	var state item
	var object client.Object
	if of.kind == requestKind {
		request := &openmcpv1alpha1.ClusterRequest{}
		if v.reader().Get(ctx, key, request) != nil {
			return // The page says what the caller may see.
		}
		state, object = requestItem(request), request
	} else {
		partial := &metav1.PartialObjectMetadata{}
		partial.SetGroupVersionKind(of.kind)
		if v.reader().Get(ctx, key, partial) != nil {
			return // As above.
		}
		object = partial
		switch made.Section {
		case objectsSection:
			state = v.deliveredState(ctx, of, found)
		case workloadsSection:
			state = workloadState(found)
		}
	}
	shown := head{State: state.State, Tone: state.Tone}
	if shown.State != "" && len(told.Sections) == 1 { // Otherwise the headline is about one of several explanations.
		text := told.Sections[0].Headline.String()
		shown.Text, _ = strings.CutPrefix(text, shown.State+", ")
		told.Sections = slices.Clone(told.Sections)
		told.Sections[0].Headline = nil
	}
	shown.add(fact{Label: "Since", Time: state.Since})
	shown.add(fact{Label: "Owner", Text: ownerOf(object)})
	shown.add(fact{Label: "Created", Time: object.GetCreationTimestamp().Time})
	chips := chipsOf(object.GetLabels())
	for i := range chips {
		chips[i].Link = "" // It leads to clusters.
	}
	shown.add(fact{Label: "Labels", Chips: chips})
	switch made.Section {
	case objectsSection:
		path := link([]string{objectsPath, of.namespace, of.kind.GroupKind().String(), of.name, historyPath})
		shown.add(fact{Label: historySection, Text: "all changes of its clusters", Link: path})
	case requestsSection:
		path := link([]string{requestsPath, of.namespace, of.name, historyPath})
		shown.add(fact{Label: historySection, Text: "all changes of its Cluster", Link: path})
	}
	made.add("head", "objecthead", shown)
}

// deliveredState returns the state that the lists have of a delivered object; none if the report has one of its clusters alone and the caller may not
// list ManifestWorks.
func (v *visit) deliveredState(ctx context.Context, of shownObject, found document.Source) item {
	report := deliveryIn(found)
	if report == nil {
		return item{}
	}
	shown := objectItem(report)
	copies, err := v.copiesOf(ctx, of.namespace, of.name)
	if err != nil { // The report says what else is known.
		copies = &deliveries{}
	}
	worst, has := copies.byLink()[shown.Link]
	switch {
	case has:
		describe(&shown, report, &worst)
	case v.query("cluster") != "":
		return item{}
	}
	return shown
}

// deliveryIn returns the report about the one delivered object of an answer; nil for none.
func deliveryIn(found document.Source) *federated.Report {
	var explained *counterfactual.ObjectExplanations
	switch found := found.(type) {
	case *counterfactual.ObjectExplanations:
		explained = found
	case counterfactual.ObjectExplanations:
		explained = &found
	case *counterfactual.WorkloadExplanations:
		explained = found.Federated
	case counterfactual.WorkloadExplanations:
		explained = found.Federated
	}
	if explained == nil || len(explained.Objects) != 1 {
		return nil
	}
	return &explained.Objects[0].Report
}

// The states of workloads.
const (
	workloadRefused = "Refused"
	workloadDrifted = "Drifted"
	workloadNoNode  = "NoNodeFits"
	workloadFits    = "Fits"
)

// workloadState returns the state of the one workload of an answer; none if nothing is known about where its Pods may run.
func workloadState(found document.Source) item {
	reports := workloadsIn(found)
	if len(reports) != 1 {
		return item{}
	}
	return stateOfWorkload(&reports[0])
}

// workloadsIn returns the reports about the workloads of an answer.
func workloadsIn(found document.Source) []pods.Report {
	switch found := found.(type) {
	case *counterfactual.WorkloadExplanations:
		return found.Workloads
	case counterfactual.WorkloadExplanations:
		return found.Workloads
	default:
		return nil
	}
}

// stateOfWorkload returns the state of the workload of a report; none if nothing is known about where its Pods may run.
func stateOfWorkload(report *pods.Report) item {
	switch {
	case report.Refused():
		return item{State: workloadRefused, Tone: document.Bad}
	case report.Nodes != nil && report.Nodes.Total > 0 && len(report.Nodes.Fit) == 0:
		return item{State: workloadNoNode, Tone: document.Bad}
	case len(report.Drift) > 0:
		return item{State: workloadDrifted, Tone: document.Fair}
	case report.Nodes != nil && len(report.Nodes.Fit) > 0:
		return item{State: workloadFits, Tone: document.Good}
	default:
		return item{}
	}
}

// requestKind is the kind of ClusterRequests.
var requestKind = openmcpv1alpha1.GroupVersion.WithKind("ClusterRequest")
