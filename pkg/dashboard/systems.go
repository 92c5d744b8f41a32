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
	workv1 "open-cluster-management.io/api/work/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/explain/document"
	"github.com/placement-hub/placement-hub/pkg/explain/endpoint"
	federated "github.com/placement-hub/placement-hub/pkg/federation/explain"
	pods "github.com/placement-hub/placement-hub/pkg/podscheduling/explain"
	"github.com/placement-hub/placement-hub/pkg/scheduling"
)

// clustersAcross bounds the clusters beside each other in the table of delivered objects.
const clustersAcross = 40

// delivered is the table of objects and clusters.
type delivered struct {
	Namespace string
	Clusters  []string
	Rows      []deliveredRow
	// ClustersMore counts the clusters for which there is no room.
	ClustersMore int
}

// deliveredRow is an object.
type deliveredRow struct {
	Object, Link, State string
	Tone                document.Tone
	Replicas            *federated.Replicas
	Cells               []matrixCell
}

// objectsPage lists the delivered objects: of all namespaces as the agents have reported them, or of one with the clusters beside each other.
func objectsPage(ctx context.Context, v *visit) (*page, error) {
	made := &page{Title: objectsSection, Section: objectsSection}
	if v.namespace() != "" {
		return v.objectsOf(ctx, made)
	}
	namespaces, err := v.namespacesShown(ctx)
	if err != nil {
		return nil, err
	}
	found, refused := v.deliveriesTo(ctx, metav1.NamespaceAll, metav1.NamespaceAll)
	shown, err := v.list(objectsList, found.objects, refused)
	if err != nil {
		return nil, err
	}
	told := listed(objectsPath, shown)
	told["failed"] = found.failures().Items
	made.JSON = told
	made.Static = nothingListed(namespaces, found.objects, refused)
	if apierrors.IsForbidden(refused) {
		shown.Empty = "Which objects are delivered to all clusters is for those who may list ManifestWorks. Name a namespace to see its objects."
	}
	shown.Off(v.isOff("federation", schema.GroupVersion(workv1.GroupVersion).WithKind("ManifestWork")))
	made.Commands = v.commandsOf("placement federated")
	made.addList(shown)
	made.add("choose", "choose", map[string]any{
		"Namespaces": namespaces[:min(len(namespaces), namespacesOffered)], "Everywhere": v.everywhere, "Path": objectsPath, "Deliveries": found,
	})
	return made, nil
}

// namespacesOffered bounds the namespaces among which a user may choose.
const namespacesOffered = 50

// deliveredKinds returns the kinds that are delivered.
func deliveredKinds(v *visit) []schema.GroupVersionKind {
	delivered := v.hub.Settings().Delivered
	kinds := make([]schema.GroupVersionKind, 0, len(delivered))
	for _, kind := range delivered {
		kinds = append(kinds, kind.GroupVersionKind)
	}
	return kinds
}

// listable returns the delivered kinds that the hub serves and whose objects in a namespace the caller may list.
func listable(ctx context.Context, v *visit, namespace string) ([]endpoint.KindRef, error) {
	var may []endpoint.KindRef
	for _, kind := range deliveredKinds(v) {
		list := &metav1.PartialObjectMetadataList{}
		list.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
		err := v.reader().List(ctx, list, client.InNamespace(namespace), client.Limit(1))
		switch {
		case err == nil:
			may = append(may, endpoint.KindRef{Group: kind.Group, Kind: kind.Kind})
		case !apierrors.IsForbidden(err) && !apierrors.IsNotFound(err) && !meta.IsNoMatchError(err):
			return nil, err //nolint:wrapcheck // As above.
		}
	}
	return may, nil
}

