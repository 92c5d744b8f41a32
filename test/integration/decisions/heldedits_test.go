// SPDX-License-Identifier: Apache-2.0

package decisions

import (
	"context"
	"fmt"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/removalbudget"
	"github.com/placement-hub/placement-hub/pkg/system"
	"github.com/placement-hub/placement-hub/test/integration/suite"
)

var _ = Describe("A hub with a removal budget", func() {
	BeforeEach(func(ctx SpecContext) {
		suite.PauseHub(ctx)
		stop := suite.StartHub(suite.HubConfig(ctx, suite.ControlPlane), func(o *system.Options) {
			o.RemovalLimit = removalbudget.Limit{Percent: ptr.To(50)}
		})
		DeferCleanup(stop)
	})

	It("B16: keeps clusters that are held, whatever an edit of the spec means", func(ctx SpecContext) {
		f := suite.NewFixture(ctx)
		f.UnboundSet(ctx, "set")
		binding := f.Bind(ctx, "set")
		f.Set(ctx, "wider")
		f.Clusters(ctx, "set", 1, 3)
		f.AwaitClusters(ctx)
		plainPlacement(ctx, f, map[string]any{"numberOfClusters": int64(3), "clusterSets": []any{f.Name("set")}})
		f.ExpectSelected(ctx, "p", suite.AllScheduled, suite.Shorts(1, 3)...)
		expectRemoval(ctx, f.PlacementNamed("p"), metav1.ConditionFalse, removalbudget.ReasonNothingHeld)
		decided := recordDecisions(ctx, f, "c001", "c002", "c003")

		Expect(suite.Client.Delete(ctx, binding)).To(Succeed())
		expectRemoval(ctx, f.PlacementNamed("p"), metav1.ConditionTrue, removalbudget.ReasonTooManyRemoved)
		for _, spec := range []string{
			`{"spreadPolicy":{}}`,
			`{"prioritizerPolicy":{"mode":"Additive"}}`,
			`{"decisionStrategy":{"groupStrategy":{"clustersPerDecisionGroup":0}}}`,
			`{"predicates":[]}`,
			`{"numberOfClusters":4}`,
			`{"sortBy":"Score","prioritizerPolicy":{"mode":"Exact","configurations":[
				{"scoreCoordinate":{"type":"BuiltIn","builtIn":"ResourceAllocatableMemory"},"weight":1}]}}`,
			fmt.Sprintf(`{"clusterSets":[%q,%q]}`, f.Name("set"), f.Name("wider")),
		} {
			By("editing the spec: " + spec)
			before := f.Read(ctx, Default, "p").Generation
			Expect(suite.Client.Patch(ctx, f.PlacementNamed("p"), client.RawPatch(types.MergePatchType, []byte(`{"spec":`+spec+`}`)))).To(Succeed())
			Expect(f.Read(ctx, Default, "p").Generation).To(Equal(before + 1))
			expectRemoval(ctx, f.PlacementNamed("p"), metav1.ConditionTrue, removalbudget.ReasonTooManyRemoved)
			decided.expect()
		}
		f.ExpectSilence(ctx)

		f.Bind(ctx, "set")
		expectRemoval(ctx, f.PlacementNamed("p"), metav1.ConditionFalse, removalbudget.ReasonNothingHeld)
		decided.expect()
	})

	It("B17: keeps the single cluster of a decision while its binding is deleted, and when that is back", func(ctx SpecContext) {
		f := suite.NewFixture(ctx)
		f.UnboundSet(ctx, "set")
		binding := f.Bind(ctx, "set")
		f.Clusters(ctx, "set", 1, 3)
		taint(ctx, f, "c001")
		f.AwaitClusters(ctx)
		plainPlacement(ctx, f, map[string]any{"numberOfClusters": int64(1)})
		f.ExpectSelected(ctx, "p", suite.AllScheduled, "c002")
		untaint(ctx, f, "c001") // From here on the first name is better, but for Steady.
		expectRemoval(ctx, f.PlacementNamed("p"), metav1.ConditionFalse, removalbudget.ReasonNothingHeld)
		decided := recordDecisions(ctx, f, "c002")

		Expect(suite.Client.Delete(ctx, binding)).To(Succeed())
		expectRemoval(ctx, f.PlacementNamed("p"), metav1.ConditionTrue, removalbudget.ReasonLastCluster)
		Consistently(func(g Gomega) { g.Expect(f.Selected(f.Pages(ctx, g, "p"))).To(Equal([]string{"c002"})) }).
			WithContext(ctx).WithTimeout(3 * time.Second).Should(Succeed())
		f.Bind(ctx, "set")
		expectRemoval(ctx, f.PlacementNamed("p"), metav1.ConditionFalse, removalbudget.ReasonNothingHeld)
		f.ExpectSelected(ctx, "p", suite.AllScheduled, "c002")
		f.ExpectSilence(ctx)
		decided.expect()
	})

	It("B17: keeps the cluster of a pair for disaster recovery, when both are lost and come back", func(ctx SpecContext) {
		f := suite.NewFixture(ctx)
		f.Set(ctx, "set")
		f.Clusters(ctx, "set", 1, 2)
		f.AwaitClusters(ctx)
		f.Placement(ctx, "p", clusterv1beta1.PlacementSpec{
			NumberOfClusters: ptr.To[int32](1), PrioritizerPolicy: suite.Exactly(suite.BuiltIn("Steady", 1)),
			Tolerations: []clusterv1beta1.Toleration{{
				Key: clusterv1.ManagedClusterTaintUnreachable, Operator: clusterv1beta1.TolerationOpExists, TolerationSeconds: ptr.To[int64](1),
			}},
		})
		f.ExpectSelected(ctx, "p", suite.AllScheduled, "c001")

		By("losing the first one, so that the app moves to the second one, and having the first one again")
		taint(ctx, f, "c001")
		f.ExpectSelected(ctx, "p", suite.AllScheduled, "c002")
		untaint(ctx, f, "c001")
		f.ExpectSilence(ctx)
		decided := recordDecisions(ctx, f, "c002")

		By("losing both")
		taint(ctx, f, "c001")
		taint(ctx, f, "c002")
		expectRemoval(ctx, f.PlacementNamed("p"), metav1.ConditionTrue, removalbudget.ReasonLastCluster)
		f.ExpectSilence(ctx)

		By("having both again")
		untaint(ctx, f, "c002")
		untaint(ctx, f, "c001")
		expectRemoval(ctx, f.PlacementNamed("p"), metav1.ConditionFalse, removalbudget.ReasonNothingHeld)
		f.ExpectSelected(ctx, "p", suite.AllScheduled, "c002")
		f.ExpectSilence(ctx)
		decided.expect()
	})
})

