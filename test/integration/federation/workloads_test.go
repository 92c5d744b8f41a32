// SPDX-License-Identifier: Apache-2.0

package federation

import (
	"context"
	"maps"
	"slices"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/explain"
	"github.com/placement-hub/placement-hub/pkg/explain/hubstate"
	"github.com/placement-hub/placement-hub/pkg/federation"
	"github.com/placement-hub/placement-hub/test/integration/members"
	"github.com/placement-hub/placement-hub/test/integration/suite"
)

var _ = Describe("the replicas of a workload", func() {
	It("federated-selector F26: without preferences they are spread evenly", func(ctx SpecContext) {
		s := newScene(ctx)
		object := s.deployment(ctx, selecting(inEurope))
		Eventually(func(g Gomega) []int32 {
			replicas := replicasOf(ctx, g, object)
			g.Expect(slices.Collect(maps.Keys(replicas))).To(ConsistOf("eu1", "eu2"))
			return slices.Collect(maps.Values(replicas))
		}).WithContext(ctx).WithTimeout(suite.Timeout).Should(ConsistOf(int32(5), int32(4)))

		planned := replicasOf(ctx, Default, object)
		for member, replicas := range map[*members.Member]int32{eu1: planned["eu1"], eu2: planned["eu2"]} {
			Eventually(func(g Gomega) int32 { return *memberCopy(ctx, g, member, object).Spec.Replicas }).
				WithContext(ctx).WithTimeout(suite.Timeout).Should(Equal(replicas), member.Cluster)
		}
		expectNoCopy(ctx, object, us1)
		for _, ready := range []map[string]int32{{"eu1": 0, "eu2": planned["eu2"]}, {"eu1": 2, "eu2": 1}, {"eu1": planned["eu1"], "eu2": 0}} {
			expectStaying(ctx, object, planned, ready)
		}
	})

	DescribeTable("follow the preferences, whatever of them is ready", func(ctx SpecContext, preferences string, want, ready map[string]int32) {
		s := newScene(ctx)
		annotations := selecting(inEurope)
		annotations[federation.DeploymentPreferencesAnnotation] = preferences
		object := s.deployment(ctx, annotations)
		expectReplicas(ctx, object, want)
		expectStaying(ctx, object, want, ready)
	},
		Entry("federated-selector F27: by weight", `{"clusters":{"eu1":{"weight":2},"eu2":{"weight":1}}}`,
			map[string]int32{"eu1": 6, "eu2": 3}, map[string]int32{"eu1": 0, "eu2": 3}),
		Entry("federated-selector F28: of a cluster that is not selected, which count for nothing",
			`{"clusters":{"us1":{"minReplicas":9,"weight":9},"eu1":{"weight":2},"eu2":{"weight":1}}}`,
			map[string]int32{"eu1": 6, "eu2": 3}, map[string]int32{"eu1": 5, "eu2": 1}),
		Entry("federated-selector F29: with a maximum", `{"clusters":{"eu1":{"maxReplicas":2,"weight":1},"*":{"weight":1}}}`,
			map[string]int32{"eu1": 2, "eu2": 7}, map[string]int32{"eu1": 0, "eu2": 7}),
		Entry("federated-selector F30: of one cluster alone; the others get the object without replicas", `{"clusters":{"eu1":{"weight":1}}}`,
			map[string]int32{"eu1": 9, "eu2": 0}, map[string]int32{"eu1": 4, "eu2": 3}),
	)

	It("federated-selector 3.1.6: which no cluster gets are in an Event and the report, each cluster without has its cause", func(ctx SpecContext) {
		s := newScene(ctx)
		annotations := selecting(inEurope)
		annotations[federation.DeploymentPreferencesAnnotation] = `{"clusters":{"eu1":{"maxReplicas":2,"weight":1}}}`
		object := s.deployment(ctx, annotations)
		expectReplicas(ctx, object, map[string]int32{"eu1": 2, "eu2": 0})
		expectEvent(ctx, object, federation.ReasonReplicasUnplaced, "7 of 9 replicas have no cluster", "maxReplicas of eu1",
			"missing preference of eu2")

		state, err := hubstate.FederatedFromCluster(ctx, hub, s.Namespace, federation.DefaultKinds())
		Expect(err).NotTo(HaveOccurred())
		reports := state.ReportObjects(explain.ObjectFilter{}, false, time.Now()).Objects
		Expect(reports).To(HaveLen(1))
		Expect(reports[0].Replicas.Unplaced).To(BeEquivalentTo(7))
		Expect(reports[0].Replicas.UnplacedMessage).To(ContainSubstring("maxReplicas of eu1; missing preference of eu2"))
		causes := map[string]string{}
		for _, cluster := range reports[0].Clusters {
			causes[cluster.Name] = cluster.WhyNoReplicas
		}
		Expect(causes).To(SatisfyAll(HaveKeyWithValue("eu1", ""), HaveKeyWithValue("eu2", "0 replicas: missing preference")))
	})

	It("T15: stay where they are while one cluster becomes ready late, and while one restarts all its Pods", func(ctx SpecContext) {
		s := newScene(ctx)
		object := s.deployment(ctx, selecting(inEurope))
		before := object.DeepCopy()
		*object.Spec.Replicas = 15
		Expect(hub.Patch(ctx, object, client.MergeFrom(before))).To(Succeed())
		Eventually(func(g Gomega) []int32 { return slices.Collect(maps.Values(replicasOf(ctx, g, object))) }).
			WithContext(ctx).WithTimeout(suite.Timeout).Should(ConsistOf(int32(8), int32(7)))

		planned := replicasOf(ctx, Default, object)
		for _, ready := range []map[string]int32{
			{"eu1": planned["eu1"], "eu2": 0}, {"eu1": planned["eu1"], "eu2": 3}, planned, {"eu1": 0, "eu2": planned["eu2"]}, planned,
		} {
			expectStaying(ctx, object, planned, ready)
		}

		// At 20 both get some; with fewer, ready replicas stay in the order of the clusters.
		before = object.DeepCopy()
		*object.Spec.Replicas = 20
		Expect(hub.Patch(ctx, object, client.MergeFrom(before))).To(Succeed())
		expectReplicas(ctx, object, map[string]int32{"eu1": 10, "eu2": 10})
	})

	It("federated-selector 3.1.6: preferences that cannot be parsed hold the object", func(ctx SpecContext) {
		s := newScene(ctx)
		object := s.deployment(ctx, map[string]string{federation.DeploymentPreferencesAnnotation: `{"clusters":[]}`})
		expectEvent(ctx, object, federation.ReasonClusterSelectorInvalid, federation.DeploymentPreferencesAnnotation)
		expectDelivered(ctx, s.configMap(ctx, "later", nil), "eu1", "eu2", "us1")
		Expect(clustersOf(ctx, Default, object)).To(BeEmpty())
	})

	It("federated-selector 3.1.6: replicas that the agents report as ready stay where they are", func(ctx SpecContext) {
		s := newScene(ctx)
		annotations := selecting(inEurope)
		annotations[federation.DeploymentPreferencesAnnotation] = `{"clusters":{"eu1":{"weight":2},"*":{"weight":1}}}`
		object := s.deployment(ctx, annotations)
		expectReplicas(ctx, object, map[string]int32{"eu1": 6, "eu2": 3})
		for member, ready := range map[*members.Member]int32{eu1: 6, eu2: 3} {
			Eventually(func(g Gomega) { setReady(ctx, g, member, object, ready) }).WithContext(ctx).WithTimeout(suite.Timeout).Should(Succeed())
		}

		Eventually(func(g Gomega) []int32 {
			works := worksOf(ctx, g, object)
			return []int32{federation.ReadyOf(works["eu1"]), federation.ReadyOf(works["eu2"])}
		}).WithContext(ctx).WithTimeout(suite.Timeout).Should(Equal([]int32{6, 3}))
		s.AwaitIdle(ctx) // The hub has seen the reports, too.

		// A third cluster gets none of the nine, and one of three that are added; with rebalance the weights count.
		annotate(ctx, object, selecting(`[]`))
		expectReplicas(ctx, object, map[string]int32{"eu1": 6, "eu2": 3, "us1": 0})

		annotate(ctx, object, map[string]string{
			federation.DeploymentPreferencesAnnotation: `{"rebalance":true,"clusters":{"*":{"weight":1}}}`,
		})
		expectReplicas(ctx, object, map[string]int32{"eu1": 3, "eu2": 3, "us1": 3})
	})
})

