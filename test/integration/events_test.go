package integration

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

	"github.com/placement-hub/placement-hub/pkg/controller/eventwriter"
)

var _ = Describe("Events", func() {
	recorded := func(ctx context.Context, w *world, lines ...string) {
		GinkgoHelper()
		Eventually(func(g Gomega) []string { return w.events(ctx, g) }).
			WithContext(ctx).WithTimeout(settle).Should(ContainElements(lines))
	}

	It("1.12: tell what was created, updated and deleted, and the scores", func(ctx SpecContext) {
		w := newWorld(ctx)
		w.alone(ctx)
		w.set(ctx, "set")
		w.clusters(ctx, "set", 1, 101)
		w.placement(ctx, "p", clusterv1beta1.PlacementSpec{
			NumberOfClusters: ptr.To[int32](2), PrioritizerPolicy: exactly(builtIn(steady, 1)),
		})
		w.expectSelected(ctx, "p", allScheduled, shorts(1, 2)...)
		recorded(ctx, w,
			"Normal DecisionCreate/DecisionCreated p-decision-1: Decision p-decision-1 is created with placement p in namespace "+w.namespace,
			"Normal DecisionUpdate/DecisionUpdated p-decision-1: Decision p-decision-1 is updated with placement p in namespace "+w.namespace,
		)
		// The scores of all clusters that were in the running, by name.
		Eventually(func(g Gomega) []string { return w.events(ctx, g) }).WithContext(ctx).WithTimeout(settle).Should(ContainElement(
			HavePrefix("Normal ScoreUpdate/ScoreUpdated p-decision-1: " + w.name("c001") + ":0 " + w.name("c002") + ":0 " + w.name("c003") + ":0 ")))

		w.editPlacement(ctx, "p", func(s *clusterv1beta1.PlacementSpec) { s.NumberOfClusters = nil })
		w.expect(ctx, "p", outcome{
			Selected: shorts(1, 101), Groups: []string{"0/: 101 [p-decision-1 p-decision-2]"},
			Satisfied: allScheduled, Misconfigured: configured,
		})
		recorded(ctx, w,
			"Normal DecisionCreate/DecisionCreated p-decision-2: Decision p-decision-2 is created with placement p in namespace "+w.namespace,
		)

		w.editPlacement(ctx, "p", func(s *clusterv1beta1.PlacementSpec) { s.NumberOfClusters = ptr.To[int32](1) })
		w.expectSelected(ctx, "p", allScheduled, "c001")
		recorded(ctx, w,
			"Normal DecisionDelete/DecisionDeleted p-decision-2: Decision p-decision-2 is deleted with placement p in namespace "+w.namespace,
			"Warning ManyClustersRemoved/ClustersRemoved: The decisions lost 100 of 101 clusters: "+
				w.name("c002")+", "+w.name("c003")+", "+w.name("c004")+" and 97 more",
		)

		var cut []string
		for _, line := range w.events(ctx, Default) {
			if len(line) > 1000 {
				cut = append(cut, line)
			}
		}

		Expect(cut).To(ContainElement(HaveSuffix("......")), "a long list of scores is cut")
	})

	It("1.12: warn of expired scores", func(ctx SpecContext) {
		w := newWorld(ctx)
		w.set(ctx, "set")
		w.clusters(ctx, "set", 1, 1)
		w.score(ctx, "c001", 1, ptr.To(metav1.Unix(1_000_000_000, 0)))
		w.placement(ctx, "p", clusterv1beta1.PlacementSpec{PrioritizerPolicy: exactly(demoScore(1))})
		w.expectSelected(ctx, "p", allScheduled, "c001")

		recorded(ctx, w, "Warning DecisionUpdate/DecisionUpdated p-decision-1: Decision p-decision-1 is updated with placement p in namespace "+
			w.namespace+": AddOnPlacementScores "+w.name("c001")+"/demo expired in plugin AddOn/demo/size")
	})

	It("1.12: tell when the last cluster of a decision goes", func(ctx SpecContext) {
		w := newWorld(ctx)
		w.set(ctx, "set")
		w.clusters(ctx, "set", 1, 1)
		w.placement(ctx, "p", clusterv1beta1.PlacementSpec{})
		w.expectSelected(ctx, "p", allScheduled, "c001")

		fills := func(g Gomega) int {
			count := 0

			for _, event := range w.rawEvents(ctx, g) {
				if event.Reason == "DecisionUpdate" {
					count++

					if event.Series != nil {
						count += int(event.Series.Count) - 1
					}
				}
			}

			return count
		}
		Eventually(fills).WithContext(ctx).WithTimeout(settle).Should(Equal(1))

		w.deleteCluster(ctx, "c001")
		w.expectSelected(ctx, "p", allSetsEmpty)
		Eventually(fills).WithContext(ctx).WithTimeout(settle).Should(Equal(2))
	})

	It("1.12: nothing is told of a page that is empty from the start but its creation, nor of mended labels", func(ctx SpecContext) {
		w := newWorld(ctx)
		w.placement(ctx, "p", clusterv1beta1.PlacementSpec{})
		w.expectSelected(ctx, "p", noBindings)

		page := w.pages(ctx, Default, "p")[0]
		edit(ctx, &page, func(p *clusterv1beta1.PlacementDecision) { p.Labels[clusterv1beta1.DecisionGroupNameLabel] = "wrong" })
		w.expectSelected(ctx, "p", noBindings)

		only := []string{
			"Normal DecisionCreate/DecisionCreated p-decision-1: Decision p-decision-1 is created with placement p in namespace " + w.namespace,
		}
		Eventually(func(g Gomega) []string { return w.events(ctx, g) }).WithContext(ctx).WithTimeout(settle).Should(Equal(only))
		Consistently(func(g Gomega) []string { return w.events(ctx, g) }).WithContext(ctx).WithTimeout(quiet).Should(Equal(only))
	})

	It("are cut at what an API server takes", func(ctx SpecContext) {
		w := newWorld(ctx)
		config := controlPlane.AdminConfig()
		connection, err := rest.HTTPClientFor(config)
		Expect(err).NotTo(HaveOccurred())
		sink, err := eventwriter.NewSink(config, connection)
		Expect(err).NotTo(HaveOccurred())

		writer := eventwriter.New(sink, "tester", func() bool { return false })
		about := &corev1.ObjectReference{APIVersion: "v1", Kind: "ConfigMap", Namespace: w.namespace, Name: "long"}
		for _, length := range []int{1023, 1024, 1025, 5000} {
			writer.Eventf(about, nil, corev1.EventTypeNormal, "Long", "Tested", "%s", strings.Repeat("x", length))
			writer.Eventf(about, nil, corev1.EventTypeNormal, "Long", "Tested", "%s", strings.Repeat("\u00fc", length))
		}

		running, stop := context.WithCancel(ctx)
		ended := make(chan error)

		go func() { ended <- writer.Start(running) }()

		Eventually(func(g Gomega) {
			events := &eventsv1.EventList{}
			g.Expect(hub.List(ctx, events, client.InNamespace(w.namespace))).To(Succeed())

			lengths := []int{}
			for _, event := range events.Items {
				lengths = append(lengths, len(event.Note))
			}

			// What is cut alike is one series.
			g.Expect(lengths).To(ConsistOf(1023, 1024, 1006, 1006))
		}).WithContext(ctx).WithTimeout(settle).Should(Succeed())
		stop()
		Expect(<-ended).To(Succeed())
	})
})

// events are "type reason/action page: note" of what was reported about placement "p".
func (w *world) events(ctx context.Context, g Gomega) []string {
	lines := []string{}

	for _, event := range w.rawEvents(ctx, g) {
		g.Expect(event.ReportingController).To(Equal("placement-controller"))
		g.Expect(event.Regarding.APIVersion).To(Equal(clusterv1beta1.GroupVersion.String()))
		g.Expect(event.Regarding.Kind).To(Equal("Placement"))
		g.Expect(event.Regarding.UID).To(Equal(w.read(ctx, g, "p").UID))

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

func (w *world) rawEvents(ctx context.Context, g Gomega) []eventsv1.Event {
	list := &eventsv1.EventList{}
	g.Expect(hub.List(ctx, list, client.InNamespace(w.namespace))).To(Succeed())

	var found []eventsv1.Event

	for _, event := range list.Items {
		if event.Regarding.Name == "p" {
			found = append(found, event)
		}
	}

	return found
}
