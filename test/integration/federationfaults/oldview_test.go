package federationfaults

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"

	"github.com/placement-hub/placement-hub/pkg/federation"
	"github.com/placement-hub/placement-hub/test/env/faults"
	"github.com/placement-hub/placement-hub/test/integration/suite"
)

// oldView is a sequence of changes that keeps every cluster of "cm" selected, and of which the hub sees the last one only: the watch of an
// earlier one hangs or is broken.
type oldView struct {
	// prepare changes the world before "cm" is delivered to its clusters.
	prepare func(ctx context.Context, w *world)
	// unseen happens while the watch hangs, and then seen.
	unseen, seen func(ctx context.Context, w *world)
}

func nothing(context.Context, *world) {}

// defaultSelector sets the selector of the Namespace.
func defaultSelector(ctx context.Context, w *world, value string) {
	GinkgoHelper()
	suite.Edit(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: w.Namespace}}, func(n *corev1.Namespace) {
		metav1.SetMetaDataAnnotation(&n.ObjectMeta, federation.SelectorAnnotation, value)
	})
}

// selector sets the selector of "cm".
func selector(ctx context.Context, w *world, value string) {
	GinkgoHelper()
	w.edit(ctx, func(cm *corev1.ConfigMap) {
		metav1.SetMetaDataAnnotation(&cm.ObjectMeta, federation.SelectorAnnotation, value)
	})
}

// follow has "cm" follow a Placement.
func follow(ctx context.Context, w *world, placement string) {
	GinkgoHelper()
	w.edit(ctx, func(cm *corev1.ConfigMap) {
		delete(cm.Annotations, federation.SelectorAnnotation)
		metav1.SetMetaDataAnnotation(&cm.ObjectMeta, federation.PlacementAnnotation, placement)
	})
}

var oldViews = map[string]oldView{
	"label the clusters, then select by that label": {
		prepare: nothing,
		unseen:  func(ctx context.Context, w *world) { w.relabel(ctx, "tier", "gold", everybody...) },
		seen:    func(ctx context.Context, w *world) { selector(ctx, w, selecting("tier", "gold")) },
	},
	"widen the selector, then relabel the clusters": {
		prepare: nothing,
		unseen:  func(ctx context.Context, w *world) { selector(ctx, w, selecting(wave, "aboard", "anchored")) },
		seen:    func(ctx context.Context, w *world) { w.relabel(ctx, wave, "anchored", everybody...) },
	},
	"widen the default of the namespace, then relabel the clusters": {
		prepare: func(ctx context.Context, w *world) {
			defaultSelector(ctx, w, selecting(wave, "aboard"))
			w.edit(ctx, func(cm *corev1.ConfigMap) { delete(cm.Annotations, federation.SelectorAnnotation) })
		},
		unseen: func(ctx context.Context, w *world) { defaultSelector(ctx, w, selecting(wave, "aboard", "anchored")) },
		seen:   func(ctx context.Context, w *world) { w.relabel(ctx, wave, "anchored", everybody...) },
	},
	"bind another set, then move the clusters into it": {
		prepare: nothing,
		unseen:  func(ctx context.Context, w *world) { w.Bind(ctx, "free") },
		seen: func(ctx context.Context, w *world) {
			w.relabel(ctx, clusterv1beta2.ClusterSetLabel, w.Name("free"), everybody...)
		},
	},
	"another placement gains the clusters, then the object follows it": {
		prepare: func(ctx context.Context, w *world) {
			aboard := []clusterv1beta1.ClusterPredicate{suite.ByLabel(wave, "aboard")}
			w.Placement(ctx, "first", clusterv1beta1.PlacementSpec{Predicates: aboard})
			w.Placement(ctx, "second", clusterv1beta1.PlacementSpec{Predicates: []clusterv1beta1.ClusterPredicate{suite.ByLabel("tier", "gold")}})
			w.ExpectSelected(ctx, "first", suite.AllScheduled, everybody...)
			w.relabel(ctx, "tier", "gold", "c001")
			w.ExpectSelected(ctx, "second", suite.AllScheduled, "c001")
			follow(ctx, w, "first")
		},
		unseen: func(ctx context.Context, w *world) {
			w.relabel(ctx, "tier", "gold", everybody...)
			w.ExpectSelected(ctx, "second", suite.AllScheduled, everybody...)
		},
		seen: func(ctx context.Context, w *world) { follow(ctx, w, "second") },
	},
}

var _ = Describe("A view of which one kind is old", Ordered, ContinueOnFailure, func() {
	var proxy *faults.Proxy

	BeforeAll(func(ctx SpecContext) { proxy = throughProxy(ctx) })

	DescribeTable("law 6: withdraws nothing, and catches up", func(ctx SpecContext, order, resource string, fault faults.Fault, verbs ...string) {
		w, view := voyage(ctx), oldViews[order]
		w.UnboundSet(ctx, "free")
		view.prepare(ctx, w)
		w.expectDelivered(ctx, "cm", everybody...)
		awaitQuiet(ctx, proxy)
		w.record(ctx)

		mend := proxy.Break(faults.Rule{Match: faults.Match{Verbs: verbs, Resources: []string{resource}}, Fault: fault})
		DeferCleanup(mend)

		view.unseen(ctx, w)
		view.seen(ctx, w)
		Consistently(func(g Gomega) { g.Expect(w.clusters(ctx, g)).To(Equal(everybody)) }).
			WithContext(ctx).WithTimeout(suite.QuietPeriod).Should(Succeed())

		mend()
		w.expectDelivered(ctx, "cm", everybody...)
		awaitQuiet(ctx, proxy)
		w.expectDelivered(ctx, "cm", everybody...)
		w.expectOrder(ctx)
	},
		Entry("clusters, whose watch hangs", "label the clusters, then select by that label", "managedclusters", faults.Delay, "watch"),
		Entry("clusters, which cannot be listed", "label the clusters, then select by that label", "managedclusters", faults.Reset, "list", "watch"),
		Entry("objects, whose watch hangs", "widen the selector, then relabel the clusters", "configmaps", faults.Delay, "watch"),
		Entry("objects, which cannot be read", "widen the selector, then relabel the clusters", "configmaps", faults.Reset, "get", "list", "watch"),
		Entry("the namespace, whose watch hangs", "widen the default of the namespace, then relabel the clusters", "namespaces",
			faults.Delay, "watch"),
		Entry("bindings, whose watch hangs", "bind another set, then move the clusters into it", "managedclustersetbindings", faults.Delay, "watch"),
		Entry("decisions, whose watch hangs", "another placement gains the clusters, then the object follows it", "placementdecisions",
			faults.Delay, "watch"),
		Entry("decisions, which cannot be listed", "another placement gains the clusters, then the object follows it", "placementdecisions",
			faults.Reset, "list", "watch"),
	)
})
