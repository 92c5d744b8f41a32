// SPDX-License-Identifier: Apache-2.0

package federationfaults

import (
	"context"
	"maps"
	"slices"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	workv1 "open-cluster-management.io/api/work/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/federation"
	"github.com/placement-hub/placement-hub/test/integration/suite"
)

// deleteIt is the only meddling after which there is a new work.
const deleteIt = "delete it"

// meddling has what others do to the work of a cluster. All of it is undone without a new work, unless the work was deleted.
var meddling = map[string]func(ctx context.Context, w *world, short string){
	"change its payload": func(ctx context.Context, w *world, short string) {
		suite.Edit(ctx, w.work(short), func(work *workv1.ManifestWork) { work.Spec.Workload.Manifests = work.Spec.Workload.Manifests[:1] })
	},
	"change its delete option": func(ctx context.Context, w *world, short string) {
		suite.Edit(ctx, w.work(short), func(work *workv1.ManifestWork) {
			work.Spec.DeleteOption = &workv1.DeleteOption{PropagationPolicy: workv1.DeletePropagationPolicyTypeOrphan}
		})
	},
	"change a label": func(ctx context.Context, w *world, short string) {
		suite.Edit(ctx, w.work(short), func(work *workv1.ManifestWork) { work.Labels[federation.NameLabel] = "other" })
	},
	"remove the label by which works are watched": func(ctx context.Context, w *world, short string) {
		suite.Edit(ctx, w.work(short), func(work *workv1.ManifestWork) { delete(work.Labels, federation.ManagedLabel) })
	},
	deleteIt: func(ctx context.Context, w *world, short string) {
		Expect(suite.Client.Delete(ctx, w.work(short))).To(Succeed())
	},
}

// expectRestored waits until the work of every cluster is as the hub writes it.
func (w *world) expectRestored(ctx context.Context, hash string, shorts ...string) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		for _, short := range shorts {
			work := w.work(short)
			g.Expect(suite.Client.Get(ctx, client.ObjectKeyFromObject(work), work)).To(Succeed())
			g.Expect(work.Labels).To(HaveKeyWithValue(federation.ManagedLabel, "true"), short)
			g.Expect(work.Annotations).To(HaveKeyWithValue(federation.HashAnnotation, hash), short)
			g.Expect(federation.WorkHash(work)).To(Equal(hash), short)
		}
	}).WithContext(ctx).WithTimeout(2 * suite.Timeout).Should(Succeed())
}

var _ = Describe("Works that others change", Ordered, ContinueOnFailure, func() {
	// The worlds share clusters, and all of them go through the same restart and the same move.
	var (
		shared *world
		worlds map[string]*world
		before map[string]map[string]metav1.PartialObjectMetadata
	)
	underTest.Behind()
	hashOf := func(name string) string { return before[name]["c002"].Annotations[federation.HashAnnotation] }

	// each meddles with the work of a cluster in every world.
	each := func(ctx context.Context, short string) {
		GinkgoHelper()
		for name, w := range worlds {
			meddling[name](ctx, w, short)
		}
	}

	// restored waits until the works are as the hub writes them in every world.
	restored := func(ctx context.Context, shorts ...string) {
		GinkgoHelper()
		for name, w := range worlds {
			By("restoring after others " + name)
			w.expectRestored(ctx, hashOf(name), shorts...)
		}
	}

	BeforeAll(func(ctx SpecContext) {
		shared = newWorld(ctx)
		shared.members(ctx, "set", 1, 5, always("aboard"))
		shared.members(ctx, "set", 6, 6, always("ashore"))
		worlds, before = map[string]*world{}, map[string]map[string]metav1.PartialObjectMetadata{}
		for name := range meddling {
			worlds[name] = shared.another(ctx)
			worlds[name].configMap(ctx, "cm", selecting(wave, "aboard"))
		}

		for _, w := range worlds {
			w.expectDelivered(ctx, "cm", everybody...)
		}
		underTest.AwaitQuiet(ctx)
		for name, w := range worlds {
			before[name] = w.list(ctx, Default, "cm")
		}
	})

	It("federated-selector F31: are restored while the hub runs", func(ctx SpecContext) {
		each(ctx, "c002")
		restored(ctx, "c002")
	})

	It("federated-selector F31: are restored after a restart", func(ctx SpecContext) {
		suite.StopHub()
		each(ctx, "c003")
		underTest.Start()
		restored(ctx, "c003")
	})

	It("federated-selector F31: are restored in a move", func(ctx SpecContext) {
		each(ctx, "c004")
		shared.relabel(ctx, wave, "ashore", "c001")
		shared.relabel(ctx, wave, "aboard", "c006")
		for _, w := range worlds {
			w.expectDelivered(ctx, "cm", suite.Shorts(2, 6)...)
		}
		restored(ctx, suite.Shorts(2, 6)...)
		underTest.AwaitQuiet(ctx)
	})

	DescribeTable("federated-selector F31: are made again if they were deleted, and are the same otherwise", func(ctx SpecContext, name string) {
		after := worlds[name].list(ctx, Default, "cm")
		for _, short := range suite.Shorts(2, 5) {
			if name == deleteIt && short != "c005" {
				Expect(after[short].UID).NotTo(Equal(before[name][short].UID), short)
			} else {
				Expect(after[short].UID).To(Equal(before[name][short].UID), short)
			}
		}
	}, func() []TableEntry {
		var entries []TableEntry
		for _, name := range slices.Sorted(maps.Keys(meddling)) {
			entries = append(entries, Entry(name, name))
		}
		return entries
	}())
})
