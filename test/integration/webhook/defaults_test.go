// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"context"
	"net/http"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/clustersets/managedcluster"
	"github.com/placement-hub/placement-hub/pkg/system"
	"github.com/placement-hub/placement-hub/test/integration/suite"
)

// refusedWith matches an error of the API server with this code, and with words that tell what to do.
func refusedWith(code int, words ...string) OmegaMatcher {
	matchers := []OmegaMatcher{WithTransform(func(err error) int {
		if status, ok := err.(apierrors.APIStatus); ok {
			return int(status.Status().Code)
		}
		return 0
	}, Equal(code))}
	for _, word := range words {
		matchers = append(matchers, MatchError(ContainSubstring(word)))
	}
	return And(matchers...)
}

var (
	longAgo     = metav1.NewTime(time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC))
	maintenance = clusterv1.Taint{Key: "maintenance", Value: "planned", Effect: clusterv1.TaintEffectNoSelect}
)

var _ = Describe("The webhook for ManagedClusters", Ordered, func() {
	BeforeAll(func(ctx SpecContext) {
		separateAPIServer(ctx)
		url, stop := startWebhook(ctx)
		DeferCleanup(func() { stop() })
		install(ctx, url)
	})

	made := func(ctx context.Context, name string, labels map[string]string, taints ...clusterv1.Taint) *clusterv1.ManagedCluster {
		GinkgoHelper()
		cluster := &clusterv1.ManagedCluster{
			ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}, Spec: clusterv1.ManagedClusterSpec{Taints: taints},
		}
		Expect(suite.Client.Create(ctx, cluster)).To(Succeed())
		DeferCleanup(func(ctx SpecContext) { Expect(client.IgnoreNotFound(suite.Client.Delete(ctx, cluster))).To(Succeed()) })
		return cluster
	}
	justNow := func() OmegaMatcher {
		return WithTransform(func(t metav1.Time) time.Time { return t.Time }, BeTemporally("~", time.Now(), suite.Timeout))
	}

	DescribeTable("39: a new cluster is in the set default, with a lease of 60 seconds",
		func(ctx SpecContext, labels map[string]string) {
			cluster := made(ctx, "c39", labels)
			Expect(cluster.Labels).To(HaveKeyWithValue(clusterv1beta2.ClusterSetLabel, "default"))
			Expect(cluster.Spec.LeaseDurationSeconds).To(BeEquivalentTo(60))
			if _, has := labels["a"]; has {
				Expect(cluster.Labels).To(HaveKeyWithValue("a", "b"))
			}
		},
		Entry("without labels", nil),
		Entry("with other labels", map[string]string{"a": "b"}),
		Entry("with an empty one", map[string]string{"a": "b", clusterv1beta2.ClusterSetLabel: ""}),
	)

	It("39: stamps every taint of a new cluster, whatever time it brings", func(ctx SpecContext) {
		old := clusterv1.Taint{Key: "old", Effect: clusterv1.TaintEffectNoSelectIfNew, TimeAdded: longAgo}
		cluster := made(ctx, "c39", nil, maintenance, old)
		Expect(cluster.Spec.Taints).To(HaveLen(2))
		for _, taint := range cluster.Spec.Taints {
			Expect(taint.TimeAdded).To(justNow())
		}
		Expect(cluster.Spec.Taints[0].Value).To(Equal("planned"))
		Expect(cluster.Spec.Taints[1].Effect).To(Equal(clusterv1.TaintEffectNoSelectIfNew))
	})

	It("40: a lease of 0 is accepted and stays 60", func(ctx SpecContext) {
		cluster := made(ctx, "c40", nil)
		cluster.Spec.LeaseDurationSeconds = 0
		Expect(suite.Client.Update(ctx, cluster)).To(Succeed())
		Expect(cluster.Spec.LeaseDurationSeconds).To(BeEquivalentTo(60))
	})

	It("40: a removed set label is back, and another set is kept", func(ctx SpecContext) {
		cluster := made(ctx, "c40", map[string]string{"a": "b"})
		for _, patch := range []string{
			`{"metadata":{"labels":{"cluster.open-cluster-management.io/clusterset":null}}}`,
			`{"metadata":{"labels":{"cluster.open-cluster-management.io/clusterset":""}}}`, `{"metadata":{"labels":null}}`,
		} {
			Expect(suite.Client.Patch(ctx, cluster, client.RawPatch(types.MergePatchType, []byte(patch)))).To(Succeed())
			Expect(cluster.Labels).To(HaveKeyWithValue(clusterv1beta2.ClusterSetLabel, "default"))
		}

		cluster.Labels[clusterv1beta2.ClusterSetLabel] = "blue"
		Expect(suite.Client.Update(ctx, cluster)).To(Succeed())
		Expect(cluster.Labels).To(HaveKeyWithValue(clusterv1beta2.ClusterSetLabel, "blue"))
	})

	It("2.1, G4: an update says which taints are new, and not when", func(ctx SpecContext) {
		cluster := made(ctx, "c21", nil, maintenance)
		stamped := cluster.Spec.Taints[0].TimeAdded
		update := func(taints ...clusterv1.Taint) error {
			changed := cluster.DeepCopy()
			changed.Spec.Taints = taints
			err := suite.Client.Update(ctx, changed)
			if err == nil {
				cluster = changed
			}
			return err
		}
		kept, changed := maintenance, maintenance
		kept.TimeAdded = stamped
		changed.Value, changed.TimeAdded = "now", stamped
		moved := kept
		moved.TimeAdded = longAgo
		added := clusterv1.Taint{Key: "added", Effect: clusterv1.TaintEffectPreferNoSelect}
		early := added
		early.TimeAdded = longAgo
		for _, refused := range [][]clusterv1.Taint{{moved}, {changed}, {kept, early}} {
			Expect(update(refused...)).To(refusedWith(http.StatusBadRequest, "It is not allowed to set TimeAdded of Taint", "leave timeAdded out"))
		}

		Expect(update(maintenance)).To(Succeed())
		Expect(cluster.Spec.Taints[0].TimeAdded.Time).To(BeTemporally("==", stamped.Time))
		Expect(update(added, kept)).To(Succeed())
		Expect(cluster.Spec.Taints[0].TimeAdded).To(justNow())
		Expect(cluster.Spec.Taints[1].TimeAdded.Time).To(BeTemporally("==", stamped.Time))
		changed.TimeAdded = metav1.Time{}
		Expect(update(changed)).To(Succeed())
		Expect(cluster.Spec.Taints).To(HaveLen(1))
		Expect(cluster.Spec.Taints[0].TimeAdded).To(justNow())
		Expect(update()).To(Succeed())
	})

	It("leaves it to the API server to refuse a taint that is null", func(ctx SpecContext) {
		object := &unstructured.Unstructured{Object: map[string]any{
			"metadata": map[string]any{"name": "null"},
			"spec":     map[string]any{"hubAcceptsClient": false, "taints": []any{nil}},
		}}
		object.SetAPIVersion(clusterv1.GroupVersion.String())
		object.SetKind("ManagedCluster")
		Expect(suite.Client.Create(ctx, object)).To(refusedWith(http.StatusUnprocessableEntity, "spec.taints[0]"))
		cluster := made(ctx, "null", nil, maintenance)
		patch := client.RawPatch(types.MergePatchType, []byte(`{"spec":{"taints":[null]}}`))
		Expect(suite.Client.Patch(ctx, cluster, patch)).To(refusedWith(http.StatusUnprocessableEntity, "spec.taints[0]"))
	})

	It("touches nothing else, not even what it does not know", func(ctx SpecContext) {
		object := &unstructured.Unstructured{Object: map[string]any{
			"metadata": map[string]any{"name": "future", "labels": map[string]any{"a": "b"}, "annotations": map[string]any{"c": "d"}},
			"spec": map[string]any{
				"hubAcceptsClient": false, "future": map[string]any{"list": []any{int64(1), "two", nil}},
				"taints": []any{map[string]any{"key": "k", "effect": "NoSelect", "future": "x"}},
			},
		}}
		object.SetAPIVersion(clusterv1.GroupVersion.String())
		object.SetKind("ManagedCluster")

		want := object.DeepCopy()
		Expect(suite.Client.Create(ctx, object)).To(Succeed())
		DeferCleanup(func(ctx SpecContext) { Expect(suite.Client.Delete(ctx, object)).To(Succeed()) })

		spec := object.Object["spec"].(map[string]any)
		taint := spec["taints"].([]any)[0].(map[string]any)
		Expect(taint).To(HaveKey("timeAdded"))
		delete(taint, "timeAdded")
		delete(spec, "leaseDurationSeconds")
		delete(want.Object["spec"].(map[string]any)["taints"].([]any)[0].(map[string]any), "future") // Pruned by the definition.
		Expect(spec).To(Equal(want.Object["spec"]))
		Expect(object.GetLabels()).To(Equal(map[string]string{"a": "b", clusterv1beta2.ClusterSetLabel: "default"}))
		Expect(object.GetAnnotations()).To(Equal(want.GetAnnotations()))
	})

	It("gets along with the controller that taints clusters by their condition", func(ctx SpecContext) {
		stop := suite.StartHub(suite.HubConfig(ctx, suite.ControlPlane), func(o *system.Options) {
			o.Controllers = []string{managedcluster.ManagedClusterTaints}
		})
		defer stop()

		silent := made(ctx, "silent", nil, maintenance)
		Eventually(func(g Gomega) {
			g.Expect(suite.Client.Get(ctx, client.ObjectKeyFromObject(silent), silent)).To(Succeed())
			g.Expect(silent.Spec.Taints).To(HaveLen(2))
			g.Expect(silent.Spec.Taints[1].Key).To(Equal(clusterv1.ManagedClusterTaintUnreachable))
			g.Expect(silent.Spec.Taints[1].TimeAdded).To(justNow())
		}).WithContext(ctx).WithTimeout(suite.Timeout).Should(Succeed())
	})

	It("39, 40: nobody is accepted into a terminating namespace", func(ctx SpecContext) {
		namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "leaving"}}
		Expect(suite.Client.Create(ctx, namespace)).To(Succeed())
		before := made(ctx, "leaving", nil)
		before.Spec.HubAcceptsClient = true
		Expect(suite.Client.Update(ctx, before)).To(Succeed(), "the namespace is there")
		before.Spec.HubAcceptsClient = false
		Expect(suite.Client.Update(ctx, before)).To(Succeed(), "2.2: unchecked")

		// Nobody finishes its deletion on this API server.
		Expect(suite.Client.Delete(ctx, namespace)).To(Succeed())
		accepted := before.DeepCopy()
		accepted.Spec.HubAcceptsClient = true
		Expect(suite.Client.Update(ctx, accepted)).To(refusedWith(http.StatusForbidden, `cluster namespace "leaving" is terminating`, "wait until"))
		before.Labels["a"] = "b"
		Expect(suite.Client.Update(ctx, before)).To(Succeed(), "it is not being accepted")

		Expect(suite.Client.Delete(ctx, before)).To(Succeed())
		fresh := &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: "leaving"}, Spec: clusterv1.ManagedClusterSpec{HubAcceptsClient: true}}
		Expect(suite.Client.Create(ctx, fresh)).To(refusedWith(http.StatusForbidden, `cluster namespace "leaving" is terminating`, "wait until"))

		Expect(suite.Client.Get(ctx, client.ObjectKeyFromObject(namespace), namespace)).To(Succeed())
		namespace.Spec.Finalizers = nil
		Expect(suite.Client.SubResource("finalize").Update(ctx, namespace)).To(Succeed())
		suite.ExpectGone(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "leaving"}})
		Expect(suite.Client.Create(ctx, fresh)).To(Succeed())
		Expect(suite.Client.Delete(ctx, fresh)).To(Succeed())
	})
})
