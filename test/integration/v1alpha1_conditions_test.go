package integration

import (
	"context"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/ptr"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/manifests"
	placementv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/placement/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/decision/record"
)

// alphaMistakes are specs that the API server does not take, and the words of the condition that name field, value and rule.
var alphaMistakes = map[string]struct {
	spec  placementv1alpha1.PlacementSpec
	words string
}{
	"count": {placementv1alpha1.PlacementSpec{NumberOfClusters: ptr.To[int32](-1)}, "spec.numberOfClusters: Invalid value: -1"},
	"name": {
		anyOf(placementv1alpha1.ClusterPredicate{ClusterName: "EU_1"}), `spec.predicates[0].clusterName: Invalid value: "EU_1"`,
	},
	"label": {
		anyOf(placementv1alpha1.ClusterPredicate{}, withLabel("a", "no value!")), "spec.predicates[1].labelSelector.matchLabels",
	},
	"claim": {
		anyOf(whereClaim("a", "Like", "b")), `spec.predicates[0].claimSelector.matchExpressions[0].operator: Unsupported value: "Like"`,
	},
	"key":  {apart("", "zone"), `spec.antiAffinity.topologyKeyType: Unsupported value: ""`},
	"type": {apart("Taint", "zone"), `spec.antiAffinity.topologyKeyType: Unsupported value: "Taint"`},
	"none": {apart(placementv1alpha1.TopologyKeyTypeClaim, ""), "spec.antiAffinity.topologyKey: Required value"},
}

