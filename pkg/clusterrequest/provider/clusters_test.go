// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
)

const ours = openmcpv1alpha1.ProviderFinalizer

// The steps of a reconcile.
const (
	guard      = "Patch Cluster [" + ours + "]"
	free       = "Patch Cluster []"
	applyLease = "Apply Lease"
	endLease   = "Delete Lease"
	setStatus  = "Apply status"
)

var errAway = errors.New("the cloud is away")

func TestALifeOfACluster(t *testing.T) {
	w := newWorld(t, web(providerName), leased(leaseHome))
	w.expectSteps("cluster-request 4.4: the finalizer comes before the Provider is asked for anything", guard)
	w.expectSteps("cluster-request 4.6: the Lease comes before the first ClusterHealthy=True", "Ensure", applyLease, setStatus)
	cluster := w.cluster()
	if cluster.Status.Phase != openmcpv1alpha1.ClusterSucceeded || !meta.IsStatusConditionTrue(cluster.Status.Conditions, "ClusterHealthy") {
		t.Errorf("status %+v", cluster.Status)
	}
	if !slices.Equal(cluster.Status.Endpoints, w.made.state.Endpoints) {
		t.Errorf("endpoints %v", cluster.Status.Endpoints)
	}

	w.expectSteps("law 4: nothing has changed", "Ensure")
	if err := w.api.Delete(t.Context(), cluster); err != nil {
		t.Fatal(err)
	}
	w.expectSteps("cluster-request C56: no other finalizer is left", setStatus, "TearDown", endLease, free)
	if w.lease(leaseHome) != nil {
		t.Error("the Lease is still there")
	}
	w.expectSteps("cluster-request 4.4: the Cluster is gone", "Forget shop/web")
}

func TestClustersOfOthers(t *testing.T) {
	w := newWorld(t, web("other"), leased(leaseHome))
	w.expectSteps("cluster-request C37: a Cluster of another provider", "Forget shop/web")
	if finalizers := w.cluster().Finalizers; len(finalizers) > 0 {
		t.Errorf("finalizers %v", finalizers)
	}
}

func TestTearDownWaits(t *testing.T) {
	request := openmcpv1alpha1.RequestFinalizerPrefix + "u"
	w := newWorld(t, deleted(ours, request), leased(leaseHome))
	w.expectSteps("cluster-request C56: a request is still on the Cluster", "Ensure", applyLease, setStatus)
	if phase := w.cluster().Status.Phase; phase != openmcpv1alpha1.ClusterDeleting {
		t.Errorf("phase %s", phase)
	}
	w = newWorld(t, deleted(ours, openmcpv1alpha1.InventoryFinalizer), leased(leaseHome))
	w.expectSteps("cluster-request C68: the ManagedCluster is not drained yet", "Ensure", applyLease, setStatus)
	w = newWorld(t, deleted(openmcpv1alpha1.InventoryFinalizer), leased(leaseHome))
	w.expectSteps("cluster-request 4.4: the provider has nothing on a Cluster that is being deleted")
}

// The cache may show a deleted Cluster while another one of its name has taken its place.
func TestTearDownReadsTheCluster(t *testing.T) {
	for _, tc := range []struct {
		reason string
		live   *openmcpv1alpha1.Cluster
	}{
		{"law 6: another Cluster of the name", func() *openmcpv1alpha1.Cluster {
			c := web(providerName, ours)
			c.UID = "another"
			return c
		}()},
		{"law 6: a finalizer that the cache does not show", deleted(ours, openmcpv1alpha1.InventoryFinalizer)},
		{"cluster-request 4.4: the Cluster is gone", nil},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			w := newWorld(t, deleted(ours), leased(leaseHome))
			w.live = newWorld(t).api
			if tc.live != nil {
				w.live = newWorld(t, tc.live).api
			}
			w.expectSteps(tc.reason)
		})
	}
}

func TestFailedTearDownKeepsTheFinalizer(t *testing.T) {
	w := newWorld(t, deleted(ours), leased(leaseHome))
	w.made.err = errAway
	_, err := w.Reconcile(t.Context(), reconcile.Request{NamespacedName: webAt})
	if !errors.Is(err, errAway) || !slices.Contains(w.cluster().Finalizers, ours) {
		t.Errorf("%v, finalizers %v", err, w.cluster().Finalizers)
	}
}

