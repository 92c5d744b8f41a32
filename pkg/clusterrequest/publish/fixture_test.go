// SPDX-License-Identifier: Apache-2.0

package publish

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	clocktesting "k8s.io/utils/clock/testing"
	"k8s.io/utils/ptr"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/apis/scheme"
	"github.com/placement-hub/placement-hub/pkg/clusterrequest"
	"github.com/placement-hub/placement-hub/pkg/hub/queue"
	"github.com/placement-hub/placement-hub/pkg/placement/api"
	"github.com/placement-hub/placement-hub/test/fakeapi"
)

var (
	start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	webAt = types.NamespacedName{Namespace: "shop", Name: "web"}
	name  = clusterrequest.ManagedClusterName(webAt)
)

// world is a reconciler over a fake API server, whose writes it records.
type world struct {
	*reconciler
	t *testing.T

	api      client.Client
	clock    *clocktesting.FakePassiveClock
	recorder *events.FakeRecorder
	writes   []string
}

// newWorld has the definition of Clusters and the ClusterProvider gardener, beside the objects.
func newWorld(t *testing.T, objects ...client.Object) *world {
	t.Helper()
	w := &world{t: t, clock: clocktesting.NewFakePassiveClock(start), recorder: events.NewFakeRecorder(100)}
	for _, plural := range []string{"clusters", "clusterproviders"} {
		objects = append(objects, &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{
			Name: plural + "." + openmcpv1alpha1.GroupName, UID: "definition", CreationTimestamp: metav1.NewTime(start.Add(-time.Hour)),
		}})
	}
	server := fake.NewClientBuilder().WithScheme(scheme.Known()).WithObjects(append(objects, gardener())...).
		WithStatusSubresource(&openmcpv1alpha1.Cluster{}, &openmcpv1alpha1.ClusterProvider{}, &clusterv1.ManagedCluster{}).
		WithInterceptorFuncs(w.observe())

	for _, kind := range []client.Object{ // Live reads list by name, which the fake server does by an index.
		&openmcpv1alpha1.Cluster{}, &clusterv1.ManagedCluster{}, &corev1.Namespace{}, &apiextensionsv1.CustomResourceDefinition{},
	} {
		server.WithIndex(kind, metav1.ObjectNameField, func(object client.Object) []string { return []string{object.GetName()} })
	}
	w.api = server.Build()
	var formats []api.Codec
	for _, adapter := range api.Adapters() {
		formats = append(formats, adapter.Codec())
	}

	w.reconciler = &reconciler{
		client: client.WithFieldOwner(w.api, FieldManager), live: w.api, objects: w.api, heartbeats: newHeartbeats(), formats: formats,
		recorder: w.recorder, clock: w.clock, drainTimeout: clusterrequest.DefaultDrainTimeout,
		conflicts: queue.NewConflictBackoff[reconcile.Request](), defaultSet: clusterrequest.DefaultClusterSet,
	}
	return w
}

// observe records all writes.
func (w *world) observe() interceptor.Funcs {
	observed := fakeapi.Observe(func(write fakeapi.Write) {
		verb := write.Verb
		if write.Subresource != "" {
			verb = write.Subresource
		}
		w.writes = append(w.writes, verb+" "+write.Kind())
	})
	observed.SubResourceApply = func(ctx context.Context, c client.Client, name string, applied runtime.ApplyConfiguration,
		_ ...client.SubResourceApplyOption,
	) error {
		w.writes = append(w.writes, "apply "+name)
		return applyStatus(ctx, c, applied)
	}

	return observed
}

// applyStatus applies the status of a Cluster as the API server does, by the types of conditions: the fake one does not know that the list is a
// map.
func applyStatus(ctx context.Context, c client.Client, applied runtime.ApplyConfiguration) error {
	content, err := json.Marshal(applied)
	if err != nil {
		return fmt.Errorf("encode: %w", err)
	}
	wanted, cluster := &openmcpv1alpha1.Cluster{}, &openmcpv1alpha1.Cluster{}
	if err := json.Unmarshal(content, wanted); err != nil {
		return fmt.Errorf("decode: %w", err)
	}

	if err := c.Get(ctx, client.ObjectKeyFromObject(wanted), cluster); err != nil {
		return fmt.Errorf("read: %w", err)
	}
	for _, condition := range wanted.Status.Conditions {
		meta.SetStatusCondition(&cluster.Status.Conditions, condition)
	}
	cluster.Status.ManagedCluster = wanted.Status.ManagedCluster
	return c.Status().Update(ctx, cluster)
}

// reconcileOnce reconciles the Cluster, and returns the writes and after which time it is due again.
func (w *world) reconcileOnce() ([]string, time.Duration) {
	w.t.Helper()
	w.writes = nil
	result, err := w.Reconcile(w.t.Context(), reconcile.Request{NamespacedName: webAt})
	if err != nil {
		w.t.Fatal(err)
	}
	return w.writes, result.RequeueAfter
}

