// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"context"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/placement-hub/placement-hub/manifests"
	"github.com/placement-hub/placement-hub/pkg/decoding"
	"github.com/placement-hub/placement-hub/pkg/explain"
	"github.com/placement-hub/placement-hub/pkg/explain/hubstate"
	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/placement/api"
	"github.com/placement-hub/placement-hub/test/integration/suite"
)

// spoiltField writes what Go cannot decode into the status, or into the spec where there is no subresource, while the policies against that
// are away.
type spoiltField struct {
	kind            schema.GroupVersionKind
	namespace, name string
	subresource     string
	patch           string
}

func (s spoiltField) object() *unstructured.Unstructured {
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(s.kind)
	object.SetNamespace(s.namespace)
	object.SetName(s.name)
	return object
}

// write patches the object; a client that decodes into Go types would fail on the answer.
func (s spoiltField) write(ctx context.Context, patch string) error {
	return s.send(ctx, suite.Client, patch)
}

// tryOut asks the API server whether it would take the patch.
func (s spoiltField) tryOut(ctx context.Context, patch string) error {
	return s.send(ctx, client.NewDryRunClient(suite.Client), patch)
}

func (s spoiltField) send(ctx context.Context, through client.Client, patch string) error {
	merge := client.RawPatch("application/merge-patch+json", []byte(patch))
	if s.subresource == "" {
		return through.Patch(ctx, s.object(), merge)
	}
	return through.SubResource(s.subresource).Patch(ctx, s.object(), merge)
}

// spoilAll writes all of them while the policies are away.
func spoilAll(ctx context.Context, spoils ...spoiltField) {
	GinkgoHelper()
	policies := &admissionregistrationv1.ValidatingAdmissionPolicyBindingList{}
	Expect(suite.Client.List(ctx, policies)).To(Succeed())
	for _, policy := range policies.Items {
		if strings.Contains(policy.Name, "readable") {
			Expect(suite.Client.Delete(ctx, &policy)).To(Succeed())
		}
	}
	DeferCleanup(func(ctx SpecContext) { Expect(manifests.Install(ctx, suite.ControlPlane.AdminConfig())).To(Succeed()) })

	for _, s := range spoils {
		Eventually(func() error { return s.write(ctx, s.patch) }).WithContext(ctx).WithTimeout(suite.Timeout).Should(Succeed())
	}
}

// spoiltFixture has a placement for each way in which something unreadable could remove a cluster.
type spoiltFixture struct {
	*suite.Fixture

	cluster, score, placement spoiltField
}

func newSpoiltFixture(ctx context.Context) *spoiltFixture {
	GinkgoHelper()

	f := &spoiltFixture{Fixture: suite.NewFixture(ctx, suite.WithoutAdmission)}
	f.cluster = spoiltField{
		kind: schema.GroupVersion(clusterv1.GroupVersion).WithKind("ManagedCluster"), name: f.Name("c003"), subresource: "status",
		patch: `{"status":{"allocatable":{"cpu":"1e1.5"}}}`,
	}
	f.score = spoiltField{
		kind:      schema.GroupVersion(clusterv1alpha1.GroupVersion).WithKind("AddOnPlacementScore"),
		namespace: f.Name("c002"), name: suite.ScoreObject, subresource: "status", patch: `{"status":{"validUntil":"2037-01-01t00:00:00z"}}`,
	}
	f.placement = spoiltField{
		kind: schema.GroupVersion(clusterv1beta1.GroupVersion).WithKind("Placement"), namespace: f.Namespace, name: "sized",
		patch: `{"spec":{"decisionStrategy":{"groupStrategy":{"clustersPerDecisionGroup":4294967296}}}}`,
	}

	f.Set(ctx, "set")
	f.Clusters(ctx, "set", 1, 2, suite.Offering("4", "16"))
	f.Fixture.Cluster(ctx, "set", "c003", suite.Offering("50", "16"))
	f.Fixture.Score(ctx, "c001", 1, nil)
	f.Fixture.Score(ctx, "c002", 50, ptr.To(metav1.Unix(4_000_000_000, 0)))
	f.AwaitIdle(ctx) // The watch of scores is another than that of Placements.
	f.Fixture.Placement(ctx, "all", clusterv1beta1.PlacementSpec{})
	f.Fixture.Placement(ctx, "cel", clusterv1beta1.PlacementSpec{Predicates: []clusterv1beta1.ClusterPredicate{
		suite.ByCEL(`"cpu" in managedCluster.status.allocatable`),
	}})
	f.Fixture.Placement(ctx, "most", clusterv1beta1.PlacementSpec{
		NumberOfClusters: ptr.To[int32](1), PrioritizerPolicy: suite.Exactly(suite.BuiltIn(suite.PrioritizerCPU, 1)),
	})
	f.Fixture.Placement(ctx, "best", clusterv1beta1.PlacementSpec{
		NumberOfClusters: ptr.To[int32](1), PrioritizerPolicy: suite.Exactly(suite.DemoScore(1)),
	})
	f.Fixture.Placement(ctx, "sized", clusterv1beta1.PlacementSpec{NumberOfClusters: ptr.To[int32](1)})
	f.selects(ctx, "all", suite.Shorts(1, 3)...)
	f.selects(ctx, "cel", suite.Shorts(1, 3)...)
	f.selects(ctx, "most", "c003")
	f.selects(ctx, "best", "c002")
	f.selects(ctx, "sized", "c001")

	// Whatever happens, the objects can be read again when other specs list them.
	DeferCleanup(f.heal)
	return f
}

