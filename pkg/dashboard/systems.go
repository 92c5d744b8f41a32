// SPDX-License-Identifier: Apache-2.0

package dashboard

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/explain/document"
	"github.com/placement-hub/placement-hub/pkg/explain/endpoint"
	"github.com/placement-hub/placement-hub/pkg/explain/federated"
	"github.com/placement-hub/placement-hub/pkg/explain/pods"
	"github.com/placement-hub/placement-hub/pkg/scheduling"
)

// clustersAcross bounds the clusters beside each other in the table of delivered objects.
const clustersAcross = 40

// namespaceForm is the form that chooses a namespace.
func (p *page) namespaceForm(v *visit, action string) {
	p.add("namespace", "namespace", map[string]string{"Namespace": v.namespace(), "Action": action})
}

// delivered is the table of objects and clusters.
type delivered struct {
	Namespace string
	Clusters  []string
	Rows      []deliveredRow
	// ClustersMore counts the clusters for which there is no room.
	ClustersMore int
	Notes        []string
}

// deliveredRow is an object.
type deliveredRow struct {
	Object, Link, State string
	Tone                document.Tone
	Replicas            *federated.Replicas
	Message             string
	Cells               []matrixCell
}

// objectsPage shows the delivered objects of a namespace and their clusters.
func objectsPage(ctx context.Context, v *visit) (*page, error) {
	made := &page{Title: "Delivered objects", Section: "Delivered objects", Commands: []string{"placement federated -A"}}
	made.namespaceForm(v, "/objects")
	if v.namespace() == "" {
		found, err := v.deliveriesTo(ctx, metav1.NamespaceAll, metav1.NamespaceAll)
		if err != nil && !apierrors.IsForbidden(err) {
			return nil, err
		}
		failed := found.failures()
		made.JSON = map[string]any{"failed": failed.Items}
		made.add("choose", "choose", map[string]any{"What": "objects that are delivered to clusters", "Failed": failed})
		return made, nil
	}
	kinds, err := listable(ctx, v, deliveredKinds(v))
	if err != nil {
		return nil, err
	}
	made.Commands = []string{"placement federated -n " + v.namespace()}
	if len(kinds) == 0 {
		return nil, refuse(http.StatusForbidden, "you may list no objects in namespace %s of a kind that is delivered to clusters; a "+
			"RoleBinding to view there "+
			"permits it", v.namespace())
	}
	found, err := v.hub.Explain(ctx, v.caller, Question{Question: endpoint.Question{
		Command: endpoint.CommandFederated, Namespace: v.namespace(), Kinds: kinds, Output: "json",
	}})
	if err != nil {
		return nil, err
	}
	made.JSON = found
	if reports, is := found.(*federated.Reports); is {
		made.add("objects", "objects", deliveredIn(v.namespace(), reports))
	}
	return made, nil
}

// deliveredKinds returns the kinds that are delivered.
func deliveredKinds(v *visit) []schema.GroupVersionKind {
	delivered := v.hub.Settings().Delivered
	kinds := make([]schema.GroupVersionKind, 0, len(delivered))
	for _, kind := range delivered {
		kinds = append(kinds, kind.GroupVersionKind)
	}
	return kinds
}

// listable returns the kinds that the hub serves and whose objects in the namespace of the page the caller may list.
func listable(ctx context.Context, v *visit, kinds []schema.GroupVersionKind) ([]endpoint.KindRef, error) {
	var may []endpoint.KindRef
	for _, kind := range kinds {
		list := &metav1.PartialObjectMetadataList{}
		list.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
		err := v.reader().List(ctx, list, client.InNamespace(v.namespace()), client.Limit(1))
		switch {
		case err == nil:
			may = append(may, endpoint.KindRef{Group: kind.Group, Kind: kind.Kind})
		case !apierrors.IsForbidden(err) && !apierrors.IsNotFound(err) && !meta.IsNoMatchError(err):
			return nil, err //nolint:wrapcheck // As above.
		}
	}
	return may, nil
}

