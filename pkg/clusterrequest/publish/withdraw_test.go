// SPDX-License-Identifier: Apache-2.0

package publish

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	workv1 "open-cluster-management.io/api/work/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/clusterrequest"
)

// ending returns a world with a published Cluster that is being deleted, with further finalizers.
func ending(t *testing.T, finalizers ...string) *world {
	t.Helper()
	w := newWorld(t, healthy("platform"))
	w.settle()
	w.change(func(c *openmcpv1alpha1.Cluster) { c.Finalizers = append(c.Finalizers, finalizers...) })
	if err := w.api.Delete(t.Context(), w.cluster()); err != nil {
		t.Fatal(err)
	}
	w.told("")
	return w
}

// effect returns the effect of the taint of the ManagedCluster; empty without the taint.
func (w *world) effect() clusterv1.TaintEffect {
	w.t.Helper()
	for _, taint := range w.mustManaged().Spec.Taints {
		if taint.Key == openmcpv1alpha1.TerminatingTaint {
			return taint.Effect
		}
	}
	return ""
}

// decide adds a decision for the ManagedCluster.
func (w *world) decide() client.Object {
	w.t.Helper()
	page := &clusterv1beta1.PlacementDecision{ObjectMeta: metav1.ObjectMeta{
		Namespace: "team-a", Name: "p-decision-1", Labels: map[string]string{clusterv1beta1.PlacementLabel: "p"},
	}}
	page.Status.Decisions = []clusterv1beta1.ClusterDecision{{ClusterName: name}}
	if err := w.api.Create(w.t.Context(), page); err != nil {
		w.t.Fatal(err)
	}
	return page
}

func TestWithdrawal(t *testing.T) {
	w := ending(t)

	writes, again := w.reconcileOnce()
	want := []string{
		"patch ManagedCluster", "delete ManagedCluster", "delete RoleBinding", "delete ServiceAccount", "delete Namespace", "patch Cluster",
	}
	if diff := cmp.Diff(want, writes); diff != "" || again != 0 {
		t.Errorf("cluster-request C68: again after %s (-want +got):\n%s", again, diff)
	}
	if w.managed() != nil || w.get(types.NamespacedName{Name: name}, &corev1.Namespace{}) {
		t.Error("cluster-request C68: the ManagedCluster or its namespace is still there")
	}

	if cluster := w.cluster(); cluster == nil || slices.Contains(cluster.Finalizers, openmcpv1alpha1.InventoryFinalizer) ||
		!slices.Contains(cluster.Finalizers, openmcpv1alpha1.ProviderFinalizer) {
		t.Errorf("cluster-request 4.6: the hub takes its own finalizer off, and no other: %+v", cluster)
	}
}

func TestDrain(t *testing.T) {
	w := ending(t)
	page := w.decide()
	work := &workv1.ManifestWork{ObjectMeta: metav1.ObjectMeta{Namespace: name, Name: "of-an-agent"}}
	if err := w.api.Create(t.Context(), work); err != nil {
		t.Fatal(err)
	}
	if _, again := w.reconcileOnce(); again <= 0 || w.effect() != clusterv1.TaintEffectNoSelect || !w.told(clusterrequest.ReasonDraining) {
		t.Errorf("cluster-request C68: taint %q, again after %s, or no Event", w.effect(), again)
	}

	if err := w.api.Delete(t.Context(), page); err != nil {
		t.Fatal(err)
	}
	if _, again := w.reconcileOnce(); again <= 0 || w.managed() == nil {
		t.Error("cluster-request C68: a ManifestWork is still in the namespace")
	}
	if err := w.api.Delete(t.Context(), work); err != nil {
		t.Fatal(err)
	}
	w.reconcileOnce()

	if w.managed() != nil || !w.told(clusterrequest.ReasonDrained) {
		t.Error("cluster-request C68: nothing is left, and the ManagedCluster is still there")
	}
}

