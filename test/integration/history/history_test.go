// SPDX-License-Identifier: Apache-2.0

package history

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/test/integration/suite"
)

const editRole = "open-cluster-management:placement-hub:edit"

var _ = Describe("The history of decisions", Ordered, func() {
	var (
		leader, standby *hub
		mine, theirs    *suite.Fixture
		tainted         string
	)

	BeforeAll(func(ctx SpecContext) {
		suite.PauseHub(ctx)
		leader, standby = newHub(), newHub()
		DeferCleanup(suite.StartHub(suite.HubConfig(ctx, suite.ControlPlane), leader.configure))
		standby.startStandby(ctx)
		suite.Allow(ctx, "", "admin", rbacv1.PolicyRule{APIGroups: []string{group}, Resources: []string{"*"}, Verbs: []string{"get", "list"}})
		standby.expectRecording(ctx)
		mine, theirs = suite.NewFixture(ctx), suite.NewFixture(ctx)
		for _, f := range []*suite.Fixture{mine, theirs} {
			f.Set(ctx, "set")
			for _, name := range []string{"eu1", "eu2"} {
				f.Cluster(ctx, "set", name)
			}
			f.Placement(ctx, "payments", clusterv1beta1.PlacementSpec{NumberOfClusters: ptr.To[int32](1)})
		}
		tainted = mine.Name("eu1")
		suite.Bind(ctx, mine.Namespace, editRole, "tenant")
		suite.Bind(ctx, theirs.Namespace, editRole, "neighbour")
	})

	It("HI1, HI6, HI7: has the change of a field manager, on the leader and on a standby", func(ctx SpecContext) {
		first := "gained " + tainted
		for _, each := range []*hub{leader, standby} {
			Eventually(func() []string { return each.sentences(ctx, "admin", mine.Namespace) }).WithTimeout(suite.Timeout).
				Should(ConsistOf(HavePrefix(first)))
		}
		cluster := &clusterv1.ManagedCluster{}
		Expect(suite.Client.Get(ctx, client.ObjectKey{Name: tainted}, cluster)).To(Succeed())
		before := cluster.DeepCopy()
		cluster.Spec.Taints = []clusterv1.Taint{{Key: "maintenance", Effect: clusterv1.TaintEffectNoSelect}}
		Expect(suite.Client.Patch(ctx, cluster, client.MergeFrom(before), client.FieldOwner("kubectl-edit"))).To(Succeed())
		row := "lost " + tainted + ", gained " + mine.Name("eu2") + ": ManagedCluster " + tainted +
			" taint maintenance:NoSelect added by kubectl-edit"
		for _, each := range []*hub{leader, standby} {
			Eventually(func() []string { return each.sentences(ctx, "admin", mine.Namespace) }).WithTimeout(suite.Timeout).
				Should(HaveExactElements(HavePrefix(first), row))
		}

		_, list, _ := leader.ask(ctx, "admin", mine.Namespace)
		Expect(list.Derived).To(BeFalse())
		Expect(list.Moves[1].Derived).To(BeFalse())
		Expect(list.Moves[1].ReasonOf(tainted)).To(ContainSubstring("maintenance"))
		_, derived, _ := standby.ask(ctx, "admin", mine.Namespace)
		Expect(derived.Derived).To(BeTrue())
		Expect(derived.Moves[1].Derived).To(BeTrue())
		Expect(derived.Moves[1].Reasons).To(BeEmpty())
		Expect(derived.Moves[1].ResourceVersion).To(Equal(list.Moves[1].ResourceVersion))
		Expect(derived.Moves[1].UID).To(Equal(list.Moves[1].UID))
	})

	It("HI8, HI10: shows a tenant the rows of the own namespace, without the names of field managers of clusters", func(ctx SpecContext) {
		for _, each := range []*hub{leader, standby} {
			Expect(each.sentences(ctx, "tenant", mine.Namespace)).To(HaveExactElements(HavePrefix("gained "+tainted), "lost "+tainted+
				", gained "+mine.Name("eu2")+": ManagedCluster "+tainted+" taint maintenance:NoSelect added"))
			code, list, text := each.ask(ctx, "tenant", theirs.Namespace)
			Expect(code).To(Equal(403), text)
			Expect(list.Moves).To(BeEmpty())
			code, _, text = each.ask(ctx, "tenant", "")
			Expect(code).To(Equal(403), text)
			code, _, text = each.ask(ctx, "neighbour", mine.Namespace)
			Expect(code).To(Equal(403), text)
		}
	})

	It("HI10: counts the change of a cluster that the namespace may not use any more", func(ctx SpecContext) {
		cluster, name := &clusterv1.ManagedCluster{}, mine.Name("eu2")
		Expect(suite.Client.Get(ctx, client.ObjectKey{Name: name}, cluster)).To(Succeed())
		before := cluster.DeepCopy()
		cluster.Labels["cluster.open-cluster-management.io/clusterset"] = theirs.Name("set")
		Expect(suite.Client.Patch(ctx, cluster, client.MergeFrom(before), client.FieldOwner("secret-tool"))).To(Succeed())
		Eventually(func() []string { return leader.sentences(ctx, "admin", mine.Namespace) }).WithTimeout(suite.Timeout).
			Should(ContainElement(And(HavePrefix("lost "+name), HaveSuffix(" by secret-tool"))))
		_, list, text := leader.ask(ctx, "tenant", mine.Namespace)
		Expect(text).NotTo(ContainSubstring("secret-tool"))
		Expect(text).NotTo(ContainSubstring(theirs.Name("set")))
		Expect(list.Moves[2].Causes).To(BeEmpty())
		Expect(list.Moves[2].HiddenCauses).To(BeNumerically(">=", 1))
	})

	It("HI9: shows nothing of a former namespace of the same name", func(ctx SpecContext) {
		namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: theirs.Namespace}}
		Expect(leader.sentences(ctx, "neighbour", theirs.Namespace)).NotTo(BeEmpty())
		Expect(suite.Client.Delete(ctx, namespace)).To(Succeed())
		Eventually(func() bool {
			return apierrors.IsNotFound(suite.Client.Get(ctx, client.ObjectKeyFromObject(namespace), &corev1.Namespace{}))
		}).WithTimeout(suite.Timeout).Should(BeTrue())
		Eventually(func() []string { return leader.sentences(ctx, "admin", "") }).WithTimeout(suite.Timeout).
			Should(ContainElement(HavePrefix("lost " + theirs.Name("eu1"))))

		theirs.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: theirs.Namespace}})
		suite.Bind(ctx, theirs.Namespace, editRole, "neighbour")
		for _, each := range []*hub{leader, standby} {
			code, list, text := each.ask(ctx, "neighbour", theirs.Namespace)
			Expect(code).To(Equal(200), text)
			Expect(list.Moves).To(BeEmpty())
		}
	})
})
