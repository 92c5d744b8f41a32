// SPDX-License-Identifier: Apache-2.0

package clustersinventory

import (
	"fmt"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	workv1 "open-cluster-management.io/api/work/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/apis/scheme"
	"github.com/placement-hub/placement-hub/pkg/clusterrequest"
	"github.com/placement-hub/placement-hub/test/env/faults"
	"github.com/placement-hub/placement-hub/test/integration/suite"
)

var _ = Describe("a Cluster that is healthy", func() {
	It("cluster-request C64: gets a ManagedCluster, a namespace and an account for the work agent, whatever its name", func(ctx SpecContext) {
		w := newWorld(ctx)
		neighbour := w.Namespace + "-b"
		w.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: neighbour}})
		names := map[string]bool{}

		for _, cluster := range []*openmcpv1alpha1.Cluster{
			w.cluster("b-c", nil),
			w.cluster("c", func(c *openmcpv1alpha1.Cluster) { c.Namespace = neighbour }),
			w.cluster(strings.Repeat("n.m", 33)+"n", nil),
		} {
			w.healthy(cluster)
			managed := w.published(cluster)
			names[managed.Name] = true
			Expect(len(managed.Name)).To(BeNumerically("<=", 63))
			Expect(managed.Name).NotTo(ContainSubstring("."))
			Expect(managed.Spec.HubAcceptsClient).To(BeTrue())
			Expect(cluster.Finalizers).To(ContainElement(openmcpv1alpha1.InventoryFinalizer))
			namespace := &corev1.Namespace{}
			Expect(suite.Client.Get(ctx, types.NamespacedName{Name: managed.Name}, namespace)).To(Succeed())
			Expect(namespace.Labels).To(HaveKeyWithValue(clusterv1.ClusterNameLabelKey, managed.Name))

			config, err := suite.ControlPlane.ServiceAccountConfig(ctx, managed.Name, clusterrequest.WorkAgent)
			Expect(err).NotTo(HaveOccurred())
			agent, err := client.New(config, client.Options{Scheme: scheme.Known()})
			Expect(err).NotTo(HaveOccurred())
			Expect(agent.List(ctx, &workv1.ManifestWorkList{}, client.InNamespace(managed.Name))).To(Succeed())
			Expect(apierrors.IsForbidden(agent.List(ctx, &workv1.ManifestWorkList{}))).To(BeTrue(), "the agent is not limited to its namespace")
			Expect(apierrors.IsForbidden(agent.List(ctx, &corev1.SecretList{}, client.InNamespace(managed.Name)))).To(BeTrue())
			if cluster.Namespace == neighbour {
				w.remove(cluster)
			}
		}

		Expect(names).To(HaveLen(3))
	})

	It("cluster-request C65: is available while its Lease is renewed, which writes nothing", func(ctx SpecContext) {
		w := newWorld(ctx)
		cluster := w.cluster("c", nil)
		w.healthy(cluster)
		managed := w.published(cluster)
		lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: clusterrequest.LeaseName(cluster.UID)}}
		const duration, renewals = time.Hour, 200
		suite.Edit(ctx, lease, func(l *coordinationv1.Lease) { l.Spec.LeaseDurationSeconds = ptr.To(int32(duration / time.Second)) })
		for range 2 * renewals { // The watch of the Leases may be behind by as many renewals as a duration has.
			now.Step(duration / renewals)
			w.renew(cluster)
		}
		w.touch(cluster)

		fence := w.cluster("fence", nil)
		w.healthy(fence)
		w.published(fence) // The hub has seen what was written before.
		after := &clusterv1.ManagedCluster{}
		Expect(suite.Client.Get(ctx, client.ObjectKeyFromObject(managed), after)).To(Succeed())
		Expect(after.ResourceVersion).To(Equal(managed.ResourceVersion))

		now.Step(duration + time.Second)
		w.touch(cluster)
		w.available(managed, metav1.ConditionUnknown)

		w.renew(cluster)
		w.available(managed, metav1.ConditionTrue)

		Expect(suite.Client.Get(ctx, client.ObjectKeyFromObject(cluster), cluster)).To(Succeed())
		before := cluster.DeepCopy()
		cluster.Status.Conditions[0].Status = metav1.ConditionFalse
		Expect(cluster.Status.Conditions[0].Type).To(Equal(openmcpv1alpha1.ConditionClusterHealthy))
		Expect(suite.Client.Status().Patch(ctx, cluster, client.MergeFrom(before))).To(Succeed())
		w.available(managed, metav1.ConditionFalse)
	})

	It("cluster-request C65: is looked at when its Lease ends, without an event", func(ctx SpecContext) {
		w := newWorld(ctx)
		cluster := w.cluster("c", nil)
		w.healthy(cluster)
		managed := w.published(cluster)
		lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: clusterrequest.LeaseName(cluster.UID)}}
		suite.Edit(ctx, lease, func(l *coordinationv1.Lease) { l.Spec.LeaseDurationSeconds = ptr.To[int32](2) })
		w.available(managed, metav1.ConditionTrue)
		now.Step(2 * time.Second)
		w.available(managed, metav1.ConditionUnknown)
	})

	It("cluster-request 4.6: leaves the availability to an agent that reports it", func(ctx SpecContext) {
		w := newWorld(ctx)
		cluster := w.cluster("c", nil)
		w.healthy(cluster)
		managed := w.published(cluster)
		w.Create(ctx, &coordinationv1.Lease{
			ObjectMeta: metav1.ObjectMeta{Namespace: managed.Name, Name: clusterrequest.AgentLeaseName},
			Spec:       coordinationv1.LeaseSpec{RenewTime: ptr.To(metav1.NewMicroTime(now.Now()))},
		})

		before := managed.DeepCopy()
		meta.SetStatusCondition(&managed.Status.Conditions, metav1.Condition{
			Type: clusterv1.ManagedClusterConditionAvailable, Status: metav1.ConditionFalse, Reason: "AgentSays",
		})
		w.eventually(func(g Gomega) { // Until the hub knows of the agent.
			g.Expect(suite.Client.Status().Patch(ctx, managed.DeepCopy(), client.MergeFrom(before))).To(Succeed())
			w.touch(cluster)
			g.Consistently(func(g Gomega) metav1.ConditionStatus {
				seen := &clusterv1.ManagedCluster{}
				g.Expect(suite.Client.Get(ctx, client.ObjectKeyFromObject(managed), seen)).To(Succeed())
				return availability(seen)
			}).WithContext(ctx).WithTimeout(time.Second).Should(Equal(metav1.ConditionFalse))
		})

		now.Step(5*time.Minute + time.Second)
		w.renew(cluster)
		w.touch(cluster)
		w.available(managed, metav1.ConditionTrue)
	})

	It("cluster-request C66: has the labels and claims of its purposes, and those of others stay", func(ctx SpecContext) {
		w := newWorld(ctx)
		cluster := w.cluster("c", func(c *openmcpv1alpha1.Cluster) {
			c.Labels = map[string]string{openmcpv1alpha1.PlacementLabelPrefix + "region": "eu", "other": "x"}
		})
		w.healthy(cluster)
		managed := w.published(cluster)
		Expect(managed.Labels).To(And(HaveKeyWithValue("purpose.cluster.openmcp.cloud/platform", "true"),
			HaveKeyWithValue("purpose.cluster.openmcp.cloud/onboarding", "true"), HaveKeyWithValue("region", "eu"), Not(HaveKey("other"))))

		own := []clusterv1.ManagedClusterClaim{
			{Name: "profile.cluster.openmcp.cloud", Value: "aws"}, {Name: "provider.cluster.openmcp.cloud", Value: "gardener"},
			{Name: "purpose.cluster.openmcp.cloud/platform", Value: "true"}, {Name: "tenancy.cluster.openmcp.cloud", Value: "Exclusive"},
			{Name: "trait.cluster.openmcp.cloud/infrastructure/vendor/aws", Value: "true"},
		}
		onboarding := clusterv1.ManagedClusterClaim{Name: "purpose.cluster.openmcp.cloud/onboarding", Value: "true"}
		Expect(managed.Status.ClusterClaims).To(ConsistOf(append([]clusterv1.ManagedClusterClaim{onboarding}, own...)))

		before := managed.DeepCopy()
		agents := clusterv1.ManagedClusterClaim{Name: "id.k8s.io", Value: "agent"}
		managed.Status.ClusterClaims = append(managed.Status.ClusterClaims, agents)
		Expect(suite.Client.Status().Patch(ctx, managed, client.MergeFrom(before))).To(Succeed())

		suite.Edit(ctx, managed, func(m *clusterv1.ManagedCluster) { m.Labels["admin"] = "x" })
		suite.Edit(ctx, cluster, func(c *openmcpv1alpha1.Cluster) { c.Labels, c.Spec.Purposes = nil, c.Spec.Purposes[:1] })
		w.eventually(func(g Gomega) {
			g.Expect(suite.Client.Get(ctx, client.ObjectKeyFromObject(managed), managed)).To(Succeed())
			g.Expect(managed.Labels).To(And(HaveKey("purpose.cluster.openmcp.cloud/platform"), HaveKeyWithValue("admin", "x"),
				Not(HaveKey("purpose.cluster.openmcp.cloud/onboarding")), Not(HaveKey("region"))))
			g.Expect(managed.Status.ClusterClaims).To(ConsistOf(append([]clusterv1.ManagedClusterClaim{agents}, own...)))
		})
	})

	It("cluster-request C67: is in the set that its annotation names", func(ctx SpecContext) {
		w := newWorld(ctx)
		cluster := w.cluster("c", nil)
		w.healthy(cluster)
		managed := w.published(cluster)
		Expect(managed.Labels).To(HaveKeyWithValue(clusterv1beta2.ClusterSetLabel, w.set))
		suite.Edit(ctx, cluster, func(c *openmcpv1alpha1.Cluster) { delete(c.Annotations, openmcpv1alpha1.ClusterSetAnnotation) })
		w.eventually(func(g Gomega) {
			g.Expect(suite.Client.Get(ctx, client.ObjectKeyFromObject(managed), managed)).To(Succeed())
			g.Expect(managed.Labels).To(HaveKeyWithValue(clusterv1beta2.ClusterSetLabel, "default"))
		})
	})

	It("cluster-request C70: is published without a request, and is repaired", func(ctx SpecContext) {
		w := newWorld(ctx)
		cluster := w.cluster("c", func(c *openmcpv1alpha1.Cluster) {
			c.Finalizers = []string{openmcpv1alpha1.RequestFinalizerPrefix + "gone"}
			c.Labels = map[string]string{openmcpv1alpha1.DeleteWithoutRequestsLabel: "false"}
		})
		w.healthy(cluster)
		managed := w.published(cluster)
		suite.Edit(ctx, cluster, func(c *openmcpv1alpha1.Cluster) { c.Finalizers = []string{openmcpv1alpha1.InventoryFinalizer} })
		w.remove(managed)
		w.eventually(func(g Gomega) {
			again := &clusterv1.ManagedCluster{}
			g.Expect(suite.Client.Get(ctx, client.ObjectKeyFromObject(managed), again)).To(Succeed())
			g.Expect(again.UID).NotTo(Equal(managed.UID))
			g.Expect(again.Spec.Taints).To(BeEmpty())
			g.Expect(availability(again)).To(Equal(metav1.ConditionTrue))
		})
	})

	It("cluster-request C71: takes no name of somebody else", func(ctx SpecContext) {
		w := newWorld(ctx)
		for _, name := range []string{"a", "b"} {
			cluster := w.cluster(name, nil)
			taken := metav1.ObjectMeta{Name: clusterrequest.ManagedClusterName(client.ObjectKeyFromObject(cluster))}
			var object client.Object = &clusterv1.ManagedCluster{ObjectMeta: taken}
			if name == "b" {
				object = &corev1.Namespace{ObjectMeta: taken}
			}

			w.Create(ctx, object)
			w.healthy(cluster)
			w.told(cluster, openmcpv1alpha1.ReasonNameTaken, taken.Name)
			w.eventually(func(g Gomega) {
				g.Expect(suite.Client.Get(ctx, client.ObjectKeyFromObject(cluster), cluster)).To(Succeed())
				condition := meta.FindStatusCondition(cluster.Status.Conditions, openmcpv1alpha1.ConditionPublished)
				g.Expect(condition).NotTo(BeNil())
				g.Expect(suite.ConditionText(*condition)).To(Equal("False " + openmcpv1alpha1.ReasonNameTaken))
			})

			w.remove(cluster)
			w.deleted(cluster)
			version := object.GetResourceVersion()
			Expect(suite.Client.Get(ctx, client.ObjectKeyFromObject(object), object)).To(Succeed())
			Expect(object.GetResourceVersion()).To(Equal(version), "it was changed")
		}
	})

	It("cluster-request C63: a restart over published Clusters writes nothing", func(ctx SpecContext) {
		w := newWorld(ctx)
		for _, name := range []string{"a", "b"} {
			cluster := w.cluster(name, nil)
			w.healthy(cluster)
			w.published(cluster)
		}

		expired := w.cluster("expired", nil)
		w.healthy(expired)
		managed := w.published(expired)
		now.Step(time.Minute)
		w.touch(expired)
		w.available(managed, metav1.ConditionUnknown)

		for _, name := range []string{"a", "b"} {
			cluster := &openmcpv1alpha1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: name}}
			Expect(suite.Client.Get(ctx, client.ObjectKeyFromObject(cluster), cluster)).To(Succeed())
			w.renew(cluster)
			w.published(cluster)
		}

		proxy := suite.ThroughProxy(ctx)
		fence := w.cluster("fence", nil)
		w.healthy(fence)
		name := w.published(fence).Name
		suite.StopHub() // Waits for the reconciles that run.
		var created []string

		for _, write := range proxy.Requests(faults.Match{Verbs: []string{"create", "update", "patch", "delete"}, Resources: []string{
			"managedclusters", "managedclusters/status", "clusters", "clusters/status", "namespaces", "serviceaccounts", "rolebindings",
		}}) {
			if write.Verb == "create" { // The name is in the body.
				created = append(created, write.Namespace+"/"+write.Resource)
			} else {
				Expect(write.Name).To(BeElementOf(name, fence.Name), "%+v", write)
			}
		}
		Expect(created).To(ConsistOf("/namespaces", name+"/serviceaccounts", name+"/rolebindings", "/managedclusters"))
	})
})

