// SPDX-License-Identifier: Apache-2.0

package access

import (
	"fmt"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	placementv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/placement/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/limits"
	"github.com/placement-hub/placement-hub/pkg/placement/api"
	"github.com/placement-hub/placement-hub/pkg/selector"
	"github.com/placement-hub/placement-hub/test/integration/suite"
)

// many returns so many requirements with different keys.
func many(count int) []metav1.LabelSelectorRequirement {
	requirements := make([]metav1.LabelSelectorRequirement, 0, count)
	for n := range count {
		requirements = append(requirements, metav1.LabelSelectorRequirement{Key: fmt.Sprintf("k%d", n), Operator: metav1.LabelSelectorOpExists})
	}
	return requirements
}

// largest returns a spec that is at every limit, apart from that of values, for which no object is large enough.
func largest() suite.Spec {
	s := sound()
	s.SpreadPolicy.SpreadConstraints = slices.Repeat(s.SpreadPolicy.SpreadConstraints, 8) // The definition permits no more.
	s.Tolerations = slices.Repeat(s.Tolerations, limits.Tolerations.Max)
	s.PrioritizerPolicy.Configurations = slices.Repeat(s.PrioritizerPolicy.Configurations[:1], limits.Prioritizers.Max)

	required := clusterv1beta1.ClusterSelector{LabelSelector: metav1.LabelSelector{MatchExpressions: many(limits.Requirements.Max)}}
	s.Predicates = slices.Repeat([]clusterv1beta1.ClusterPredicate{{RequiredClusterSelector: required}}, limits.Predicates.Max)
	s.Predicates[0].RequiredClusterSelector.CelSelector.CelExpressions = []string{
		"true || '' == '" + strings.Repeat("x", limits.CELBytes.Max-len("true || '' == ''")) + "'",
	}
	values := metav1.LabelSelectorRequirement{Key: "a", Operator: metav1.LabelSelectorOpIn, Values: slices.Repeat([]string{"a"}, limits.Values.Max)}
	s.Predicates[1].RequiredClusterSelector.LabelSelector.MatchExpressions = []metav1.LabelSelectorRequirement{values}

	group := clusterv1beta1.GroupClusterSelector{LabelSelector: metav1.LabelSelector{MatchExpressions: many(limits.Requirements.Max)}}
	s.DecisionStrategy.GroupStrategy.DecisionGroups = slices.Repeat([]clusterv1beta1.DecisionGroup{
		{GroupName: "group", ClusterSelector: group},
	}, limits.DecisionGroups.Max)
	return s
}