var _ = Describe("P8: the conditions of a Placement", Serial, func() {
	It("are False only when fewer were found than asked for, or nothing could be looked at; B6: a restart writes nothing", func(ctx SpecContext) {
		w := newWorld(ctx)
		none := anyOf(withLabel("no", "such"))
		wanting := *none.DeepCopy()
		wanting.NumberOfClusters = ptr.To[int32](3)

		for name, spec := range map[string]placementv1alpha1.PlacementSpec{
			"all": {}, "absent": {ClusterSets: []string{"absent"}}, "three": {NumberOfClusters: ptr.To[int32](3)},
			"none": none, "wanting": wanting, "zero": {NumberOfClusters: ptr.To[int32](0)},
			"apart": apart(placementv1alpha1.TopologyKeyTypeLabel, "zone"),
		} {
			w.alpha(ctx, name, spec)
		}

		rows := func(satisfied string, names ...string) {
			GinkgoHelper()

			for _, name := range names {
				w.expectAlpha(ctx, name, satisfied)
				Expect(w.lookAlpha(ctx, Default, name).Pages).To(HaveExactElements(name+"-decision-1: 0"), "B3: one empty page")
			}
		}
		rows(noBindings, "all", "absent", "three", "none", "wanting", "zero", "apart")

		w.set(ctx, "set")
		rows(noIntersection, "absent")
		rows(allSetsEmpty, "all", "three", "none", "wanting", "zero", "apart")

		w.clusters(ctx, "set", 1, 2)
		rows(noIntersection, "absent")
		w.expectAlpha(ctx, "all", allScheduled, shorts(1, 2)...)
		w.expectAlpha(ctx, "three", notAllScheduled, shorts(1, 2)...)
		rows(allScheduled, "none", "zero", "apart")
		rows(notAllScheduled, "wanting")

		for name, words := range map[string]string{"three": "1 cluster decisions unscheduled", "wanting": "3 cluster decisions unscheduled"} {
			Expect(w.alphaMessage(ctx, Default, name, placementv1alpha1.ConditionSatisfied)).To(HavePrefix(words))
		}

		By("restarting")
		w.alone(ctx)

		probe := newWorld(ctx)
		elsewhere := func(g Gomega) []string {
			return hubWrites(g, func(namespace string) bool { return namespace != probe.namespace })
		}
		evaluations := w.idle(ctx).Evaluations
		before := unchanging(ctx, elsewhere)

		stopHub()

		stopHub = startHub(serviceAccount(ctx, controlPlane))

		probe.alpha(ctx, "probe", placementv1alpha1.PlacementSpec{})
		probe.expectAlpha(ctx, "probe", noBindings)
		Expect(w.idle(ctx).Evaluations).To(BeNumerically(">=", evaluations+7), "every placement was evaluated again")
		Expect(elsewhere(Default)).To(Equal(before))
	})

	It("A1, A6: tell of mistakes that got in before validation, while the decisions stay and available follows", func(ctx SpecContext) {
		w := newWorld(ctx)
		w.alone(ctx)
		w.set(ctx, "set")
		w.cluster(ctx, "set", "c001", reachable)
		w.cluster(ctx, "set", "c002", reachable)

		for name := range alphaMistakes {
			w.alpha(ctx, name, placementv1alpha1.PlacementSpec{})
			w.expectAlpha(ctx, name, allScheduled, shorts(1, 2)...)
		}

		errors := w.activity(Default).Errors
		long := strings.Repeat("long", 16)
		withoutRules(ctx, func() {
			for name, mistake := range alphaMistakes {
				w.editAlpha(ctx, name, func(s *placementv1alpha1.PlacementSpec) { *s = *mistake.spec.DeepCopy() })
				w.alpha(ctx, "new-"+name, *mistake.spec.DeepCopy())
			}

			w.alpha(ctx, long, placementv1alpha1.PlacementSpec{})
		})

		// told waits until every placement tells its mistake and has these clusters, of which these are available.
		told := func(all, available []string) {
			GinkgoHelper()
			Eventually(func(g Gomega) {
				for name, mistake := range alphaMistakes {
					g.Expect(w.alphaMessage(ctx, g, name, placementv1alpha1.ConditionMisconfigured)).To(ContainSubstring(mistake.words))
					g.Expect(w.lookAlpha(ctx, g, name)).To(Equal(alphaOutcome{
						Selected: all, Available: available, Pages: []string{name + "-decision-1: 2"},
						Satisfied: notAllScheduled, Misconfigured: misconfigured,
					}), name)
				}
			}).WithContext(ctx).WithTimeout(settle).Should(Succeed())
		}
		told(shorts(1, 2), shorts(1, 2))

		By("new ones get one empty page, but for the one whose name fits no label, which gets none")
		Eventually(func(g Gomega) {
			for name, mistake := range alphaMistakes {
				g.Expect(w.alphaMessage(ctx, g, "new-"+name, placementv1alpha1.ConditionMisconfigured)).To(ContainSubstring(mistake.words))
				g.Expect(w.lookAlpha(ctx, g, "new-"+name)).To(Equal(alphaOutcome{
					Selected: []string{}, Available: []string{}, Pages: []string{"new-" + name + "-decision-1: 0"},
					Satisfied: nothingMatched, Misconfigured: misconfigured,
				}), name)
			}

			g.Expect(w.alphaMessage(ctx, g, long, placementv1alpha1.ConditionMisconfigured)).To(And(
				HavePrefix("metadata.name: Invalid value: "), ContainSubstring("must be no more than 63")))
		}).WithContext(ctx).WithTimeout(settle).Should(Succeed())

		By("the clusters come and go, and the decisions stay")
		w.clusters(ctx, "set", 3, 3)
		w.reach(ctx, "c001", metav1.ConditionFalse, "it is out of reach")
		told(shorts(1, 2), []string{"c002"})
		Expect(hub.Delete(ctx, &clusterv1beta2.ManagedClusterSetBinding{
			ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: w.name("set")},
		})).To(Succeed())
		w.idle(ctx)
		w.reach(ctx, "c001", metav1.ConditionTrue, "it is back, though out of scope")
		told(shorts(1, 2), shorts(1, 2))
		w.deleteCluster(ctx, "c002")
		told(shorts(1, 2), []string{"c001"})
		w.idle(ctx)
		Expect(w.activity(Default).Errors).To(Equal(errors), "a mistake is a state, not an error (A3)")

		By("they recover")
		w.bind(ctx, "set")

		for name := range alphaMistakes {
			w.editAlpha(ctx, name, func(s *placementv1alpha1.PlacementSpec) { *s = placementv1alpha1.PlacementSpec{} })
			w.expectAlpha(ctx, name, allScheduled, "c001", "c003")
		}
	})

	It("A5, A7, B1: tell when a page cannot be created, which takes nothing from the others", func(ctx SpecContext) {
		w := newWorld(ctx)
		w.set(ctx, "set")
		w.clusters(ctx, "set", 1, 100)
		w.alpha(ctx, "p", placementv1alpha1.PlacementSpec{})
		w.expectAlpha(ctx, "p", allScheduled, shorts(1, 100)...)

		quota := w.forbidPages(ctx, record.V1alpha1.Form(), 1)
		w.cluster(ctx, "set", "c000")
		w.expectAlpha(ctx, "p", notAllScheduled, shorts(1, 100)...)
		Expect(w.alphaMessage(ctx, Default, "p", placementv1alpha1.ConditionSatisfied)).
			To(HavePrefix("The decisions could not all be written: creating PlacementDecision " + w.namespace + "/p-decision-2: Forbidden: "))

		Expect(hub.Delete(ctx, quota)).To(Succeed())
		w.expectAlpha(ctx, "p", allScheduled, shorts(0, 100)...)
	})

	It("A4: a broken set keeps the decisions and says so, and available follows", func(ctx SpecContext) {
		w := newWorld(ctx)
		set := w.labelSet(ctx, "broken", metav1.LabelSelector{})
		w.cluster(ctx, "", "c001", reachable)
		w.alpha(ctx, "p", placementv1alpha1.PlacementSpec{})
		w.expectAlpha(ctx, "p", allScheduled, "c001")
		w.expectAvailable(ctx, "c001")

		edit(ctx, set, func(s *clusterv1beta2.ManagedClusterSet) {
			s.Spec.ClusterSelector.LabelSelector.MatchExpressions[0].Operator = "Resembles"
		})
		w.expectAlpha(ctx, "p", notAllScheduled, "c001")
		Expect(w.alphaMessage(ctx, Default, "p", placementv1alpha1.ConditionSatisfied)).To(ContainSubstring("Resembles"))

		w.reach(ctx, "c001", metav1.ConditionFalse, "it is out of reach")
		w.expectAvailable(ctx)
		Expect(w.lookAlpha(ctx, Default, "p").Selected).To(HaveExactElements("c001"))

		By("events name both objects by their own API, and have something to say")
		Eventually(func(g Gomega) {
			events := w.rawEvents(ctx, g)
			g.Expect(events).To(ContainElement(HaveField("Reason", "DecisionUpdate")))

			for _, event := range events {
				g.Expect(event.Regarding.APIVersion).To(Equal("placement.open-cluster-management.io/v1alpha1"))
				g.Expect(event.Related).To(HaveField("APIVersion", event.Regarding.APIVersion))
				g.Expect(event.Related).To(HaveField("Kind", "PlacementDecision"))
				g.Expect(event.Note).NotTo(BeEmpty(), "%s of a held placement, which has no scores", event.Reason)
			}
		}).WithContext(ctx).WithTimeout(settle).Should(Succeed())
		Consistently(func(g Gomega) { g.Expect(w.rawEvents(ctx, g)).NotTo(ContainElement(HaveField("Note", ""))) }).
			WithContext(ctx).WithTimeout(calm).Should(Succeed())
	})
})

