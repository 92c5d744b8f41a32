// SPDX-License-Identifier: Apache-2.0

package decisions

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/utils/ptr"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	sdkv1beta1 "open-cluster-management.io/sdk-go/pkg/apis/cluster/v1beta1"

	"github.com/placement-hub/placement-hub/test/integration/suite"
)

var _ = Describe("Consumers", func() {
	It("the SDK's tracker sees groups, additions and removals", func(ctx SpecContext) {
		f := suite.NewFixture(ctx)
		f.Set(ctx, "set")
		f.Clusters(ctx, "set", 1, 102)
		f.Cluster(ctx, "set", "canary", suite.Labeled("group", "canary"))
		f.AwaitClusters(ctx)
		placement := f.Placement(ctx, "p", clusterv1beta1.PlacementSpec{
			DecisionStrategy: clusterv1beta1.DecisionStrategy{GroupStrategy: clusterv1beta1.GroupStrategy{
				ClustersPerDecisionGroup: intstr.FromInt32(101),
				DecisionGroups: []clusterv1beta1.DecisionGroup{{
					GroupName: "canary", ClusterSelector: clusterv1beta1.GroupClusterSelector{
						LabelSelector: metav1.LabelSelector{MatchLabels: map[string]string{"group": "canary"}},
					},
				}},
			}},
		})
		f.Expect(ctx, "p", suite.Outcome{
			Selected: append(suite.Shorts(1, 102), "canary"),
			Groups: []string{
				"0/canary: 1 [p-decision-1]", "1/: 101 [p-decision-2 p-decision-3]", "2/: 1 [p-decision-4]",
			},
			Satisfied: suite.AllScheduled, Misconfigured: suite.Configured,
		})

		tracker := sdkv1beta1.NewPlacementDecisionClustersTracker(placement, suite.DecisionGetter{Context: ctx, Reader: suite.Client}, nil)
		added, removed, err := tracker.GetClusterChanges()
		Expect(err).NotTo(HaveOccurred())
		Expect(added).To(HaveLen(103))
		Expect(removed).To(BeEmpty())

		groups := tracker.ExistingClusterGroupsBesides()
		Expect(groups.GetOrderedGroupKeys()).To(HaveExactElements(
			sdkv1beta1.GroupKey{GroupName: "canary", GroupIndex: 0}, sdkv1beta1.GroupKey{GroupIndex: 1}, sdkv1beta1.GroupKey{GroupIndex: 2},
		))
		Expect(groups.GetClusters()).To(HaveLen(103))
		Expect(tracker.ExistingClusterGroups(sdkv1beta1.GroupKey{GroupName: "canary"}).GetClusters()).
			To(Equal(sets.New(f.Name("canary"))))

		f.DeleteCluster(ctx, "c102")
		f.Cluster(ctx, "set", "c103")
		f.Expect(ctx, "p", suite.Outcome{
			Selected: append(append(suite.Shorts(1, 101), "c103"), "canary"),
			Groups: []string{
				"0/canary: 1 [p-decision-1]", "1/: 101 [p-decision-2 p-decision-3]", "2/: 1 [p-decision-4]",
			},
			Satisfied: suite.AllScheduled, Misconfigured: suite.Configured,
		})

		added, removed, err = tracker.GetClusterChanges()
		Expect(err).NotTo(HaveOccurred())
		Expect(added).To(Equal(sets.New(f.Name("c103"))))
		Expect(removed).To(Equal(sets.New(f.Name("c102"))))
	})

	DescribeTable("oddities that arrive as JSON mean the defaults",
		func(ctx SpecContext, spec string) {
			f := suite.NewFixture(ctx)
			f.Set(ctx, "set")
			f.Clusters(ctx, "set", 1, 3)
			placement := &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"namespace": f.Namespace, "name": "p"}}}
			placement.SetAPIVersion(clusterv1beta1.GroupVersion.String())
			placement.SetKind("Placement")
			var content map[string]any
			Expect(json.Unmarshal([]byte(spec), &content)).To(Succeed())
			placement.Object["spec"] = content
			f.Create(ctx, placement)

			f.ExpectSelected(ctx, "p", suite.AllScheduled, suite.Shorts(1, 3)...)
		},
		Entry("an empty spec", `{}`),
		Entry("clustersPerDecisionGroup 0", `{"decisionStrategy":{"groupStrategy":{"clustersPerDecisionGroup":0}}}`),
		Entry("an empty group strategy", `{"decisionStrategy":{"groupStrategy":{}}}`),
		Entry("an empty mode", `{"prioritizerPolicy":{"mode":""}}`),
		Entry("an empty spread policy", `{"spreadPolicy":{}}`),
		Entry("defaulted order and rate", `{"sortBy":"ClusterName","scoreRateLimit":"1m"}`),
		Entry("a prioritizer of weight 0", `{"prioritizerPolicy":{"configurations":[{"scoreCoordinate":{"builtIn":"Balance"},"weight":0}]}}`),
		Entry("an empty predicate", `{"predicates":[{"requiredClusterSelector":{}}]}`),
		Entry("a toleration of no taint", `{"tolerations":[{"key":"a","operator":"Equal","value":"b"}]}`),
	)

	It("a prioritizer of weight 0 switches a default off", func(ctx SpecContext) {
		f := suite.NewFixture(ctx)
		f.AwaitNoOtherDecisions(ctx)
		f.Set(ctx, "set")
		f.Clusters(ctx, "set", 1, 2)
		f.ForeignDecision(ctx, "other", "c001")
		f.Placement(ctx, "by-default", clusterv1beta1.PlacementSpec{NumberOfClusters: ptr.To[int32](1)})
		f.ExpectSelected(ctx, "by-default", suite.AllScheduled, "c002")

		placement := &unstructured.Unstructured{Object: map[string]any{
			"metadata": map[string]any{"namespace": f.Namespace, "name": "p"},
			"spec": map[string]any{
				"numberOfClusters": int64(1),
				"prioritizerPolicy": map[string]any{"configurations": []any{
					map[string]any{"scoreCoordinate": map[string]any{"builtIn": "Balance"}, "weight": int64(0)},
				}},
			},
		}}
		placement.SetAPIVersion(clusterv1beta1.GroupVersion.String())
		placement.SetKind("Placement")
		f.ForeignDecision(ctx, "another", "c001")
		f.Create(ctx, placement)
		f.ExpectSelected(ctx, "p", suite.AllScheduled, "c001")
	})
})
