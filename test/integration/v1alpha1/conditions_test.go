// SPDX-License-Identifier: Apache-2.0

package v1alpha1

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
	"github.com/placement-hub/placement-hub/pkg/placement/api"
	"github.com/placement-hub/placement-hub/test/integration/suite"
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

var _ = Describe("P8: the conditions of a Placement", func() {
	It("are False only when fewer were found than asked for, or nothing could be looked at; B6: a restart writes nothing", func(ctx SpecContext) {
		f := suite.NewFixture(ctx)
		none := anyOf(withLabel("no", "such"))
		wanting := *none.DeepCopy()
		wanting.NumberOfClusters = ptr.To[int32](3)
		for name, spec := range map[string]placementv1alpha1.PlacementSpec{
			"all": {}, "absent": {ClusterSets: []string{"absent"}}, "three": {NumberOfClusters: ptr.To[int32](3)},
			"none": none, "wanting": wanting, "zero": {NumberOfClusters: ptr.To[int32](0)},
			"apart": apart(placementv1alpha1.TopologyKeyTypeLabel, "zone"),
		} {
			f.AlphaPlacement(ctx, name, spec)
		}

		rows := func(satisfied string, names ...string) {
			GinkgoHelper()
			for _, name := range names {
				f.ExpectAlpha(ctx, name, satisfied)
				Expect(f.LookAlpha(ctx, Default, name).Pages).To(HaveExactElements(name+"-decision-1: 0"), "B3: one empty page")
			}
		}
		rows(suite.NoBindings, "all", "absent", "three", "none", "wanting", "zero", "apart")

		f.Set(ctx, "set")
		rows(suite.NoIntersection, "absent")
		rows(suite.AllSetsEmpty, "all", "three", "none", "wanting", "zero", "apart")

		f.Clusters(ctx, "set", 1, 2)
		rows(suite.NoIntersection, "absent")
		f.ExpectAlpha(ctx, "all", suite.AllScheduled, suite.Shorts(1, 2)...)
		f.ExpectAlpha(ctx, "three", suite.NotAllScheduled, suite.Shorts(1, 2)...)
		rows(suite.AllScheduled, "none", "zero", "apart")
		rows(suite.NotAllScheduled, "wanting")
		for name, words := range map[string]string{"three": "1 cluster decisions unscheduled", "wanting": "3 cluster decisions unscheduled"} {
			Expect(alphaMessage(ctx, f, Default, name, placementv1alpha1.ConditionSatisfied)).To(HavePrefix(words))
		}

		By("restarting")
		f.AwaitNoOtherDecisions(ctx)
		probe := suite.NewFixture(ctx)
		elsewhere := func(g Gomega) []string {
			return suite.HubWrites(g, func(namespace string) bool { return namespace != probe.Namespace })
		}
		evaluations := f.AwaitIdle(ctx).Evaluations
		before := suite.AwaitUnchanged(ctx, elsewhere)
		suite.StopHub()
		suite.StopHub = suite.StartHub(suite.HubConfig(ctx, suite.ControlPlane))

		probe.AlphaPlacement(ctx, "probe", placementv1alpha1.PlacementSpec{})
		probe.ExpectAlpha(ctx, "probe", suite.NoBindings)
		Expect(f.AwaitIdle(ctx).Evaluations).To(BeNumerically(">=", evaluations+7), "every placement was evaluated again")
		Expect(elsewhere(Default)).To(Equal(before))
	})

	It("A1, A6: tell of mistakes that got in before validation, while the decisions stay and available follows", func(ctx SpecContext) {
		f := suite.NewFixture(ctx)
		f.AwaitNoOtherDecisions(ctx)
		f.Set(ctx, "set")
		f.Cluster(ctx, "set", "c001", reachable)
		f.Cluster(ctx, "set", "c002", reachable)
		for name := range alphaMistakes {
			f.AlphaPlacement(ctx, name, placementv1alpha1.PlacementSpec{})
			f.ExpectAlpha(ctx, name, suite.AllScheduled, suite.Shorts(1, 2)...)
		}

		errors := f.Activity(Default).Errors
		long := strings.Repeat("long", 16)
		withoutRules(ctx, func() {
			for name, mistake := range alphaMistakes {
				editAlpha(ctx, f, name, func(s *placementv1alpha1.PlacementSpec) { *s = *mistake.spec.DeepCopy() })
				f.AlphaPlacement(ctx, "new-"+name, *mistake.spec.DeepCopy())
			}
			f.AlphaPlacement(ctx, long, placementv1alpha1.PlacementSpec{})
		})

		// told waits until every placement tells its mistake and has these clusters, of which these are available.
		told := func(all, available []string) {
			GinkgoHelper()
			Eventually(func(g Gomega) {
				for name, mistake := range alphaMistakes {
					g.Expect(alphaMessage(ctx, f, g, name, placementv1alpha1.ConditionMisconfigured)).To(ContainSubstring(mistake.words))
					g.Expect(f.LookAlpha(ctx, g, name)).To(Equal(suite.AlphaOutcome{
						Selected: all, Available: available, Pages: []string{name + "-decision-1: 2"},
						Satisfied: suite.NotAllScheduled, Misconfigured: suite.Misconfigured,
					}), name)
				}
			}).WithContext(ctx).WithTimeout(suite.Timeout).Should(Succeed())
		}
		told(suite.Shorts(1, 2), suite.Shorts(1, 2))

		By("new ones get one empty page, but for the one whose name fits no label, which gets none")
		Eventually(func(g Gomega) {
			for name, mistake := range alphaMistakes {
				g.Expect(alphaMessage(ctx, f, g, "new-"+name, placementv1alpha1.ConditionMisconfigured)).To(ContainSubstring(mistake.words))
				g.Expect(f.LookAlpha(ctx, g, "new-"+name)).To(Equal(suite.AlphaOutcome{
					Selected: []string{}, Available: []string{}, Pages: []string{"new-" + name + "-decision-1: 0"},
					Satisfied: suite.NothingMatched, Misconfigured: suite.Misconfigured,
				}), name)
			}
			g.Expect(alphaMessage(ctx, f, g, long, placementv1alpha1.ConditionMisconfigured)).To(And(
				HavePrefix("metadata.name: Invalid value: "), ContainSubstring("must be no more than 63")))
		}).WithContext(ctx).WithTimeout(suite.Timeout).Should(Succeed())

		By("the clusters come and go, and the decisions stay")
		f.Clusters(ctx, "set", 3, 3)
		reach(ctx, f, "c001", metav1.ConditionFalse, "it is out of reach")
		told(suite.Shorts(1, 2), []string{"c002"})
		Expect(suite.Client.Delete(ctx, &clusterv1beta2.ManagedClusterSetBinding{
			ObjectMeta: metav1.ObjectMeta{Namespace: f.Namespace, Name: f.Name("set")},
		})).To(Succeed())
		f.AwaitIdle(ctx)
		reach(ctx, f, "c001", metav1.ConditionTrue, "it is back, though out of scope")
		told(suite.Shorts(1, 2), suite.Shorts(1, 2))
		f.DeleteCluster(ctx, "c002")
		told(suite.Shorts(1, 2), []string{"c001"})
		f.AwaitIdle(ctx)
		Expect(f.Activity(Default).Errors).To(Equal(errors), "a mistake is a state, not an error (A3)")

		By("they recover")
		f.Bind(ctx, "set")
		for name := range alphaMistakes {
			editAlpha(ctx, f, name, func(s *placementv1alpha1.PlacementSpec) { *s = placementv1alpha1.PlacementSpec{} })
			f.ExpectAlpha(ctx, name, suite.AllScheduled, "c001", "c003")
		}
	})

	It("A5, A7, B1: tell when a page cannot be created, which takes nothing from the others", func(ctx SpecContext) {
		f := suite.NewFixture(ctx)
		f.Set(ctx, "set")
		f.Clusters(ctx, "set", 1, 100)
		f.AlphaPlacement(ctx, "p", placementv1alpha1.PlacementSpec{})
		f.ExpectAlpha(ctx, "p", suite.AllScheduled, suite.Shorts(1, 100)...)
		quota := f.ForbidPages(ctx, api.V1alpha1.Codec(), 1)
		f.Cluster(ctx, "set", "c000")
		f.ExpectAlpha(ctx, "p", suite.NotAllScheduled, suite.Shorts(1, 100)...)
		Expect(alphaMessage(ctx, f, Default, "p", placementv1alpha1.ConditionSatisfied)).
			To(HavePrefix("The decisions could not all be written: creating PlacementDecision " + f.Namespace + "/p-decision-2: Forbidden: "))

		Expect(suite.Client.Delete(ctx, quota)).To(Succeed())
		f.ExpectAlpha(ctx, "p", suite.AllScheduled, suite.Shorts(0, 100)...)
	})

	It("A4: a broken set keeps the decisions and says so, and available follows", func(ctx SpecContext) {
		f := suite.NewFixture(ctx)
		set := f.LabelSet(ctx, "broken", metav1.LabelSelector{})
		f.Cluster(ctx, "", "c001", reachable)
		f.AlphaPlacement(ctx, "p", placementv1alpha1.PlacementSpec{})
		f.ExpectAlpha(ctx, "p", suite.AllScheduled, "c001")
		f.ExpectAvailable(ctx, "c001")

		suite.Edit(ctx, set, func(s *clusterv1beta2.ManagedClusterSet) {
			s.Spec.ClusterSelector.LabelSelector.MatchExpressions[0].Operator = "Resembles"
		})
		f.ExpectAlpha(ctx, "p", suite.NotAllScheduled, "c001")
		Expect(alphaMessage(ctx, f, Default, "p", placementv1alpha1.ConditionSatisfied)).To(ContainSubstring("Resembles"))

		reach(ctx, f, "c001", metav1.ConditionFalse, "it is out of reach")
		f.ExpectAvailable(ctx)
		Expect(f.LookAlpha(ctx, Default, "p").Selected).To(HaveExactElements("c001"))

		By("events name both objects by their own API, and have something to say")
		Eventually(func(g Gomega) {
			events := f.PlacementEvents(ctx, g)
			g.Expect(events).To(ContainElement(HaveField("Reason", "DecisionCreate")))
			for _, event := range events {
				g.Expect(event.Regarding.APIVersion).To(Equal("placement.open-cluster-management.io/v1alpha1"))
				if event.Reason == "ClustersChanged" { // It is about all decisions.
					continue
				}
				g.Expect(event.Related).To(HaveField("APIVersion", event.Regarding.APIVersion))
				g.Expect(event.Related).To(HaveField("Kind", "PlacementDecision"))
				g.Expect(event.Note).NotTo(BeEmpty(), "%s of a held placement, which has no scores", event.Reason)
			}
		}).WithContext(ctx).WithTimeout(suite.Timeout).Should(Succeed())
		Consistently(func(g Gomega) { g.Expect(f.PlacementEvents(ctx, g)).NotTo(ContainElement(HaveField("Note", ""))) }).
			WithContext(ctx).WithTimeout(suite.IdlePeriod).Should(Succeed())
	})
})