func deliveredIn(namespace string, reports *federated.Reports) delivered {
	shown := delivered{Namespace: namespace, Notes: reports.Notes}
	for i := range reports.Objects {
		for _, cluster := range reports.Objects[i].Clusters {
			if at, has := slices.BinarySearch(shown.Clusters, cluster.Name); !has {
				shown.Clusters = slices.Insert(shown.Clusters, at, cluster.Name)
			}
		}
	}
	if len(shown.Clusters) > clustersAcross {
		shown.ClustersMore, shown.Clusters = len(shown.Clusters)-clustersAcross, shown.Clusters[:clustersAcross]
	}
	for i := range reports.Objects {
		report := &reports.Objects[i]
		path := []string{"objects", report.Namespace, schema.GroupKind{Group: report.Group, Kind: report.Kind}.String(), report.Name}
		row := deliveredRow{
			Object: report.Object, State: report.State, Message: report.Message, Replicas: report.Replicas, Link: link(path),
		}
		if report.State == "Held" || report.Replicas != nil && report.Replicas.Unplaced > 0 {
			row.Tone = document.Fair
		}
		cells := make(map[string]matrixCell, len(report.Clusters))
		for j := range report.Clusters {
			cell := deliveryCell(&report.Clusters[j])
			cell.Link = link(path, "cluster", report.Clusters[j].Name)
			cells[report.Clusters[j].Name] = cell
		}
		for _, cluster := range shown.Clusters {
			row.Cells = append(row.Cells, cmp.Or(cells[cluster], matrixCell{State: unasked}))
		}
		shown.Rows = append(shown.Rows, row)
	}
	return shown
}

// deliveryCell says how far the delivery to a cluster is.
func deliveryCell(cluster *federated.Cluster) matrixCell {
	replicas := ""
	if cluster.Wanted != nil {
		replicas = itoa(int(*cluster.Wanted))
		if cluster.Ready != nil {
			replicas = itoa(int(*cluster.Ready)) + "/" + replicas
		}
		replicas = " " + replicas
	}
	selected := cluster.Verdict == scheduling.StageSelected.String()
	switch {
	case cluster.Hold != nil:
		return matrixCell{State: fails, Text: "held" + replicas, Clause: cluster.Hold.Explain(cmp.Or(cluster.Problem, cluster.Reason))}
	case cluster.Pending != "":
		return matrixCell{State: fails, Text: strings.ToLower(cluster.Pending) + replicas, Clause: cmp.Or(cluster.Problem, cluster.Reason)}
	case cluster.Problem != "":
		return matrixCell{State: fails, Text: "problem" + replicas, Clause: cluster.Problem}
	case cluster.Available == "True":
		return matrixCell{State: passes, Text: "available" + replicas, Clause: cluster.WhyNoReplicas}
	case cluster.Applied == "True":
		return matrixCell{State: passes, Text: "applied" + replicas, Clause: cluster.WhyNoReplicas}
	case cluster.Delivered:
		return matrixCell{State: unasked, Text: "waiting" + replicas, Clause: "its agent has not reported yet"}
	case selected:
		return matrixCell{State: unasked, Text: "wanted" + replicas, Clause: cluster.WhyNoReplicas}
	default:
		return matrixCell{State: unasked, Text: strings.ToLower(cluster.Verdict), Clause: cluster.Reason}
	}
}

// documentPage shows the Document of an answer. What the caller is told about objects that do not exist is in place of it.
func (v *visit) documentPage(ctx context.Context, made *page, question endpoint.Question) (*page, error) {
	question.Output = "json"
	found, err := v.hub.Explain(ctx, v.caller, Question{Question: question})
	var answered *endpoint.AnswerError
	if errors.As(err, &answered) && found == nil {
		return nil, refuse(http.StatusNotFound, "%s", answered)
	}
	if err != nil {
		return nil, err
	}
	if found == nil {
		return nil, errNoKind
	}
	made.JSON = found
	made.add("explanation", "document", found.Document(document.Options{Scores: true}))
	return made, nil
}

// errNoKind is about an object of a kind of which nothing is known.
var errNoKind = refuse(http.StatusNotFound, "there is no page of objects of this kind; correct the kind")

// objectPage shows where one object is delivered, and why; with the parameter cluster also what would deliver it there.
func objectPage(ctx context.Context, v *visit) (*page, error) {
	kind := schema.ParseGroupKind(v.request.PathValue("kind"))
	namespace, name := v.request.PathValue("namespace"), v.request.PathValue("name")
	if !slices.ContainsFunc(deliveredKinds(v), func(known schema.GroupVersionKind) bool { return known.GroupKind() == kind }) {
		return nil, errNoKind
	}
	question := endpoint.Question{
		Command: endpoint.CommandExplain, Namespace: namespace, Objects: []endpoint.Object{{Group: kind.Group, Kind: kind.Kind, Name: name}},
	}
	command := "placement explain " + strings.ToLower(kind.Kind) + "/" + name + " -n " + namespace
	if cluster := v.query("cluster"); cluster != "" {
		question.Clusters = []string{cluster}
		command += " --cluster " + cluster
	}
	made := &page{Title: kind.Kind + " " + namespace + "/" + name, Section: "Delivered objects", Commands: []string{command}}
	return v.documentPage(ctx, made, question)
}

