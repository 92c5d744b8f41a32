// SPDX-License-Identifier: Apache-2.0

package access

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/placement-hub/placement-hub/pkg/limits"
	"github.com/placement-hub/placement-hub/pkg/placement/api"
	"github.com/placement-hub/placement-hub/pkg/selector"
	"github.com/placement-hub/placement-hub/test/integration/suite"
)

// longestMessage is how long a message of a policy may be for the API server to show it.
const longestMessage = 5 << 10

// ask asks the API server whether it would create an object, which is not made.
func ask(ctx context.Context, object client.Object) error {
	return client.NewDryRunClient(suite.Client).Create(ctx, object)
}

// tryOut asks the API server once its policies are in force. Files with the object get the same answer.
func tryOut(ctx context.Context, object client.Object) error {
	GinkgoHelper()
	given, ok := object.DeepCopyObject().(client.Object) // The answer replaces the object.
	Expect(ok).To(BeTrue())
	err := ask(ctx, object)
	agreeOnCreation(ctx, given, err)
	return err
}

// inForce waits until the API server has taken up the policies that deny.
func inForce(ctx context.Context, f *suite.Fixture) {
	GinkgoHelper()
	for _, spec := range []string{"{numberOfClusters: -1}", "{decisionStrategy: {groupStrategy: {clustersPerDecisionGroup: 3000000000}}}"} {
		Eventually(func() error { return ask(ctx, written(f, "p", spec)) }).WithContext(ctx).WithTimeout(suite.Timeout).ShouldNot(Succeed())
	}
}

// written is a Placement of a spec as a user may write it, which the Go type could not hold.
func written(f *suite.Fixture, name, spec string) *unstructured.Unstructured {
	GinkgoHelper()
	object := &unstructured.Unstructured{Object: map[string]any{}}
	content := map[string]any{}
	Expect(yaml.Unmarshal([]byte(spec), &content)).To(Succeed())
	object.SetAPIVersion(clusterv1beta1.GroupVersion.String())
	object.SetKind("Placement")
	object.SetNamespace(f.Namespace)
	object.SetName(name)
	object.Object["spec"] = content
	return object
}

// engineMistakes is what the engine finds wrong.
func engineMistakes(placement *clusterv1beta1.Placement) field.ErrorList {
	return api.V1beta1.Read(placement).Request(selector.NewCompiler()).Errors
}

// sentence is what the engine says, without the list of the names that there are.
func sentence(mistake *field.Error) string {
	text, _, _ := strings.Cut(mistake.Error(), ": supported values: ")
	return text
}

// expectDenied demands that the API server refuses a placement with every sentence of the engine.
func expectDenied(err error, mistakes field.ErrorList) {
	GinkgoHelper()
	Expect(err).To(HaveOccurred(), "the engine says %v", mistakes)
	length := 0
	for _, mistake := range mistakes {
		length += len(mistake.Error()) + len("; ")
	}
	if length > longestMessage {
		return
	}

	for _, mistake := range mistakes {
		Expect(ofThisVersion.Replace(err.Error())).To(ContainSubstring(ofThisVersion.Replace(sentence(mistake))))
	}
}

// ofThisVersion replaces the words of an older API server, whose formats of CEL describe their rules, with those of the pinned one.
var ofThisVersion = strings.NewReplacer("must be no more than 63 characters", "must be no more than 63 bytes",
	"a qualified name must consist", "a valid label key must consist")

