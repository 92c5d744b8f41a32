// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/apis/scheme"
	"github.com/placement-hub/placement-hub/pkg/clusterrequest"
	"github.com/placement-hub/placement-hub/pkg/hub/consistency"
	"github.com/placement-hub/placement-hub/pkg/hub/queue"
	"github.com/placement-hub/placement-hub/pkg/metrics"
)

// reads counts the reads from the API server.
type reads struct {
	client.Reader

	n int
}

func (r *reads) Get(ctx context.Context, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
	r.n++
	return r.Reader.Get(ctx, key, object, options...)
}

// newTestReconciler has the Clusters a and b, which are shared and empty, and an API server with further objects that the ledger lacks.
func newTestReconciler(tb testing.TB, objects ...client.Object) (*reconciler, client.Client, *reads) {
	tb.Helper()
	known := []*openmcpv1alpha1.Cluster{testCluster("a"), testCluster("b")}
	builder := fake.NewClientBuilder().WithScheme(scheme.New()).WithStatusSubresource(&openmcpv1alpha1.ClusterRequest{})

	byName := func(object client.Object) []string { return []string{object.GetName()} }
	for _, kind := range []client.Object{
		&openmcpv1alpha1.ClusterRequest{}, &openmcpv1alpha1.ClusterRequestGrant{}, &openmcpv1alpha1.Cluster{},
		&apiextensionsv1.CustomResourceDefinition{},
	} {
		builder = builder.WithIndex(kind, metav1.ObjectNameField, byName) // API servers have it.
	}

	server := builder.WithObjects(append(objects, known[0], known[1])...).Build()
	live := &reads{Reader: server}
	l := newLedger(live, server, clusterrequest.Options{})
	l.change(func(c *clusterrequest.Catalog) {
		c.SetPurpose(&openmcpv1alpha1.Purpose{ObjectMeta: metav1.ObjectMeta{Name: "p"}})
	})

	for _, cluster := range known {
		if err := l.read(tb.Context(), client.ObjectKeyFromObject(cluster)); err != nil {
			tb.Fatal(err)
		}
	}
	live.n = 0
	return &reconciler{
		ledger: l, cached: server, live: live, writer: server, clock: clock.RealClock{}, recorder: events.NewFakeRecorder(10),
		conflicts: queue.NewConflictBackoff[reconcile.Request](), written: consistency.NewStore(clock.RealClock{}),
		states: metrics.NewRequestStates[types.NamespacedName](),
	}, server, live
}

func testCluster(name string) *openmcpv1alpha1.Cluster {
	cluster := &openmcpv1alpha1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: name, UID: types.UID(name)}}
	cluster.Spec.Purposes, cluster.Spec.Tenancy = []openmcpv1alpha1.PurposeName{"p"}, openmcpv1alpha1.TenancyShared
	return cluster
}

// testGrant is a Grant of the request of that UID on the Cluster b.
func testGrant(owner types.UID, request *openmcpv1alpha1.ClusterRequest) *openmcpv1alpha1.ClusterRequestGrant {
	grant := &openmcpv1alpha1.ClusterRequestGrant{ObjectMeta: metav1.ObjectMeta{
		Namespace: request.Namespace, Name: request.Name, OwnerReferences: []metav1.OwnerReference{{
			APIVersion: openmcpv1alpha1.GroupVersion.String(), Kind: "ClusterRequest", Name: request.Name, UID: owner,
		}},
	}}
	grant.Spec.ClusterRef, grant.Spec.Prefix = openmcpv1alpha1.NamespacedName{Namespace: "team-a", Name: "b"}, "foo-"
	grant.Status.Request = &openmcpv1alpha1.ClusterRequestSnapshot{Spec: request.Spec}
	return grant
}

// expectGranted expects that the request is granted a Cluster, and has a finalizer on no other one.
func expectGranted(t *testing.T, server client.Client, request *openmcpv1alpha1.ClusterRequest, want string) {
	t.Helper()
	grant := &openmcpv1alpha1.ClusterRequestGrant{}
	if err := server.Get(t.Context(), client.ObjectKeyFromObject(request), grant); err != nil {
		t.Fatal(err)
	}
	if clusterrequest.GrantOwner(grant) != request.UID || grant.Spec.ClusterRef.Name != want {
		t.Errorf("the Grant is of %s on %s", clusterrequest.GrantOwner(grant), grant.Spec.ClusterRef.Name)
	}

	clusters := &openmcpv1alpha1.ClusterList{}
	if err := server.List(t.Context(), clusters); err != nil {
		t.Fatal(err)
	}
	var with []string
	for i := range clusters.Items {
		if clusterrequest.HasRequest(&clusters.Items[i], request.UID) {
			with = append(with, clusters.Items[i].Name)
		}
	}

	if diff := cmp.Diff([]string{want}, with); diff != "" {
		t.Errorf("Clusters with the finalizer of the request (-want +got):\n%s", diff)
	}
	err := server.Get(t.Context(), client.ObjectKeyFromObject(request), request)
	if err != nil || request.Status.Status != openmcpv1alpha1.RequestGranted {
		t.Errorf("%v, %+v", err, request.Status)
	}
}