// requestsPage lists ClusterRequests.
func requestsPage(ctx context.Context, v *visit) (*page, error) {
	namespaces, err := v.namespacesShown(ctx)
	if err != nil {
		return nil, err
	}
	items, err := requestItems(ctx, v.reader(), namespaces)
	if err != nil && !apierrors.IsForbidden(err) {
		return nil, err
	}
	if apierrors.IsForbidden(err) && v.namespace() != "" {
		return nil, err
	}
	made := &page{
		Title: "Cluster requests", Section: "Cluster requests", JSON: map[string]any{"requests": items},
		Commands: []string{"kubectl get clusterrequests -A"},
	}
	made.namespaceForm(v, "/requests")
	made.add("requests", "list", map[string]any{"Items": items, "What": "ClusterRequests"})
	return made, nil
}

// requestPage shows what a ClusterRequest has or gets, and what each Cluster and profile lacks.
func requestPage(ctx context.Context, v *visit) (*page, error) {
	namespace, name := v.request.PathValue("namespace"), v.request.PathValue("name")
	made := &page{
		Title: "ClusterRequest " + namespace + "/" + name, Section: "Cluster requests",
		Commands: []string{
			"placement explain clusterrequest/" + name + " -n " + namespace, "kubectl get clusterrequest " + name + " -n " + namespace + " -o yaml",
		},
	}
	return v.documentPage(ctx, made, endpoint.Question{
		Command: endpoint.CommandExplain, Namespace: namespace,
		Objects: []endpoint.Object{{Group: openmcpv1alpha1.GroupVersion.Group, Kind: "ClusterRequest", Name: name}},
	})
}

// workloadsPage lists the workloads of a namespace, as far as they may be listed, and asks for one otherwise.
func workloadsPage(ctx context.Context, v *visit) (*page, error) {
	made := &page{Title: "Workloads", Section: "Workloads", Commands: []string{"placement explain TYPE/NAME -n NAMESPACE"}}
	if kind, known := pods.FindKind(v.query("kind")); known && v.namespace() != "" && v.query("name") != "" {
		return nil, &redirect{to: link([]string{"workloads", v.namespace(), kind.GroupKind().String(), v.query("name")})}
	}
	items := []item{}
	if v.namespace() != "" {
		for _, kind := range pods.Kinds() {
			list := &metav1.PartialObjectMetadataList{}
			list.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
			err := v.reader().List(ctx, list, client.InNamespace(v.namespace()), client.Limit(rowsShown))
			if err != nil && !apierrors.IsForbidden(err) {
				return nil, err //nolint:wrapcheck // As above.
			}
			for i := range list.Items {
				object := &list.Items[i]
				if metav1.GetControllerOf(object) != nil {
					continue // Its owner is in the list.
				}
				items = append(items, item{
					Kind: kind.Kind, Namespace: object.Namespace, Name: object.Name,
					Link: link([]string{"workloads", object.Namespace, kind.GroupKind().String(), object.Name}),
				})
			}
		}
	}
	sortItems(items)
	var kinds []string
	for _, kind := range pods.Kinds() {
		kinds = append(kinds, kind.Kind)
	}
	made.JSON = map[string]any{"workloads": items}
	made.add("workloads", "workloads", map[string]any{"Items": items, "Kinds": kinds, "Namespace": v.namespace()})
	return made, nil
}

// workloadPage shows where the Pods of a workload may run: its policies, its class and the nodes.
func workloadPage(ctx context.Context, v *visit) (*page, error) {
	known, is := pods.FindKind(v.request.PathValue("kind"))
	if !is {
		return nil, errNoKind
	}
	kind := known.GroupKind()
	namespace, name := v.request.PathValue("namespace"), v.request.PathValue("name")
	made := &page{
		Title: kind.Kind + " " + namespace + "/" + name, Section: "Workloads",
		Commands: []string{"placement explain " + strings.ToLower(kind.Kind) + "/" + name + " -n " + namespace},
	}
	return v.documentPage(ctx, made, endpoint.Question{
		Command: endpoint.CommandExplain, Namespace: namespace, Objects: []endpoint.Object{{Group: kind.Group, Kind: kind.Kind, Name: name}},
	})
}
