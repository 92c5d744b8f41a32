// SPDX-License-Identifier: Apache-2.0

package publish

import (
	"context"
	"slices"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/workqueue"
	clocktesting "k8s.io/utils/clock/testing"
	"k8s.io/utils/ptr"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/apis/scheme"
	"github.com/placement-hub/placement-hub/pkg/clusterrequest"
)

// listing is a cache that lists what a reader has.
type listing struct {
	cache.Cache

	reader client.Reader
}

func (l listing) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	return l.reader.List(ctx, list, options...)
}

// additions is a queue that records what is added to it.
type additions struct {
	workqueue.TypedRateLimitingInterface[reconcile.Request]

	keys []string
}

func (a *additions) Add(key reconcile.Request) { a.keys = append(a.keys, key.String()) }

// expect compares what was added with the wanted keys, and forgets it.
func (a *additions) expect(t *testing.T, reason string, want ...string) {
	t.Helper()
	slices.Sort(a.keys)
	if !slices.Equal(a.keys, want) {
		t.Errorf("%s: enqueued %v, want %v", reason, a.keys, want)
	}
	a.keys = nil
}

// newHandlers returns handlers over the Clusters shop/web of the profile aws, shop/gcp of gcp and shop/other of another provider.
func newHandlers(t *testing.T) *eventHandlers {
	t.Helper()
	gcp, other := healthy("platform"), healthy("platform")
	gcp.Name, gcp.Spec.ClusterProviderRef.Profile = "gcp", "gcp"
	other.Name, other.Spec.ClusterProviderRef.Name = "other", "other"

	clusters := fake.NewClientBuilder().WithScheme(scheme.Known()).WithObjects(healthy("platform"), gcp, other).
		WithIndex(&openmcpv1alpha1.Cluster{}, managedClusterName, func(object client.Object) []string {
			return []string{clusterrequest.ManagedClusterName(client.ObjectKeyFromObject(object))}
		}).Build()
	return &eventHandlers{
		cache: listing{reader: clusters}, heartbeats: newHeartbeats(), clock: clocktesting.NewFakePassiveClock(start),
	}
}

func TestEventsOfProviders(t *testing.T) {
	h, q := newHandlers(t), &additions{}
	change := func(change func(*openmcpv1alpha1.ClusterProvider)) {
		after := gardener()
		change(after)
		h.providers().Update(t.Context(), event.UpdateEvent{ObjectOld: gardener(), ObjectNew: after}, q)
	}
	h.providers().Create(t.Context(), event.CreateEvent{Object: gardener()}, q)
	q.expect(t, "cluster-request 4.6: the traits of its profile are claims of a Cluster", "shop/web")

	change(func(p *openmcpv1alpha1.ClusterProvider) { p.Status.Message = "another" })
	q.expect(t, "law 4: nothing that a Cluster shows has changed")

	change(func(p *openmcpv1alpha1.ClusterProvider) { p.Status.Profiles[0].SupportedTraits = nil })
	q.expect(t, "law 3: a profile has changed", "shop/web")

	change(func(p *openmcpv1alpha1.ClusterProvider) { p.Spec.LeaseNamespace = "elsewhere" })
	q.expect(t, "trust 2: the Leases are elsewhere", "shop/gcp", "shop/web")

	h.providers().Delete(t.Context(), event.DeleteEvent{Object: gardener()}, q)
	q.expect(t, "law 3: the provider is gone", "shop/web")
}

func TestEventsOfManagedClusters(t *testing.T) {
	h, q := newHandlers(t), &additions{}
	own := &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{
		Name: name, Annotations: map[string]string{openmcpv1alpha1.ClusterAnnotation: webAt.String()},
	}}
	foreign := &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: name}}
	for _, tc := range []struct {
		reason string
		object client.Object
		want   []string
	}{
		{"cluster-request 4.6: that of a Cluster", own, []string{"shop/web"}},
		{"cluster-request C71: one that has taken the name of a Cluster's", foreign, []string{"shop/web"}},
		{"law 4: that of nobody", &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: "x"}}, nil},
	} {
		h.managedClusters().Delete(t.Context(), event.DeleteEvent{Object: tc.object}, q)
		q.expect(t, tc.reason, tc.want...)
	}

	if got := publishedCluster(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		Annotations: map[string]string{openmcpv1alpha1.ClusterAnnotation: "no slash"},
	}}); got != nil {
		t.Errorf("an annotation that names no Cluster: %v", got)
	}
}

func TestEventsOfLeases(t *testing.T) {
	h, q := newHandlers(t), &additions{}
	clock := clocktesting.NewFakePassiveClock(start)
	h.clock = clock
	key := client.ObjectKey{Namespace: webAt.Namespace, Name: clusterrequest.LeaseName("web")}
	lease := func(name string, renewed time.Time) *coordinationv1.Lease {
		l := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: name}}
		l.Spec.LeaseDurationSeconds, l.Spec.RenewTime = ptr.To[int32](60), &metav1.MicroTime{Time: renewed}
		return l
	}

	h.heartbeats.follow(key, reconcile.Request{NamespacedName: webAt})
	h.leases().Create(t.Context(), event.CreateEvent{Object: lease(key.Name, start)}, q)
	q.expect(t, "cluster-request C65: the first Lease", "shop/web")

	clock.SetTime(start.Add(20 * time.Second))
	h.leases().Update(t.Context(), event.UpdateEvent{ObjectOld: lease(key.Name, start), ObjectNew: lease(key.Name, clock.Now())}, q)
	q.expect(t, "cluster-request C65: a renewal in time changes nothing")

	clock.SetTime(start.Add(5 * time.Minute))
	h.leases().Update(t.Context(), event.UpdateEvent{ObjectOld: lease(key.Name, start), ObjectNew: lease(key.Name, clock.Now())}, q)
	q.expect(t, "cluster-request C65: a renewal after the end", "shop/web")

	h.leases().Create(t.Context(), event.CreateEvent{Object: lease("a-leader", start)}, q)
	q.expect(t, "trust 1.5: the Lease of something else")

	h.leases().Delete(t.Context(), event.DeleteEvent{Object: lease(key.Name, clock.Now())}, q)
	q.expect(t, "T5: the Lease is deleted", "shop/web")
}