var _ = Describe("The limits of a placement", func() {
	exceeding := func(s *suite.Spec) { s.Tolerations = slices.Repeat(s.Tolerations, limits.Tolerations.Max+1) }
	It("C2a: what is at every limit is admitted, and is no mistake", func(ctx SpecContext) {
		f := suite.NewFixture(ctx)
		inForce(ctx, f)
		placement := &clusterv1beta1.Placement{ObjectMeta: metav1.ObjectMeta{Namespace: f.Namespace, Name: "p"}, Spec: largest()}
		Expect(tryOut(ctx, placement)).To(Succeed())
		Expect(engineMistakes(placement)).To(BeEmpty())
	})

	It("C2a: all that exceeds a limit is named at once, in a namespace that is exempt from the other policies too", func(ctx SpecContext) {
		f := suite.NewFixture(ctx)
		inForce(ctx, f)
		namespace := &metav1.PartialObjectMetadata{}
		namespace.SetGroupVersionKind(schema.GroupVersionKind{Version: "v1", Kind: "Namespace"})
		namespace.SetName(f.Namespace)
		Expect(suite.Client.Patch(ctx, namespace, client.RawPatch("application/merge-patch+json",
			[]byte(`{"metadata":{"labels":{"placement-hub.open-cluster-management.io/admission":"off"}}}`)))).To(Succeed())
		placement := &clusterv1beta1.Placement{ObjectMeta: metav1.ObjectMeta{Namespace: f.Namespace, Name: "p"}, Spec: sound()}
		exceeding(&placement.Spec)
		placement.Spec.Predicates = slices.Repeat(placement.Spec.Predicates, limits.Predicates.Max+1)

		found := engineMistakes(placement)
		Expect(found).To(HaveLen(2))
		expectDenied(tryOut(ctx, placement), found)
	})

	It("C2a: what is older than the policy keeps its decisions and can be labelled, finalized and corrected", func(ctx SpecContext) {
		f := suite.NewFixture(ctx)
		inForce(ctx, f)
		f.Set(ctx, "set")
		f.Clusters(ctx, "set", 1, 2, suite.Labeled("region", "eu"), suite.Claiming("zone", "z1"))
		f.Placement(ctx, "p", sound())
		f.ExpectSelected(ctx, "p", suite.AllScheduled, "c001", "c002")

		// The policy does not check a Placement of another scheduler, so that one can exceed the limits.
		f.Annotate(ctx, "p", clusterv1beta1.PlacementDisableAnnotation, "true")
		f.EditPlacement(ctx, "p", exceeding)
		f.Annotate(ctx, "p", clusterv1beta1.PlacementDisableAnnotation, "false")
		f.ExpectMisconfigured(ctx, "p", "spec.tolerations: Too many: 65: must have at most 64 tolerations", "c001", "c002")

		merge := func(patch string) error {
			return suite.Client.Patch(ctx, f.PlacementNamed("p"), client.RawPatch("application/merge-patch+json", []byte(patch)))
		}
		Expect(merge(`{"metadata":{"labels":{"a":"b"},"finalizers":["example.com/hold"]}}`)).To(Succeed())
		Expect(merge(`{"metadata":{"finalizers":null}}`)).To(Succeed())
		Expect(merge(`{"spec":{"numberOfClusters":1}}`)).To(MatchError(ContainSubstring("spec.tolerations: Too many: 65")))
		f.EditPlacement(ctx, "p", func(s *suite.Spec) { s.Tolerations = s.Tolerations[:1] })
		f.ExpectSelected(ctx, "p", suite.AllScheduled, "c001", "c002")
	})

	DescribeTable("C2a: of the API group placement.open-cluster-management.io", func(
		ctx SpecContext, spoil func(*placementv1alpha1.ClusterPredicate),
	) {
		f := suite.NewFixture(ctx)
		inForce(ctx, f)
		placement := &placementv1alpha1.Placement{ObjectMeta: metav1.ObjectMeta{Namespace: f.Namespace, Name: "p"}}
		placement.Spec.Predicates = []placementv1alpha1.ClusterPredicate{{}, {LabelSelector: metav1.LabelSelector{MatchExpressions: many(98)}}}
		placement.Spec.Predicates[1].ClaimSelector.MatchClaims = map[string]string{"a": "b", "c": "d"}
		Eventually(func() error { return ask(ctx, placement) }).WithContext(ctx).WithTimeout(suite.Timeout).Should(Succeed())
		placement.Spec.NumberOfClusters = ptr.To[int32](1)
		spoil(&placement.Spec.Predicates[1])

		found := api.V1alpha1.Read(placement).Request(selector.NewCompiler()).Errors
		Expect(found).To(HaveLen(1))
		Eventually(func() error { return ask(ctx, placement) }).WithContext(ctx).WithTimeout(suite.Timeout).
			Should(MatchError(ContainSubstring(found[0].Error())))
		Expect(tryOut(ctx, placement)).NotTo(Succeed())
	},
		Entry("requirements", func(p *placementv1alpha1.ClusterPredicate) { p.ClaimSelector.MatchClaims["e"] = "f" }),
		Entry("values of a label", func(p *placementv1alpha1.ClusterPredicate) {
			p.LabelSelector.MatchExpressions[3] = metav1.LabelSelectorRequirement{
				Key: "a", Operator: metav1.LabelSelectorOpIn, Values: slices.Repeat([]string{"a"}, limits.Values.Max+1),
			}
		}),
		Entry("values of a claim", func(p *placementv1alpha1.ClusterPredicate) {
			p.LabelSelector.MatchExpressions = nil
			p.ClaimSelector.MatchExpressions = []metav1.LabelSelectorRequirement{{
				Key: "a", Operator: metav1.LabelSelectorOpIn, Values: slices.Repeat([]string{"a"}, limits.Values.Max+1),
			}}
		}),
	)
})