// heal makes everything readable again; what is gone needs no healing.
func (f *spoiltFixture) heal(ctx SpecContext) {
	for s, patch := range map[spoiltField]string{
		f.cluster: `{"status":{"allocatable":{"cpu":"50"}}}`, f.score: `{"status":{"validUntil":null}}`,
		f.placement: `{"spec":{"decisionStrategy":null}}`,
	} {
		Expect(client.IgnoreNotFound(s.write(ctx, patch))).To(Succeed())
	}
}

// selects waits for the clusters in the decisions of a placement, which need not be readable itself.
func (f *spoiltFixture) selects(ctx context.Context, name string, shorts ...string) {
	GinkgoHelper()
	Eventually(func(g Gomega) []string { return f.Selected(f.Pages(ctx, g, name)) }).
		WithContext(ctx).WithTimeout(suite.Timeout).Should(Equal(shorts), name)
}

// counts is how many unreadable objects of a kind the metric tells.
func (f *spoiltFixture) counts(g Gomega, kind string) int {
	families, err := metrics.Registry.Gather()
	g.Expect(err).NotTo(HaveOccurred())
	for _, family := range families {
		if family.GetName() != "placement_hub_unreadable_objects" {
			continue
		}
		for _, metric := range family.GetMetric() {
			for _, label := range metric.GetLabel() {
				if label.GetName() == "kind" && label.GetValue() == kind {
					return int(metric.GetGauge().GetValue())
				}
			}
		}
	}

	return 0
}

// behindProofs is how often a removal could not be proved because the view or the object had changed.
func behindProofs(g Gomega) int {
	families, err := metrics.Registry.Gather()
	g.Expect(err).NotTo(HaveOccurred())
	count := 0
	for _, family := range families {
		if family.GetName() == "placement_hub_removal_check_duration_seconds" {
			for _, metric := range family.GetMetric() {
				if metric.GetLabel()[0].GetValue() == "behind" {
					count += int(metric.GetHistogram().GetSampleCount())
				}
			}
		}
	}

	return count
}

// warned waits for the event that names the field of an object.
func (f *spoiltFixture) warned(ctx context.Context, s spoiltField, field string) {
	GinkgoHelper()
	Eventually(func(g Gomega) []string {
		list := &eventsv1.EventList{}
		g.Expect(suite.Client.List(ctx, list)).To(Succeed())
		var notes []string
		for _, event := range list.Items {
			if event.Regarding.Kind == s.kind.Kind && event.Regarding.Name == s.name && event.Regarding.Namespace == s.namespace {
				notes = append(notes, event.Type+" "+event.Reason+": "+event.Note)
			}
		}
		return notes
	}).WithContext(ctx).WithTimeout(suite.Timeout).Should(ContainElement(And(HavePrefix("Warning UnreadableFields: "), ContainSubstring(field))))
}

