// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/clusterrequest"
	"github.com/placement-hub/placement-hub/pkg/hub/queue"
)

// losing is a reconciler of a granted request that is being deleted, with what it writes.
type losing struct {
	*reconciler

	server  client.Client
	request *openmcpv1alpha1.ClusterRequest
	clock   *clocktesting.FakeClock
	// writes are the writes that were sent, each with whether it names the version that it was decided by.
	writes []string
	// during is called at each write, before it is done.
	during func(write string)
}

// newLosing returns a request with a Grant on the Cluster b, which is deleted with its last request.
func newLosing(t *testing.T, objects ...client.Object) *losing {
	t.Helper()
	request := newRequest("r")
	request.Finalizers = []string{openmcpv1alpha1.RequestFinalizer}
	grant := testGrant("r", request)
	r, server, _ := newTestReconciler(t, append(objects, request, grant)...)
	l := &losing{reconciler: r, server: server, request: request, clock: clocktesting.NewFakeClock(time.Now()), during: func(string) {}}
	cluster := &openmcpv1alpha1.Cluster{}
	for _, prepare := range []func() error{
		func() error {
			return server.Get(t.Context(), client.ObjectKey{Namespace: "team-a", Name: "b"}, cluster)
		},
		func() error {
			cluster.Labels = map[string]string{openmcpv1alpha1.DeleteWithoutRequestsLabel: "true"}
			cluster.Finalizers = []string{openmcpv1alpha1.ProviderFinalizer, openmcpv1alpha1.RequestFinalizerPrefix + "r"}
			return server.Update(t.Context(), cluster)
		},
		func() error { return l.ledger.read(t.Context(), client.ObjectKeyFromObject(cluster)) },
		func() error { return server.Delete(t.Context(), request) },
		func() error { return server.Get(t.Context(), client.ObjectKeyFromObject(request), request) },
	} {
		if err := prepare(); err != nil {
			t.Fatal(err)
		}
	}

	watched, is := server.(client.WithWatch)
	if !is {
		t.Fatal("the client cannot watch")
	}
	writer := interceptor.NewClient(watched, interceptor.Funcs{Delete: l.delete, Patch: l.patch})
	r.writer, r.ledger.writer, r.clock = writer, writer, l.clock
	return l
}

func (l *losing) delete(ctx context.Context, c client.WithWatch, object client.Object, options ...client.DeleteOption) error {
	sent := (&client.DeleteOptions{}).ApplyOptions(options)
	l.note(fmt.Sprintf("delete %T", object),
		sent.Preconditions != nil && sent.Preconditions.UID != nil && sent.Preconditions.ResourceVersion != nil)
	return c.Delete(ctx, object, options...)
}

func (l *losing) patch(ctx context.Context, c client.WithWatch, object client.Object, patch client.Patch, options ...client.PatchOption) error {
	data, err := patch.Data(object)
	if err != nil {
		return fmt.Errorf("encode: %w", err)
	}
	var sent metav1.PartialObjectMetadata
	if err := json.Unmarshal(data, &sent); err != nil {
		return fmt.Errorf("decode: %w", err)
	}
	l.note(fmt.Sprintf("patch %T", object), sent.ResourceVersion != "")
	return c.Patch(ctx, object, patch, options...)
}

func (l *losing) note(write string, conditional bool) {
	l.during(write)
	l.writes = append(l.writes, fmt.Sprintf("%s conditional=%t", write, conditional))
}

// reconcileOnce reconciles the request.
func (l *losing) reconcileOnce(t *testing.T) {
	t.Helper()
	_, err := l.Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKeyFromObject(l.request)})
	if err != nil {
		t.Error(err)
	}
}

const (
	deletesCluster = "delete *v1alpha1.Cluster"
	leavesCluster  = "patch *v1alpha1.Cluster"
	deletesGrant   = "delete *v1alpha1.ClusterRequestGrant"
	freesRequest   = "patch *v1alpha1.ClusterRequest"
)

// docs/spec/differences.md B13: each write that takes something away is one request with the version that it was decided by.
func TestWritesThatLoseAreConditional(t *testing.T) {
	l := newLosing(t)
	l.reconcileOnce(t)
	var want []string
	for _, write := range []string{deletesCluster, leavesCluster, deletesGrant, freesRequest} {
		want = append(want, write+" conditional=true")
	}
	if diff := cmp.Diff(want, l.writes); diff != "" {
		t.Errorf("writes (-want +got):\n%s", diff)
	}
}

