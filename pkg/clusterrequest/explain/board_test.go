// SPDX-License-Identifier: Apache-2.0

package explain_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	requests "github.com/placement-hub/placement-hub/pkg/clusterrequest/explain"
	"github.com/placement-hub/placement-hub/pkg/explain"
	"github.com/placement-hub/placement-hub/pkg/explain/document"
	"github.com/placement-hub/placement-hub/pkg/explain/printers"
	"github.com/placement-hub/placement-hub/pkg/placement/api"
)

// platform is a hub with a request in each state.
type platform struct {
	requests.Objects
	state  explain.State
	access []openmcpv1alpha1.AccessRequest
}

func (p *platform) request(name string, status openmcpv1alpha1.RequestPhase, reason, message string) *openmcpv1alpha1.ClusterRequest {
	request := &openmcpv1alpha1.ClusterRequest{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, Generation: 1}}
	request.Status.Status, request.Status.Reason, request.Status.Message = status, reason, message
	request.Status.ObservedGeneration = 1
	p.Requests = append(p.Requests, request)
	return request
}

// granted adds a request with a Grant of a Cluster.
func (p *platform) granted(name, cluster string) *openmcpv1alpha1.ClusterRequest {
	grant := &openmcpv1alpha1.ClusterRequestGrant{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name}}
	grant.Spec.ClusterRef = openmcpv1alpha1.NamespacedName{Namespace: "clusters", Name: cluster}
	p.Grants = append(p.Grants, grant)
	return p.request(name, openmcpv1alpha1.RequestGranted, openmcpv1alpha1.ReasonSuccess, "granted")
}

// cluster adds a Cluster whose provider is done, unless the reason why it is not healthy is given.
func (p *platform) cluster(name, unhealthy string) *openmcpv1alpha1.Cluster {
	cluster := &openmcpv1alpha1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: "clusters", Name: name}}
	cluster.Spec.ClusterProviderRef = openmcpv1alpha1.ClusterProviderReference{Name: "loopback", Profile: "local"}
	cluster.Spec.Kubernetes = &openmcpv1alpha1.Kubernetes{Version: "1.37.0"}
	cluster.Status.Phase = openmcpv1alpha1.ClusterSucceeded
	healthy := metav1.Condition{Type: openmcpv1alpha1.ConditionClusterHealthy, Status: metav1.ConditionTrue, Reason: "Running"}
	if unhealthy != "" {
		cluster.Status.Phase = openmcpv1alpha1.ClusterPending
		healthy.Status, healthy.Reason, healthy.Message = metav1.ConditionFalse, unhealthy, "wait"
	}
	cluster.Status.Conditions = []metav1.Condition{healthy}
	p.Clusters = append(p.Clusters, cluster)
	return cluster
}

// publish adds the ManagedCluster of a Cluster, which a Placement selects if there is a name of one.
func (p *platform) publish(cluster *openmcpv1alpha1.Cluster, available metav1.ConditionStatus, placement string) {
	cluster.Status.ManagedCluster = "mc-" + cluster.Name
	managed := &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: cluster.Status.ManagedCluster}}
	managed.Status.Conditions = []metav1.Condition{{Type: clusterv1.ManagedClusterConditionAvailable, Status: available}}
	p.state.Clusters = append(p.state.Clusters, managed)
	if placement == "" {
		return
	}
	page := &clusterv1beta1.PlacementDecision{ObjectMeta: metav1.ObjectMeta{
		Namespace: "shop", Name: placement + "-decision-1", Labels: map[string]string{clusterv1beta1.PlacementLabel: placement},
	}}
	page.Status.Decisions = []clusterv1beta1.ClusterDecision{{ClusterName: managed.Name}}
	p.state.Decisions = append(p.state.Decisions, page)
}

func (p *platform) accessRequest(name, request string, status openmcpv1alpha1.RequestPhase, reason, secret string) {
	access := openmcpv1alpha1.AccessRequest{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name}}
	access.Spec.RequestRef = &openmcpv1alpha1.ObjectReference{Name: request}
	access.Status.Status, access.Status.Reason, access.Status.Message = status, reason, "because\nof that"
	if secret != "" {
		access.Status.SecretRef = &openmcpv1alpha1.ObjectName{Name: secret}
	}
	p.access = append(p.access, access)
}

func (p *platform) table() *document.Board { return p.state.RequestsBoard(&p.Objects, p.access) }

// newPlatform has a request in each state.
func newPlatform() *platform {
	p := &platform{}
	done := p.cluster("a", "")
	p.publish(done, metav1.ConditionTrue, "everywhere")
	p.granted("web", "a")
	p.granted("checkout", "a")
	p.accessRequest("admin", "web", openmcpv1alpha1.RequestGranted, "Success", "admin.kubeconfig")
	p.accessRequest("other", "web", openmcpv1alpha1.RequestDenied, "AccessNotAllowed", "")
	p.cluster("b", "Starting")
	p.granted("starting", "b")
	p.publish(p.cluster("c", ""), metav1.ConditionUnknown, "")
	p.granted("silent", "c")
	p.accessRequest("early", "silent", "", "", "")
	p.granted("lost", "d")
	p.request("training", openmcpv1alpha1.RequestDenied, openmcpv1alpha1.ReasonNoMatchingProfile, "no\nnodes")
	p.request("waiting", openmcpv1alpha1.RequestPending, openmcpv1alpha1.ReasonProviderNotReady, "soon")
	p.request("new", "", "", "").Status.ObservedGeneration = 0
	now := metav1.Now()
	p.cluster("e", "").DeletionTimestamp = &now
	p.granted("leaving", "f").DeletionTimestamp = &now
	p.publish(p.cluster("f", ""), metav1.ConditionTrue, "")
	return p
}

