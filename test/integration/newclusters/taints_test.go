// SPDX-License-Identifier: Apache-2.0

package newclusters

import (
	"context"
	"fmt"
	"slices"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/clustersets"
	"github.com/placement-hub/placement-hub/test/history"
	"github.com/placement-hub/placement-hub/test/integration/suite"
)

const (
	available    = 3
	last         = 500
	allScheduled = suite.AllScheduled
)

// expectOnly demands that no recorded state of the decisions has another cluster than these.
func expectOnly(recording *suite.Recording, clusters []string) {
	GinkgoHelper()
	Expect(recording.Drain()).To(Succeed())
	for _, state := range append(recording.Events(), history.Event{Pages: recording.Current()}) {
		for cluster := range state.Pages.Union() {
			Expect(clusters).To(ContainElement(cluster), "a recorded state of the decisions: %s", state.Pages)
		}
	}
}

// awaitTaints waits until every cluster of the fixture has the taint of its condition.
func awaitTaints(ctx context.Context, f *suite.Fixture) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		clusters := &clusterv1.ManagedClusterList{}
		g.Expect(suite.Client.List(ctx, clusters, client.MatchingLabels{suite.FixtureLabel: f.Namespace})).To(Succeed())
		g.Expect(clusters.Items).To(HaveLen(last))
		for i := range clusters.Items {
			cluster := &clusters.Items[i]
			want := clustersets.AvailabilityTaint(cluster.Status.Conditions)
			hasIt := slices.ContainsFunc(cluster.Spec.Taints, func(taint clusterv1.Taint) bool { return taint.Key == want })
			g.Expect(hasIt || want == "" && len(cluster.Spec.Taints) == 0).To(BeTrue(), "%s has %v, not %q", cluster.Name, cluster.Spec.Taints, want)
		}
	}).WithContext(ctx).WithTimeout(suite.SettleTimeout).WithPolling(time.Second).Should(Succeed())
}

var _ = Describe("B20: clusters that the hub has not tainted yet", func() {
	var (
		f         *suite.Fixture
		recording *suite.Recording
	)
	BeforeEach(func(ctx SpecContext) {
		f = suite.NewFixture(ctx)
		f.Set(ctx, "set")
		f.Clusters(ctx, "set", 1, available, suite.IsAvailable(metav1.ConditionTrue))
		f.Placement(ctx, "p", clusterv1beta1.PlacementSpec{})
		f.ExpectSelected(ctx, "p", allScheduled, suite.Shorts(1, available)...)
		recording = f.RecordPages(ctx)
		recording.Require(f.Names(suite.Shorts(1, available)...)...)
	})
	AfterEach(func(ctx SpecContext) {
		awaitTaints(ctx, f)
		f.ExpectSelected(ctx, "p", allScheduled, suite.Shorts(1, available)...)
		expectOnly(recording, f.Names(suite.Shorts(1, available)...))
		recording.ExpectRequired()
	})

	It("are in no state of the decisions when all come at once", func(ctx SpecContext) {
		f.ManyClusters(ctx, "set", available+1, last, func(int, *clusterv1.ManagedCluster) {})
	})

	It("are in no state of the decisions when they come one by one, whatever they report first", func(ctx SpecContext) {
		for i := available + 1; i <= last; i++ {
			f.Cluster(ctx, "set", fmt.Sprintf("c%03d", i), func(cluster *clusterv1.ManagedCluster) {
				switch i % 4 {
				case 0:
					suite.IsAvailable(metav1.ConditionFalse)(cluster)
				case 1:
					suite.IsAvailable(metav1.ConditionUnknown)(cluster)
				}
			})
		}
	})
})