// docs/spec/differences.md B13: what is left of an outdated decision is dropped.
func TestAnOutdatedReleaseIsDropped(t *testing.T) {
	for _, test := range []struct {
		reason string
		during func(*losing)
		cached bool
		want   int
	}{
		{"nothing changes", func(*losing) {}, false, 4},
		{"the request is ignored after the first write", (*losing).ignore, false, 1},
		{"the cache does not show it yet, and the proof counts", (*losing).ignore, true, 4},
		{"the cache does not show it, and the proof is old", func(l *losing) {
			l.ignore()
			l.clock.Step(proofValidity + time.Second)
		}, true, 1},
	} {
		t.Run(test.reason, func(t *testing.T) {
			l := newLosing(t)
			l.during = func(string) {
				if len(l.writes) == 0 {
					test.during(l)
				}
			}
			if test.cached {
				l.cached = frozen{request: l.request.DeepCopy()}
			}
			l.reconcileOnce(t)

			// The last write conflicts with the annotation.
			if len(l.writes) != test.want {
				t.Errorf("%d writes, want %d: %q", len(l.writes), test.want, l.writes)
			}
		})
	}
}

// ignore has the request ignored, as its owner may.
func (l *losing) ignore() {
	patch := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"annotations":{"`+
		openmcpv1alpha1.OperationAnnotation+`":"`+openmcpv1alpha1.OperationIgnore+`"}}}`))
	if err := l.server.Patch(context.Background(), l.request.DeepCopy(), patch); err != nil {
		panic(err)
	}
}

// docs/spec/trust.md T2: a request that is deleted with its definition keeps what it has.
func TestRequestThatGoesWithItsDefinitionReleasesNothing(t *testing.T) {
	l := newLosing(t, requestsDefinition(true))
	l.reconcileOnce(t)
	if len(l.writes) > 0 {
		t.Errorf("it wrote %q", l.writes)
	}
}

// requestsDefinition returns the definition of ClusterRequests, created now.
func requestsDefinition(terminating bool) *apiextensionsv1.CustomResourceDefinition {
	definition := &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{
		Name: requestDefinition, CreationTimestamp: metav1.Now(),
	}}
	if terminating {
		definition.DeletionTimestamp, definition.Finalizers = new(metav1.Now()), []string{"customresourcecleanup.apiextensions.k8s.io"}
	}
	return definition
}

// docs/spec/trust.md T2: finalizers of requests that are missing stay on a Cluster that is older than the definition of requests.
func TestOrphansOfALostDefinitionStay(t *testing.T) {
	for _, test := range []struct {
		reason string
		older  bool
		want   int
	}{{"the Cluster is older than the definition", true, 1}, {"the definition is older", false, 0}} {
		t.Run(test.reason, func(t *testing.T) {
			cluster := testCluster("c")
			cluster.Finalizers = []string{openmcpv1alpha1.RequestFinalizerPrefix + "lost"}
			cluster.CreationTimestamp = metav1.NewTime(time.Now().Add(time.Hour))
			if test.older {
				cluster.CreationTimestamp = metav1.NewTime(time.Now().Add(-time.Hour))
			}

			r, server, _ := newTestReconciler(t, cluster, requestsDefinition(false))
			recorder := events.NewFakeRecorder(1)
			o := &orphans{
				ledger: r.ledger, cached: unindexed{server}, live: server, recorder: recorder,
				conflicts: queue.NewConflictBackoff[reconcile.Request](),
			}
			key := client.ObjectKeyFromObject(cluster)
			if _, err := o.Reconcile(t.Context(), reconcile.Request{NamespacedName: key}); err != nil {
				t.Fatal(err)
			}

			if err := server.Get(t.Context(), key, cluster); err != nil {
				t.Fatal(err)
			}
			if got := len(clusterrequest.RequestUIDs(cluster)); got != test.want {
				t.Errorf("%d finalizers, want %d", got, test.want)
			}
			if event := <-recorder.Events; strings.Contains(event, reasonOrphansHeld) != test.older {
				t.Errorf("Event %q", event)
			}
		})
	}
}

// unindexed is a cache in which no index finds anything.
type unindexed struct{ client.Reader }

func (u unindexed) List(context.Context, client.ObjectList, ...client.ListOption) error { return nil }
