// SPDX-License-Identifier: Apache-2.0

package live

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/explain"
	"github.com/placement-hub/placement-hub/pkg/explain/document"
	"github.com/placement-hub/placement-hub/pkg/explain/hubstate"
	"github.com/placement-hub/placement-hub/pkg/explain/requests"
)

// nothing is the cell of what a request does not have.
const nothing = document.NoValue

// Clusters is the Source of a hub with ClusterRequests.
type Clusters struct {
	polled

	Client client.Client
}

func (c *Clusters) read(ctx context.Context) (*board, error) {
	objects, err := hubstate.RequestsFromCluster(ctx, c.Client)
	if err != nil {
		return nil, fmt.Errorf("reading what the table shows: %w", err)
	}
	state, err := hubstate.AllFromCluster(ctx, c.Client, "")
	if err != nil {
		return nil, fmt.Errorf("reading what the table shows: %w", err)
	}
	access := &openmcpv1alpha1.AccessRequestList{}
	if err := c.Client.List(ctx, access); err != nil {
		return nil, fmt.Errorf("reading what the table shows: %w", err)
	}
	return newClustersBoard(objects, state, access.Items), nil
}

// newClustersBoard returns ClusterRequests by namespace and name × what each of them has, and then the Clusters without a request.
func newClustersBoard(objects *requests.Objects, state *explain.State, access []openmcpv1alpha1.AccessRequest) *board {
	lookup := newClustersLookup(objects, state, access)
	b := &board{
		summary: strings.Join([]string{
			document.Count(len(objects.Requests), "request"), document.Count(len(objects.Purposes), "purpose"),
			document.Count(len(objects.Providers), "provider"), document.Count(len(objects.Clusters), "cluster"),
			document.Count(len(state.Placements), "placement"),
		}, ", "),
		empty: "no requests and no clusters yet", waiting: newPlacementsBoard(state).pending(),
		table: document.Table{Columns: []string{"NAMESPACE/REQUEST", "STATUS", "CLUSTER", "PHASE", "PROFILE", "MANAGEDCLUSTER", "PLACEMENTS"}},
	}
	for _, request := range objects.Requests {
		b.table.Rows = append(b.table.Rows, lookup.requestRow(request).row())
	}
	b.sort()
	for _, key := range lookup.withoutRequest() {
		b.table.Rows = append(b.table.Rows, lookup.clusterRow(key).row())
	}
	return b
}

// clustersRow is a ClusterRequest, or a Cluster without one.
type clustersRow struct {
	title     string // it is unique
	cells     []string
	details   []string // lines below the row
	unsettled string   // what is still to happen; "" for nothing
}

// row returns the row of the table.
func (r *clustersRow) row() document.Row {
	row := document.NewRow(r.cells...)
	row.Name, row.Details = r.title, r.details
	if r.unsettled != "" {
		row.Unsettled = r.title + ": " + r.unsettled
	}
	return row
}

// clustersLookup finds what belongs to a ClusterRequest.
type clustersLookup struct {
	clusters   map[client.ObjectKey]*openmcpv1alpha1.Cluster
	grants     map[client.ObjectKey]*openmcpv1alpha1.ClusterRequestGrant
	access     map[client.ObjectKey][]*openmcpv1alpha1.AccessRequest // by ClusterRequest
	managed    map[string]*clusterv1.ManagedCluster
	placements map[string][]string // namespace/name by ManagedCluster
}

func newClustersLookup(objects *requests.Objects, state *explain.State, access []openmcpv1alpha1.AccessRequest) *clustersLookup {
	l := &clustersLookup{
		clusters: map[client.ObjectKey]*openmcpv1alpha1.Cluster{}, grants: map[client.ObjectKey]*openmcpv1alpha1.ClusterRequestGrant{},
		access: map[client.ObjectKey][]*openmcpv1alpha1.AccessRequest{}, managed: map[string]*clusterv1.ManagedCluster{},
		placements: map[string][]string{},
	}
	for _, cluster := range objects.Clusters {
		l.clusters[client.ObjectKeyFromObject(cluster)] = cluster
	}
	for _, grant := range objects.Grants {
		l.grants[client.ObjectKeyFromObject(grant)] = grant
	}
	for i := range access {
		if ref := access[i].Spec.RequestRef; ref != nil {
			key := client.ObjectKey{Namespace: cmp.Or(ref.Namespace, access[i].Namespace), Name: ref.Name}
			l.access[key] = append(l.access[key], &access[i])
		}
	}
	for _, cluster := range state.Clusters {
		l.managed[cluster.Name] = cluster
	}
	for key, pages := range state.PagesByPlacement() {
		for _, page := range pages {
			for _, cluster := range page.Clusters() {
				l.placements[cluster] = append(l.placements[cluster], title(key))
			}
		}
	}
	return l
}