// settle reconciles until nothing is written.
func (w *world) settle() {
	w.t.Helper()
	const most = 5
	for range most {
		if writes, _ := w.reconcileOnce(); len(writes) == 0 {
			return
		}
	}
	w.t.Fatalf("law 4: it still writes %v", w.writes)
}

// beat reports a renewal of the Lease of the Cluster to the controller.
func (w *world) beat() {
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: webAt.Namespace, Name: clusterrequest.LeaseName("web")}}
	lease.Spec.LeaseDurationSeconds, lease.Spec.RenewTime = ptr.To(int32(60)), &metav1.MicroTime{Time: w.clock.Now()}
	w.heartbeats.set(lease, false, w.clock.Now())
}

// get reads an object; it returns false if there is none.
func (w *world) get(key types.NamespacedName, object client.Object) bool {
	w.t.Helper()
	err := w.api.Get(w.t.Context(), key, object)
	if err != nil && !apierrors.IsNotFound(err) {
		w.t.Fatal(err)
	}
	return err == nil
}

// managed returns the ManagedCluster; nil if there is none.
func (w *world) managed() *clusterv1.ManagedCluster {
	w.t.Helper()
	managed := &clusterv1.ManagedCluster{}
	if !w.get(types.NamespacedName{Name: name}, managed) {
		return nil
	}
	return managed
}

// mustManaged returns the ManagedCluster.
func (w *world) mustManaged() *clusterv1.ManagedCluster {
	w.t.Helper()
	managed := w.managed()
	if managed == nil {
		w.t.Fatalf("there is no ManagedCluster %s", name)
	}
	return managed
}

func (w *world) cluster() *openmcpv1alpha1.Cluster {
	w.t.Helper()
	cluster := &openmcpv1alpha1.Cluster{}
	if !w.get(webAt, cluster) {
		return nil
	}
	return cluster
}

// change changes the Cluster.
func (w *world) change(change func(*openmcpv1alpha1.Cluster)) {
	w.t.Helper()
	cluster := w.cluster()
	change(cluster)
	status := cluster.Status
	if err := w.api.Update(w.t.Context(), cluster); err != nil {
		w.t.Fatal(err)
	}

	cluster.Status = status
	if err := w.api.Status().Update(w.t.Context(), cluster); err != nil {
		w.t.Fatal(err)
	}
}

// told reports whether an Event with this reason was recorded since the last call.
func (w *world) told(reason string) bool {
	found := false
	for len(w.recorder.Events) > 0 {
		found = strings.Contains(<-w.recorder.Events, " "+reason+" ") || found
	}
	return found
}

// claims returns the claims of a ManagedCluster as "name=value", sorted.
func claims(managed *clusterv1.ManagedCluster) []string {
	var all []string
	for _, claim := range managed.Status.ClusterClaims {
		all = append(all, claim.Name+"="+claim.Value)
	}
	return slices.Sorted(slices.Values(all))
}

// labels returns the keys of the labels of a ManagedCluster, sorted.
func labelKeys(managed *clusterv1.ManagedCluster) []string {
	return slices.Sorted(maps.Keys(managed.Labels))
}

// healthy returns a Cluster for purposes, which its provider reports healthy.
func healthy(purposes ...openmcpv1alpha1.PurposeName) *openmcpv1alpha1.Cluster {
	cluster := &openmcpv1alpha1.Cluster{ObjectMeta: metav1.ObjectMeta{
		Namespace: webAt.Namespace, Name: webAt.Name, UID: "web", Generation: 1, Finalizers: []string{openmcpv1alpha1.ProviderFinalizer},
	}}
	cluster.Spec.ClusterProviderRef = openmcpv1alpha1.ClusterProviderReference{Name: "gardener", Profile: "aws"}
	cluster.Spec.Kubernetes = &openmcpv1alpha1.Kubernetes{Version: "1.20.3"}
	cluster.Spec.Purposes, cluster.Spec.Tenancy = purposes, openmcpv1alpha1.TenancyShared
	meta.SetStatusCondition(&cluster.Status.Conditions, metav1.Condition{
		Type: openmcpv1alpha1.ConditionClusterHealthy, Status: metav1.ConditionTrue, Reason: "Running", LastTransitionTime: metav1.NewTime(start),
	})
	return cluster
}

// gardener returns the ClusterProvider of healthy.
func gardener() *openmcpv1alpha1.ClusterProvider {
	provider := &openmcpv1alpha1.ClusterProvider{ObjectMeta: metav1.ObjectMeta{Name: "gardener"}}
	provider.Status.Ready = true
	provider.Status.Profiles = []openmcpv1alpha1.Profile{{
		Name: "aws", SupportedTraits: []openmcpv1alpha1.SupportedTrait{{Trait: "kubernetes.io/apis/compute"}},
		SupportedVersions: []openmcpv1alpha1.SupportedVersion{{Version: "1.20.3"}},
	}}
	return provider
}
