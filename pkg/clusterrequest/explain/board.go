// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clusterv1 "open-cluster-management.io/api/cluster/v1"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/explain/document"
)

// nothing is the cell of what a request does not have.
const nothing = document.NoValue

// Users are what uses the Clusters of requests.
type Users struct {
	// Managed are the ManagedClusters, and Selected the sorted titles of the Placements that select each of them, by its name.
	Managed  []*clusterv1.ManagedCluster
	Selected map[string][]string
	Access   []openmcpv1alpha1.AccessRequest
	// Placements is the number of Placements, and Waiting are sentences about those that have not settled.
	Placements int
	Waiting    []string
}

// NewBoard returns ClusterRequests by namespace and name × what each of them has, and then the Clusters without a request.
func NewBoard(objects *Objects, users *Users) *document.Board {
	lookup := newBoardLookup(objects, users)
	b := &document.Board{
		Summary: strings.Join([]string{
			document.Count(len(objects.Requests), "request"), document.Count(len(objects.Purposes), "purpose"),
			document.Count(len(objects.Providers), "provider"), document.Count(len(objects.Clusters), "cluster"),
			document.Count(users.Placements, "placement"),
		}, ", "),
		Empty: "no requests and no clusters yet", Waiting: users.Waiting,
		Table: document.Table{Columns: []string{"NAMESPACE/REQUEST", "STATUS", "CLUSTER", "PHASE", "PROFILE", "MANAGEDCLUSTER", "PLACEMENTS"}},
	}
	for _, request := range objects.Requests {
		b.Table.Rows = append(b.Table.Rows, lookup.requestRow(request).row())
	}
	b.Sort()
	for _, key := range lookup.withoutRequest() {
		b.Table.Rows = append(b.Table.Rows, lookup.clusterRow(key).row())
	}
	return b
}

// boardRow is a ClusterRequest, or a Cluster without one.
type boardRow struct {
	title     string // it is unique
	cells     []string
	details   []string // lines below the row
	unsettled string   // what is still to happen; "" for nothing
}

// row returns the row of the table.
func (r *boardRow) row() document.Row {
	row := document.NewRow(r.cells...)
	row.Name, row.Details = r.title, r.details
	if r.unsettled != "" {
		row.Unsettled = r.title + ": " + r.unsettled
	}
	return row
}

// boardLookup finds what belongs to a ClusterRequest.
type boardLookup struct {
	clusters   map[types.NamespacedName]*openmcpv1alpha1.Cluster
	grants     map[types.NamespacedName]*openmcpv1alpha1.ClusterRequestGrant
	access     map[types.NamespacedName][]*openmcpv1alpha1.AccessRequest // by ClusterRequest
	managed    map[string]*clusterv1.ManagedCluster
	placements map[string][]string // namespace/name by ManagedCluster
}

func newBoardLookup(objects *Objects, users *Users) *boardLookup {
	l := &boardLookup{
		clusters: map[types.NamespacedName]*openmcpv1alpha1.Cluster{}, grants: map[types.NamespacedName]*openmcpv1alpha1.ClusterRequestGrant{},
		access: map[types.NamespacedName][]*openmcpv1alpha1.AccessRequest{}, managed: map[string]*clusterv1.ManagedCluster{},
		placements: users.Selected,
	}
	for _, cluster := range objects.Clusters {
		l.clusters[keyOf(cluster)] = cluster
	}
	for _, grant := range objects.Grants {
		l.grants[keyOf(grant)] = grant
	}
	for i := range users.Access {
		access := &users.Access[i]
		if ref := access.Spec.RequestRef; ref != nil {
			key := types.NamespacedName{Namespace: cmp.Or(ref.Namespace, access.Namespace), Name: ref.Name}
			l.access[key] = append(l.access[key], access)
		}
	}
	for _, cluster := range users.Managed {
		l.managed[cluster.Name] = cluster
	}
	return l
}