// withoutRules does something while the API server takes any Placement of v1alpha1 that is well-typed.
func withoutRules(ctx SpecContext, do func()) {
	GinkgoHelper()
	strict := definitionIn(placementv1alpha1.GroupName)
	lax := strict.DeepCopy()
	for _, schema := range suite.SchemasOf(lax) {
		delete(schema, "x-kubernetes-validations")
		suite.DropRules(suite.SpecOf(schema))
	}

	probe := func(ctx context.Context) error {
		return suite.Client.Create(ctx, &placementv1alpha1.Placement{
			ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: strings.Repeat("p", 64)},
			Spec:       placementv1alpha1.PlacementSpec{NumberOfClusters: ptr.To[int32](-1), AntiAffinity: apart("Taint", "").AntiAffinity},
		}, client.DryRunAll)
	}
	restore := func(ctx SpecContext) {
		GinkgoHelper()
		Expect(manifests.Apply(ctx, suite.ControlPlane.AdminConfig(), []*unstructured.Unstructured{strict.DeepCopy()})).To(Succeed())
		Eventually(func() []string { return complaints(probe(ctx)) }).WithContext(ctx).WithTimeout(suite.Timeout).ShouldNot(BeEmpty())
	}

	DeferCleanup(restore)
	Expect(manifests.Apply(ctx, suite.ControlPlane.AdminConfig(), []*unstructured.Unstructured{lax})).To(Succeed())
	Eventually(func() error { return probe(ctx) }).WithContext(ctx).WithTimeout(suite.Timeout).Should(Succeed())
	do()
	restore(ctx)
}
