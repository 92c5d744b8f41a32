// SPDX-License-Identifier: Apache-2.0

package decisions

import (
	"context"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/hub/eventwriter"
	"github.com/placement-hub/placement-hub/test/integration/suite"
)

var _ = Describe("Events", func() {
	recorded := func(ctx context.Context, f *suite.Fixture, lines ...string) {
		GinkgoHelper()
		Eventually(func(g Gomega) []string { return eventsOf(ctx, f, g) }).
			WithContext(ctx).WithTimeout(suite.Timeout).Should(ContainElements(lines))
	}

	It("1.12: tell what was created, updated and deleted, and the scores", func(ctx SpecContext) {
		f := suite.NewFixture(ctx)
		f.AwaitNoOtherDecisions(ctx)
		f.Set(ctx, "set")
		f.Clusters(ctx, "set", 1, 101)
		f.Placement(ctx, "p", clusterv1beta1.PlacementSpec{
			NumberOfClusters: ptr.To[int32](2), PrioritizerPolicy: suite.Exactly(suite.BuiltIn(suite.PrioritizerSteady, 1)),
		})
		f.ExpectSelected(ctx, "p", suite.AllScheduled, suite.Shorts(1, 2)...)
		first := "Normal DecisionCreate/DecisionCreated p-decision-1: Decision p-decision-1 is created with placement p in namespace " + f.Namespace
		recorded(ctx, f, first)
		Consistently(func(g Gomega) []string { return eventsOf(ctx, f, g) }).WithContext(ctx).WithTimeout(suite.QuietPeriod).
			Should(Equal([]string{first}), "E1a: of the first decisions")

		f.EditPlacement(ctx, "p", func(s *clusterv1beta1.PlacementSpec) { s.NumberOfClusters = nil })
		f.Expect(ctx, "p", suite.Outcome{
			Selected: suite.Shorts(1, 101), Groups: []string{"0/: 101 [p-decision-1 p-decision-2]"},
			Satisfied: suite.AllScheduled, Misconfigured: suite.Configured,
		})
		recorded(ctx, f,
			"Normal DecisionCreate/DecisionCreated p-decision-2: Decision p-decision-2 is created with placement p in namespace "+f.Namespace,
			"Normal DecisionUpdate/DecisionUpdated p-decision-1: Decision p-decision-1 is updated with placement p in namespace "+f.Namespace,
		)
		// The scores of all clusters that were in the running, by name.
		Eventually(func(g Gomega) []string { return eventsOf(ctx, f, g) }).WithContext(ctx).WithTimeout(suite.Timeout).Should(ContainElement(
			HavePrefix("Normal ScoreUpdate/ScoreUpdated p-decision-1: " + f.Name("c001") + ":100 " + f.Name("c002") + ":100 " +
				f.Name("c003") + ":0 ")))

		f.EditPlacement(ctx, "p", func(s *clusterv1beta1.PlacementSpec) { s.NumberOfClusters = ptr.To[int32](1) })
		f.ExpectSelected(ctx, "p", suite.AllScheduled, "c001")
		recorded(ctx, f,
			"Normal DecisionDelete/DecisionDeleted p-decision-2: Decision p-decision-2 is deleted with placement p in namespace "+f.Namespace,
			"Warning ManyClustersRemoved/ClustersRemoved: The decisions lost 100 of 101 clusters: "+
				f.Name("c002")+", "+f.Name("c003")+", "+f.Name("c004")+" and 97 more",
		)

		var cut []string
		for _, line := range eventsOf(ctx, f, Default) {
			if len(line) > 1000 {
				cut = append(cut, line)
			}
		}
		Expect(cut).To(ContainElement(HaveSuffix("......")), "a long list of scores is cut")
	})

	It("1.12: warn of expired scores", func(ctx SpecContext) {
		f := suite.NewFixture(ctx)
		f.Set(ctx, "set")
		f.Clusters(ctx, "set", 1, 2)
		f.Score(ctx, "c001", 1, nil)
		f.Score(ctx, "c002", 2, nil)
		f.Placement(ctx, "p", clusterv1beta1.PlacementSpec{
			NumberOfClusters: ptr.To[int32](1), PrioritizerPolicy: suite.Exactly(suite.DemoScore(1)),
		})
		f.ExpectSelected(ctx, "p", suite.AllScheduled, "c002") // The hub knows the scores.

		f.Score(ctx, "c002", 2, ptr.To(metav1.Unix(1_000_000_000, 0)))
		f.ExpectSelected(ctx, "p", suite.AllScheduled, "c001")
		recorded(ctx, f, "Warning DecisionUpdate/DecisionUpdated p-decision-1: Decision p-decision-1 is updated with placement p in namespace "+
			f.Namespace+": AddOnPlacementScores "+f.Name("c002")+"/demo expired in plugin AddOn/demo/size")
	})

	It("1.12: tell when the last cluster of a decision goes", func(ctx SpecContext) {
		f := suite.NewFixture(ctx)
		f.Set(ctx, "set")
		f.Clusters(ctx, "set", 1, 1)
		f.AwaitClusters(ctx)
		f.Placement(ctx, "p", clusterv1beta1.PlacementSpec{})
		f.ExpectSelected(ctx, "p", suite.AllScheduled, "c001")

		fills := func(g Gomega) int {
			count := 0
			for _, event := range f.PlacementEvents(ctx, g) {
				if event.Reason == "DecisionUpdate" {
					count++
					if event.Series != nil {
						count += int(event.Series.Count) - 1
					}
				}
			}
			return count
		}
		f.DeleteCluster(ctx, "c001")
		f.ExpectSelected(ctx, "p", suite.AllSetsEmpty)
		Eventually(fills).WithContext(ctx).WithTimeout(suite.Timeout).Should(Equal(1))
	})

	It("1.12: nothing is told of a page that is empty from the start but its creation, nor of mended labels", func(ctx SpecContext) {
		f := suite.NewFixture(ctx)
		f.Placement(ctx, "p", clusterv1beta1.PlacementSpec{})
		f.ExpectSelected(ctx, "p", suite.NoBindings)
		page := f.Pages(ctx, Default, "p")[0]
		suite.Edit(ctx, &page, func(p *clusterv1beta1.PlacementDecision) { p.Labels[clusterv1beta1.DecisionGroupNameLabel] = "wrong" })
		f.ExpectSelected(ctx, "p", suite.NoBindings)

		only := []string{
			"Normal DecisionCreate/DecisionCreated p-decision-1: Decision p-decision-1 is created with placement p in namespace " + f.Namespace,
		}
		Eventually(func(g Gomega) []string { return eventsOf(ctx, f, g) }).WithContext(ctx).WithTimeout(suite.Timeout).Should(Equal(only))
		Consistently(func(g Gomega) []string { return eventsOf(ctx, f, g) }).WithContext(ctx).WithTimeout(suite.QuietPeriod).Should(Equal(only))
	})

	It("are cut at what an API server takes", func(ctx SpecContext) {
		f := suite.NewFixture(ctx)
		config := suite.ControlPlane.AdminConfig()
		connection, err := rest.HTTPClientFor(config)
		Expect(err).NotTo(HaveOccurred())
		sink, err := eventwriter.NewSink(config, connection)
		Expect(err).NotTo(HaveOccurred())

		writer := eventwriter.New(sink, "tester", func() bool { return false })
		about := &corev1.ObjectReference{APIVersion: "v1", Kind: "ConfigMap", Namespace: f.Namespace, Name: "long"}
		for _, length := range []int{1023, 1024, 1025, 5000} {
			writer.Eventf(about, nil, corev1.EventTypeNormal, "Long", "Tested", "%s", strings.Repeat("x", length))
			writer.Eventf(about, nil, corev1.EventTypeNormal, "Long", "Tested", "%s", strings.Repeat("\u00fc", length))
		}
		running, stop := context.WithCancel(ctx)
		ended := make(chan error)
		go func() { ended <- writer.Start(running) }()

		Eventually(func(g Gomega) {
			events := &eventsv1.EventList{}
			g.Expect(suite.Client.List(ctx, events, client.InNamespace(f.Namespace))).To(Succeed())
			lengths := []int{}
			for _, event := range events.Items {
				lengths = append(lengths, len(event.Note))
			}

			// What is cut alike is one series.
			g.Expect(lengths).To(ConsistOf(1023, 1024, 1006, 1006))
		}).WithContext(ctx).WithTimeout(suite.Timeout).Should(Succeed())
		stop()
		Expect(<-ended).To(Succeed())
	})
})

// eventsOf are "type reason/action page: note" of what was reported about placement "p".
func eventsOf(ctx context.Context, f *suite.Fixture, g Gomega) []string {
	lines := []string{}
	for _, event := range f.PlacementEvents(ctx, g) {
		g.Expect(event.ReportingController).To(Equal("placement-controller"))
		g.Expect(event.Regarding.APIVersion).To(Equal(clusterv1beta1.GroupVersion.String()))
		g.Expect(event.Regarding.Kind).To(Equal("Placement"))
		g.Expect(event.Regarding.UID).To(Equal(f.Read(ctx, g, "p").UID))
		if event.Related == nil { // It is about no page.
			lines = append(lines, event.Type+" "+event.Reason+"/"+event.Action+": "+event.Note)
			continue
		}

		g.Expect(event.Related.APIVersion).To(Equal(clusterv1beta1.GroupVersion.String()))
		g.Expect(event.Related.Kind).To(Equal("PlacementDecision"))
		lines = append(lines, event.Type+" "+event.Reason+"/"+event.Action+" "+event.Related.Name+": "+event.Note)
	}

	return lines
}