var _ = Describe("B21: the grace period of taints", func() {
	It("keeps a cluster whose condition flaps in the decisions that have it, and out of others", func(ctx SpecContext) {
		f := suite.NewFixture(ctx)
		f.Set(ctx, "set")
		f.Clusters(ctx, "set", 1, 2, suite.IsAvailable(metav1.ConditionTrue))
		f.Placement(ctx, "had", clusterv1beta1.PlacementSpec{})
		f.ExpectSelected(ctx, "had", allScheduled, suite.Shorts(1, 2)...)
		recording := f.RecordPages(ctx)
		recording.Require(f.Names(suite.Shorts(1, 2)...)...)
		f.Placement(ctx, "marked", clusterv1beta1.PlacementSpec{Predicates: []clusterv1beta1.ClusterPredicate{suite.ByLabel("marked", "yes")}})

		By("looking at a Placement that is made while the condition is Unknown")
		reportSecond(ctx, f, metav1.ConditionUnknown)
		// A Placement that is evaluated before the hub has seen the report has the cluster, and keeps it.
		f.LabelClusters(ctx, "marked", "yes", "c001")
		f.ExpectSelected(ctx, "marked", allScheduled, "c001")
		f.Placement(ctx, "new", clusterv1beta1.PlacementSpec{})
		f.ExpectSelected(ctx, "new", allScheduled, "c001")
		Expect(f.Look(ctx, Default, "had").Selected).To(Equal(suite.Shorts(1, 2)))
		reportSecond(ctx, f, metav1.ConditionTrue)
		f.ExpectSelected(ctx, "new", allScheduled, suite.Shorts(1, 2)...)
		Expect(recording.Drain()).To(Succeed())
		recording.ExpectRequired()
		Expect(f.ReadCluster(ctx, Default, "c002").Spec.Taints).To(BeEmpty())

		By("losing a cluster that stays away for the whole period")
		start := time.Now()
		reportSecond(ctx, f, metav1.ConditionFalse)
		f.ExpectSelected(ctx, "had", allScheduled, "c001")
		Expect(time.Since(start)).To(BeNumerically(">=", gracePeriod))

		By("getting it back at once")
		start = time.Now()
		reportSecond(ctx, f, metav1.ConditionTrue)
		f.ExpectSelected(ctx, "had", allScheduled, suite.Shorts(1, 2)...)
		Expect(time.Since(start)).To(BeNumerically("<", gracePeriod))
	})
})

var _ = Describe("B20: a standard set that somebody edits", func() {
	It("never brings the clusters of other sets into the decisions", func(ctx SpecContext) {
		f := suite.NewFixture(ctx)
		f.UnboundSet(ctx, "other")
		f.BindAny(ctx, "default")
		f.Clusters(ctx, "other", 1, available, suite.IsAvailable(metav1.ConditionTrue))
		f.Placement(ctx, "p", clusterv1beta1.PlacementSpec{})
		f.Expect(ctx, "p", suite.Outcome{
			Satisfied: suite.AllSetsEmpty, Misconfigured: suite.Configured, Groups: []string{"0/: 0 [p-decision-1]"},
		})
		recording := f.RecordPages(ctx)

		everything := clusterv1beta2.ManagedClusterSelector{SelectorType: clusterv1beta2.LabelSelector, LabelSelector: &metav1.LabelSelector{}}
		set := &clusterv1beta2.ManagedClusterSet{ObjectMeta: metav1.ObjectMeta{Name: "default"}}
		for range 10 {
			suite.Edit(ctx, set, func(s *clusterv1beta2.ManagedClusterSet) { s.Spec.ClusterSelector = everything })
			Eventually(func(g Gomega) {
				g.Expect(suite.Client.Get(ctx, client.ObjectKeyFromObject(set), set)).To(Succeed())
				g.Expect(set.Spec.ClusterSelector.SelectorType).To(Equal(clusterv1beta2.ExclusiveClusterSetLabel))
			}).WithContext(ctx).WithTimeout(suite.Timeout).Should(Succeed())
		}
		f.Cluster(ctx, "", "probe", suite.IsAvailable(metav1.ConditionTrue), func(cluster *clusterv1.ManagedCluster) {
			cluster.Labels[clusterv1beta2.ClusterSetLabel] = "default"
		})
		f.ExpectSelected(ctx, "p", allScheduled, "probe")
		expectOnly(recording, f.Names("probe"))
	})
})

// reportSecond says whether the second cluster is available.
func reportSecond(ctx context.Context, f *suite.Fixture, status metav1.ConditionStatus) {
	GinkgoHelper()
	cluster := f.ReadCluster(ctx, Default, "c002")
	reported := cluster.DeepCopy()
	suite.IsAvailable(status)(reported)
	f.WriteStatus(ctx, cluster, reported.Status)
}
