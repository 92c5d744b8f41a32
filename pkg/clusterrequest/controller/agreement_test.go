// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/clusterrequest"
	requests "github.com/placement-hub/placement-hub/pkg/clusterrequest/explain"
	"github.com/placement-hub/placement-hub/test/property"
)

// Law 7: what explain, diff and simulate say of a ClusterRequest is what the controller does, in random hubs with Clusters that have gone or are
// being deleted, Purposes that do not exist, and Grants of former requests.
func TestToolsAgreeWithTheHubOnRequests(tb *testing.T) {
	property.CheckTimes(tb, 60, func(t *rapid.T) {
		a := newAgreement(tb, t)
		for range rapid.IntRange(0, 3).Draw(t, "requests before") {
			a.done(a.create())
		}
		for range rapid.IntRange(0, 2).Draw(t, "faults") {
			a.disturb()
		}

		before := a.read()
		request := a.create()
		after := a.read()
		said := map[string]string{"simulate and diff": a.compared(before, after, request)}

		// Of a Grant of a former request explain says that it goes first, and not what comes after that.
		if outcome, says := a.explained(after, request); outcome != clusterrequest.OutcomeReplaced {
			said["explain"] = says
		}
		a.done(request)
		for who, says := range said {
			if diff := cmp.Diff(a.written(request), says); diff != "" {
				t.Errorf("%s (-written +said):\n%s", who, diff)
			}
		}
	})
}

// agreement is a hub of one Purpose p, the shared Clusters a and b, and requests.
type agreement struct {
	*rapid.T

	tb     testing.TB
	hub    *reconciler
	server client.Client
	made   int
}

func newAgreement(tb testing.TB, t *rapid.T) *agreement {
	tb.Helper()
	hub, server, _ := newTestReconciler(tb)
	return &agreement{T: t, tb: tb, hub: hub, server: server}
}

func (a *agreement) check(err error) {
	a.tb.Helper()
	if err != nil {
		a.Fatal(err)
	}
}

// create creates a request. The name can be that of a former request, whose Grant is still there.
func (a *agreement) create() *openmcpv1alpha1.ClusterRequest {
	a.made++
	request := &openmcpv1alpha1.ClusterRequest{ObjectMeta: metav1.ObjectMeta{
		Namespace: "team-a", Name: fmt.Sprintf("r%d", a.made), UID: types.UID(fmt.Sprintf("uid-%d", a.made)),
		CreationTimestamp: metav1.NewTime(time.Date(2026, 1, 1, 0, a.made, 0, 0, time.UTC)),
	}}
	request.Spec.Purposes = []openmcpv1alpha1.PurposeName{
		openmcpv1alpha1.PurposeName(rapid.SampledFrom([]string{"p", "p", "p", "missing"}).Draw(a.T, "purpose")),
	}

	if rapid.Bool().Draw(a.T, "former") {
		former := request.DeepCopy()
		former.UID = "former"
		if rapid.Bool().Draw(a.T, "of another spec") {
			former.Spec.Purposes = []openmcpv1alpha1.PurposeName{"other"}
		}
		grant := testGrant(former.UID, former)
		grant.Spec.Cluster.ClusterSpec = testCluster("b").Spec
		a.check(a.server.Create(a.Context(), grant))
		a.hub.ledger.change(func(c *clusterrequest.Catalog) { c.SetGrant(grant) })
	}

	a.check(a.server.Create(a.Context(), request))
	return request
}

// disturb takes a Cluster away, or marks it as being deleted.
func (a *agreement) disturb() {
	key := types.NamespacedName{Namespace: "team-a", Name: rapid.SampledFrom([]string{"a", "b"}).Draw(a.T, "cluster")}
	cluster := &openmcpv1alpha1.Cluster{}
	if err := a.server.Get(a.Context(), key, cluster); apierrors.IsNotFound(err) {
		return
	} else if err != nil {
		a.Fatal(err)
	}
	a.check(a.server.Delete(a.Context(), cluster))
	a.check(a.hub.ledger.read(a.Context(), key))
}

// done has the controller reconcile a request until nothing is left to do, and see what it wrote.
func (a *agreement) done(request *openmcpv1alpha1.ClusterRequest) {
	for range 6 {
		_, err := a.hub.Reconcile(a.Context(), reconcile.Request{NamespacedName: client.ObjectKeyFromObject(request)})
		a.check(err)
	}
	a.check(a.server.Get(a.Context(), client.ObjectKeyFromObject(request), request))
}

// read returns the objects that the tools read of the hub.
func (a *agreement) read() *requests.Objects {
	objects := &requests.Objects{
		Purposes: []*openmcpv1alpha1.Purpose{{ObjectMeta: metav1.ObjectMeta{Name: "p"}}},
	}

	all, grants, clusters := &openmcpv1alpha1.ClusterRequestList{}, &openmcpv1alpha1.ClusterRequestGrantList{}, &openmcpv1alpha1.ClusterList{}
	for _, list := range []client.ObjectList{all, grants, clusters} {
		a.check(a.server.List(a.Context(), list))
	}
	for i := range all.Items {
		objects.Requests = append(objects.Requests, &all.Items[i])
	}
	for i := range grants.Items {
		objects.Grants = append(objects.Grants, &grants.Items[i])
	}

	for i := range clusters.Items {
		objects.Clusters = append(objects.Clusters, &clusters.Items[i])
	}
	return objects
}

// result is the result of a request: the Cluster of its Grant, or the status and the reason.
func result(status, reason, cluster string) string {
	if cluster != "" {
		return "Granted " + cluster
	}
	return status + ", " + reason
}

// explained is what explain says of a request.
func (a *agreement) explained(
	objects *requests.Objects, request *openmcpv1alpha1.ClusterRequest,
) (outcome clusterrequest.Outcome, says string) {
	report := requests.NewReport(objects, request, metav1.NewTime(a.hub.clock.Now()))
	cluster := ""
	if report.Cluster != nil {
		cluster = report.Cluster.Namespace + "/" + report.Cluster.Name
	}
	return clusterrequest.Outcome(report.Outcome), result(report.Status, report.Reason, cluster)
}

// compared is what diff and simulate say of a request that one of two states lacks.
func (a *agreement) compared(before, after *requests.Objects, request *openmcpv1alpha1.ClusterRequest) string {
	differences := requests.Compare(before, after, metav1.NewTime(a.hub.clock.Now())).Requests
	at := slices.IndexFunc(differences, func(d requests.RequestDifference) bool { return d.Name == request.Name })
	if at < 0 {
		return "no difference"
	}
	_, cluster, granted := strings.Cut(differences[at].After, "Cluster ")
	if granted {
		return result("", "", cluster)
	}
	return differences[at].After
}

// written is what the controller has made of a request.
func (a *agreement) written(request *openmcpv1alpha1.ClusterRequest) string {
	grant := &openmcpv1alpha1.ClusterRequestGrant{}
	err := a.server.Get(a.Context(), client.ObjectKeyFromObject(request), grant)
	if client.IgnoreNotFound(err) != nil {
		a.Fatal(err)
	}
	cluster := ""
	if err == nil && clusterrequest.GrantOwner(grant) == request.UID {
		cluster = grant.Spec.ClusterRef.Namespace + "/" + grant.Spec.ClusterRef.Name
	}
	return result(string(request.Status.Status), request.Status.Reason, cluster)
}
