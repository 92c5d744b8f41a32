package integration

import (
	"context"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// mistake is something wrong with a spec, and the words of the condition that name field, value and rule.
type mistake struct {
	spec  clusterv1beta1.PlacementSpec
	words string
}

const (
	inSelector  = "].requiredClusterSelector."
	inPolicy    = "spec.prioritizerPolicy."
	inFirst     = inPolicy + "configurations[0].scoreCoordinate."
	emptyKey    = `spec.tolerations[0].operator: Invalid value: "Equal": If the key is empty, operator must be Exists.`
	unfinished  = `celSelector.celExpressions[1]: Invalid value: "1 +"`
	unsupported = `claimSelector.matchExpressions[0].operator: Unsupported value: "Like"`
)

func matching(predicates ...clusterv1beta1.ClusterPredicate) clusterv1beta1.PlacementSpec {
	return clusterv1beta1.PlacementSpec{Predicates: predicates}
}

func prioritizing(policy clusterv1beta1.PrioritizerPolicy) clusterv1beta1.PlacementSpec {
	return clusterv1beta1.PlacementSpec{PrioritizerPolicy: policy}
}

var mistakes = map[string]mistake{
	"count": {clusterv1beta1.PlacementSpec{NumberOfClusters: ptr.To[int32](-1)}, "spec.numberOfClusters: Invalid value: -1"},
	"cel":   {matching(byLabel("a", "b"), byCEL("true", "1 +")), "spec.predicates[1" + inSelector + unfinished},
	"label": {matching(byLabel("a", "no value!")), "spec.predicates[0" + inSelector + "labelSelector.matchLabels"},
	"claim": {matching(byClaim("a", "Like", "b")), "spec.predicates[0" + inSelector + unsupported},
	"values": {
		matching(byClaim("a", metav1.LabelSelectorOpIn)),
		"spec.predicates[0" + inSelector + "claimSelector.matchExpressions[0].values: Required value",
	},
	"key": {clusterv1beta1.PlacementSpec{
		Tolerations: []clusterv1beta1.Toleration{{Operator: clusterv1beta1.TolerationOpEqual}},
	}, emptyKey},
	"mode":     {prioritizing(clusterv1beta1.PrioritizerPolicy{Mode: "Best"}), inPolicy + `mode: Unsupported value: "Best"`},
	"built-in": {prioritizing(besides(builtIn("Fastest", 1))), inFirst + `builtIn: Unsupported value: "Fastest"`},
	"add-on": {prioritizing(besides(clusterv1beta1.PrioritizerConfig{
		ScoreCoordinate: &clusterv1beta1.ScoreCoordinate{Type: clusterv1beta1.ScoreCoordinateTypeAddOn}, Weight: 1,
	})), inFirst + "addOn: Required value"},
}

var _ = Describe("A misconfigured placement", func() {
	// allSettled waits until every placement tells its mistake.
	allSettled := func(ctx context.Context, w *world, shorts ...string) {
		GinkgoHelper()

		for name, mistake := range mistakes {
			w.expectMisconfigured(ctx, name, mistake.words, shorts...)
		}
	}

	It("A1, A2, 8, 20: keeps the decisions it has, names field, value and rule, and recovers", func(ctx SpecContext) {
		w := newWorld(ctx, withoutAdmission)
		w.set(ctx, "set")
		w.clusters(ctx, "set", 1, 2)

		for name := range mistakes {
			w.placement(ctx, name, clusterv1beta1.PlacementSpec{})
		}

		pages := map[string]clusterv1beta1.PlacementDecision{}

		for name, mistake := range mistakes {
			w.expectSelected(ctx, name, allScheduled, shorts(1, 2)...)
			pages[name] = w.pages(ctx, Default, name)[0]
			w.editPlacement(ctx, name, func(s *clusterv1beta1.PlacementSpec) { *s = *mistake.spec.DeepCopy() })
		}

		allSettled(ctx, w, shorts(1, 2)...)
		w.clusters(ctx, "set", 3, 3)
		w.deleteCluster(ctx, "c001")
		w.idle(ctx)
		allSettled(ctx, w, shorts(1, 2)...)

		for name := range mistakes {
			Expect(w.pages(ctx, Default, name)).To(HaveExactElements(pages[name]), "the page is not touched")
			w.editPlacement(ctx, name, func(s *clusterv1beta1.PlacementSpec) { *s = clusterv1beta1.PlacementSpec{} })
			w.expectSelected(ctx, name, allScheduled, shorts(2, 3)...)
		}
	})

	It("A1, A3, A6: a new one gets one empty page and both conditions even without clusters, and nothing loops", func(ctx SpecContext) {
		w := newWorld(ctx, withoutAdmission)
		w.alone(ctx)
		w.set(ctx, "set")
		errors := w.activity(Default).Errors

		for name, mistake := range mistakes {
			w.placement(ctx, name, *mistake.spec.DeepCopy())
		}

		allSettled(ctx, w)
		w.clusters(ctx, "set", 1, 1)
		allSettled(ctx, w)

		for name := range mistakes {
			Expect(w.look(ctx, Default, name).Groups).To(HaveExactElements("0/: 0 [" + name + "-decision-1]"))
		}

		w.expectSilence(ctx)
		Expect(w.activity(Default).Errors).To(Equal(errors))
	})

	It("A6: says all its mistakes at once", func(ctx SpecContext) {
		w := newWorld(ctx, withoutAdmission)
		spec := matching(byLabel("a", "b"), byCEL("true", "1 +"))
		spec.NumberOfClusters = mistakes["count"].spec.NumberOfClusters
		spec.Tolerations = mistakes["key"].spec.Tolerations
		spec.PrioritizerPolicy = mistakes["mode"].spec.PrioritizerPolicy
		w.placement(ctx, "p", spec)

		for _, name := range []string{"count", "cel", "key", "mode"} {
			w.expectMisconfigured(ctx, "p", mistakes[name].words)
		}
	})

	It("A2: a name that cannot be a label gets its conditions, no page, and nothing loops", func(ctx SpecContext) {
		w := newWorld(ctx, withoutAdmission)
		w.alone(ctx)
		w.set(ctx, "set")
		w.clusters(ctx, "set", 1, 1)

		errors := w.activity(Default).Errors
		placement := w.placement(ctx, strings.Repeat("long", 16), clusterv1beta1.PlacementSpec{})

		Eventually(func(g Gomega) {
			g.Expect(w.read(ctx, g, placement.Name).Status.Conditions).To(HaveLen(2))
		}).WithContext(ctx).WithTimeout(settle).Should(Succeed())
		w.expectSilence(ctx)

		conditions := w.read(ctx, Default, placement.Name).Status.Conditions
		Expect(conditionText(conditions[0])).To(Equal(misconfigured))
		Expect(conditions[0].Message).To(And(HavePrefix("metadata.name: Invalid value: "), ContainSubstring("must be no more than 63")))
		Expect(conditionText(conditions[1])).To(Equal(nothingMatched))

		pages := &clusterv1beta1.PlacementDecisionList{}
		Expect(hub.List(ctx, pages, client.InNamespace(w.namespace))).To(Succeed())
		Expect(pages.Items).To(BeEmpty())
		Expect(w.activity(Default).Errors).To(Equal(errors))
	})
})