var _ = Describe("B20: a Cluster that is published", func() {
	It("is in no decision that its claims keep it out of, at any moment", func(ctx SpecContext) {
		w := newWorld(ctx)
		spec := func(operator metav1.LabelSelectorOperator) clusterv1beta1.PlacementSpec {
			return clusterv1beta1.PlacementSpec{
				Predicates: []clusterv1beta1.ClusterPredicate{{RequiredClusterSelector: clusterv1beta1.ClusterSelector{
					ClaimSelector: clusterv1beta1.ClusterClaimSelector{MatchExpressions: []metav1.LabelSelectorRequirement{
						{Key: openmcpv1alpha1.ProviderClaim, Operator: operator},
					}},
				}}},
				Tolerations: []clusterv1beta1.Toleration{{Operator: clusterv1beta1.TolerationOpExists}},
			}
		}
		w.Placement(ctx, "with", spec(metav1.LabelSelectorOpExists))
		w.Placement(ctx, "without", spec(metav1.LabelSelectorOpDoesNotExist))
		nobody := func(satisfied string) suite.Outcome {
			return suite.Outcome{Satisfied: satisfied, Misconfigured: suite.Configured, Groups: []string{"0/: 0 [without-decision-1]"}}
		}
		w.Expect(ctx, "without", nobody(suite.AllSetsEmpty))
		recording := w.RecordPages(ctx)

		var managed []string
		for i := range 20 {
			cluster := w.cluster(fmt.Sprintf("c%d", i), nil)
			w.healthy(cluster)
			managed = append(managed, w.published(cluster).Name)
		}
		w.eventually(func(g Gomega) { g.Expect(w.Look(ctx, g, "with").Selected).To(HaveLen(len(managed))) })
		w.Expect(ctx, "without", nobody(suite.NothingMatched))
		Expect(recording.Drain()).To(Succeed())
		for _, event := range recording.Events() {
			if event.Page.Labels[clusterv1beta1.PlacementLabel] == "without" {
				Expect(event.Page.Status.Decisions).To(BeEmpty())
			}
		}
	})
})