// withoutRules does something while the API server takes any Placement of v1alpha1 that is well-typed.
func withoutRules(ctx SpecContext, do func()) {
	GinkgoHelper()

	strict := definitionIn(placementv1alpha1.GroupName)
	lax := strict.DeepCopy()

	for _, schema := range schemasOf(lax) {
		delete(schema, "x-kubernetes-validations")
		dropRules(specOf(schema))
	}

	probe := func(ctx context.Context) error {
		return hub.Create(ctx, &placementv1alpha1.Placement{
			ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: strings.Repeat("p", 64)},
			Spec:       placementv1alpha1.PlacementSpec{NumberOfClusters: ptr.To[int32](-1), AntiAffinity: apart("Taint", "").AntiAffinity},
		}, client.DryRunAll)
	}
	restore := func(ctx SpecContext) {
		GinkgoHelper()
		Expect(manifests.Apply(ctx, controlPlane.AdminConfig(), []*unstructured.Unstructured{strict.DeepCopy()})).To(Succeed())
		Eventually(func() []string { return complaints(probe(ctx)) }).WithContext(ctx).WithTimeout(settle).ShouldNot(BeEmpty())
	}

	DeferCleanup(restore)
	Expect(manifests.Apply(ctx, controlPlane.AdminConfig(), []*unstructured.Unstructured{lax})).To(Succeed())
	Eventually(func() error { return probe(ctx) }).WithContext(ctx).WithTimeout(settle).Should(Succeed())
	do()
	restore(ctx)
}
