// SPDX-License-Identifier: Apache-2.0

package dashboard

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	workv1 "open-cluster-management.io/api/work/v1"

	"github.com/placement-hub/placement-hub/pkg/dashboard/lists"
	"github.com/placement-hub/placement-hub/pkg/explain/document"
	"github.com/placement-hub/placement-hub/pkg/explain/endpoint"
	"github.com/placement-hub/placement-hub/pkg/federation"
	federated "github.com/placement-hub/placement-hub/pkg/federation/explain"
	"github.com/placement-hub/placement-hub/pkg/scheduling"
)

// objectsOf lists the delivered objects of the namespace of the page, with their clusters beside each other.
func (v *visit) objectsOf(ctx context.Context, made *page) (*page, error) {
	kinds, err := listable(ctx, v, v.namespace())
	if err != nil {
		return nil, err
	}
	made.Commands = v.commandsOf("placement federated")
	if len(kinds) == 0 {
		return nil, refuse(http.StatusForbidden, "you may list no objects in namespace %s of a kind that is delivered to clusters; a "+
			"RoleBinding to view there "+
			"permits it", v.namespace())
	}
	found, err := v.hub.Explain(ctx, v.caller, Question{Question: endpoint.Question{
		Command: endpoint.CommandFederated, Namespace: v.namespace(), Kinds: kinds, Output: jsonOutput,
	}})
	if err != nil {
		return nil, err
	}
	made.JSON = found
	reports, is := found.(*federated.Reports)
	if !is {
		return made, nil
	}
	objects, byLink := objectItems(reports)
	notes, err := v.completeObjects(ctx, objects, byLink)
	if err != nil {
		return nil, err
	}
	v.within = true
	shown, err := v.list(objectsList, objects, nil)
	if err != nil {
		return nil, err
	}
	if len(objects) == 0 {
		shown.Empty = "No object of namespace " + v.namespace() + " is delivered. The namespace takes part with the label " +
			"federation.kubernetes.io/federated=true."
	}
	shown.Notes = slices.Concat(reports.Notes, notes)
	shown.Off(v.isOff("federation", schema.GroupVersion(workv1.GroupVersion).WithKind("ManifestWork")))
	made.addList(shown)
	onPage := make([]*federated.Report, 0, len(shown.Objects))
	for i := range shown.Objects {
		onPage = append(onPage, byLink[shown.Objects[i].Link])
	}
	made.add(objectsPath, "objects", deliveredIn(v.namespace(), onPage, shown.Objects))
	return made, nil
}

// completeObjects adds to the objects of a namespace what the reports about them lack: what the agents say, as far as the caller may list
// ManifestWorks, and the sets and labels if the page filters by them.
func (v *visit) completeObjects(ctx context.Context, objects []item, byLink map[string]*federated.Report) (notes []string, err error) {
	said, err := v.deliveriesTo(ctx, metav1.NamespaceAll, v.namespace())
	if err != nil && !apierrors.IsForbidden(err) {
		return nil, err
	}
	in, hidden := v.setsAsked(ctx)
	if hidden != nil && !apierrors.IsForbidden(hidden) {
		return nil, hidden
	}
	if hidden != nil {
		notes = append(notes, setsHidden)
	}
	labels, err := v.labelsAsked(ctx)
	if err != nil {
		return nil, err
	}
	worst := said.byLink()
	for i := range objects {
		object := &objects[i]
		report := byLink[object.Link]
		if copied, has := worst[object.Link]; has {
			describe(object, report, &copied)
		}
		for _, cluster := range report.Clusters {
			if cluster.Delivered || cluster.Verdict == scheduling.StageSelected.String() {
				object.Sets = addSets(object.Sets, in[cluster.Name])
			}
		}
		object.Labels = labels[object.Link]
	}
	return notes, nil
}

// byLink returns the objects by their links; none if not all of their copies were read.
func (d *deliveries) byLink() map[string]item {
	known := make(map[string]item, len(d.objects))
	if d.Cut {
		return known
	}
	for i := range d.objects {
		known[d.objects[i].Link] = d.objects[i]
	}
	return known
}

