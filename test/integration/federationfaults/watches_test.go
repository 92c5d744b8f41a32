// SPDX-License-Identifier: Apache-2.0

package federationfaults

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	workv1 "open-cluster-management.io/api/work/v1"

	"github.com/placement-hub/placement-hub/pkg/federation"
	"github.com/placement-hub/placement-hub/test/env/faults"
	"github.com/placement-hub/placement-hub/test/integration/suite"
	"github.com/placement-hub/placement-hub/test/integration/suite/matrix"
)

// fewReads is how many lists and watches of one kind may be tried while they fail, in QuietPeriod. Two informers may read the kind: each waits
// 0.8 s at first and twice as long each time, and tries a watch and a list each time. Proofs list some kinds too. The transport tries a request
// again on each idle connection that breaks.
const fewReads = 32 + matrix.IdleConnections

// unseen is something that happens to a world while the hub cannot see one kind, and the clusters of "cm" to which it leads.
type unseen struct {
	happens func(context.Context, *world)
	then    []string
}

// everybody are the clusters of "cm" before something happens.
var everybody = suite.Shorts(1, 5)

// unseenOf has a change of each kind that is watched.
var unseenOf = map[string]unseen{
	"managedclusters": {func(ctx context.Context, w *world) {
		w.relabel(ctx, wave, "ashore", "c001")
		w.relabel(ctx, wave, "aboard", "c006")
	}, suite.Shorts(2, 6)},
	"managedclustersetbindings": {func(ctx context.Context, w *world) {
		w.Bind(ctx, "other")
	}, append(suite.Shorts(1, 5), "c010")},
	"namespaces": {func(ctx context.Context, w *world) {
		// The namespace does not take part any more: the object is held, and no relabelled cluster loses it.
		suite.Edit(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: w.Namespace}}, func(n *corev1.Namespace) {
			delete(n.Labels, federation.FederatedLabel)
		})
		w.relabel(ctx, wave, "ashore", "c001")
	}, everybody},
	"configmaps": {func(ctx context.Context, w *world) {
		w.edit(ctx, func(cm *corev1.ConfigMap) {
			cm.Annotations[federation.SelectorAnnotation] = selecting(wave, "aboard", "ashore")
		})
		w.relabel(ctx, wave, "ashore", "c001")
	}, suite.Shorts(1, 6)},
	worksResource: {func(ctx context.Context, w *world) {
		w.relabel(ctx, wave, "ashore", "c001")
		w.relabel(ctx, wave, "aboard", "c006")
		Expect(suite.Client.Delete(ctx, w.work("c003"))).To(Succeed())
	}, suite.Shorts(2, 6)},
}

// work returns the work of "cm" in a cluster, as a key.
func (w *world) work(short string) *workv1.ManifestWork {
	return &workv1.ManifestWork{ObjectMeta: metav1.ObjectMeta{Namespace: w.fleet.Name(short), Name: w.identity("cm").WorkName()}}
}

// voyage returns a world in which "cm" is to be delivered to everybody.
func voyage(ctx context.Context) *world {
	GinkgoHelper()
	w := newWorld(ctx)
	w.UnboundSet(ctx, "other")
	w.members(ctx, "set", 1, 5, always("aboard"))
	w.members(ctx, "set", 6, 6, always("ashore"))
	w.members(ctx, "other", 10, 10, always("aboard"))
	w.configMap(ctx, "cm", selecting(wave, "aboard"))
	return w
}

// settle waits until "cm" is delivered to everybody, and begins to record.
func (w *world) settle(ctx context.Context) {
	GinkgoHelper()
	w.expectDelivered(ctx, "cm", everybody...)
	w.record(ctx)
}

// unseenView is the view in which a change of a resource is not seen.
func unseenView(name, resource string, fault faults.Fault) matrix.View {
	return matrix.View{Name: name, Reads: faults.Reads(resource), Fault: fault, MostReads: fewReads, New: func(ctx context.Context) *matrix.Subject {
		w, change := voyage(ctx), unseenOf[resource]
		return &matrix.Subject{
			Settle: w.settle,
			Change: func(ctx context.Context) { change.happens(ctx, w) },
			Holds:  func(_ context.Context, g Gomega) { w.keep(g, "c002", "c004", "c005") },
			Arrives: func(ctx context.Context) {
				w.expectDelivered(ctx, "cm", change.then...)
				if resource != worksResource {
					w.expectOrder(ctx)
					return
				}
				Expect(w.history.CatchUp(ctx)).To(Succeed())
				Expect(w.history.Since(w.mark).Disturbed(w.keys("cm", "c002", "c004", "c005"))).To(BeEmpty())
			},
		}
	}}
}

var _ = Describe("Watches that fail", Ordered, ContinueOnFailure, func() {
	underTest.Behind()

	underTest.Views("law 6: no cluster that stays loses the object, the API server is not asked too often, and the hub catches up",
		unseenView("clusters, refused", "managedclusters", faults.Unavailable),
		unseenView("bindings, broken", "managedclustersetbindings", faults.Reset),
		unseenView("namespaces, broken", "namespaces", faults.InternalError),
		unseenView("objects, broken", "configmaps", faults.Reset),
		unseenView("objects, hanging", "configmaps", faults.Hang),
		unseenView("works, refused", worksResource, faults.Unavailable),
		unseenView("works, broken", worksResource, faults.Reset),
		unseenView("works, compacted", worksResource, faults.Gone),
	)

	oldViewSpecs()

	underTest.Starts("law 6: a hub that starts writes nothing until it has seen everything",
		unseenView("clusters", "managedclusters", faults.Reset),
		unseenView("bindings", "managedclustersetbindings", faults.Unavailable),
		unseenView("namespaces", "namespaces", faults.Unavailable),
		unseenView("objects", "configmaps", faults.InternalError),
		unseenView("works", worksResource, faults.Unavailable),
	)
})
