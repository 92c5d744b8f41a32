package integration

import (
	"context"
	"fmt"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	placementv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/placement/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/controller"
)

var _ = Describe("Taints that follow the condition of a cluster", func() {
	const (
		unavailable = "cluster.open-cluster-management.io/unavailable:NoSelect"
		unreachable = "cluster.open-cluster-management.io/unreachable:NoSelect"
	)

	var stopTaints func()

	// The hub of the suite leaves these taints alone, and no other cluster than those of the spec exists meanwhile.
	startTaints := func(ctx context.Context) {
		stopTaints = startHub(serviceAccount(ctx, controlPlane), func(o *controller.Options) {
			o.Controllers = []string{"managedcluster-taints"}
		})
	}

	BeforeEach(func(ctx SpecContext) {
		startTaints(ctx)
		DeferCleanup(func() { stopTaints() })
	})

	exists := func(keys ...string) clusterv1beta1.PlacementSpec {
		spec := clusterv1beta1.PlacementSpec{}
		for _, key := range keys {
			spec.Tolerations = append(spec.Tolerations, clusterv1beta1.Toleration{Key: key, Operator: clusterv1beta1.TolerationOpExists})
		}

		return spec
	}

	It("42: unreachable, none, unavailable, and placements follow or tolerate", func(ctx SpecContext) {
		w := newWorld(ctx)
		w.set(ctx, "set")
		w.cluster(ctx, "set", "c001")
		w.cluster(ctx, "set", "c002", isAvailable(metav1.ConditionTrue))
		w.placement(ctx, "follows", clusterv1beta1.PlacementSpec{})
		w.placement(ctx, "tolerates", exists(clusterv1.ManagedClusterTaintUnavailable, clusterv1.ManagedClusterTaintUnreachable))

		w.expectTaints(ctx, "c001", unreachable)
		w.expectSelected(ctx, "follows", allScheduled, "c002")
		w.expectSelected(ctx, "tolerates", allScheduled, "c001", "c002")

		for _, next := range []struct {
			status   metav1.ConditionStatus
			taints   []string
			selected []string
		}{
			{metav1.ConditionTrue, nil, shorts(1, 2)},
			{metav1.ConditionFalse, []string{unavailable}, shorts(2, 2)},
			{metav1.ConditionUnknown, []string{unreachable}, shorts(2, 2)},
			{metav1.ConditionTrue, nil, shorts(1, 2)},
		} {
			w.reportAvailable(ctx, "c001", next.status)
			w.expectTaints(ctx, "c001", next.taints...)
			w.expectSelected(ctx, "follows", allScheduled, next.selected...)
			w.expectSelected(ctx, "tolerates", allScheduled, shorts(1, 2)...)
		}
	})

	It("v1alpha1: an unavailable cluster stays, and its decision says so", func(ctx SpecContext) {
		w := newWorld(ctx)
		w.set(ctx, "set")
		w.cluster(ctx, "set", "c001", isAvailable(metav1.ConditionTrue))
		w.cluster(ctx, "set", "c002", isAvailable(metav1.ConditionTrue))
		w.alpha(ctx, "p", placementv1alpha1.PlacementSpec{})
		w.expectAvailable(ctx, "c001", "c002")

		film := w.watchAlphaPages(ctx)
		film.stays(w.names(shorts(1, 2)...)...)

		for _, next := range []struct {
			status    metav1.ConditionStatus
			taints    []string
			available []string
		}{
			{metav1.ConditionFalse, []string{unavailable}, shorts(1, 1)},
			{metav1.ConditionUnknown, []string{unreachable}, shorts(1, 1)},
			{metav1.ConditionTrue, nil, shorts(1, 2)},
		} {
			w.reportAvailable(ctx, "c002", next.status)
			w.expectTaints(ctx, "c002", next.taints...)
			w.expectAvailable(ctx, next.available...)
			Expect(w.lookAlpha(ctx, Default, "p").Selected).To(Equal(shorts(1, 2)))
		}

		film.expectStays()

		By("leaving it for a taint of any other key")
		w.editCluster(ctx, "c002", tainted("maintenance", "", clusterv1.TaintEffectNoSelect))
		Eventually(func(g Gomega) []string { return w.lookAlpha(ctx, g, "p").Selected }).
			WithContext(ctx).WithTimeout(settle).Should(Equal(shorts(1, 1)))
	})

	It("1.4c: leaves other taints alone, and puts its own back", func(ctx SpecContext) {
		w := newWorld(ctx)
		w.cluster(ctx, "", "c001", isAvailable(metav1.ConditionFalse),
			tainted("gpu", "a100", clusterv1.TaintEffectNoSelect),
			tainted(clusterv1.ManagedClusterTaintUnreachable, "", clusterv1.TaintEffectNoSelect),
			tainted(clusterv1.ManagedClusterTaintUnavailable, "", clusterv1.TaintEffectNoSelectIfNew),
			tainted("busy", "", clusterv1.TaintEffectPreferNoSelect))

		all := []string{"gpu=a100:NoSelect", unavailable, "busy:PreferNoSelect"}
		w.expectTaints(ctx, "c001", all...)

		w.editCluster(ctx, "c001", func(c *clusterv1.ManagedCluster) { c.Spec.Taints = nil })
		w.expectTaints(ctx, "c001", unavailable)

		w.editCluster(ctx, "c001", tainted("own", "", clusterv1.TaintEffectNoSelect))
		w.reportAvailable(ctx, "c001", metav1.ConditionTrue)
		w.expectTaints(ctx, "c001", "own:NoSelect")
	})

	It("1.4c: leaves a cluster alone that is being deleted", func(ctx SpecContext) {
		w := newWorld(ctx)
		gone := w.cluster(ctx, "", "c001", isAvailable(metav1.ConditionTrue),
			func(c *clusterv1.ManagedCluster) { c.Finalizers = []string{"example.com/hold"} })
		Expect(hub.Delete(ctx, gone)).To(Succeed())
		w.reportAvailable(ctx, "c001", metav1.ConditionFalse)
		w.expectNoTaintWrite(ctx, []string{})
	})

	It("D1: a heartbeat and a restart write nothing", func(ctx SpecContext) {
		w := newWorld(ctx)
		w.cluster(ctx, "", "c001")
		w.cluster(ctx, "", "c002", isAvailable(metav1.ConditionTrue))
		w.cluster(ctx, "", "c003", isAvailable(metav1.ConditionTrue))
		w.reportAvailable(ctx, "c003", metav1.ConditionFalse)
		w.expectTaints(ctx, "c001", unreachable)
		w.expectTaints(ctx, "c003", unavailable)

		before := unchanging(ctx, w.taintWrites)
		Expect(before).To(ContainElements("patch managedclusters/"+w.name("c001"), "patch managedclusters/"+w.name("c003")))

		for _, short := range []string{"c002", "c003"} {
			cluster := w.readCluster(ctx, Default, short)
			status := cluster.Status.DeepCopy()
			status.Conditions[0].LastTransitionTime = metav1.NewTime(time.Now().Add(time.Minute))
			status.Conditions[0].Message = "still so"
			w.report(ctx, cluster, *status)
		}

		w.expectNoTaintWrite(ctx, before)

		stopTaints()
		startTaints(ctx)
		w.cluster(ctx, "", "probe")
		w.expectTaints(ctx, "probe", unreachable)
		Eventually(w.taintWrites).WithContext(ctx).WithTimeout(settle).Should(ContainElement("patch managedclusters/" + w.name("probe")))
		Expect(withoutProbe(unchanging(ctx, w.taintWrites), w.name("probe"))).To(Equal(withoutProbe(before, w.name("probe"))))
	})

	// 1.6: tolerationSeconds count from timeAdded, and a taint without it has them expired.
	for _, admission := range []struct {
		text string
		with func(context.Context, *world)
	}{
		{"no admission webhook sets the time", func(context.Context, *world) {}},
		{"an admission webhook sets the time and refuses one that is sent, as upstream's does", setTimesOfTaints},
	} {
		It("1.6: a toleration for an hour holds from the first moment, where "+admission.text, func(ctx SpecContext) {
			w := newWorld(ctx)
			admission.with(ctx, w)
			w.set(ctx, "set")
			w.cluster(ctx, "set", "c001", isAvailable(metav1.ConditionTrue))
			spec := exists(clusterv1.ManagedClusterTaintUnreachable)
			spec.Tolerations[0].TolerationSeconds = ptr.To[int64](3600)
			w.placement(ctx, "p", spec)
			w.expectSelected(ctx, "p", allScheduled, "c001")
			before := w.idle(ctx)

			start := time.Now().Truncate(time.Second)

			w.reportAvailable(ctx, "c001", metav1.ConditionUnknown)
			w.expectTaints(ctx, "c001", unreachable)
			Expect(w.readCluster(ctx, Default, "c001").Spec.Taints[0].TimeAdded.Time).To(BeTemporally(">=", start))
			Eventually(func(g Gomega) {
				g.Expect(w.activity(g).Evaluations).To(BeNumerically(">", before.Evaluations))
			}).WithContext(ctx).WithTimeout(settle).WithPolling(auditEvery).Should(Succeed())
			w.expectNoWrite(ctx, before.Writes)
			w.expectSelected(ctx, "p", allScheduled, "c001")
		})
	}
})