// requestRow returns the row of a ClusterRequest.
func (l *boardLookup) requestRow(request *openmcpv1alpha1.ClusterRequest) *boardRow {
	key := keyOf(request)
	status := &request.Status
	row := &boardRow{title: key.String()}
	switch {
	case request.DeletionTimestamp != nil:
		row.unsettled = "it is being deleted"
	case status.ObservedGeneration != request.Generation:
		row.unsettled = "its status is not written yet"
	case status.Status == openmcpv1alpha1.RequestPending:
		row.unsettled = "it is Pending, " + status.Reason
	}
	if status.Status != openmcpv1alpha1.RequestGranted && status.Reason != "" {
		row.details = append(row.details, document.Labelled(status.Reason, status.Message))
	}
	shown := cmp.Or(string(status.Status), nothing)
	if request.DeletionTimestamp != nil {
		shown = "Deleting"
	}
	row.cells = append([]string{row.title, shown}, nothing, nothing, nothing, nothing, nothing)
	if grant := l.grants[key]; grant != nil {
		ref := grant.Spec.ClusterRef
		cells, unsettled := l.clusterCells(types.NamespacedName{Namespace: ref.Namespace, Name: ref.Name})
		row.cells, row.unsettled = append(row.cells[:2], cells...), cmp.Or(row.unsettled, unsettled)
	}
	for _, access := range l.access[key] {
		detail, unsettled := accessDetail(access)
		row.details, row.unsettled = append(row.details, detail), cmp.Or(row.unsettled, unsettled)
	}
	return row
}

// clusterRow returns the row of a Cluster without a request.
func (l *boardLookup) clusterRow(key types.NamespacedName) *boardRow {
	cells, unsettled := l.clusterCells(key)
	return &boardRow{title: "Cluster " + key.String(), cells: append([]string{"no request", nothing}, cells...), unsettled: unsettled}
}

// withoutRequest returns the Clusters that no Grant names, sorted.
func (l *boardLookup) withoutRequest() []types.NamespacedName {
	granted := map[types.NamespacedName]bool{}
	for _, grant := range l.grants {
		granted[types.NamespacedName{Namespace: grant.Spec.ClusterRef.Namespace, Name: grant.Spec.ClusterRef.Name}] = true
	}
	var keys []types.NamespacedName
	for key := range l.clusters {
		if !granted[key] {
			keys = append(keys, key)
		}
	}
	slices.SortFunc(keys, func(a, b types.NamespacedName) int { return cmp.Compare(a.String(), b.String()) })
	return keys
}

// clusterCells returns the cells from CLUSTER on, and what is still to happen.
func (l *boardLookup) clusterCells(key types.NamespacedName) (cells []string, unsettled string) {
	cells = []string{key.String(), nothing, nothing, nothing, nothing}
	cluster := l.clusters[key]
	if cluster == nil {
		return cells, "its Cluster is not there"
	}
	ref := cluster.Spec.ClusterProviderRef
	cells[2] = ref.Name + "/" + string(ref.Profile)
	if cluster.Spec.Kubernetes != nil {
		cells[2] += " " + cluster.Spec.Kubernetes.Version
	}
	healthy := meta.FindStatusCondition(cluster.Status.Conditions, openmcpv1alpha1.ConditionClusterHealthy)
	cells[1] = cmp.Or(string(cluster.Status.Phase), string(openmcpv1alpha1.ClusterPending))
	switch {
	case cluster.DeletionTimestamp != nil:
		cells[1], unsettled = string(openmcpv1alpha1.ClusterDeleting), "its Cluster is being deleted"
	case healthy == nil:
		unsettled = "its Cluster is not healthy yet"
	case healthy.Status != metav1.ConditionTrue:
		cells[1] += " (" + healthy.Reason + ")"
		unsettled = "its Cluster is not healthy: " + document.Labelled(healthy.Reason, healthy.Message)
	}
	name := cluster.Status.ManagedCluster
	managed := l.managed[name]
	if managed == nil {
		return cells, cmp.Or(unsettled, "its Cluster is not published yet")
	}
	cells[3] = name
	if !meta.IsStatusConditionTrue(managed.Status.Conditions, clusterv1.ManagedClusterConditionAvailable) {
		cells[3] += " (unavailable)"
		unsettled = cmp.Or(unsettled, "its ManagedCluster is not available yet")
	}
	if placements := l.placements[name]; len(placements) > 0 {
		cells[4] = strings.Join(placements, ", ")
	}
	return cells, unsettled
}

// accessDetail says what has become of an AccessRequest, and what is still to happen.
func accessDetail(access *openmcpv1alpha1.AccessRequest) (detail, unsettled string) {
	name, status := "AccessRequest "+keyOf(access).String(), &access.Status
	switch {
	case status.Status == openmcpv1alpha1.RequestGranted && status.SecretRef != nil:
		return name + ": Granted, Secret " + status.SecretRef.Name, ""
	case status.Status == openmcpv1alpha1.RequestDenied:
		return fmt.Sprintf("%s: Denied, %s: %s", name, status.Reason, status.Message), ""
	case status.Reason == "":
		return name + ": no status yet", name + " has no status yet"
	default:
		return fmt.Sprintf("%s: Pending, %s: %s", name, status.Reason, status.Message), name + " is Pending, " + status.Reason
	}
}
