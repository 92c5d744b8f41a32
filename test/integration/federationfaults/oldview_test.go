// SPDX-License-Identifier: Apache-2.0

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
	"github.com/placement-hub/placement-hub/test/integration/suite/matrix"
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

// view is the view in which the first of two changes is not seen.
func view(name, order string, reads faults.Match, fault faults.Fault) matrix.View {
	return matrix.View{Name: name, Reads: reads, Fault: fault, New: func(ctx context.Context) *matrix.Subject {
		w, changes := voyage(ctx), oldViews[order]
		w.UnboundSet(ctx, "free")
		w.expectDelivered(ctx, "cm", everybody...)
		changes.prepare(ctx, w)
		return &matrix.Subject{
			Settle: w.settle,
			Change: func(ctx context.Context) {
				changes.unseen(ctx, w)
				changes.seen(ctx, w)
			},
			Holds: func(_ context.Context, g Gomega) { w.keep(g, everybody...) },
			Arrives: func(ctx context.Context) {
				w.expectDelivered(ctx, "cm", everybody...)
				suite.AwaitUnchanged(ctx, func(Gomega) int { return len(w.history.Since(w.mark).Events) })
				w.expectDelivered(ctx, "cm", everybody...)
				w.expectOrder(ctx)
			},
		}
	}}
}

// oldViewSpecs registers the specs of views that see the last of several changes only.
func oldViewSpecs() {
	const (
		labelled = "label the clusters, then select by that label"
		widened  = "widen the selector, then relabel the clusters"
		standard = "widen the default of the namespace, then relabel the clusters"
		bound    = "bind another set, then move the clusters into it"
		followed = "another placement gains the clusters, then the object follows it"
	)
	reads := faults.Match{Verbs: []string{"get", "list", "watch"}, Resources: []string{"configmaps"}}

	underTest.Views("law 6: a view of which one kind is old withdraws nothing, and catches up",
		view("clusters, whose watch hangs", labelled, faults.Watches("managedclusters"), faults.Delay),
		view("clusters, which cannot be listed", labelled, faults.Reads("managedclusters"), faults.Reset),
		view("objects, whose watch hangs", widened, faults.Watches("configmaps"), faults.Delay),
		view("objects, which cannot be read", widened, reads, faults.Reset),
		view("the namespace, whose watch hangs", standard, faults.Watches("namespaces"), faults.Delay),
		view("bindings, whose watch hangs", bound, faults.Watches("managedclustersetbindings"), faults.Delay),
		view("decisions, whose watch hangs", followed, faults.Watches("placementdecisions"), faults.Delay),
		view("decisions, which cannot be listed", followed, faults.Reads("placementdecisions"), faults.Reset),
	)
}