var _ = Describe("the dependencies of a workload", func() {
	It("federated-selector F33: what does not reach its clusters is told, and delivered with it if it is to be", func(ctx SpecContext) {
		s := newScene(ctx)
		settings := s.configMap(ctx, "settings", selecting(inEurope))
		expectDelivered(ctx, settings, "eu1", "eu2")

		object := s.deployment(ctx, selecting(inUSA))
		before := object.DeepCopy()
		object.Spec.Template.Spec.Volumes = []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{
			ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: "settings"}},
		}}}
		object.Spec.Template.Spec.ServiceAccountName = "runner"
		Expect(hub.Patch(ctx, object, client.MergeFrom(before))).To(Succeed())
		expectEvent(ctx, object, federation.ReasonDependenciesMissing, "settings", "us1")
		Expect(clustersOf(ctx, Default, settings)).To(ConsistOf("eu1", "eu2"))

		annotate(ctx, object, map[string]string{federation.PropagateDependenciesAnnotation: "true"})
		expectDelivered(ctx, settings, "eu1", "eu2", "us1")
		expectCopies(ctx, settings, eu1, eu2, us1)
		runner := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: "runner"}}
		Eventually(func(g Gomega) { memberCopy(ctx, g, us1, runner) }).WithContext(ctx).WithTimeout(suite.Timeout).Should(Succeed())

		// With its last user it leaves the cluster that its own annotation does not select.
		Expect(hub.Delete(ctx, object)).To(Succeed())
		expectDelivered(ctx, settings, "eu1", "eu2")
		expectCopies(ctx, settings, eu1, eu2)
	})
})

