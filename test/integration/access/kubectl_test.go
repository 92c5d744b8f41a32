// SPDX-License-Identifier: Apache-2.0

package access

import (
	"context"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/placement-hub/placement-hub/test/integration/suite"
)

var _ = Describe("kubectl", func() {
	// settled is a fixture with a satisfied placement "p" of two clusters, and a kubectl that looks at it.
	settled := func(ctx context.Context) (*suite.Fixture, func(arguments ...string) string) {
		f := suite.NewFixture(ctx)
		f.Set(ctx, "set")
		f.Clusters(ctx, "set", 1, 2, func(c *clusterv1.ManagedCluster) { c.Spec.HubAcceptsClient = true })
		f.Placement(ctx, "p", clusterv1beta1.PlacementSpec{})
		f.ExpectSelected(ctx, "p", suite.AllScheduled, suite.Shorts(1, 2)...)
		return f, suite.Kubectl(ctx, f.Namespace)
	}

	It("shows the columns of the API module", func(ctx SpecContext) {
		f, run := settled(ctx)

		table := suite.Rows(run("get", "placements"))
		Expect(table[0]).To(Equal([]string{"NAME", "SUCCEEDED", "REASON", "SELECTEDCLUSTERS"}))
		Expect(table[1]).To(Equal([]string{"p", "True", "AllDecisionsScheduled", "2"}))
		table = suite.Rows(run("get", "placementdecisions"))
		Expect(table[0]).To(Equal([]string{"NAME", "AGE"}))
		Expect(table[1][0]).To(Equal("p-decision-1"))
		set := f.Name("set")
		table = suite.Rows(run("get", "managedclustersets", set))
		Expect(table[0]).To(Equal([]string{"NAME", "EMPTY", "AGE"}))
		Expect(table[1][:2]).To(Equal([]string{set, "False"}))

		table = suite.Rows(run("get", "managedclustersetbindings"))
		Expect(table[0]).To(Equal([]string{"NAME", "AGE"}))
		Expect(table[1][0]).To(Equal(set))
		table = suite.Rows(run("get", "managedclusters", f.Name("c001")))
		Expect(table[0]).To(Equal([]string{"NAME", "HUB", "ACCEPTED", "MANAGED", "CLUSTER", "URLS", "JOINED", "AVAILABLE", "AGE"}))
		Expect(table[1][:2]).To(Equal([]string{f.Name("c001"), "true"}))
	})

	It("knows the short names", func(ctx SpecContext) {
		f, run := settled(ctx)
		for short, want := range map[string]string{
			"mcl":            "managedcluster.cluster.open-cluster-management.io/" + f.Name("c001"),
			"mcls":           "managedcluster.cluster.open-cluster-management.io/" + f.Name("c001"),
			"mclset":         "managedclusterset.cluster.open-cluster-management.io/" + f.Name("set"),
			"mclsets":        "managedclusterset.cluster.open-cluster-management.io/" + f.Name("set"),
			"mclsetbinding":  "managedclustersetbinding.cluster.open-cluster-management.io/" + f.Name("set"),
			"mclsetbindings": "managedclustersetbinding.cluster.open-cluster-management.io/" + f.Name("set"),
		} {
			Expect(strings.Fields(run("get", short, "--output=name"))).To(ContainElement(want), short)
		}
	})

	It("waits for PlacementSatisfied", func(ctx SpecContext) {
		_, run := settled(ctx)
		Expect(run("wait", "--for=condition=PlacementSatisfied", "--timeout=20s", "placement/p")).
			To(Equal("placement.cluster.open-cluster-management.io/p condition met\n"))
	})

	It("describes a placement with its events", func(ctx SpecContext) {
		f, run := settled(ctx)
		Eventually(func() string { return run("describe", "placement", "p") }).WithContext(ctx).WithTimeout(suite.Timeout).Should(And(
			ContainSubstring("Succeedconfigured"), ContainSubstring("DecisionCreate"),
			ContainSubstring("Decision p-decision-1 is created with placement p in namespace "+f.Namespace),
		))
	})
})
