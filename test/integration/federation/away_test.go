// SPDX-License-Identifier: Apache-2.0

package federation

import (
	"context"
	"slices"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	workv1 "open-cluster-management.io/api/work/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/federation"
	"github.com/placement-hub/placement-hub/test/integration/members"
	"github.com/placement-hub/placement-hub/test/integration/suite"
)

var _ = Describe("a member that is away", func() {
	var (
		s      scene
		object *corev1.ConfigMap
	)
	BeforeEach(func(ctx SpecContext) {
		s = newScene(ctx)
		object = s.configMap(ctx, "c", selecting(inEurope))
		expectCopies(ctx, object, eu1, eu2)
		eu2.ExpectRecorded(ctx, identityOf(object).WorkName(), object)
	})

	It("federated-selector F19: what was withdrawn meanwhile goes when it returns", func(ctx SpecContext) {
		errors := func() int {
			return suite.CounterSum(Default, "controller_runtime_reconcile_total", map[string]string{"result": "error"})
		}
		before := errors()
		resume := eu2.Pause()

		annotate(ctx, object, selecting(`[{"key":"load","operator":"exists"}]`))
		Eventually(func(g Gomega) bool { return worksOf(ctx, g, object)["eu2"].DeletionTimestamp != nil }).
			WithContext(ctx).WithTimeout(suite.Timeout).Should(BeTrue())
		put(ctx, object, "2")
		Eventually(func(g Gomega) map[string]string { return memberCopy(ctx, g, eu1, object).Data }).
			WithContext(ctx).WithTimeout(suite.Timeout).Should(Equal(object.Data), "the others are served meanwhile")
		Expect(errors()).To(BeNumerically("<=", before+3), "no error storm")

		resume(ctx)
		expectCopies(ctx, object, eu1)
		expectDelivered(ctx, object, "eu1")
	})

	It("federated-selector F20: a deletion waits for it, says so, and ends when it returns", func(ctx SpecContext) {
		resume := eu2.Pause()
		Expect(hub.Delete(ctx, object)).To(Succeed())
		expectEvent(ctx, object, federation.ReasonDeletionWaiting, "waiting for clusters eu2 to remove "+s.Namespace+"/c")
		expectNoCopy(ctx, object, eu1)
		waiting := &corev1.ConfigMap{}
		Expect(hub.Get(ctx, client.ObjectKeyFromObject(object), waiting)).To(Succeed())
		Expect(waiting.Finalizers).To(ContainElement(federation.Finalizer))
		resume(ctx)
		expectGone(ctx, object)
		expectNoCopy(ctx, object, eu2)
	})

	It("federated-selector F20: a Namespace that is deleted has the Event, because the API server creates none in it", func(ctx SpecContext) {
		eu2.Pause()
		namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: s.Namespace}}
		Expect(hub.Delete(ctx, namespace)).To(Succeed())
		Expect(hub.Delete(ctx, object)).To(Succeed()) // As kube-controller-manager does, which does not run here.

		Eventually(func(g Gomega) []string {
			list := &eventsv1.EventList{}
			g.Expect(suite.Client.List(ctx, list, client.InNamespace(metav1.NamespaceDefault))).To(Succeed())
			var found []string
			for _, event := range list.Items {
				if event.Regarding.Kind == "Namespace" && event.Regarding.Name == s.Namespace && event.Reason == federation.ReasonDeletionWaiting {
					found = append(found, event.Note)
				}
			}
			return found
		}).WithContext(ctx).WithTimeout(suite.Timeout).Should(ContainElement(
			identityOf(object).String() + ": waiting for clusters eu2 to remove " + s.Namespace + "/c"))
	})

	It("federated-selector F20: a deletion does not wait for a cluster that is no longer a ManagedCluster", func(ctx SpecContext) {
		resume := eu2.Pause()
		Expect(hub.Delete(ctx, object)).To(Succeed())
		expectEvent(ctx, object, federation.ReasonDeletionWaiting, "eu2")
		Expect(suite.Client.Delete(ctx, cluster("eu2"))).To(Succeed())
		DeferCleanup(func(ctx SpecContext) { members.Register(ctx, cluster("eu2")) })
		expectGone(ctx, object)
		expectWorks(ctx, object)

		// An agent that returns evicts what no work is there for.
		resume(ctx)
		expectNoCopy(ctx, object, eu2)
	})

	It("federated-selector F21: a deletion does not wait for a cluster that never had the object", func(ctx SpecContext) {
		elsewhere := s.configMap(ctx, "elsewhere", selecting(inUSA))
		expectCopies(ctx, elsewhere, us1)
		eu2.Pause()
		Expect(hub.Delete(ctx, elsewhere)).To(Succeed())
		expectGone(ctx, elsewhere)
		Expect(notes(ctx, Default, elsewhere, federation.ReasonDeletionWaiting)).To(BeEmpty())
	})

	It("federated-selector F41: a cluster that leaves the bound set and rejoins it meanwhile keeps its copy", func(ctx SpecContext) {
		work, kept := worksOf(ctx, Default, object)["eu2"], memberCopy(ctx, Default, eu2, object)
		resume := eu2.Pause()

		moveTo := func(set string) {
			GinkgoHelper()
			managed := &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: "eu2"}}
			suite.Edit(ctx, managed, func(c *clusterv1.ManagedCluster) { c.Labels[clusterv1beta2.ClusterSetLabel] = set })
		}
		moveTo("elsewhere")
		suite.ExpectSetCondition(ctx, &clusterv1beta2.ManagedClusterSet{ObjectMeta: metav1.ObjectMeta{Name: boundSet}},
			"False ClustersSelected: 2 ManagedClusters selected")
		// Its absence is seen: an object that is created now is not delivered to it.
		expectDelivered(ctx, s.configMap(ctx, "meanwhile", selecting(inEurope)), "eu1")
		moveTo(boundSet)
		put(ctx, object, "2")
		expectDelivered(ctx, object, "eu1", "eu2")

		resume(ctx)
		expectCopies(ctx, object, eu1, eu2)
		Expect(worksOf(ctx, Default, object)["eu2"].UID).To(Equal(work.UID))
		Expect(memberCopy(ctx, Default, eu2, object).UID).To(Equal(kept.UID))
	})

	It("federated-selector F41: a cluster that leaves the selection and rejoins it meanwhile has one copy in the end", func(ctx SpecContext) {
		resume := eu2.Pause()
		relabel(ctx, eu2, "location", "moon")
		Eventually(func(g Gomega) bool { return worksOf(ctx, g, object)["eu2"].DeletionTimestamp != nil }).
			WithContext(ctx).WithTimeout(suite.Timeout).Should(BeTrue())
		relabel(ctx, eu2, "location", "europe")
		put(ctx, object, "2")

		resume(ctx)
		expectDelivered(ctx, object, "eu1", "eu2")
		expectCopies(ctx, object, eu1, eu2)
		deletions := slices.DeleteFunc(suite.HubWrites(Default, func(namespace string) bool { return namespace == "eu2" }),
			func(write string) bool { return write != "delete manifestworks/"+identityOf(object).WorkName() })
		Expect(deletions).To(HaveLen(1), "nothing is deleted again when it returns")
	})
})

