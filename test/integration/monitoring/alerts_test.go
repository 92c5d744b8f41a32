// SPDX-License-Identifier: Apache-2.0

package monitoring

import (
	"context"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/placement-hub/placement-hub/manifests"
	"github.com/placement-hub/placement-hub/pkg/placement/api"
	"github.com/placement-hub/placement-hub/test/env/scrapes"
	"github.com/placement-hub/placement-hub/test/integration/suite"
)

// Series of the hub.
const (
	misconfigured = "placement_hub_misconfigured_placements{}"
	celErrors     = "placement_hub_cel_errors{}"
	staleScores   = "placement_hub_stale_scores{}"
	stalled       = "placement_hub_stalled_placements{}"
	failedWrites  = `placement_hub_writes_total{kind="create",result="error"}`
	unreadable    = `placement_hub_unreadable_objects{group="cluster.open-cluster-management.io",kind="ManagedCluster"}`
)

// mendedStatus takes away what is unreadable.
const mendedStatus = `{"status":{"allocatable":null}}`

var _ = Describe("Alerts over scrapes", func() {
	It("fire while their cause is there", func(ctx SpecContext) {
		f := suite.NewFixture(ctx, suite.WithoutAdmission)
		f.Set(ctx, "set")
		f.Clusters(ctx, "set", 1, 2)
		f.Placement(ctx, "all", clusterv1beta1.PlacementSpec{})
		f.ExpectSelected(ctx, "all", "True AllDecisionsScheduled", suite.Shorts(1, 2)...)
		f.LabelClusters(ctx, "held", "yes", suite.Shorts(1, 2)...)
		f.Placement(ctx, "held", suite.Matching(suite.ByLabel("held", "yes")))
		f.Annotate(ctx, "held", "placement-hub.open-cluster-management.io/max-removal-percent", "0")
		f.ExpectSelected(ctx, "held", "True AllDecisionsScheduled", suite.Shorts(1, 2)...)
		var healthy, broken, later, mended scrapes.Scrape

		await(ctx, &healthy, func(g Gomega, s scrapes.Scrape) { g.Expect(unsatisfied(s)).To(BeEmpty()) })

		unbound := suite.NewFixture(ctx)
		unbound.Placement(ctx, "unbound", clusterv1beta1.PlacementSpec{})
		f.Score(ctx, suite.Shorts(1, 1)[0], 1, ptr.To(metav1.NewTime(time.Now().Add(-time.Hour))))
		f.Placement(ctx, "scored", clusterv1beta1.PlacementSpec{
			NumberOfClusters: ptr.To[int32](1), PrioritizerPolicy: suite.Exactly(suite.DemoScore(1)),
		})
		f.Placement(ctx, "failing", suite.Matching(suite.ByCEL(`managedCluster.metadata.labels["no"] == "such"`)))
		f.Placement(ctx, "broken", suite.Matching(suite.ByCEL(`1 +`)))
		f.LabelClusters(ctx, "held", "no", suite.Shorts(1, 1)...)
		full := suite.NewFixture(ctx)
		full.BindAny(ctx, f.Name("set"))
		quota := full.ForbidPages(ctx, api.V1beta1.Codec(), 0)
		full.Placement(ctx, "unwritten", clusterv1beta1.PlacementSpec{})
		allowUnreadable(ctx)

		spoilt := f.Name(suite.Shorts(2, 2)[0])
		patchStatus(ctx, spoilt, `{"status":{"allocatable":{"cpu":"1e1.5"}}}`)
		DeferCleanup(func(ctx SpecContext) { patchStatus(ctx, spoilt, mendedStatus) }) // The fixture could not read it.

		await(ctx, &broken, func(g Gomega, s scrapes.Scrape) {
			g.Expect(unsatisfied(s)).To(HaveKeyWithValue("NoManagedClusterSetBindings", 1.))
			g.Expect(s.Value(misconfigured)).To(Equal(1.))
			g.Expect(s.Value(celErrors)).To(Equal(2.))
			g.Expect(s.Value(staleScores)).To(Equal(1.))
			g.Expect(s.Value(stalled)).To(Equal(2.), "the misconfigured one, and that with RemovalHeld")
			g.Expect(s.Value(unreadable)).To(Equal(1.))
			g.Expect(s.Value(failedWrites)).To(BeNumerically(">", 0))
		})
		await(ctx, &later, func(g Gomega, s scrapes.Scrape) {
			g.Expect(s.Value(failedWrites)).To(BeNumerically(">", broken.Value(failedWrites)))
		})

		for _, name := range []string{"scored", "failing", "broken"} {
			Expect(suite.Client.Delete(ctx, f.PlacementNamed(name))).To(Succeed())
		}
		Expect(suite.Client.Delete(ctx, quota)).To(Succeed())
		Expect(suite.Client.Delete(ctx, full.PlacementNamed("unwritten"))).To(Succeed())
		f.LabelClusters(ctx, "held", "yes", suite.Shorts(1, 1)...)
		patchStatus(ctx, spoilt, mendedStatus)
		Expect(suite.Client.Delete(ctx, unbound.PlacementNamed("unbound"))).To(Succeed())

		await(ctx, &mended, func(g Gomega, s scrapes.Scrape) {
			g.Expect(unsatisfied(s)).To(BeEmpty())
			for _, series := range []string{misconfigured, celErrors, staleScores, stalled, unreadable} {
				g.Expect(s.Value(series)).To(BeZero(), series)
			}
		})

		alerts := map[string]scrapes.Expected{
			"PlacementsMisconfigured":  {Firing: []scrapes.Firing{{Words: []string{"$value", "1"}}}},
			"PlacementExpressionsFail": {Firing: []scrapes.Firing{{Words: []string{"$value", "2"}}}},
			"PlacementScoresStale":     {Firing: []scrapes.Firing{{Words: []string{"$value", "1"}}}},
			"PlacementsAreStalled":     {Firing: []scrapes.Firing{{Words: []string{"$value", "2"}}}},
			"UnreadableObjects": {Firing: []scrapes.Firing{{
				Labels: map[string]string{"group": clusterv1.GroupName, "kind": "ManagedCluster"},
				Words:  []string{"$value", "1", "$labels.kind", "ManagedCluster"},
			}}},
			"PlacementsLoseClusters":  {},
			"PlacementWritesFail":     ofKind("create"),
			"PlacementAnswersDiverge": {},
			"PlacementsUnsatisfied":   {},
		}
		for reason, count := range unsatisfied(broken) {
			alerts["PlacementsUnsatisfied"] = scrapes.Expected{Firing: append(alerts["PlacementsUnsatisfied"].Firing, scrapes.Firing{
				Labels: map[string]string{"reason": reason}, Words: []string{"$value", scrapes.Text(count), "$labels.reason", reason},
			})}
		}

		course := scrapes.Course{Healthy: healthy, Broken: broken, Later: later, Mended: mended}
		Expect(course.Evaluate(ctx, GinkgoT().TempDir(), alerts)).To(Succeed())
	})
})

