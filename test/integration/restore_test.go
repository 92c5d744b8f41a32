package integration

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	restoredBy = "example.com/restored-by"
	restorer   = "backup-1"
)

// backup is a placement and its pages, as a backup keeps them.
type backup struct {
	placement *clusterv1beta1.Placement
	pages     []clusterv1beta1.PlacementDecision
}

// backUp reads the placement "p" and its pages.
func (w *world) backUp(ctx context.Context) backup {
	GinkgoHelper()

	return backup{placement: w.read(ctx, Default, "p"), pages: w.pages(ctx, Default, "p")}
}

// restore makes all objects anew: they get new uids, and the pages have owners with old ones. It returns the new pages.
func (b backup) restore(ctx context.Context, withStatus bool) []clusterv1beta1.PlacementDecision {
	GinkgoHelper()

	fresh := func(meta *metav1.ObjectMeta) {
		meta.UID, meta.ResourceVersion, meta.ManagedFields = "", "", nil
	}

	restored := []clusterv1beta1.PlacementDecision{}

	for _, page := range b.pages {
		fresh(&page.ObjectMeta)
		page.Labels[restoredBy] = restorer
		status := page.Status.DeepCopy()
		Expect(hub.Create(ctx, &page)).To(Succeed())
		Expect(page.Status.Decisions).To(BeEmpty(), "an API server drops the status of what is created")

		if withStatus {
			page.Status = *status
			Expect(hub.Status().Update(ctx, &page)).To(Succeed())
		}

		restored = append(restored, page)
	}

	placement := b.placement.DeepCopy()
	fresh(&placement.ObjectMeta)
	Expect(hub.Create(ctx, placement)).To(Succeed())
	Expect(placement.UID).NotTo(Equal(b.placement.UID))

	if withStatus {
		placement.Status = b.placement.Status
		Expect(hub.Status().Update(ctx, placement)).To(Succeed())
	}

	return restored
}

var _ = Describe("A restored backup", Ordered, ContinueOnFailure, Serial, func() {
	BeforeAll(func(ctx SpecContext) {
		// A garbage collector takes restored pages for orphans, and it is a matter of luck who is faster.
		separate(ctx, "/restored", func(objects []*unstructured.Unstructured) []*unstructured.Unstructured { return objects })
	})

	DescribeTable("B4, B6: has its pages adopted in their slots",
		func(ctx SpecContext, running, withStatus bool) {
			w := newWorld(ctx)
			w.set(ctx, "set")
			w.clusters(ctx, "set", 1, 2, labeled("group", "canary"))
			w.clusters(ctx, "set", 3, 5)
			w.placement(ctx, "p", clusterv1beta1.PlacementSpec{DecisionStrategy: canaryStrategy(2, true)})

			want := outcome{
				Selected: shorts(1, 5), Groups: []string{"0/canary: 2 [p-decision-1]", "1/: 2 [p-decision-2]", "2/: 1 [p-decision-3]"},
				Satisfied: allScheduled, Misconfigured: configured,
			}
			w.expect(ctx, "p", want)

			kept := w.backUp(ctx)

			Expect(hub.Delete(ctx, kept.placement.DeepCopy())).To(Succeed())
			gone(ctx, kept.placement.DeepCopy())
			Expect(hub.DeleteAllOf(ctx, &clusterv1beta1.PlacementDecision{}, client.InNamespace(w.namespace))).To(Succeed())
			before := w.idle(ctx).Writes

			if !running {
				stopHub()
			}

			film := w.watchPages(ctx)
			if withStatus {
				film.stays(w.names(shorts(1, 5)...)...)
			}

			restored := kept.restore(ctx, withStatus)

			if !running {
				stopHub = startHub(serviceAccount(ctx, controlPlane))
			}

			w.expect(ctx, "p", want)

			now := w.pages(ctx, Default, "p")
			film.until(ctx, now)

			for n, page := range now {
				Expect(page.UID).To(Equal(restored[n].UID), "%s is adopted", page.Name)
				Expect(page.Labels).To(HaveKeyWithValue(restoredBy, restorer))
				Expect(page.OwnerReferences).To(HaveExactElements(HaveField("UID", w.read(ctx, Default, "p").UID)))
				Expect(page.Status).To(Equal(kept.pages[n].Status), "%s has its clusters back", page.Name)
			}

			w.expectSilence(ctx)

			if withStatus {
				Expect(w.writes(Default)[len(before):]).NotTo(ContainElement(HavePrefix("patch placementdecisions/p-decision-1/status")))
			}
		},
		Entry("without status, while the hub does not run", false, false),
		Entry("without status, under the eyes of the hub", true, false),
		Entry("with status, while the hub does not run", false, true),
	)
})
