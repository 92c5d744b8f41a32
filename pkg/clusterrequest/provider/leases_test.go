// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
)

func TestLeaseOfACluster(t *testing.T) {
	w := newWorld(t, web(providerName, ours), leased(leaseHome))
	w.reconcileOnce()
	lease := w.lease(leaseHome)
	if lease == nil {
		t.Fatal("trust 2: there is no Lease in the namespace of the provider")
	}
	spec := lease.Spec
	if ptr.Deref(spec.HolderIdentity, "") != providerName || ptr.Deref(spec.LeaseDurationSeconds, 0) != 60 || !spec.RenewTime.Time.Equal(start) {
		t.Errorf("cluster-request 4.6: spec %+v", spec)
	}

	if got := lease.Annotations[openmcpv1alpha1.ClusterAnnotation]; got != webAt.String() {
		t.Errorf("annotation %q", got)
	}
	if len(lease.OwnerReferences) > 0 {
		t.Errorf("owners of another namespace: %v", lease.OwnerReferences)
	}
}

func TestRenewals(t *testing.T) {
	const interval = DefaultLeaseDuration / renewals
	w := newWorld(t, web(providerName, ours), leased(leaseHome))
	w.reconcileOnce()
	for _, tc := range []struct {
		reason  string
		after   time.Duration // of the step before
		restart bool
		renews  bool
		again   time.Duration
	}{
		{"cluster-request 4.6: not due", interval - time.Second, false, false, time.Second},
		{"cluster-request 4.6: every third of the duration", time.Second, false, true, interval},
		{"cluster-request C63: a restart renews only what is due", time.Second, true, false, interval - time.Second},
		{"cluster-request 4.6: due after a restart", interval, true, true, interval},
	} {
		w.clock.SetTime(w.clock.Now().Add(tc.after))
		if tc.restart {
			w.restart()
		}
		steps, again := w.reconcileOnce()
		if renews := len(steps) > 1; renews != tc.renews || again != tc.again {
			t.Errorf("%s: %v, again after %s", tc.reason, steps, again)
		}
	}
}

func TestLeasesMove(t *testing.T) {
	w := newWorld(t, web(providerName, ours), leased(""))
	w.reconcileOnce()
	beside := w.lease(webAt.Namespace)
	if beside == nil || len(beside.OwnerReferences) != 1 || beside.OwnerReferences[0].UID != "uid" {
		t.Fatalf("trust 2: the Lease beside the Cluster is %+v", beside)
	}
	provider := &openmcpv1alpha1.ClusterProvider{}
	if err := w.api.Get(t.Context(), client.ObjectKey{Name: providerName}, provider); err != nil {
		t.Fatal(err)
	}

	provider.Spec.LeaseNamespace = leaseHome
	if err := w.api.Update(t.Context(), provider); err != nil {
		t.Fatal(err)
	}
	w.reconcileOnce()
	if w.lease(leaseHome) == nil {
		t.Error("trust 2: no Lease in the namespace that spec.leaseNamespace names")
	}

	if w.lease(webAt.Namespace) == nil {
		t.Error("trust 2: the former Lease counts until it expires, and is gone")
	}
	if err := w.api.Delete(t.Context(), provider); err != nil {
		t.Fatal(err)
	}
	w.clock.SetTime(start.Add(time.Hour))
	w.reconcileOnce()

	if lease := w.lease(leaseHome); !lease.Spec.RenewTime.Time.Equal(start.Add(time.Hour)) {
		t.Errorf("without the ClusterProvider the Lease stays where it was, and is renewed: %s", lease.Spec.RenewTime)
	}
}

// A Lease with another holder, at the name of the Lease of the Cluster, does not count as a renewal.
func TestForeignRenewalsDoNotCount(t *testing.T) {
	w := newWorld(t, web(providerName, ours), leased(leaseHome))
	w.reconcileOnce()
	lease := w.lease(leaseHome)
	lease.Spec.HolderIdentity = ptr.To("somebody")
	lease.Spec.RenewTime = &metav1.MicroTime{Time: start.Add(time.Second)}
	if err := w.api.Update(t.Context(), lease); err != nil {
		t.Fatal(err)
	}
	w.restart()
	w.reconcileOnce()

	if got := ptr.Deref(w.lease(leaseHome).Spec.HolderIdentity, ""); got != providerName {
		t.Errorf("T4: the holder is %s", got)
	}
}

func TestANewClusterOfTheNameHasANewLease(t *testing.T) {
	w := newWorld(t, web(providerName, ours), leased(leaseHome))
	w.reconcileOnce()
	former := w.cluster()
	if err := w.api.Update(t.Context(), withoutFinalizers(former)); err != nil {
		t.Fatal(err)
	}
	if err := client.IgnoreNotFound(w.api.Delete(t.Context(), former)); err != nil {
		t.Fatal(err)
	}

	again := web(providerName, ours)
	again.UID = "another"
	if err := w.api.Create(t.Context(), again); err != nil {
		t.Fatal(err)
	}
	w.reconcileOnce()
	if w.lease(leaseHome) != nil {
		t.Error("cluster-request C24: the Lease of the former Cluster is still there")
	}
}

func withoutFinalizers(cluster *openmcpv1alpha1.Cluster) *openmcpv1alpha1.Cluster {
	freed := cluster.DeepCopy()
	freed.Finalizers = nil
	return freed
}
