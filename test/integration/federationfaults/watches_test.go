package federationfaults

import (
	"context"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	workv1 "open-cluster-management.io/api/work/v1"

	"github.com/placement-hub/placement-hub/pkg/federation"
	"github.com/placement-hub/placement-hub/test/env/faults"
	"github.com/placement-hub/placement-hub/test/integration/suite"
)

// fewReads is how many lists and watches of one kind may be tried while they fail, in QuietPeriod. Two informers may read the kind: each waits
// 0.8 s at first and twice as long each time, and tries a watch and a list each time. Proofs list some kinds too. The transport tries a request
// again on each idle connection that breaks, of which it keeps idleConnections.
const (
	fewReads        = 32 + idleConnections
	idleConnections = 25
)

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
	return &workv1.ManifestWork{ObjectMeta: metav1.ObjectMeta{Namespace: w.Name(short), Name: w.identity("cm").WorkName()}}
}

// voyage returns a world in which "cm" is delivered to everybody.
func voyage(ctx context.Context) *world {
	GinkgoHelper()

	w := newWorld(ctx)
	w.UnboundSet(ctx, "other")
	w.members(ctx, "set", 1, 5, always("aboard"))
	w.members(ctx, "set", 6, 6, always("ashore"))
	w.members(ctx, "other", 10, 10, always("aboard"))
	w.configMap(ctx, "cm", selecting(wave, "aboard"))
	w.expectDelivered(ctx, "cm", everybody...)

	return w
}

var _ = Describe("Watches that fail", Ordered, ContinueOnFailure, func() {
	var proxy *faults.Proxy

	BeforeAll(func(ctx SpecContext) { proxy = throughProxy(ctx) })

	DescribeTable("law 6: no cluster that stays loses the object, the API server is not asked too often, and the hub catches up",
		func(ctx SpecContext, resource string, fault faults.Fault) {
			w := voyage(ctx)
			awaitQuiet(ctx, proxy)
			w.record(ctx)

			tried := func() []faults.Request { return proxy.Requests(suite.Reads(resource)) }
			start, before := time.Now(), len(tried())
			mend := proxy.Break(faults.Rule{Match: suite.Reads(resource), Fault: fault})
			DeferCleanup(mend)

			change := unseenOf[resource]
			change.happens(ctx, w)
			Consistently(func(g Gomega) { g.Expect(w.clusters(ctx, g)).To(ContainElements("c002", "c004", "c005")) }).
				WithContext(ctx).WithTimeout(suite.QuietPeriod).Should(Succeed())
			reads := tried()[before:]
			Expect(len(reads)).To(BeNumerically("<=", tolerated(fewReads, start)), "the hub sent %+v", reads)

			mend()
			w.expectDelivered(ctx, "cm", change.then...)

			if resource == worksResource {
				Expect(w.history.CatchUp(ctx)).To(Succeed())
				Expect(w.history.Since(w.mark).Disturbed(w.keys("cm", "c002", "c004", "c005"))).To(BeEmpty())

				return
			}

			w.expectOrder(ctx)
		},
		Entry("clusters, refused", "managedclusters", faults.Unavailable),
		Entry("bindings, broken", "managedclustersetbindings", faults.Reset),
		Entry("namespaces, broken", "namespaces", faults.InternalError),
		Entry("objects, broken", "configmaps", faults.Reset),
		Entry("objects, hanging", "configmaps", faults.Hang),
		Entry("works, refused", worksResource, faults.Unavailable),
		Entry("works, broken", worksResource, faults.Reset),
		Entry("works, compacted", worksResource, faults.Gone),
	)

	DescribeTable("law 6: a hub that starts writes nothing until it has seen everything",
		func(ctx SpecContext, resource string, fault faults.Fault) {
			w := voyage(ctx)
			awaitQuiet(ctx, proxy)
			w.record(ctx)
			suite.StopHub()

			change := unseenOf[resource]
			change.happens(ctx, w)

			before, read := len(proxy.Requests(isWrite)), len(proxy.Requests(suite.Reads(resource)))
			mend := proxy.Break(faults.Rule{Match: suite.Reads(resource), Fault: fault})
			DeferCleanup(mend)

			suite.StopHub = suite.StartHub(proxy.Config(), suite.ManyWorkers, delivering)

			Eventually(func() int { return len(proxy.Requests(suite.Reads(resource))) }).
				WithContext(ctx).WithTimeout(suite.Timeout).Should(BeNumerically(">", read), "the fault has struck")
			Consistently(func() int { return len(proxy.Requests(isWrite)) }).
				WithContext(ctx).WithTimeout(suite.QuietPeriod).Should(Equal(before))

			mend()
			w.expectDelivered(ctx, "cm", change.then...)
		},
		Entry("clusters", "managedclusters", faults.Reset),
		Entry("bindings", "managedclustersetbindings", faults.Unavailable),
		Entry("namespaces", "namespaces", faults.Unavailable),
		Entry("objects", "configmaps", faults.InternalError),
		Entry("works", worksResource, faults.Unavailable),
	)
})
