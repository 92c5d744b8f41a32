// SPDX-License-Identifier: Apache-2.0

package restart

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/test/integration/suite"
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
func backUp(ctx context.Context, f *suite.Fixture) backup {
	GinkgoHelper()
	return backup{placement: f.Read(ctx, Default, "p"), pages: f.Pages(ctx, Default, "p")}
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
		Expect(suite.Client.Create(ctx, &page)).To(Succeed())
		Expect(page.Status.Decisions).To(BeEmpty(), "an API server drops the status of what is created")
		if withStatus {
			page.Status = *status
			Expect(suite.Client.Status().Update(ctx, &page)).To(Succeed())
		}
		restored = append(restored, page)
	}

	placement := b.placement.DeepCopy()
	fresh(&placement.ObjectMeta)
	Expect(suite.Client.Create(ctx, placement)).To(Succeed())
	Expect(placement.UID).NotTo(Equal(b.placement.UID))
	if withStatus {
		placement.Status = b.placement.Status
		Expect(suite.Client.Status().Update(ctx, placement)).To(Succeed())
	}
	return restored
}

var _ = Describe("A restored backup", Ordered, ContinueOnFailure, func() {
	BeforeAll(func(ctx SpecContext) {
		// A garbage collector takes restored pages for orphans, and it is a matter of luck who is faster.
		suite.SeparateAPIServer(ctx, "/restored", func(objects []*unstructured.Unstructured) []*unstructured.Unstructured { return objects })
	})

	DescribeTable("B4, B6: has its pages adopted in their slots",
		func(ctx SpecContext, running, withStatus bool) {
			f := suite.NewFixture(ctx)
			f.Set(ctx, "set")
			f.Clusters(ctx, "set", 1, 2, suite.Labeled("group", "canary"))
			f.Clusters(ctx, "set", 3, 5)
			f.Placement(ctx, "p", clusterv1beta1.PlacementSpec{DecisionStrategy: suite.CanaryStrategy(2, true)})
			want := suite.Outcome{
				Selected: suite.Shorts(1, 5), Groups: []string{"0/canary: 2 [p-decision-1]", "1/: 2 [p-decision-2]", "2/: 1 [p-decision-3]"},
				Satisfied: suite.AllScheduled, Misconfigured: suite.Configured,
			}
			f.Expect(ctx, "p", want)

			kept := backUp(ctx, f)
			Expect(suite.Client.Delete(ctx, kept.placement.DeepCopy())).To(Succeed())
			suite.ExpectGone(ctx, kept.placement.DeepCopy())
			Expect(suite.Client.DeleteAllOf(ctx, &clusterv1beta1.PlacementDecision{}, client.InNamespace(f.Namespace))).To(Succeed())
			before := f.AwaitIdle(ctx).Writes
			if !running {
				suite.StopHub()
			}

			recording := f.RecordPages(ctx)
			if withStatus {
				recording.Require(f.Names(suite.Shorts(1, 5)...)...)
			}
			restored := kept.restore(ctx, withStatus)
			if !running {
				suite.StopHub = suite.StartHub(suite.HubConfig(ctx, suite.ControlPlane))
			}
			f.Expect(ctx, "p", want)

			now := f.Pages(ctx, Default, "p")
			recording.PlayUntil(ctx, now)
			for n, page := range now {
				Expect(page.UID).To(Equal(restored[n].UID), "%s is adopted", page.Name)
				Expect(page.Labels).To(HaveKeyWithValue(restoredBy, restorer))
				Expect(page.OwnerReferences).To(HaveExactElements(HaveField("UID", f.Read(ctx, Default, "p").UID)))
				Expect(page.Status).To(Equal(kept.pages[n].Status), "%s has its clusters back", page.Name)
			}
			f.ExpectSilence(ctx)

			if withStatus {
				Expect(f.Writes(Default)[len(before):]).NotTo(ContainElement(HavePrefix("patch placementdecisions/p-decision-1/status")))
			}
		},
		Entry("without status, while the hub does not run", false, false),
		Entry("without status, under the eyes of the hub", true, false),
		Entry("with status, while the hub does not run", false, true),
	)
})