func TestClustersTable(t *testing.T) {
	table := newPlatform().table()
	if got, want := table.Summary, "9 requests, 0 purposes, 0 providers, 5 clusters, 0 placements"; got != want {
		t.Errorf("summary %q, want %q", got, want)
	}
	want := []string{
		"NAMESPACE/REQUEST  STATUS    CLUSTER     PHASE               PROFILE                MANAGEDCLUSTER      PLACEMENTS",
		"shop/checkout      Granted   clusters/a  Succeeded           loopback/local 1.37.0  mc-a                shop/everywhere",
		"shop/leaving       Deleting  clusters/f  Succeeded           loopback/local 1.37.0  mc-f                -",
		"shop/lost          Granted   clusters/d  -                   -                      -                   -",
		"shop/new           -         -           -                   -                      -                   -",
		"shop/silent        Granted   clusters/c  Succeeded           loopback/local 1.37.0  mc-c (unavailable)  -",
		"  AccessRequest shop/early: no status yet",
		"shop/starting      Granted   clusters/b  Pending (Starting)  loopback/local 1.37.0  -                   -",
		"shop/training      Denied    -           -                   -                      -                   -",
		"  NoMatchingProfile: no nodes",
		"shop/waiting       Pending   -           -                   -                      -                   -",
		"  ProviderNotReady: soon",
		"shop/web           Granted   clusters/a  Succeeded           loopback/local 1.37.0  mc-a                shop/everywhere",
		"  AccessRequest shop/admin: Granted, Secret admin.kubeconfig",
		"  AccessRequest shop/other: Denied, AccessNotAllowed: because of that",
		"no request         -         clusters/e  Deleting            loopback/local 1.37.0  -                   -",
	}
	if diff := cmp.Diff(want, printers.BoardLines(table)); diff != "" {
		t.Errorf("body (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{
		"shop/leaving: it is being deleted",
		"shop/lost: its Cluster is not there",
		"shop/new: its status is not written yet",
		"shop/silent: its ManagedCluster is not available yet",
		"shop/starting: its Cluster is not healthy: Starting: wait",
		"shop/waiting: it is Pending, ProviderNotReady",
		"Cluster clusters/e: its Cluster is being deleted",
	}, table.Pending()); diff != "" {
		t.Errorf("pending (-want +got):\n%s", diff)
	}
}

// A table with a Placement that has no status, or with a request for access that is not decided, has not settled.
func TestClustersSettleWithWhatUsesThem(t *testing.T) {
	p := &platform{}
	p.publish(p.cluster("a", ""), metav1.ConditionTrue, "")
	p.granted("web", "a")
	if pending := p.table().Pending(); len(pending) > 0 {
		t.Fatalf("pending: %q", pending)
	}
	p.accessRequest("admin", "web", openmcpv1alpha1.RequestPending, "Resolved", "")
	placement := &clusterv1beta1.Placement{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "everywhere"}}
	p.state.Placements = []api.Object{placement}
	if diff := cmp.Diff([]string{
		"shop/web: AccessRequest shop/admin is Pending, Resolved",
		"Placement shop/everywhere: condition PlacementMisconfigured is not written yet",
	}, p.table().Pending()); diff != "" {
		t.Errorf("pending (-want +got):\n%s", diff)
	}
}

func TestClustersChanges(t *testing.T) {
	lines := map[string]string{}
	for _, change := range printers.BoardChanges(newPlatform().table()) {
		lines[change.Title] = change.Line
		settled := slices.Contains([]string{"shop/web", "shop/checkout", "shop/training"}, change.Title)
		if change.Unsettled == settled {
			t.Errorf("%s is unsettled: %t", change.Title, change.Unsettled)
		}
	}
	for title, want := range map[string]string{
		"shop/checkout":      "shop/checkout  Granted  clusters/a  Succeeded  loopback/local 1.37.0  mc-a  shop/everywhere",
		"shop/training":      "shop/training  Denied  -  -  -  -  -  (NoMatchingProfile: no nodes)",
		"Cluster clusters/e": "no request  -  clusters/e  Deleting  loopback/local 1.37.0  -  -",
	} {
		if got := lines[title]; got != want {
			t.Errorf("%s: %q, want %q", title, got, want)
		}
	}
	if got := printers.BoardLines((&platform{}).table()); got[len(got)-1] != "no requests and no clusters yet" {
		t.Errorf("an empty hub shows %q", got)
	}
}

// A Placement whose pages name a cluster twice, as between two writes, is named once, in the rows of all requests on the cluster.
func TestPlacementsOfASharedCluster(t *testing.T) {
	p := &platform{}
	cluster := p.cluster("a", "")
	p.publish(cluster, metav1.ConditionTrue, "everywhere")
	p.publish(cluster, metav1.ConditionTrue, "everywhere")
	p.publish(cluster, metav1.ConditionTrue, "canary")
	p.granted("web", "a")
	p.granted("checkout", "a")
	for _, row := range p.table().Table.Rows {
		if got, want := row.Cells[len(row.Cells)-1].Text, "shop/canary, shop/everywhere"; got != want {
			t.Errorf("%s: placements %q, want %q", row.Name, got, want)
		}
	}
}