func TestStatesOfClusters(t *testing.T) {
	for _, tc := range []struct {
		reason        string
		before, after State
		err           error
		phase         openmcpv1alpha1.ClusterPhase
		healthy       metav1.ConditionStatus
		condition     string
		again         time.Duration
	}{
		{
			reason: "cluster-request 4.1.1: a start that takes long", after: State{Reason: "Starting", Message: "m", Again: time.Second},
			phase: openmcpv1alpha1.ClusterPending, healthy: metav1.ConditionFalse, condition: "Starting", again: time.Second,
		},
		{
			reason: "cluster-request 4.1.1: a start that failed", after: State{Failed: true, Reason: "Broken", Message: "m"},
			phase: openmcpv1alpha1.ClusterFailed, healthy: metav1.ConditionFalse, condition: "Broken", again: DefaultLeaseDuration / renewals,
		},
		{
			reason: "law 6: a healthy cluster that cannot be looked at stays healthy",
			before: State{Healthy: true, Reason: "Running", Message: "m"}, err: errAway,
			phase: openmcpv1alpha1.ClusterSucceeded, healthy: metav1.ConditionTrue, condition: "Running", again: retryInterval,
		},
		{
			reason: "cluster-request 4.4: nobody knows the state of a new cluster", err: errAway,
			phase: openmcpv1alpha1.ClusterPending, healthy: metav1.ConditionFalse, condition: reasonStateUnknown, again: retryInterval,
		},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			w := newWorld(t, web(providerName, ours), leased(leaseHome))
			if tc.before.Reason != "" {
				w.made.state = tc.before
				w.reconcileOnce()
			}
			w.made.state, w.made.err = tc.after, tc.err
			_, again := w.reconcileOnce()

			cluster := w.cluster()
			health := meta.FindStatusCondition(cluster.Status.Conditions, openmcpv1alpha1.ConditionClusterHealthy)
			if cluster.Status.Phase != tc.phase || again != tc.again ||
				health == nil || health.Status != tc.healthy || health.Reason != tc.condition {
				t.Errorf("phase %s, condition %+v, again after %s", cluster.Status.Phase, health, again)
			}
		})
	}
}

// The hub has conditions and fields of its own in the status.
func TestStatusOfTheHubStays(t *testing.T) {
	cluster := web(providerName, ours)
	cluster.Status.ManagedCluster = "shop-web-abcdef"
	cluster.Status.Conditions = []metav1.Condition{{
		Type: openmcpv1alpha1.ConditionPublished, Status: metav1.ConditionTrue, Reason: "Published",
	}}

	own := ownStatus(cluster)
	if own.ManagedCluster != "" || len(own.Conditions) > 0 {
		t.Errorf("T4: the provider would write %+v", own)
	}
	w := newWorld(t, cluster, leased(leaseHome))
	w.expectSteps("cluster-request 4.1.1: the status of the provider", "Ensure", applyLease, setStatus)
	w.expectSteps("law 4: a settled Cluster", "Ensure")
}

func TestAFailedReadOfTheProviderRenewsNothing(t *testing.T) {
	w := newWorld(t, web(providerName, ours), leased(leaseHome))
	w.cached = failing{w.api}
	if _, err := w.Reconcile(t.Context(), reconcile.Request{NamespacedName: webAt}); !errors.Is(err, errAway) {
		t.Errorf("got %v", err)
	}
	if w.lease("shop") != nil || w.lease(leaseHome) != nil {
		t.Error("trust 2: a Lease was written although its namespace is not known")
	}
}

// failing is a reader that finds no ClusterProvider because of an error.
type failing struct{ client.Reader }

// Get returns errAway for ClusterProviders.
func (f failing) Get(ctx context.Context, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
	if _, is := object.(*openmcpv1alpha1.ClusterProvider); is {
		return errAway
	}
	return f.Reader.Get(ctx, key, object, options...)
}
