package integration

import (
	"context"
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/utils/ptr"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	sdkv1beta1 "open-cluster-management.io/sdk-go/pkg/apis/cluster/v1beta1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// decisionGetter reads decisions for the tracker of the SDK.
type decisionGetter struct {
	ctx context.Context //nolint:containedctx // The interface of the SDK has no place for it.
	api client.Reader
}

// List answers from the API server.
func (d decisionGetter) List(selector labels.Selector, namespace string) ([]*clusterv1beta1.PlacementDecision, error) {
	list := &clusterv1beta1.PlacementDecisionList{}
	if err := d.api.List(d.ctx, list, client.InNamespace(namespace), client.MatchingLabelsSelector{Selector: selector}); err != nil {
		return nil, fmt.Errorf("listing PlacementDecisions: %w", err)
	}

	pages := make([]*clusterv1beta1.PlacementDecision, 0, len(list.Items))
	for i := range list.Items {
		pages = append(pages, &list.Items[i])
	}

	return pages, nil
}

var _ = Describe("Consumers", func() {
	It("the SDK's tracker sees groups, additions and removals", func(ctx SpecContext) {
		w := newWorld(ctx)
		w.set(ctx, "set")
		w.clusters(ctx, "set", 1, 102)
		w.cluster(ctx, "set", "canary", labeled("group", "canary"))
		w.seen(ctx)
		placement := w.placement(ctx, "p", clusterv1beta1.PlacementSpec{
			DecisionStrategy: clusterv1beta1.DecisionStrategy{GroupStrategy: clusterv1beta1.GroupStrategy{
				ClustersPerDecisionGroup: intstr.FromInt32(101),
				DecisionGroups: []clusterv1beta1.DecisionGroup{{
					GroupName: "canary", ClusterSelector: clusterv1beta1.GroupClusterSelector{
						LabelSelector: metav1.LabelSelector{MatchLabels: map[string]string{"group": "canary"}},
					},
				}},
			}},
		})
		w.expect(ctx, "p", outcome{
			Selected: append(shorts(1, 102), "canary"),
			Groups: []string{
				"0/canary: 1 [p-decision-1]", "1/: 101 [p-decision-2 p-decision-3]", "2/: 1 [p-decision-4]",
			},
			Satisfied: allScheduled, Misconfigured: configured,
		})

		tracker := sdkv1beta1.NewPlacementDecisionClustersTracker(placement, decisionGetter{ctx, hub}, nil)
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
			To(Equal(sets.New(w.name("canary"))))

		w.deleteCluster(ctx, "c102")
		w.cluster(ctx, "set", "c103")
		w.expect(ctx, "p", outcome{
			Selected: append(append(shorts(1, 101), "c103"), "canary"),
			Groups: []string{
				"0/canary: 1 [p-decision-1]", "1/: 101 [p-decision-2 p-decision-3]", "2/: 1 [p-decision-4]",
			},
			Satisfied: allScheduled, Misconfigured: configured,
		})

		added, removed, err = tracker.GetClusterChanges()
		Expect(err).NotTo(HaveOccurred())
		Expect(added).To(Equal(sets.New(w.name("c103"))))
		Expect(removed).To(Equal(sets.New(w.name("c102"))))
	})

	DescribeTable("oddities that arrive as JSON mean the defaults",
		func(ctx SpecContext, spec string) {
			w := newWorld(ctx)
			w.set(ctx, "set")
			w.clusters(ctx, "set", 1, 3)

			placement := &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"namespace": w.namespace, "name": "p"}}}
			placement.SetAPIVersion(clusterv1beta1.GroupVersion.String())
			placement.SetKind("Placement")

			var content map[string]any
			Expect(json.Unmarshal([]byte(spec), &content)).To(Succeed())
			placement.Object["spec"] = content
			w.create(ctx, placement)

			w.expectSelected(ctx, "p", allScheduled, shorts(1, 3)...)
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
		w := newWorld(ctx)
		w.alone(ctx)
		w.set(ctx, "set")
		w.clusters(ctx, "set", 1, 2)
		w.foreignPage(ctx, "other", "c001")
		w.placement(ctx, "by-default", clusterv1beta1.PlacementSpec{NumberOfClusters: ptr.To[int32](1)})
		w.expectSelected(ctx, "by-default", allScheduled, "c002")

		placement := &unstructured.Unstructured{Object: map[string]any{
			"metadata": map[string]any{"namespace": w.namespace, "name": "p"},
			"spec": map[string]any{
				"numberOfClusters": int64(1),
				"prioritizerPolicy": map[string]any{"configurations": []any{
					map[string]any{"scoreCoordinate": map[string]any{"builtIn": "Balance"}, "weight": int64(0)},
				}},
			},
		}}
		placement.SetAPIVersion(clusterv1beta1.GroupVersion.String())
		placement.SetKind("Placement")
		w.foreignPage(ctx, "another", "c001")
		w.create(ctx, placement)
		w.expectSelected(ctx, "p", allScheduled, "c001")
	})
})