func reconcileUntilDone(t *testing.T, r *reconciler, request *openmcpv1alpha1.ClusterRequest) {
	t.Helper()
	for range 3 {
		result, err := r.Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKeyFromObject(request)})
		if err != nil {
			t.Fatal(err)
		}
		if result.RequeueAfter == 0 {
			return
		}
	}

	t.Error("it conflicts again and again")
}

func TestNewRequestIsGrantedWithoutReads(t *testing.T) {
	request := newRequest("r")
	r, server, live := newTestReconciler(t, request)
	reconcileUntilDone(t, r, request)
	expectGranted(t, server, request, "a")
	if live.n != 0 {
		t.Errorf("%d reads from the API server", live.n)
	}
}

// After a restart the cache may lack the Grant that a former hub has written (law 9).
func TestRequestThatWasGrantedKeepsAGrantThatTheCacheLacks(t *testing.T) {
	request := newRequest("r")
	request.Finalizers = []string{openmcpv1alpha1.RequestFinalizer}
	r, server, _ := newTestReconciler(t, request, testGrant("r", request))
	reconcileUntilDone(t, r, request)
	expectGranted(t, server, request, "b")
}

func TestNewRequestAdoptsAGrantThatTheCacheLacks(t *testing.T) { // C60
	request := newRequest("r")
	r, server, _ := newTestReconciler(t, request, testGrant("former", request))
	reconcileUntilDone(t, r, request)
	expectGranted(t, server, request, "b")
}

// frozen is a cache that does not show what is written.
type frozen struct {
	client.Reader

	request *openmcpv1alpha1.ClusterRequest
}

func (f frozen) Get(_ context.Context, _ client.ObjectKey, object client.Object, _ ...client.GetOption) error {
	f.request.DeepCopyInto(object.(*openmcpv1alpha1.ClusterRequest))
	return nil
}

func TestRequestIsNotWrittenAgainBeforeTheCacheShowsTheLastWrite(t *testing.T) {
	request := newRequest("r")
	r, server, _ := newTestReconciler(t, request)
	r.cached = frozen{request: request.DeepCopy()}
	reconcileUntilDone(t, r, request)
	expectGranted(t, server, request, "a")

	sent := 0
	r.writer = interceptor.NewClient(server.(client.WithWatch), interceptor.Funcs{
		Patch: func(ctx context.Context, c client.WithWatch, object client.Object, patch client.Patch, options ...client.PatchOption) error {
			sent++
			return c.Patch(ctx, object, patch, options...)
		},
		SubResourcePatch: func(
			ctx context.Context, c client.Client, of string, object client.Object, patch client.Patch, options ...client.SubResourcePatchOption,
		) error {
			sent++
			return c.SubResource(of).Patch(ctx, object, patch, options...)
		},
	})

	key := reconcile.Request{NamespacedName: client.ObjectKeyFromObject(request)}
	if result, err := r.Reconcile(t.Context(), key); err != nil || sent > 0 || result.RequeueAfter <= 0 || result.RequeueAfter > consistency.Timeout {
		t.Errorf("%v, %+v, %d patches of a state that is known to be old", err, result, sent)
	}

	// The cache shows the write of the hub, and then that of a user who removes the status.
	r.cached = server
	reconcileUntilDone(t, r, request)
	if err := server.Get(t.Context(), client.ObjectKeyFromObject(request), request); err != nil {
		t.Fatal(err)
	}
	request.Status = openmcpv1alpha1.ClusterRequestStatus{}
	if err := server.Status().Update(t.Context(), request); err != nil || sent > 0 {
		t.Fatalf("%v, %d patches without a change", err, sent)
	}

	reconcileUntilDone(t, r, request)
	expectGranted(t, server, request, "a")
	if sent != 1 {
		t.Errorf("%d patches, want that of the status", sent)
	}
}
