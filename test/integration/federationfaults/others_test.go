package federationfaults

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	workv1 "open-cluster-management.io/api/work/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/federation"
	"github.com/placement-hub/placement-hub/test/env/faults"
	"github.com/placement-hub/placement-hub/test/integration/suite"
)

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
	"delete it": func(ctx context.Context, w *world, short string) {
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
	var proxy *faults.Proxy

	BeforeAll(func(ctx SpecContext) { proxy = throughProxy(ctx) })

	DescribeTable("federated-selector F31: are restored while the hub runs, after a restart, and in a move", func(ctx SpecContext, name string) {
		w, meddle := voyage(ctx), meddling[name]
		awaitQuiet(ctx, proxy)

		before := w.list(ctx, Default, "cm")
		hash := before["c002"].Annotations[federation.HashAnnotation]

		meddle(ctx, w, "c002")
		w.expectRestored(ctx, hash, "c002")

		suite.StopHub()
		meddle(ctx, w, "c003")

		suite.StopHub = suite.StartHub(proxy.Config(), suite.ManyWorkers, delivering)

		w.expectRestored(ctx, hash, "c003")

		meddle(ctx, w, "c004")
		w.relabel(ctx, wave, "ashore", "c001")
		w.relabel(ctx, wave, "aboard", "c006")
		w.expectDelivered(ctx, "cm", suite.Shorts(2, 6)...)
		w.expectRestored(ctx, hash, suite.Shorts(2, 6)...)
		awaitQuiet(ctx, proxy)

		after := w.list(ctx, Default, "cm")
		for _, short := range suite.Shorts(2, 5) {
			if name == "delete it" && short != "c005" {
				Expect(after[short].UID).NotTo(Equal(before[short].UID), short)
			} else {
				Expect(after[short].UID).To(Equal(before[short].UID), short)
			}
		}
	}, func() []TableEntry {
		var entries []TableEntry
		for name := range meddling {
			entries = append(entries, Entry(name, name))
		}

		return entries
	}())
})