func TestDrainTimesOut(t *testing.T) {
	w := ending(t)
	w.decide()
	w.reconcileOnce()
	w.clock.SetTime(start.Add(clusterrequest.DefaultDrainTimeout - time.Second))
	if _, again := w.reconcileOnce(); again != time.Second || w.managed() == nil {
		t.Errorf("cluster-request C69: again after %s before the timeout", again)
	}
	w.clock.SetTime(start.Add(clusterrequest.DefaultDrainTimeout))
	w.reconcileOnce()

	if w.managed() != nil || !w.told(clusterrequest.ReasonDrainTimedOut) {
		t.Error("cluster-request C69: the ManagedCluster is still there after the timeout, or no Event tells")
	}
}

// While a request has the Cluster, workload stays and none is added; the timeout counts from the end of that.
func TestRequestsHoldTheDrain(t *testing.T) {
	request := openmcpv1alpha1.RequestFinalizerPrefix + "u"
	w := ending(t, request)
	w.reconcileOnce()
	if w.effect() != clusterv1.TaintEffectNoSelectIfNew {
		t.Errorf("trust 2: taint %q while a request has the Cluster", w.effect())
	}
	if writes, _ := w.reconcileOnce(); len(writes) > 0 {
		t.Errorf("law 4: it writes %v", writes)
	}

	w.decide()
	w.clock.SetTime(start.Add(time.Hour))
	w.change(func(c *openmcpv1alpha1.Cluster) {
		c.Finalizers = slices.DeleteFunc(c.Finalizers, func(f string) bool { return f == request })
	})
	w.reconcileOnce()
	if w.effect() != clusterv1.TaintEffectNoSelect || w.managed() == nil {
		t.Errorf("trust 2: taint %q, from which the timeout counts", w.effect())
	}
}

func TestALostClusterIsWithdrawn(t *testing.T) {
	w := newWorld(t, healthy("platform"))
	w.settle()
	w.change(func(c *openmcpv1alpha1.Cluster) { c.Finalizers = nil })
	if err := w.api.Delete(t.Context(), w.cluster()); err != nil {
		t.Fatal(err)
	}
	page := w.decide()
	w.reconcileOnce()

	if w.effect() != clusterv1.TaintEffectNoSelect {
		t.Errorf("cluster-request 4.6: a Cluster that vanished is drained, too: taint %q", w.effect())
	}

	// It is created again before the end.
	if err := w.api.Create(t.Context(), healthy("platform")); err != nil {
		t.Fatal(err)
	}
	w.reconcileOnce()
	if w.effect() != "" {
		t.Errorf("cluster-request 4.6: taint %q of a Cluster that is there again", w.effect())
	}
	if err := w.api.Delete(t.Context(), page); err != nil {
		t.Fatal(err)
	}
}

// A cache that does not show a Cluster withdraws nothing while the API server has it.
func TestAnOldCacheWithdrawsNothing(t *testing.T) {
	w := newWorld(t, healthy("platform"))
	w.settle()
	cached := newWorld(t)
	if err := cached.api.Create(t.Context(), withoutVersion(w.mustManaged())); err != nil {
		t.Fatal(err)
	}
	w.client, w.objects = cached.api, cached.api
	cached.writes = nil

	if _, again := w.reconcileOnce(); again != staleDelay || len(cached.writes) > 0 {
		t.Errorf("law 6: again after %s, writes %v", again, cached.writes)
	}
}

func withoutVersion(managed *clusterv1.ManagedCluster) *clusterv1.ManagedCluster {
	managed.ResourceVersion = ""
	return managed
}

// A read that fails withdraws nothing.
func TestAFailedReadWithdrawsNothing(t *testing.T) {
	w := newWorld(t, healthy("platform"))
	w.settle()
	w.change(func(c *openmcpv1alpha1.Cluster) { c.Finalizers = nil })
	if err := w.api.Delete(t.Context(), w.cluster()); err != nil {
		t.Fatal(err)
	}
	w.writes, w.live = nil, away{w.api}
	if _, err := w.Reconcile(t.Context(), reconcile.Request{NamespacedName: webAt}); !errors.Is(err, errAway) || len(w.writes) > 0 {
		t.Errorf("law 6: %v, writes %v", err, w.writes)
	}
}

var errAway = errors.New("the API server is away")

// away is a reader whose requests fail.
type away struct{ client.Reader }

func (away) Get(context.Context, client.ObjectKey, client.Object, ...client.GetOption) error {
	return errAway
}

func (away) List(context.Context, client.ObjectList, ...client.ListOption) error { return errAway }