// requestRow returns the row of a ClusterRequest.
func (l *clustersLookup) requestRow(request *openmcpv1alpha1.ClusterRequest) *clustersRow {
	key := client.ObjectKeyFromObject(request)
	status := &request.Status
	row := &clustersRow{title: key.String()}
	switch {
	case request.DeletionTimestamp != nil:
		row.unsettled = "it is being deleted"
	case status.ObservedGeneration != request.Generation:
		row.unsettled = "its status is not written yet"
	case status.Status == openmcpv1alpha1.RequestPending:
		row.unsettled = "it is Pending, " + status.Reason
	}
	if status.Status != openmcpv1alpha1.RequestGranted && status.Reason != "" {
		row.details = append(row.details, labelled(status.Reason, status.Message))
	}
	shown := cmp.Or(string(status.Status), nothing)
	if request.DeletionTimestamp != nil {
		shown = "Deleting"
	}
	row.cells = append([]string{row.title, shown}, nothing, nothing, nothing, nothing, nothing)
	if grant := l.grants[key]; grant != nil {
		ref := grant.Spec.ClusterRef
		cells, unsettled := l.clusterCells(client.ObjectKey{Namespace: ref.Namespace, Name: ref.Name})
		row.cells, row.unsettled = append(row.cells[:2], cells...), cmp.Or(row.unsettled, unsettled)
	}
	for _, access := range l.access[key] {
		detail, unsettled := accessDetail(access)
		row.details, row.unsettled = append(row.details, detail), cmp.Or(row.unsettled, unsettled)
	}
	return row
}

// clusterRow returns the row of a Cluster without a request.
func (l *clustersLookup) clusterRow(key client.ObjectKey) *clustersRow {
	cells, unsettled := l.clusterCells(key)
	return &clustersRow{title: "Cluster " + key.String(), cells: append([]string{"no request", nothing}, cells...), unsettled: unsettled}
}

// withoutRequest returns the Clusters that no Grant names, sorted.
func (l *clustersLookup) withoutRequest() []client.ObjectKey {
	granted := map[client.ObjectKey]bool{}
	for _, grant := range l.grants {
		granted[client.ObjectKey{Namespace: grant.Spec.ClusterRef.Namespace, Name: grant.Spec.ClusterRef.Name}] = true
	}
	var keys []client.ObjectKey
	for key := range l.clusters {
		if !granted[key] {
			keys = append(keys, key)
		}
	}
	slices.SortFunc(keys, func(a, b client.ObjectKey) int { return cmp.Compare(a.String(), b.String()) })
	return keys
}

// clusterCells returns the cells from CLUSTER on, and what is still to happen.
func (l *clustersLookup) clusterCells(key client.ObjectKey) (cells []string, unsettled string) {
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
		unsettled = "its Cluster is not healthy: " + labelled(healthy.Reason, healthy.Message)
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
		slices.Sort(placements)
		cells[4] = strings.Join(slices.Compact(placements), ", ")
	}
	return cells, unsettled
}

// accessDetail says what has become of an AccessRequest, and what is still to happen.
func accessDetail(access *openmcpv1alpha1.AccessRequest) (detail, unsettled string) {
	name, status := "AccessRequest "+client.ObjectKeyFromObject(access).String(), &access.Status
	switch {
	case status.Status == openmcpv1alpha1.RequestGranted && status.SecretRef != nil:
		return name + ": Granted, Secret " + status.SecretRef.Name, ""
	case status.Status == openmcpv1alpha1.RequestDenied:
		return oneLine(fmt.Sprintf("%s: Denied, %s: %s", name, status.Reason, status.Message)), ""
	case status.Reason == "":
		return name + ": no status yet", name + " has no status yet"
	default:
		return oneLine(fmt.Sprintf("%s: Pending, %s: %s", name, status.Reason, status.Message)), name + " is Pending, " + status.Reason
	}
}