// labelsAsked returns the labels of the objects of the namespace of the page by their links, if the page has only the objects of a label. It leaves
// out the kinds that the caller may not list.
func (v *visit) labelsAsked(ctx context.Context) (map[string]map[string]string, error) {
	labels := map[string]map[string]string{}
	if v.query(lists.ByLabel) == "" {
		return labels, nil
	}
	for _, kind := range deliveredKinds(v) {
		list := &metav1.PartialObjectMetadataList{}
		list.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
		err := eachObject(ctx, v.reader(), []string{v.namespace()}, list, func(object runtime.Object) error {
			if one, is := object.(*metav1.PartialObjectMetadata); is {
				labels[link([]string{objectsPath, one.Namespace, kind.GroupKind().String(), one.Name})] = one.Labels
			}
			return nil
		})
		if err != nil && !apierrors.IsForbidden(err) {
			return nil, err
		}
	}
	return labels, nil
}

// objectItems returns the reported objects for a list, and the reports by the links of the objects.
func objectItems(reports *federated.Reports) (objects []item, byLink map[string]*federated.Report) {
	byLink = make(map[string]*federated.Report, len(reports.Objects))
	for i := range reports.Objects {
		report := &reports.Objects[i]
		shown := objectItem(report)
		objects, byLink[shown.Link] = append(objects, shown), report
	}
	lists.Sort(objects)
	return objects, byLink
}

// objectItem returns the object of a report for a list.
func objectItem(report *federated.Report) item {
	kind := schema.GroupKind{Group: report.Group, Kind: report.Kind}.String()
	shown := item{
		Kind: kind, Namespace: report.Namespace, Name: report.Name, Link: link([]string{objectsPath, report.Namespace, kind, report.Name}),
	}
	var worst *item
	for i := range report.Clusters {
		cluster := &report.Clusters[i]
		if !cluster.Delivered {
			continue
		}
		copied := copyItem(cluster)
		shown.Clusters++
		shown.Failed += boolRank(!copied.NeedsAttention())
		if worst == nil || lists.Severity(copied.Tone) < lists.Severity(worst.Tone) {
			worst = &copied
		}
	}
	describe(&shown, report, worst)
	return shown
}

// copyItem returns the state of a copy with the words of deliveryItem, as far as the report has it.
func copyItem(cluster *federated.Cluster) item {
	said := map[string]string{workv1.WorkApplied: cluster.Applied, workv1.WorkAvailable: cluster.Available}
	for _, each := range copyStates {
		if said[each.condition] != string(each.status) {
			continue
		}
		shown := item{State: each.state, Tone: each.tone}
		if shown.NeedsAttention() {
			problem := cmp.Or(cluster.Problem, noMessage)
			shown.Message, shown.Cause = onCluster(cluster.Name, problem), causeOf(problem)
		}
		return shown
	}
	return item{State: copyDelivered}
}

// stateUnplaced is the state of a workload whose replicas do not all have a cluster.
const stateUnplaced = "Unplaced"

// describe gives an object its state. A copy that has failed comes first, then what the hub does with the object, and then the worst of the other
// copies; nil for none.
func describe(object *item, report *federated.Report, worst *item) {
	object.State, object.Tone, object.Message, object.Cause, object.Since = report.State, document.Plain, report.Message, "", time.Time{}
	switch {
	case worst != nil && worst.NeedsAttention():
		object.State, object.Tone, object.Since, object.Cause, object.Message = worst.State, worst.Tone, worst.Since, worst.Cause, worst.Message
	case report.State == string(federation.Held):
		object.Tone = document.Fair
	case report.Replicas != nil && report.Replicas.Unplaced > 0:
		object.State, object.Tone = stateUnplaced, document.Fair
		object.Message = cmp.Or(report.Replicas.UnplacedMessage, report.Message)
	case worst != nil && report.State == string(federation.Delivering):
		object.State, object.Tone, object.Since = worst.State, worst.Tone, worst.Since
	}
}