var _ = Describe("the deletion of an object", func() {
	It("federated-selector F22: the copies stay if the annotation says so", func(ctx SpecContext) {
		s := newScene(ctx)
		object := s.configMap(ctx, "c", nil)
		expectCopies(ctx, object, eu1, eu2, us1)

		annotate(ctx, object, map[string]string{federation.OrphanAnnotation: "true"})
		Expect(hub.Delete(ctx, object)).To(Succeed())
		expectGone(ctx, object)
		expectWorks(ctx, object)
		for _, member := range []*members.Member{eu1, eu2, us1} {
			orphan := memberCopy(ctx, Default, member, object)
			Expect(orphan.Data).To(Equal(object.Data))
			Expect(orphan.OwnerReferences).To(BeEmpty())
		}
	})

	It("federated-selector 3.1.5: the annotation does not keep the copy of a cluster that is withdrawn", func(ctx SpecContext) {
		s := newScene(ctx)
		annotations := selecting(inEurope)
		annotations[federation.OrphanAnnotation] = "true"
		object := s.configMap(ctx, "c", annotations)
		expectCopies(ctx, object, eu1, eu2)
		annotate(ctx, object, selecting(inUSA))
		expectCopies(ctx, object, us1)
	})

	Context("with a copy that has a conflict", func() {
		var object, edited *corev1.ConfigMap
		BeforeEach(func(ctx SpecContext) {
			object = newScene(ctx).configMap(ctx, "c", selecting(inUSA))
			expectCopies(ctx, object, us1)
			us1.ExpectRecorded(ctx, identityOf(object).WorkName(), object)
			edited = memberCopy(ctx, Default, us1, object)
			patchCopy(ctx, us1, edited, "v", "edited")
			annotate(ctx, object, map[string]string{federation.OrphanAnnotation: "true"})
			Expect(hub.Delete(ctx, object)).To(Succeed())
		})

		It("federated-selector 3.1.5: waits until the conflict is resolved, and keeps the copy", func(ctx SpecContext) {
			expectEvent(ctx, object, federation.ReasonDeletionWaiting, "us1")
			Expect(memberCopy(ctx, Default, us1, object).Data).To(Equal(edited.Data))
			patchCopy(ctx, us1, memberCopy(ctx, Default, us1, object), "v", "1")
			expectGone(ctx, object)
			Expect(memberCopy(ctx, Default, us1, object).UID).To(Equal(edited.UID))
		})

		It("federated-selector 3.1.5: ends with the copy if the annotation is removed", func(ctx SpecContext) {
			Eventually(func(g Gomega) *workv1.DeleteOption { return worksOf(ctx, g, object)["us1"].Spec.DeleteOption }).
				WithContext(ctx).WithTimeout(suite.Timeout).
				Should(HaveField("PropagationPolicy", workv1.DeletePropagationPolicyTypeOrphan))
			annotate(ctx, object, map[string]string{federation.OrphanAnnotation: ""})
			expectGone(ctx, object)
			expectNoCopy(ctx, object, us1)
		})
	})

	It("federated-selector F22: orphaning without the annotation is refused with a message that names it", func(ctx SpecContext) {
		s := newScene(ctx)
		object := s.configMap(ctx, "c", nil)
		expectDelivered(ctx, object, "eu1", "eu2", "us1")
		Expect(orphan(ctx, object)).To(MatchError(ContainSubstring(federation.OrphanAnnotation)))
		Expect(clustersOf(ctx, Default, object)).To(ConsistOf("eu1", "eu2", "us1"))
		annotate(ctx, object, map[string]string{federation.OrphanAnnotation: "true"})
		Expect(orphan(ctx, object)).To(Succeed())
		expectGone(ctx, object)
		Expect(memberCopy(ctx, Default, eu1, object).Data).To(Equal(object.Data))
	})
})

// orphan deletes an object as `kubectl delete --cascade=orphan` does.
func orphan(ctx context.Context, object client.Object) error {
	return hub.Delete(ctx, object, client.PropagationPolicy(metav1.DeletePropagationOrphan))
}
