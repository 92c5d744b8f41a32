// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/apis/scheme"
	"github.com/placement-hub/placement-hub/pkg/clusterrequest"
	"github.com/placement-hub/placement-hub/pkg/hub/queue"
	"github.com/placement-hub/placement-hub/test/fakeapi"
)

const (
	providerName = "gardener"
	leaseHome    = "clusterprovider-gardener"
)

var (
	start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	webAt = types.NamespacedName{Namespace: "shop", Name: "web"}
)

// recorder is a Provider that records its calls, and a part of a world.
type recorder struct {
	state    State
	err      error
	profiles []openmcpv1alpha1.Profile
	log      func(string)
}

func (r *recorder) Profiles(context.Context, client.Reader) ([]openmcpv1alpha1.Profile, error) {
	return r.profiles, r.err
}

func (r *recorder) Ensure(context.Context, *openmcpv1alpha1.Cluster) (State, error) {
	r.log("Ensure")
	return r.state, r.err
}

func (r *recorder) TearDown(context.Context, *openmcpv1alpha1.Cluster) error {
	r.log("TearDown")
	return r.err
}

func (r *recorder) Forget(_ context.Context, cluster types.NamespacedName) error {
	r.log("Forget " + cluster.String())
	return r.err
}

// world is a reconciler of Clusters over a fake API server, with the calls of its Provider and its writes in their order.
type world struct {
	*clusterReconciler
	t *testing.T

	api   client.Client
	clock *clocktesting.FakePassiveClock
	made  *recorder
	steps []string
}

func newWorld(t *testing.T, objects ...client.Object) *world {
	t.Helper()
	w := &world{t: t, clock: clocktesting.NewFakePassiveClock(start)}
	w.made = &recorder{log: w.log, state: State{
		Healthy: true, Reason: "Running", Message: "it runs", Endpoints: []openmcpv1alpha1.Endpoint{{Name: "apiserver-external", URL: "https://x"}},
	}}
	w.api = fake.NewClientBuilder().WithScheme(scheme.Known()).WithObjects(objects...).
		WithStatusSubresource(&openmcpv1alpha1.Cluster{}, &openmcpv1alpha1.ClusterProvider{}).WithInterceptorFuncs(fakeapi.Observe(w.see)).Build()
	w.restart()
	return w
}

// restart makes a new reconciler, as a restart of the provider does.
func (w *world) restart() {
	settings := Settings{Name: providerName, Provider: w.made, LeaseDuration: DefaultLeaseDuration, Queue: queue.Settings{Clock: w.clock}}
	writer := client.WithFieldOwner(w.api, FieldManager(providerName))
	w.clusterReconciler = &clusterReconciler{
		name: providerName, provider: w.made, cached: w.api, live: w.api, writer: writer, clock: w.clock,
		leases: newLeases(settings, w.api, writer), conflicts: queue.NewConflictBackoff[reconcile.Request](),
	}
}

func (w *world) log(step string) { w.steps = append(w.steps, step) }

// see logs a write.
func (w *world) see(write fakeapi.Write) {
	switch object, is := write.Object.(client.Object); {
	case write.Subresource != "":
		w.log("Apply " + write.Subresource)
	case write.Verb == "patch" && is:
		w.log(fmt.Sprintf("Patch %s %v", write.Kind(), object.GetFinalizers()))
	default:
		w.log(strings.ToUpper(write.Verb[:1]) + write.Verb[1:] + " " + write.Kind())
	}
}

// reconcileOnce reconciles the Cluster and returns what was done, and when it is due again.
func (w *world) reconcileOnce() (steps []string, again time.Duration) {
	w.t.Helper()
	w.steps = nil
	result, err := w.Reconcile(w.t.Context(), reconcile.Request{NamespacedName: webAt})
	if err != nil {
		w.t.Fatal(err)
	}
	return w.steps, result.RequeueAfter
}

// expectSteps reconciles the Cluster and compares what was done.
func (w *world) expectSteps(reason string, want ...string) {
	w.t.Helper()
	got, _ := w.reconcileOnce()
	if diff := cmp.Diff(want, got); diff != "" {
		w.t.Fatalf("%s: steps (-want +got):\n%s", reason, diff)
	}
}

func (w *world) cluster() *openmcpv1alpha1.Cluster {
	w.t.Helper()
	cluster := &openmcpv1alpha1.Cluster{}
	if err := w.api.Get(w.t.Context(), webAt, cluster); err != nil {
		w.t.Fatal(err)
	}
	return cluster
}

// lease returns the Lease of the Cluster in a namespace; nil if there is none.
func (w *world) lease(namespace string) *coordinationv1.Lease {
	w.t.Helper()
	lease := &coordinationv1.Lease{}
	err := w.api.Get(w.t.Context(), types.NamespacedName{Namespace: namespace, Name: clusterrequest.LeaseName("uid")}, lease)
	if client.IgnoreNotFound(err) != nil {
		w.t.Fatal(err)
	}
	if err != nil {
		return nil
	}
	return lease
}

// web returns a Cluster of a provider with finalizers.
func web(provider string, finalizers ...string) *openmcpv1alpha1.Cluster {
	cluster := &openmcpv1alpha1.Cluster{ObjectMeta: metav1.ObjectMeta{
		Namespace: webAt.Namespace, Name: webAt.Name, UID: "uid", Generation: 1, Finalizers: slices.Clone(finalizers),
	}}
	cluster.Spec.ClusterProviderRef = openmcpv1alpha1.ClusterProviderReference{Name: provider, Profile: "aws"}
	cluster.Spec.Tenancy = openmcpv1alpha1.TenancyShared
	return cluster
}

// deleted returns web while it is being deleted.
func deleted(finalizers ...string) *openmcpv1alpha1.Cluster {
	cluster := web(providerName, finalizers...)
	cluster.DeletionTimestamp = &metav1.Time{Time: start}
	return cluster
}

// leased returns the ClusterProvider with the namespace of its Leases.
func leased(namespace string) *openmcpv1alpha1.ClusterProvider {
	provider := &openmcpv1alpha1.ClusterProvider{ObjectMeta: metav1.ObjectMeta{Name: providerName, Generation: 1}}
	provider.Spec.LeaseNamespace = namespace
	return provider
}