// isAvailable gives a cluster the condition that says whether it is.
func isAvailable(status metav1.ConditionStatus) func(*clusterv1.ManagedCluster) {
	return func(c *clusterv1.ManagedCluster) {
		c.Status.Conditions = []metav1.Condition{{
			Type: clusterv1.ManagedClusterConditionAvailable, Status: status, Reason: "Specified", LastTransitionTime: metav1.Now(),
		}}
	}
}

// reportAvailable says whether a cluster is available.
func (w *world) reportAvailable(ctx context.Context, short string, status metav1.ConditionStatus) {
	GinkgoHelper()

	cluster := w.readCluster(ctx, Default, short)
	reported := cluster.DeepCopy()
	isAvailable(status)(reported)
	w.report(ctx, cluster, reported.Status)
}

func (w *world) readCluster(ctx context.Context, g Gomega, short string) *clusterv1.ManagedCluster {
	cluster := &clusterv1.ManagedCluster{}
	g.Expect(hub.Get(ctx, client.ObjectKey{Name: w.name(short)}, cluster)).To(Succeed())

	return cluster
}

// expectTaints waits until a cluster has exactly these taints, as "key=value:effect", each with a time.
func (w *world) expectTaints(ctx context.Context, short string, want ...string) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		got := []string{}

		for _, taint := range w.readCluster(ctx, g, short).Spec.Taints {
			text := taint.Key
			if taint.Value != "" {
				text += "=" + taint.Value
			}

			g.Expect(taint.TimeAdded.IsZero()).To(BeFalse(), "timeAdded of %s", taint.Key)

			got = append(got, fmt.Sprintf("%s:%s", text, taint.Effect))
		}

		g.Expect(got).To(HaveExactElements(want))
	}).WithContext(ctx).WithTimeout(settle).Should(Succeed())
}

// taintWrites are the requests of the hub that change clusters of this world.
func (w *world) taintWrites(g Gomega) []string {
	writes := []string{}

	for _, write := range hubWrites(g, func(namespace string) bool { return namespace == "" }) {
		if strings.Contains(write, " managedclusters/"+w.namespace+"-") {
			writes = append(writes, write)
		}
	}

	return writes
}

func (w *world) expectNoTaintWrite(ctx context.Context, before []string) {
	GinkgoHelper()
	Consistently(func(g Gomega) []string { return w.taintWrites(g) }).
		WithContext(ctx).WithTimeout(quiet).WithPolling(auditEvery).Should(Equal(before))
}

func withoutProbe(writes []string, probe string) []string {
	kept := []string{}

	for _, write := range writes {
		if !strings.HasSuffix(write, "/"+probe) {
			kept = append(kept, write)
		}
	}

	return kept
}