// replicasOf returns the replicas in the works of a Deployment by cluster.
func replicasOf(ctx context.Context, g Gomega, object *appsv1.Deployment) map[string]int32 {
	replicas := map[string]int32{}
	for cluster, work := range worksOf(ctx, g, object) {
		planned, err := federation.PlannedReplicas(work)
		g.Expect(err).NotTo(HaveOccurred())
		replicas[cluster] = planned
	}
	return replicas
}

// expectReplicas waits until exactly these clusters have a work of a Deployment, with these replicas.
func expectReplicas(ctx context.Context, object *appsv1.Deployment, want map[string]int32) {
	GinkgoHelper()
	Eventually(func(g Gomega) map[string]int32 { return replicasOf(ctx, g, object) }).
		WithContext(ctx).WithTimeout(suite.Timeout).Should(Equal(want))
}

// expectStaying has copies report ready replicas, and demands that the works keep the planned ones.
func expectStaying(ctx context.Context, object *appsv1.Deployment, planned, ready map[string]int32) {
	GinkgoHelper()
	for _, member := range []*members.Member{eu1, eu2} {
		Eventually(func(g Gomega) { setReady(ctx, g, member, object, ready[member.Cluster]) }).
			WithContext(ctx).WithTimeout(suite.Timeout).Should(Succeed())
	}

	Eventually(func(g Gomega) map[string]int32 {
		reported := map[string]int32{}
		for cluster, work := range worksOf(ctx, g, object) {
			reported[cluster] = federation.ReadyOf(work)
		}
		return reported
	}).WithContext(ctx).WithTimeout(suite.Timeout).Should(Equal(ready))

	Expect(suite.AwaitUnchanged(ctx, func(g Gomega) map[string]int32 { return replicasOf(ctx, g, object) })).To(Equal(planned), "%v are ready", ready)
}

// setReady writes the status of a copy in a member, where nothing runs pods.
func setReady(ctx context.Context, g Gomega, member *members.Member, object *appsv1.Deployment, ready int32) {
	copied := memberCopy(ctx, g, member, object)
	before := copied.DeepCopy()
	copied.Status.ObservedGeneration = copied.Generation
	copied.Status.Replicas, copied.Status.ReadyReplicas, copied.Status.AvailableReplicas = ready, ready, ready
	g.Expect(member.Client.Status().Patch(ctx, copied, client.MergeFrom(before))).To(Succeed())
}
