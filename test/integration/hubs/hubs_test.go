// SPDX-License-Identifier: Apache-2.0

package hubs

import (
	"slices"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/types"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	workv1 "open-cluster-management.io/api/work/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/deploy/samples"
	"github.com/placement-hub/placement-hub/pkg/explain"
	"github.com/placement-hub/placement-hub/pkg/explain/hubstate"
	"github.com/placement-hub/placement-hub/pkg/explain/printers"
	"github.com/placement-hub/placement-hub/pkg/federation"
	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/placement/api"
	"github.com/placement-hub/placement-hub/test/integration/members"
	"github.com/placement-hub/placement-hub/test/integration/suite"
)

var _ = Describe("a hub of hubs", Ordered, func() {
	const namespace = "fleet"

	// selected waits for the clusters that a hub has selected for a Placement.
	selected := func(ctx SpecContext, on client.Client, placement string, want types.GomegaMatcher) {
		GinkgoHelper()
		Eventually(func(g Gomega) {
			pages := &clusterv1beta1.PlacementDecisionList{}
			of := client.MatchingLabels{clusterv1beta1.PlacementLabel: placement}
			g.Expect(on.List(ctx, pages, client.InNamespace(namespace), of)).To(Succeed())
			names := []string{}
			for i := range pages.Items {
				for _, decision := range pages.Items[i].Status.Decisions {
					names = append(names, decision.ClusterName)
				}
			}
			slices.Sort(names)
			g.Expect(names).To(want)
		}).WithContext(ctx).WithTimeout(suite.Timeout).Should(Succeed())
	}
	// reported waits for the number of clusters that the agent of a hub reports of a Placement.
	reported := func(ctx SpecContext, hub *members.Member, placement string, want int64) {
		GinkgoHelper()
		Eventually(func(g Gomega) {
			works := &workv1.ManifestWorkList{}
			g.Expect(suite.Client.List(ctx, works, client.InNamespace(hub.Cluster))).To(Succeed())
			var counts []int64
			for i := range works.Items {
				for _, manifest := range works.Items[i].Status.ResourceStatus.Manifests {
					for _, value := range manifest.StatusFeedbacks.Values {
						if manifest.ResourceMeta.Name == placement && value.Name == federation.SelectedClusters && value.Value.Integer != nil {
							counts = append(counts, *value.Value.Integer)
						}
					}
				}
			}
			g.Expect(counts).To(Equal([]int64{want}))
		}).WithContext(ctx).WithTimeout(suite.Timeout).Should(Succeed())
	}

	BeforeAll(func(ctx SpecContext) { apply(ctx, suite.ControlPlane.AdminConfig(), samples.HubsPlacements) })

	It("delivers a Placement to each hub, which selects among its own clusters and reports how many", func(ctx SpecContext) {
		selected(ctx, europe.Client, "web", Equal([]string{"eu-1", "eu-2"}))
		selected(ctx, usa.Client, "web", Equal([]string{"us-1"}))
		reported(ctx, europe, "web", 2)
		reported(ctx, usa, "web", 1)
		selected(ctx, suite.Client, "web", BeEmpty())

		below := &clusterv1beta1.Placement{}
		Expect(europe.Client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: "web"}, below)).To(Succeed())
		Expect(below.Annotations).NotTo(HaveKey(clusterv1beta1.PlacementDisableAnnotation))
	})

	It("is explained through both levels", func(ctx SpecContext) {
		kinds := []federation.FederatedKind{{GroupVersionKind: api.V1beta1.Kind(), Resource: "placements"}}
		above, err := hubstate.FederatedFromCluster(ctx, suite.Client, namespace, kinds)
		Expect(err).NotTo(HaveOccurred())
		web := func(key inventory.Key) bool { return key.Name == "web" }
		text := &strings.Builder{}
		reports := above.ReportObjects(explain.ObjectFilter{Wanted: web}, false, time.Now())
		Expect(printers.Print(text, printers.FormatTable, reports, printers.Style{})).To(Succeed())
		Expect(reports.Objects).To(ConsistOf(HaveField("Notes", ContainElement(ContainSubstring("there, placement explain fleet/web says why")))))
		Expect(text.String()).To(And(ContainSubstring("2 clusters selected, all in scope, applied in 2; 3 clusters selected by these hubs"),
			MatchRegexp(`hub-eu +Selected +True +True +2`), MatchRegexp(`hub-us +Selected +True +True +1`)))
	})

	It("delivers a Placement to the hubs that its selector names alone", func(ctx SpecContext) {
		selected(ctx, europe.Client, "canary", HaveLen(1))
		reported(ctx, europe, "canary", 1)
		err := usa.Client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: "canary"}, &clusterv1beta1.Placement{})
		Expect(err).To(Satisfy(apierrors.IsNotFound))
	})

	It("has the hubs follow an edit above, and an edit of their clusters", func(ctx SpecContext) {
		web := &clusterv1beta1.Placement{}
		web.Namespace, web.Name = namespace, "web"
		suite.Edit(ctx, web, func(p *clusterv1beta1.Placement) {
			p.Spec.Predicates[0].RequiredClusterSelector.LabelSelector.MatchLabels["tier"] = "batch"
		})
		selected(ctx, europe.Client, "web", Equal([]string{"eu-3"}))
		selected(ctx, usa.Client, "web", Equal([]string{"us-2"}))
		reported(ctx, europe, "web", 1)
	})

	It("takes the Placement from the hubs when it is deleted", func(ctx SpecContext) {
		web := &clusterv1beta1.Placement{}
		web.Namespace, web.Name = namespace, "web"
		Expect(suite.Client.Delete(ctx, web)).To(Succeed())
		for _, hub := range []*members.Member{europe, usa} {
			Eventually(func() error {
				return hub.Client.Get(ctx, client.ObjectKeyFromObject(web), &clusterv1beta1.Placement{})
			}).WithContext(ctx).WithTimeout(suite.Timeout).Should(Satisfy(apierrors.IsNotFound))
		}
	})
})
