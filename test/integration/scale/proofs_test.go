// SPDX-License-Identifier: Apache-2.0

package scale

import (
	"context"
	"fmt"
	"strconv"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"

	"github.com/placement-hub/placement-hub/test/integration/suite"
)

var _ = Describe("What is read before clusters leave", func() {
	const placements = 60

	It("B10: the bindings of a namespace are listed once for many placements that lose a cluster of their sets at the same time, and not at all "+
		"for those that lose one which matches no predicate", func(ctx SpecContext) {
		f := suite.NewFixture(ctx)
		f.Set(ctx, "set")
		f.UnboundSet(ctx, "other")
		f.Clusters(ctx, "set", 1, 5, suite.Labeled("role", "web"))
		f.AwaitClusters(ctx)
		Expect(suite.Each(ctx, placements, func(ctx context.Context, i int) error {
			f.Placement(ctx, "p"+strconv.Itoa(i), clusterv1beta1.PlacementSpec{
				Predicates: []clusterv1beta1.ClusterPredicate{suite.ByLabel("role", "web")},
			})
			return nil
		})).To(Succeed())
		selected := func(shorts ...string) {
			GinkgoHelper()
			for i := range placements {
				f.ExpectSelected(ctx, "p"+strconv.Itoa(i), suite.AllScheduled, shorts...)
			}
		}
		selected("c001", "c002", "c003", "c004", "c005")
		f.AwaitIdle(ctx)

		By("losing a cluster that matches no predicate")
		begin := time.Now()
		f.LabelClusters(ctx, "role", "db", "c001")
		selected("c002", "c003", "c004", "c005")
		f.AwaitIdle(ctx)
		Expect(bindingLists(f.Namespace, begin)).To(BeZero())

		By("losing a cluster that is in no bound set")
		begin = time.Now()
		f.LabelClusters(ctx, clusterv1beta2.ClusterSetLabel, f.Name("other"), "c002")
		selected("c003", "c004", "c005")
		lists := bindingLists(f.Namespace, begin)
		AddReportEntry("lists of bindings", fmt.Sprintf("%d for %d losses", lists, placements))
		Expect(lists).To(And(BeNumerically(">", 0), BeNumerically("<=", placements/4)))
	})
})

// bindingLists returns how often the hub has listed the bindings of a namespace since a time, by the audit log.
func bindingLists(namespace string, since time.Time) int {
	GinkgoHelper()
	events, err := suite.ControlPlane.Audit()
	Expect(err).NotTo(HaveOccurred())
	lists := 0
	for i := range events {
		event := &events[i]
		if event.User.Username == suite.HubUser && event.Verb == "list" && event.ObjectRef != nil && event.ObjectRef.Namespace == namespace &&
			event.ObjectRef.Resource == "managedclustersetbindings" && !event.StageTimestamp.Time.Before(since) {
			lists++
		}
	}
	return lists
}