// plainPlacement creates the Placement p with these fields of the spec alone. The Go type would write others, with their empty values.
func plainPlacement(ctx context.Context, f *suite.Fixture, spec map[string]any) {
	GinkgoHelper()
	placement := &unstructured.Unstructured{Object: map[string]any{"spec": spec}}
	placement.SetGroupVersionKind(schema.GroupVersionKind{Group: clusterv1beta1.GroupName, Version: "v1beta1", Kind: "Placement"})
	placement.SetNamespace(f.Namespace)
	placement.SetName("p")
	f.Create(ctx, placement)
}

// taint gives a cluster the taint of one that the hub does not reach, and untaint removes it.
func taint(ctx context.Context, f *suite.Fixture, short string) {
	GinkgoHelper()
	f.EditCluster(ctx, short, suite.Tainted(clusterv1.ManagedClusterTaintUnreachable, "", clusterv1.TaintEffectNoSelect))
}

func untaint(ctx context.Context, f *suite.Fixture, short string) {
	GinkgoHelper()
	f.EditCluster(ctx, short, func(c *clusterv1.ManagedCluster) { c.Spec.Taints = nil })
}

// decisions are a record of all states of the decisions, all of which have to have these clusters and no others.
type decisions struct {
	*suite.Recording

	names []string
}

// recordDecisions records the decisions of the fixture from now on.
func recordDecisions(ctx context.Context, f *suite.Fixture, shorts ...string) *decisions {
	GinkgoHelper()
	d := &decisions{f.RecordPages(ctx), f.Names(shorts...)}
	d.Require(d.names...)
	return d
}

// expect demands that no state up to now had other clusters.
func (d *decisions) expect() {
	GinkgoHelper()
	Expect(d.Drain()).To(Succeed())
	d.ExpectRequired()
	for _, event := range d.Events() {
		names := []string{}
		for _, decision := range event.Page.Status.Decisions {
			names = append(names, decision.ClusterName)
		}
		Expect(names).To(ConsistOf(d.names), "decisions of %s", event.Page.Name)
	}
}