var _ = Describe("Admission of a placement", func() {
	It("A2: denies what the engine calls a mistake, in the words of the condition", func(ctx SpecContext) {
		f := suite.NewFixture(ctx)
		inForce(ctx, f)
		for name, mistake := range mistakes {
			placement := &clusterv1beta1.Placement{ObjectMeta: metav1.ObjectMeta{Namespace: f.Namespace, Name: "p"}, Spec: mistake.spoilt()}
			if strings.HasPrefix(name, "cel") { // A policy cannot compile it.
				Expect(tryOut(ctx, placement)).To(Succeed(), name)
				continue
			}
			err := tryOut(ctx, placement)
			Expect(err).To(HaveOccurred(), name)

			if !strings.Contains(err.Error(), "ValidatingAdmissionPolicy") { // The schema has refused it already, in words of its own.
				field, _, _ := strings.Cut(mistake.words, ":")
				Expect(err.Error()).To(ContainSubstring("spec."+field), name)
				continue
			}
			Expect(err).To(MatchError(ContainSubstring(mistake.words)), name)
			expectDenied(err, engineMistakes(placement))
		}
	})

	DescribeTable("denies, by field and rule", func(ctx SpecContext, spec string, words ...string) {
		f := suite.NewFixture(ctx)
		inForce(ctx, f)
		err := tryOut(ctx, written(f, "p", spec))
		Expect(err).To(HaveOccurred())
		for _, part := range words {
			Expect(err.Error()).To(ContainSubstring(part))
		}
	},
		Entry("Exists with a value", "{tolerations: [{key: a}, {key: gpu, operator: Exists, value: a100}]}",
			`spec.tolerations[1].value: Invalid value: "a100": If the operator is Exists, the value should be empty.`),
		Entry("no prioritizer", "{prioritizerPolicy: {configurations: [{scoreCoordinate: {}}]}}",
			`configurations[0].scoreCoordinate.builtIn: Unsupported value: "": supported values: "Balance", "Steady", "Resource`),
		Entry("a number of 33 bits", "{decisionStrategy: {groupStrategy: {clustersPerDecisionGroup: 2147483648}}}",
			`clustersPerDecisionGroup: Invalid value: "2147483648": must be a number of clusters or a percentage`, "value out of range"),
		Entry("a number that is written as a fraction", "{decisionStrategy: {groupStrategy: {clustersPerDecisionGroup: 3000000000.0}}}",
			`clustersPerDecisionGroup: Invalid value: "3000000000": must be a number of clusters or a percentage`),
		Entry("a quoted one", `{decisionStrategy: {groupStrategy: {clustersPerDecisionGroup: "99999999999999999999"}}}`,
			`clustersPerDecisionGroup: Invalid value: "99999999999999999999": must be a number of clusters`, "value out of range"),
		Entry("a number below 32 bits", "{decisionStrategy: {groupStrategy: {clustersPerDecisionGroup: -2147483649}}}",
			`clustersPerDecisionGroup: Invalid value: "-2147483649"`),
		Entry("a selector of a group", "{decisionStrategy: {groupStrategy: {decisionGroups: [{groupName: aa, groupClusterSelector: {}}, "+
			`{groupName: bb, groupClusterSelector: {labelSelector: {matchLabels: {"/": b}}, claimSelector: {matchExpressions: [{key: "", `+
			"operator: Exists}]}}}]}}}",
			`decisionGroups[1].groupClusterSelector.labelSelector.matchLabels: Invalid value: "/": prefix part must be non-empty`,
			"decisionGroups[1].groupClusterSelector.claimSelector.matchExpressions[0].key: Required value: the name of a cluster claim"),
		Entry("a value of two lines", `{predicates: [{requiredClusterSelector: {labelSelector: {matchLabels: {a: "b\nc"}}}}]}`,
			`spec.predicates[0].requiredClusterSelector.labelSelector.matchLabels: Invalid value: "b\nc": a valid label must be`),
		Entry("a wrong value, whatever the number of clusters", "{numberOfClusters: -2147483648, prioritizerPolicy: {mode: Best}}",
			"spec.numberOfClusters: Invalid value: -2147483648: must be 0 or more, or absent for all clusters; ",
			`spec.prioritizerPolicy.mode: Unsupported value: "Best": supported values: "Additive", "Exact"`),
	)

	DescribeTable("names the field of what the CustomResourceDefinition refuses already",
		func(ctx SpecContext, term clusterv1beta1.SpreadConstraintsTerm) {
			f := suite.NewFixture(ctx)
			placement := &clusterv1beta1.Placement{
				ObjectMeta: metav1.ObjectMeta{Namespace: f.Namespace, Name: "p"},
				Spec: clusterv1beta1.PlacementSpec{SpreadPolicy: clusterv1beta1.SpreadPolicy{
					SpreadConstraints: []clusterv1beta1.SpreadConstraintsTerm{term},
				}},
			}
			mistakes := engineMistakes(placement)
			Expect(mistakes).To(HaveLen(1))
			Expect(tryOut(ctx, placement)).To(MatchError(ContainSubstring(mistakes[0].Field)))
		},
		Entry("no key", clusterv1beta1.SpreadConstraintsTerm{TopologyKeyType: clusterv1beta1.TopologyKeyTypeLabel}),
		Entry("a negative skew", clusterv1beta1.SpreadConstraintsTerm{
			TopologyKey: "zone", TopologyKeyType: clusterv1beta1.TopologyKeyTypeLabel, MaxSkew: -1,
		}),
		Entry("an unknown kind of key", clusterv1beta1.SpreadConstraintsTerm{TopologyKey: "zone", TopologyKeyType: "Taint"}),
		Entry("an unknown action", clusterv1beta1.SpreadConstraintsTerm{
			TopologyKey: "zone", TopologyKeyType: clusterv1beta1.TopologyKeyTypeClaim, WhenUnsatisfiable: "Never",
		}),
	)

	DescribeTable("admits what is odd and works", func(ctx SpecContext, spec string) {
		f := suite.NewFixture(ctx)
		inForce(ctx, f)
		object := written(f, strings.Repeat("long.", 12)+"abc", spec)
		Expect(tryOut(ctx, object)).To(Succeed())
		placement := &clusterv1beta1.Placement{}
		Expect(runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, placement)).To(Succeed())
		Expect(engineMistakes(placement)).To(BeEmpty())
	},
		Entry("nothing at all", "{}"),
		Entry("what is switched off", "{prioritizerPolicy: {configurations: [{weight: 0, scoreCoordinate: {builtIn: Customize}}, "+
			"{weight: 0, scoreCoordinate: {type: AddOn}}]}}"),
		Entry("nulls", "{clusterSets: null, numberOfClusters: null, predicates: null, tolerations: null, prioritizerPolicy: null, "+
			"spreadPolicy: null, decisionStrategy: null}"),
		Entry("empty lists and objects", "{clusterSets: [], predicates: [], tolerations: [], prioritizerPolicy: {configurations: []}, "+
			"spreadPolicy: {spreadConstraints: []}, decisionStrategy: {groupStrategy: {decisionGroups: []}}}"),
		Entry("U13: oddities that arrive", `{prioritizerPolicy: {mode: ""}, spreadPolicy: {}, decisionStrategy: {groupStrategy: `+
			"{clustersPerDecisionGroup: 0}}}"),
		Entry("A2: a quoted number", `{decisionStrategy: {groupStrategy: {clustersPerDecisionGroup: "25"}}}`),
		Entry("a percentage", `{decisionStrategy: {groupStrategy: {clustersPerDecisionGroup: "7%"}}}`),
		Entry("a negative bound, which is none", "{decisionStrategy: {groupStrategy: {clustersPerDecisionGroup: -5}}}"),
		Entry("the greatest number", "{decisionStrategy: {groupStrategy: {clustersPerDecisionGroup: 2147483647}}}"),
		Entry("no cluster, and more than there are", "{numberOfClusters: 0, clusterSets: [absent, absent, Not A Name]}"),
		Entry("empty predicates", "{predicates: [{}, {requiredClusterSelector: {}}, {requiredClusterSelector: {labelSelector: null, "+
			"claimSelector: {}, celSelector: {}}}]}"),
		Entry("empty label values, and values null", `{predicates: [{requiredClusterSelector: {labelSelector: {matchLabels: {a: ""}, `+
			`matchExpressions: [{key: a, operator: In, values: [""]}, {key: a, operator: Exists, values: null}]}}}]}`),
		Entry("C1: any claim name and value", "{predicates: [{requiredClusterSelector: {claimSelector: {matchExpressions: [{key: "+
			`"arn:aws:iam::1:role/a b", operator: In, values: ["https://x.example/ä?b=c", "", "`+strings.Repeat("long", 30)+`"]}, `+
			`{key: " ", operator: DoesNotExist}]}}}]}`),
		Entry("CEL, which only the hub compiles", "{predicates: [{requiredClusterSelector: {celSelector: {celExpressions: [\"true\"]}}}]}"),
		Entry("an operator that never matches", "{tolerations: [{key: a, operator: Resembles, value: b}, {key: a, tolerationSeconds: -1}, "+
			"{operator: Exists, effect: NoSelect}]}"),
		Entry("an add-on beside a name, and the other way round", "{prioritizerPolicy: {mode: Exact, configurations: ["+
			"{scoreCoordinate: {type: AddOn, builtIn: Fastest, addOn: {resourceName: '', scoreName: ''}}}, "+
			"{scoreCoordinate: {builtIn: Steady, addOn: {resourceName: a, scoreName: b}}, weight: 0}, {scoreCoordinate: {builtIn: Steady}}]}}"),
		Entry("groups of one name", "{decisionStrategy: {groupStrategy: {decisionGroups: [{groupName: aa, groupClusterSelector: {}}, "+
			"{groupName: aa, groupClusterSelector: {labelSelector: {}}}]}}}"),
		Entry("sorted by score", "{sortBy: Score, scoreRateLimit: 0h}"),
	)

	It("D3: admits the prioritizer Spread", func(ctx SpecContext) {
		f := suite.NewFixture(ctx)
		inForce(ctx, f)
		Expect(tryOut(ctx, written(f, "p", "{prioritizerPolicy: {configurations: [{scoreCoordinate: {builtIn: Spread}}]}}"))).To(Succeed())
	})

	It("A2: denies a name that cannot be a label, when the placement is made", func(ctx SpecContext) {
		f := suite.NewFixture(ctx)
		inForce(ctx, f)
		placement := &clusterv1beta1.Placement{ObjectMeta: metav1.ObjectMeta{Namespace: f.Namespace, Name: strings.Repeat("n", 64)}}
		expectDenied(tryOut(ctx, placement), engineMistakes(placement))
		placement.Name = placement.Name[1:]
		Expect(tryOut(ctx, placement)).To(Succeed())
	})

	It("agrees with the engine on any mixture", func(ctx SpecContext) {
		f := suite.NewFixture(ctx)
		inForce(ctx, f)
		random := rand.New(rand.NewPCG(uint64(GinkgoRandomSeed()), 0))
		denied, admitted := 0, 0

		for range 300 {
			placement := &clusterv1beta1.Placement{
				ObjectMeta: metav1.ObjectMeta{Namespace: f.Namespace, Name: "p"}, Spec: mixture(random),
			}
			mistakes := engineMistakes(placement)
			if err := tryOut(ctx, placement.DeepCopy()); len(mistakes) > 0 {
				denied++
				expectDenied(err, mistakes)
			} else {
				admitted++
				Expect(err).NotTo(HaveOccurred())
			}
		}

		Expect(min(denied, admitted)).To(BeNumerically(">", 30), "both kinds are tried")
	})

	It("lets in what is too large to be judged, for it may be valid", func(ctx SpecContext) {
		f := suite.NewFixture(ctx)
		inForce(ctx, f)
		placement := &clusterv1beta1.Placement{ObjectMeta: metav1.ObjectMeta{Namespace: f.Namespace, Name: "p"}}

		// Each limit of docs/spec/differences.md C2a is kept; all the values together are too many for one expression.
		for i := range limits.Predicates.Max {
			predicate := suite.ByLabel(fmt.Sprintf("example.com/key-%d", i), "a")
			requirement := metav1.LabelSelectorRequirement{
				Key: "region", Operator: metav1.LabelSelectorOpIn, Values: suite.Shorts(1, limits.Values.Max),
			}
			predicate.RequiredClusterSelector.LabelSelector.MatchExpressions = slices.Repeat([]metav1.LabelSelectorRequirement{requirement}, 3)
			placement.Spec.Predicates = append(placement.Spec.Predicates, predicate)
		}
		Expect(tryOut(ctx, placement.DeepCopy())).To(Succeed())

		last := placement.Spec.Predicates[limits.Predicates.Max-1].RequiredClusterSelector.LabelSelector.MatchExpressions[2].Values
		last[limits.Values.Max-1] = "no value!"
		Expect(tryOut(ctx, placement)).To(Succeed(), "or else it was not too large")
	})

	DescribeTable("T12: does not walk a Placement with many requirements or values, which would take the API server long",
		func(ctx SpecContext, requirements, values int, judged bool) {
			f := suite.NewFixture(ctx)
			inForce(ctx, f)
			placement := &clusterv1beta1.Placement{ObjectMeta: metav1.ObjectMeta{Namespace: f.Namespace, Name: "p"}}
			requirement := metav1.LabelSelectorRequirement{
				Key: "region", Operator: metav1.LabelSelectorOpIn, Values: suite.Shorts(1, values),
			}

			for ; requirements > 0; requirements -= limits.Requirements.Max {
				predicate := clusterv1beta1.ClusterPredicate{}
				predicate.RequiredClusterSelector.LabelSelector.MatchExpressions = slices.Repeat(
					[]metav1.LabelSelectorRequirement{requirement}, min(requirements, limits.Requirements.Max))
				placement.Spec.Predicates = append(placement.Spec.Predicates, predicate)
			}
			Expect(tryOut(ctx, placement.DeepCopy())).To(Succeed())

			placement.Spec.Predicates[0].RequiredClusterSelector.LabelSelector.MatchExpressions[0].Key = "no key!"
			if !judged {
				Expect(tryOut(ctx, placement)).To(Succeed())
				return
			}
			Expect(tryOut(ctx, placement)).To(MatchError(ContainSubstring(`key: Invalid value: "no key!"`)))
		},
		Entry("1,000 requirements", 1000, 1, true),
		Entry("1,001 requirements", 1001, 1, false),
		Entry("4,000 values", 4, 1000, true),
		Entry("5,000 values of few requirements", 5, 1000, false),
	)

	It("judges a spec only when it changes: one that got in before can be labelled and deleted", func(ctx SpecContext) {
		f := suite.NewFixture(ctx, suite.WithoutAdmission)
		placement := f.Placement(ctx, strings.Repeat("n", 64), clusterv1beta1.PlacementSpec{NumberOfClusters: ptr.To[int32](-1)})
		inForce(ctx, suite.NewFixture(ctx))
		namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: f.Namespace}}
		suite.Edit(ctx, namespace, func(n *corev1.Namespace) { delete(n.Labels, suite.AdmissionLabel) })
		change := func(change func(*clusterv1beta1.Placement)) error {
			fresh := f.Read(ctx, Default, placement.Name)
			change(fresh)
			return suite.Client.Update(ctx, fresh)
		}

		Eventually(func() error {
			return change(func(p *clusterv1beta1.Placement) { p.Spec.ClusterSets = append(p.Spec.ClusterSets, "other") })
		}).WithContext(ctx).WithTimeout(suite.Timeout).Should(MatchError(ContainSubstring("spec.numberOfClusters: Invalid value: -1: ")))
		suite.Edit(ctx, placement, func(p *clusterv1beta1.Placement) {
			p.Labels = map[string]string{"a": "b"}
			p.Annotations = map[string]string{"a": "b"}
			p.Finalizers = []string{"example.com/hold"}
		})
		suite.Edit(ctx, placement, func(p *clusterv1beta1.Placement) { p.Finalizers = nil })
		suite.Edit(ctx, placement, func(p *clusterv1beta1.Placement) { p.Spec.NumberOfClusters = ptr.To[int32](1) }) // The name is left alone.
		Expect(suite.Client.Delete(ctx, placement)).To(Succeed())
	})

	It("C5: leaves alone what others schedule, unless nobody could read it", func(ctx SpecContext) {
		f := suite.NewFixture(ctx)
		inForce(ctx, f)
		handsOff := func(spec string) error {
			placement := written(f, "p", spec)
			placement.SetAnnotations(map[string]string{clusterv1beta1.PlacementDisableAnnotation: "true"})
			return tryOut(ctx, placement)
		}
		Expect(handsOff("{numberOfClusters: -1}")).To(Succeed())
		Expect(handsOff("{decisionStrategy: {groupStrategy: {clustersPerDecisionGroup: 3000000000}}}")).
			To(MatchError(ContainSubstring("clustersPerDecisionGroup: Invalid value")))

		off := suite.NewFixture(ctx, suite.WithoutAdmission)
		Expect(tryOut(ctx, written(off, "p", "{numberOfClusters: -1}"))).To(Succeed())
		Expect(tryOut(ctx, written(off, "p", "{decisionStrategy: {groupStrategy: {clustersPerDecisionGroup: 3000000000}}}"))).
			NotTo(Succeed())
	})
})