// deliveredIn returns the table of the reports about objects, which have the states of the list.
func deliveredIn(namespace string, reports []*federated.Report, objects []item) delivered {
	shown := delivered{Namespace: namespace}
	for _, report := range reports {
		for _, cluster := range report.Clusters {
			if at, has := slices.BinarySearch(shown.Clusters, cluster.Name); !has {
				shown.Clusters = slices.Insert(shown.Clusters, at, cluster.Name)
			}
		}
	}
	if len(shown.Clusters) > clustersAcross {
		shown.ClustersMore, shown.Clusters = len(shown.Clusters)-clustersAcross, shown.Clusters[:clustersAcross]
	}
	for i, report := range reports {
		path := []string{objectsPath, report.Namespace, schema.GroupKind{Group: report.Group, Kind: report.Kind}.String(), report.Name}
		row := deliveredRow{
			Object: report.Object, State: objects[i].State, Tone: objects[i].Tone, Replicas: report.Replicas, Link: link(path),
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

// documentPage shows the Document of an answer about an object, below its head. What the caller is told about objects that do not exist is in place
// of it.
func (v *visit) documentPage(ctx context.Context, made *page, of shownObject, question endpoint.Question) (*page, error) {
	question.Output = jsonOutput
	found, err := v.hub.Explain(ctx, v.caller, Question{Question: question})
	var answered *endpoint.AnswerError
	if errors.As(err, &answered) && found == nil {
		return nil, refuse(http.StatusNotFound, "%s", answered)
	}
	// An explanation of what the caller may read says what it lacks.
	if err != nil && (found == nil || !apierrors.IsForbidden(err)) {
		return nil, err
	}
	if found == nil {
		return nil, errNoKind
	}
	made.JSON = found
	told := found.Document(document.Options{Scores: true})
	v.addHead(ctx, made, of, found, &told)
	made.add("explanation", "document", told)
	return made, nil
}

// errNoKind is about an object of a kind of which nothing is known.
var errNoKind = refuse(http.StatusNotFound, "there is no page of objects of this kind; correct the kind")

// objectPage shows where one object is delivered, and why; with the parameter cluster also what would deliver it there.
func objectPage(ctx context.Context, v *visit) (*page, error) {
	kind, kinds := schema.ParseGroupKind(v.request.PathValue("kind")), deliveredKinds(v)
	namespace, name := v.request.PathValue("namespace"), v.request.PathValue("name")
	at := slices.IndexFunc(kinds, func(known schema.GroupVersionKind) bool { return known.GroupKind() == kind })
	if at < 0 {
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
	made := &page{
		Title: kind.Kind + " " + namespace + "/" + name, Section: objectsSection, Commands: []string{command},
		Crumbs: crumbsOf(objectsSection, objectsPath, namespace),
	}
	return v.documentPage(ctx, made, shownObject{kinds[at], namespace, name}, question)
}

// requestPage shows what a ClusterRequest has or gets, and what each Cluster and profile lacks.
func requestPage(ctx context.Context, v *visit) (*page, error) {
	namespace, name := v.request.PathValue("namespace"), v.request.PathValue("name")
	made := &page{
		Title: "ClusterRequest " + namespace + "/" + name, Section: requestsSection, Crumbs: crumbsOf(requestsSection, requestsPath, namespace),
		Commands: []string{
			"placement explain clusterrequest/" + name + " -n " + namespace, "kubectl get clusterrequest " + name + " -n " + namespace + " -o yaml",
		},
	}
	return v.documentPage(ctx, made, shownObject{requestKind, namespace, name}, endpoint.Question{
		Command: endpoint.CommandExplain, Namespace: namespace,
		Objects: []endpoint.Object{{Group: openmcpv1alpha1.GroupVersion.Group, Kind: "ClusterRequest", Name: name}},
	})
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
		Title: kind.Kind + " " + namespace + "/" + name, Section: workloadsSection, Crumbs: crumbsOf(workloadsSection, "workloads", namespace),
		Commands: []string{"placement explain " + strings.ToLower(kind.Kind) + "/" + name + " -n " + namespace},
	}
	return v.documentPage(ctx, made, shownObject{known.GroupVersionKind, namespace, name}, endpoint.Question{
		Command: endpoint.CommandExplain, Namespace: namespace, Objects: []endpoint.Object{{Group: kind.Group, Kind: kind.Kind, Name: name}},
	})
}
