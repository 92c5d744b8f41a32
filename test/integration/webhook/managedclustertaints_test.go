// SPDX-License-Identifier: Apache-2.0

package webhook

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

	placementv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/placement/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/system"
	"github.com/placement-hub/placement-hub/test/integration/suite"
)

var _ = Describe("Taints that follow the condition of a cluster", func() {
	const (
		unavailable = "cluster.open-cluster-management.io/unavailable:NoSelect"
		unreachable = "cluster.open-cluster-management.io/unreachable:NoSelect"
	)
	var stopTaints func()

	// The hub of the suite leaves these taints alone, and no other cluster than those of the spec exists meanwhile.
	startTaints := func(ctx context.Context) {
		stopTaints = suite.StartHub(suite.HubConfig(ctx, suite.ControlPlane), func(o *system.Options) {
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
		f := suite.NewFixture(ctx)
		f.Set(ctx, "set")
		f.Cluster(ctx, "set", "c001")
		f.Cluster(ctx, "set", "c002", suite.IsAvailable(metav1.ConditionTrue))
		f.Placement(ctx, "follows", clusterv1beta1.PlacementSpec{})
		f.Placement(ctx, "tolerates", exists(clusterv1.ManagedClusterTaintUnavailable, clusterv1.ManagedClusterTaintUnreachable))

		expectTaints(ctx, f, "c001", unreachable)
		f.ExpectSelected(ctx, "follows", suite.AllScheduled, "c002")
		f.ExpectSelected(ctx, "tolerates", suite.AllScheduled, "c001", "c002")
		for _, next := range []struct {
			status   metav1.ConditionStatus
			taints   []string
			selected []string
		}{
			{metav1.ConditionTrue, nil, suite.Shorts(1, 2)},
			{metav1.ConditionFalse, []string{unavailable}, suite.Shorts(2, 2)},
			{metav1.ConditionUnknown, []string{unreachable}, suite.Shorts(2, 2)},
			{metav1.ConditionTrue, nil, suite.Shorts(1, 2)},
		} {
			reportAvailable(ctx, f, "c001", next.status)
			expectTaints(ctx, f, "c001", next.taints...)
			f.ExpectSelected(ctx, "follows", suite.AllScheduled, next.selected...)
			f.ExpectSelected(ctx, "tolerates", suite.AllScheduled, suite.Shorts(1, 2)...)
		}
	})

	It("v1alpha1: an unavailable cluster stays, and its decision says so", func(ctx SpecContext) {
		f := suite.NewFixture(ctx)
		f.Set(ctx, "set")
		f.Cluster(ctx, "set", "c001", suite.IsAvailable(metav1.ConditionTrue))
		f.Cluster(ctx, "set", "c002", suite.IsAvailable(metav1.ConditionTrue))
		f.AlphaPlacement(ctx, "p", placementv1alpha1.PlacementSpec{})
		f.ExpectAvailable(ctx, "c001", "c002")
		recording := f.RecordAlphaPages(ctx)
		recording.Require(f.Names(suite.Shorts(1, 2)...)...)

		for _, next := range []struct {
			status    metav1.ConditionStatus
			taints    []string
			available []string
		}{
			{metav1.ConditionFalse, []string{unavailable}, suite.Shorts(1, 1)},
			{metav1.ConditionUnknown, []string{unreachable}, suite.Shorts(1, 1)},
			{metav1.ConditionTrue, nil, suite.Shorts(1, 2)},
		} {
			reportAvailable(ctx, f, "c002", next.status)
			expectTaints(ctx, f, "c002", next.taints...)
			f.ExpectAvailable(ctx, next.available...)
			Expect(f.LookAlpha(ctx, Default, "p").Selected).To(Equal(suite.Shorts(1, 2)))
		}

		recording.ExpectRequired()

		By("leaving it for a taint of any other key")
		f.EditCluster(ctx, "c002", suite.Tainted("maintenance", "", clusterv1.TaintEffectNoSelect))
		Eventually(func(g Gomega) []string { return f.LookAlpha(ctx, g, "p").Selected }).
			WithContext(ctx).WithTimeout(suite.Timeout).Should(Equal(suite.Shorts(1, 1)))
	})

	It("1.4c: leaves other taints alone, and puts its own back", func(ctx SpecContext) {
		f := suite.NewFixture(ctx)
		f.Cluster(ctx, "", "c001", suite.IsAvailable(metav1.ConditionFalse),
			suite.Tainted("gpu", "a100", clusterv1.TaintEffectNoSelect),
			suite.Tainted(clusterv1.ManagedClusterTaintUnreachable, "", clusterv1.TaintEffectNoSelect),
			suite.Tainted(clusterv1.ManagedClusterTaintUnavailable, "", clusterv1.TaintEffectNoSelectIfNew),
			suite.Tainted("busy", "", clusterv1.TaintEffectPreferNoSelect))
		all := []string{"gpu=a100:NoSelect", unavailable, "busy:PreferNoSelect"}
		expectTaints(ctx, f, "c001", all...)

		f.EditCluster(ctx, "c001", func(c *clusterv1.ManagedCluster) { c.Spec.Taints = nil })
		expectTaints(ctx, f, "c001", unavailable)

		f.EditCluster(ctx, "c001", suite.Tainted("own", "", clusterv1.TaintEffectNoSelect))
		reportAvailable(ctx, f, "c001", metav1.ConditionTrue)
		expectTaints(ctx, f, "c001", "own:NoSelect")
	})

	It("1.4c: leaves a cluster alone that is being deleted", func(ctx SpecContext) {
		f := suite.NewFixture(ctx)
		gone := f.Cluster(ctx, "", "c001", suite.IsAvailable(metav1.ConditionTrue),
			func(c *clusterv1.ManagedCluster) { c.Finalizers = []string{"example.com/hold"} })
		Expect(suite.Client.Delete(ctx, gone)).To(Succeed())
		// Between its creation and its first status the cluster may have been tainted.
		before := suite.AwaitUnchanged(ctx, func(g Gomega) []string { return taintWrites(f, g) })
		reportAvailable(ctx, f, "c001", metav1.ConditionFalse)
		expectNoTaintWrite(ctx, f, before)
	})

	It("D1: a heartbeat and a restart write nothing", func(ctx SpecContext) {
		f := suite.NewFixture(ctx)
		f.Cluster(ctx, "", "c001")
		f.Cluster(ctx, "", "c002", suite.IsAvailable(metav1.ConditionTrue))
		f.Cluster(ctx, "", "c003", suite.IsAvailable(metav1.ConditionTrue))
		reportAvailable(ctx, f, "c003", metav1.ConditionFalse)
		expectTaints(ctx, f, "c001", unreachable)
		expectTaints(ctx, f, "c003", unavailable)
		writes := func(g Gomega) []string { return taintWrites(f, g) }
		before := suite.AwaitUnchanged(ctx, writes)
		Expect(before).To(ContainElements("patch managedclusters/"+f.Name("c001"), "patch managedclusters/"+f.Name("c003")))

		for _, short := range []string{"c002", "c003"} {
			cluster := f.ReadCluster(ctx, Default, short)
			status := cluster.Status.DeepCopy()
			status.Conditions[0].LastTransitionTime = metav1.NewTime(time.Now().Add(time.Minute))
			status.Conditions[0].Message = "still so"
			f.WriteStatus(ctx, cluster, *status)
		}
		expectNoTaintWrite(ctx, f, before)

		stopTaints()
		startTaints(ctx)
		f.Cluster(ctx, "", "probe")
		expectTaints(ctx, f, "probe", unreachable)
		Eventually(writes).WithContext(ctx).WithTimeout(suite.Timeout).Should(ContainElement("patch managedclusters/" + f.Name("probe")))
		Expect(withoutProbe(suite.AwaitUnchanged(ctx, writes), f.Name("probe"))).
			To(Equal(withoutProbe(before, f.Name("probe"))))
	})

	// 1.6: tolerationSeconds count from timeAdded, and a taint without it has them expired.
	for _, admission := range []struct {
		text string
		with func(context.Context, *suite.Fixture)
	}{
		{"no admission webhook sets the time", func(context.Context, *suite.Fixture) {}},
		{"an admission webhook sets the time and refuses one that is sent, as upstream's does", setTimesOfTaints},
	} {
		It("1.6: a toleration for an hour holds from the first moment, where "+admission.text, func(ctx SpecContext) {
			f := suite.NewFixture(ctx)
			admission.with(ctx, f)
			f.Set(ctx, "set")
			f.Cluster(ctx, "set", "c001", suite.IsAvailable(metav1.ConditionTrue))
			spec := exists(clusterv1.ManagedClusterTaintUnreachable)
			spec.Tolerations[0].TolerationSeconds = ptr.To[int64](3600)
			f.Placement(ctx, "p", spec)
			f.ExpectSelected(ctx, "p", suite.AllScheduled, "c001")
			before := f.AwaitIdle(ctx)

			start := time.Now().Truncate(time.Second)
			reportAvailable(ctx, f, "c001", metav1.ConditionUnknown)
			expectTaints(ctx, f, "c001", unreachable)
			Expect(f.ReadCluster(ctx, Default, "c001").Spec.Taints[0].TimeAdded.Time).To(BeTemporally(">=", start))
			Eventually(func(g Gomega) {
				g.Expect(f.Activity(g).Evaluations).To(BeNumerically(">", before.Evaluations))
			}).WithContext(ctx).WithTimeout(suite.Timeout).WithPolling(suite.AuditInterval).Should(Succeed())
			f.ExpectNoWrite(ctx, before.Writes)
			f.ExpectSelected(ctx, "p", suite.AllScheduled, "c001")
		})
	}
})

// reportAvailable says whether a cluster is available.
func reportAvailable(ctx context.Context, f *suite.Fixture, short string, status metav1.ConditionStatus) {
	GinkgoHelper()
	cluster := f.ReadCluster(ctx, Default, short)
	reported := cluster.DeepCopy()
	suite.IsAvailable(status)(reported)
	f.WriteStatus(ctx, cluster, reported.Status)
}

// expectTaints waits until a cluster has exactly these taints, as "key=value:effect", each with a time.
func expectTaints(ctx context.Context, f *suite.Fixture, short string, want ...string) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		got := []string{}
		for _, taint := range f.ReadCluster(ctx, g, short).Spec.Taints {
			text := taint.Key
			if taint.Value != "" {
				text += "=" + taint.Value
			}
			g.Expect(taint.TimeAdded.IsZero()).To(BeFalse(), "timeAdded of %s", taint.Key)
			got = append(got, fmt.Sprintf("%s:%s", text, taint.Effect))
		}
		g.Expect(got).To(HaveExactElements(want))
	}).WithContext(ctx).WithTimeout(suite.Timeout).Should(Succeed())
}

// taintWrites are the requests of the hub that change clusters of this fixture.
func taintWrites(f *suite.Fixture, g Gomega) []string {
	writes := []string{}
	for _, write := range suite.HubWrites(g, func(namespace string) bool { return namespace == "" }) {
		if strings.Contains(write, " managedclusters/"+f.Namespace+"-") {
			writes = append(writes, write)
		}
	}
	return writes
}

func expectNoTaintWrite(ctx context.Context, f *suite.Fixture, before []string) {
	GinkgoHelper()
	Consistently(func(g Gomega) []string { return taintWrites(f, g) }).
		WithContext(ctx).WithTimeout(suite.QuietPeriod).WithPolling(suite.AuditInterval).Should(Equal(before))
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