// expectNamed demands that the report of the placement "best" names what cannot be read and concerns it.
func expectNamed(world *explain.State, err error) {
	GinkgoHelper()
	Expect(err).NotTo(HaveOccurred())
	evaluations := world.Evaluate(time.Now(), func(key inventory.Key) bool { return key.Name == "best" })
	Expect(evaluations).To(HaveLen(1))
	Expect(explain.NewReport(evaluations[0], false).Warnings).To(ConsistOf(
		And(HavePrefix("AddOnPlacementScore "), ContainSubstring("status.validUntil")),
		And(HavePrefix("ManagedCluster "), ContainSubstring("status.allocatable.cpu")),
	))
}

var _ = Describe("An object that Go cannot decode", func() {
	It("is one object: all others go on, nothing leaves, and it heals", func(ctx SpecContext) {
		f := newSpoiltFixture(ctx)

		recording := f.RecordPages(ctx)
		kept := map[string]string{"most-decision-1": f.Name("c003"), "best-decision-1": f.Name("c002"), "sized-decision-1": f.Name("c001")}
		spoilAll(ctx, f.cluster, f.score, f.placement)

		By("going on with everything else, the spoilt kinds included")
		f.Fixture.Cluster(ctx, "set", "c004", suite.Offering("60", "16"))
		f.Fixture.Score(ctx, "c004", 40, nil)
		f.Fixture.Placement(ctx, "later", clusterv1beta1.PlacementSpec{})
		f.selects(ctx, "later", "c001", "c002", "c004")
		f.selects(ctx, "all", suite.Shorts(1, 4)...)
		f.selects(ctx, "cel", suite.Shorts(1, 4)...)
		f.selects(ctx, "most", "c003")
		f.selects(ctx, "best", "c002")
		f.selects(ctx, "sized", "c001")

		By("going on after a restart")
		suite.StopHub()
		suite.StopHub = suite.StartHub(suite.HubConfig(ctx, suite.ControlPlane))
		f.Fixture.Cluster(ctx, "set", "c005", suite.Offering("70", "16"))
		f.selects(ctx, "all", suite.Shorts(1, 5)...)
		f.selects(ctx, "cel", suite.Shorts(1, 5)...)
		f.selects(ctx, "later", "c001", "c002", "c004", "c005")
		f.selects(ctx, "most", "c003")
		f.selects(ctx, "best", "c002")
		f.selects(ctx, "sized", "c001")

		By("telling what it cannot read")
		f.warned(ctx, f.cluster, `status.allocatable.cpu: Invalid value: "1e1.5"`)
		f.warned(ctx, f.score, `status.validUntil: Invalid value: "2037-01-01t00:00:00z"`)
		f.warned(ctx, f.placement, `spec.decisionStrategy.groupStrategy.clustersPerDecisionGroup: Invalid value: 4294967296`)
		Eventually(func(g Gomega) {
			g.Expect(f.counts(g, "ManagedCluster")).To(Equal(1))
			g.Expect(f.counts(g, "AddOnPlacementScore")).To(Equal(1))
			g.Expect(f.counts(g, "Placement")).To(Equal(1))
			sized := f.placement.object()
			g.Expect(suite.Client.Get(ctx, client.ObjectKeyFromObject(sized), sized)).To(Succeed())
			conditions, _, err := unstructured.NestedSlice(sized.Object, "status", "conditions")
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(conditions).To(ContainElement(And(
				HaveKeyWithValue("type", clusterv1beta1.PlacementConditionMisconfigured), HaveKeyWithValue("status", "True"),
				HaveKeyWithValue("message", ContainSubstring("clustersPerDecisionGroup")))))
		}).WithContext(ctx).WithTimeout(suite.Timeout).Should(Succeed())

		By("reading it as the command explain does")
		reader, err := decoding.NewClient(suite.ControlPlane.AdminConfig(), client.Options{Scheme: suite.Client.Scheme()})
		Expect(err).NotTo(HaveOccurred())
		wanted := []inventory.Key{inventory.NewPlacementKey(inventory.V1beta1, f.Namespace, "best")}
		expectNamed(hubstate.FromCluster(ctx, reader, wanted))

		By("following it as the command explain does")
		mirror, err := hubstate.NewWatcher(suite.ControlPlane.AdminConfig(), nil, f.Namespace)
		Expect(err).NotTo(HaveOccurred())
		following, stop := context.WithCancel(ctx)
		defer stop()
		Expect(mirror.Watch(following, api.Adapters())).To(Succeed())
		expectNamed(mirror.Read(ctx, wanted))

		Expect(recording.Drain()).To(Succeed())
		for _, frame := range recording.Events() {
			if keeps := kept[frame.Page.Name]; keeps != "" {
				Expect(frame.Page.Status.Decisions).To(ConsistOf(HaveField("ClusterName", keeps)), frame.Page.Name)
			}
		}

		By("healing")
		f.heal(ctx)
		f.selects(ctx, "later", suite.Shorts(1, 5)...)
		f.selects(ctx, "most", "c005")
		f.ExpectSelected(ctx, "sized", suite.AllScheduled, "c001")
		Eventually(func(g Gomega) int {
			return f.counts(g, "ManagedCluster") + f.counts(g, "AddOnPlacementScore") + f.counts(g, "Placement")
		}).WithContext(ctx).WithTimeout(suite.Timeout).Should(BeZero())
	})

	It("B15: a time in the status of a Placement keeps no removal from being carried out, and is not read again and again", func(ctx SpecContext) {
		f := suite.NewFixture(ctx, suite.WithoutAdmission)
		f.Set(ctx, "set")
		f.Clusters(ctx, "set", 1, 2)
		f.Placement(ctx, "p", clusterv1beta1.PlacementSpec{})
		f.ExpectSelected(ctx, "p", suite.AllScheduled, suite.Shorts(1, 2)...)

		spoilt := spoiltField{
			kind: schema.GroupVersion(clusterv1beta1.GroupVersion).WithKind("Placement"), namespace: f.Namespace, name: "p", subresource: "status",
			patch: `{"status":{"lastScoreUpdateTime":"2027-01-01t00:00:00z","conditions":[{"type":"Foreign","status":"True","reason":"R",` +
				`"message":"","lastTransitionTime":"2027-01-01t00:00:00z"}]}}`,
		}
		DeferCleanup(func(ctx SpecContext) {
			Expect(client.IgnoreNotFound(spoilt.write(ctx, `{"status":{"lastScoreUpdateTime":null,"conditions":null}}`))).To(Succeed())
		})
		spoilAll(ctx, spoilt)

		proofs := behindProofs(Default)
		gone := &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: f.Name("c002")}}
		Expect(suite.Client.Delete(ctx, gone)).To(Succeed())

		Eventually(func(g Gomega) []string { return f.Selected(f.Pages(ctx, g, "p")) }).
			WithContext(ctx).WithTimeout(suite.Timeout).Should(Equal(suite.Shorts(1, 1)))
		Eventually(func(g Gomega) {
			placement := spoilt.object()
			g.Expect(suite.Client.Get(ctx, client.ObjectKeyFromObject(placement), placement)).To(Succeed())
			number, _, err := unstructured.NestedInt64(placement.Object, "status", "numberOfSelectedClusters")
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(number).To(BeEquivalentTo(1))
		}).WithContext(ctx).WithTimeout(suite.Timeout).Should(Succeed())
		Expect(behindProofs(Default)-proofs).To(BeNumerically("<", 20), "the object has not changed")
	})

	DescribeTable("is refused by a policy, on the status too", func(ctx SpecContext, kind, spoilt, words string) {
		f := suite.NewFixture(ctx)
		f.Set(ctx, "set")
		f.Cluster(ctx, "set", "c001", suite.Offering("4", "16"))
		f.Score(ctx, "c001", 1, ptr.To(metav1.Unix(4_000_000_000, 0)))

		on := spoiltField{kind: schema.GroupVersion(clusterv1.GroupVersion).WithKind("ManagedCluster"), name: f.Name("c001")}
		if kind == "AddOnPlacementScore" {
			on = spoiltField{
				kind:      schema.GroupVersion(clusterv1alpha1.GroupVersion).WithKind("AddOnPlacementScore"),
				namespace: f.Name("c001"), name: suite.ScoreObject,
			}
		}

		if kind == "Placement" {
			f.Placement(ctx, "p", clusterv1beta1.PlacementSpec{})
			on = spoiltField{kind: schema.GroupVersion(clusterv1beta1.GroupVersion).WithKind(kind), namespace: f.Namespace, name: "p"}
		}
		if strings.HasPrefix(spoilt, `{"status"`) {
			on.subresource = "status"
		}
		Eventually(func() error { return on.tryOut(ctx, spoilt) }).WithContext(ctx).WithTimeout(suite.Timeout).
			Should(MatchError(ContainSubstring(words)))
		Expect(on.write(ctx, `{"metadata":{"annotations":{"a":"b"}}}`)).To(Succeed())
	},
		Entry("a quantity", "ManagedCluster", `{"status":{"allocatable":{"cpu":"1e1.5"}}}`,
			`status.allocatable[cpu]: Invalid value: "1e1.5": must be a quantity`),
		Entry("another quantity", "ManagedCluster", `{"status":{"capacity":{"example.com/a":"1E1.5"}}}`,
			`status.capacity[example.com/a]: Invalid value: "1E1.5": must be a quantity`),
		Entry("the time of a condition", "ManagedCluster",
			`{"status":{"conditions":[{"type":"T","status":"True","reason":"R","message":"","lastTransitionTime":"2027-01-01t00:00:00z"}]}}`,
			`lastTransitionTime of status.conditions: Invalid value: "2027-01-01t00:00:00z"`),
		Entry("the time of a taint", "ManagedCluster",
			`{"spec":{"taints":[{"key":"a","effect":"NoSelect","timeAdded":"2027-01-01t00:00:00z"}]}}`,
			`timeAdded of spec.taints or lastTransitionTime of status.conditions: Invalid value: "2027-01-01t00:00:00z"`),
		Entry("B15: the time of a condition of a Placement", "Placement",
			`{"status":{"conditions":[{"type":"T","status":"True","reason":"R","message":"","lastTransitionTime":"2027-01-01t00:00:00z"}]}}`,
			`a time of the status: Invalid value: "2027-01-01t00:00:00z"`),
		Entry("B15: the time of scores of a Placement", "Placement", `{"status":{"lastScoreUpdateTime":"2027-01-01t00:00:00z"}}`,
			`a time of the status: Invalid value: "2027-01-01t00:00:00z"`),
		Entry("the end of scores", "AddOnPlacementScore", `{"status":{"validUntil":"2027-01-01T00:00:00z"}}`,
			`status.validUntil or lastTransitionTime of status.conditions: Invalid value: "2027-01-01T00:00:00z"`),
	)

	It("can be reported on by its agent although it got in before the policies", func(ctx SpecContext) {
		f := newSpoiltFixture(ctx)
		spoilAll(ctx, f.cluster, f.score)
		Expect(manifests.Install(ctx, suite.ControlPlane.AdminConfig())).To(Succeed())
		other := f.cluster
		other.name = f.Name("c001")
		Eventually(func() error { return other.tryOut(ctx, other.patch) }).WithContext(ctx).WithTimeout(suite.Timeout).
			Should(MatchError(ContainSubstring("must be a quantity")), "the policies are in force again")
		Expect(f.cluster.write(ctx, `{"status":{"version":{"kubernetes":"v1.2.3"}}}`)).To(Succeed())
		Expect(f.score.write(ctx, `{"status":{"scores":[{"name":"size","value":3}]}}`)).To(Succeed())
	})
})