// allowUnreadable takes the policies away that refuse what Go cannot decode, until the end of the spec.
func allowUnreadable(ctx context.Context) {
	GinkgoHelper()
	policies := &admissionregistrationv1.ValidatingAdmissionPolicyBindingList{}
	Expect(suite.Client.List(ctx, policies)).To(Succeed())
	for _, policy := range policies.Items {
		if strings.Contains(policy.Name, "readable") {
			Expect(suite.Client.Delete(ctx, &policy)).To(Succeed())
		}
	}
	DeferCleanup(func(ctx SpecContext) { Expect(manifests.Install(ctx, suite.ControlPlane.AdminConfig())).To(Succeed()) })
}

// patchStatus patches the status of a ManagedCluster, by an object that has no Go type: a client that decodes would fail on the answer.
func patchStatus(ctx context.Context, cluster, patch string) {
	GinkgoHelper()
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(schema.GroupVersion(clusterv1.GroupVersion).WithKind("ManagedCluster"))
	object.SetName(cluster)
	Eventually(func() error {
		return suite.Client.SubResource("status").Patch(ctx, object, client.RawPatch(types.MergePatchType, []byte(patch)))
	}).WithContext(ctx).WithTimeout(suite.Timeout).Should(Succeed())
}

// await scrapes until a check succeeds.
func await(ctx context.Context, found *scrapes.Scrape, check func(Gomega, scrapes.Scrape)) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		*found = gather(g)
		check(g, *found)
	}).WithContext(ctx).WithTimeout(suite.Timeout).Should(Succeed())
}

// gather scrapes the hub, which runs in this process.
func gather(g Gomega) scrapes.Scrape {
	found, err := scrapes.Gather(metrics.Registry)
	g.Expect(err).NotTo(HaveOccurred())
	return found
}

// ofKind expects an alert for requests of each kind.
func ofKind(kinds ...string) (expected scrapes.Expected) {
	for _, kind := range kinds {
		expected.Firing = append(expected.Firing, scrapes.Firing{
			Labels: map[string]string{"kind": kind}, Words: []string{"$labels.kind", kind},
		})
	}
	return expected
}

// unsatisfied returns how many placements lack clusters, by the reasons that there are.
func unsatisfied(s scrapes.Scrape) map[string]float64 {
	byReason := map[string]float64{}
	for series, value := range s.Samples {
		if labels, is := strings.CutPrefix(series, "placement_hub_placements{reason=\""); is && value > 0 {
			if reason, is := strings.CutSuffix(labels, "\",satisfied=\"false\"}"); is {
				byReason[reason] = value
			}
		}
	}
	return byReason
}
