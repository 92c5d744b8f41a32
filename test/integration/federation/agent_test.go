// SPDX-License-Identifier: Apache-2.0

package federation

import (
	"context"
	"encoding/json"
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	workv1 "open-cluster-management.io/api/work/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/federation"
	"github.com/placement-hub/placement-hub/test/integration/members"
	"github.com/placement-hub/placement-hub/test/integration/suite"
)

// The docs tell users how the work agent treats copies and what it finds in a member (docs/spec/federated-selector.md 3.1.4).
var _ = Describe("the work agent of a member", func() {
	var (
		f    *suite.Fixture
		work *workv1.ManifestWork
	)

	BeforeEach(func(ctx SpecContext) {
		f = suite.NewFixture(ctx)
		work = handWritten(f.Namespace)
		// The namespace in the member stays after each work.
		DeferCleanup(func(ctx SpecContext) {
			Expect(client.IgnoreNotFound(hub.Delete(ctx, work))).To(Succeed())
			expectNoWork(ctx, work)
		})
	})

	It("federated-selector 3.1.4: applies a work, reports, and keeps the Namespace when the work goes", func(ctx SpecContext) {
		Expect(hub.Create(ctx, work)).To(Succeed())
		expectConditions(ctx, work, workv1.WorkApplied, workv1.WorkAvailable)
		Expect(copyIn(ctx, f.Namespace).Data).To(Equal(map[string]string{"key": "value"}))
		Expect(copyIn(ctx, f.Namespace).ManagedFields).To(ContainElement(
			HaveField("Manager", federation.AgentFieldManager)))
		Expect(hub.Delete(ctx, work)).To(Succeed())
		expectNoWork(ctx, work)
		expectCopyGone(ctx, f.Namespace)
		Expect(eu1.Client.Get(ctx, client.ObjectKey{Name: f.Namespace}, &corev1.Namespace{})).To(Succeed())
	})

	It("federated-selector 3.1.4: reports a field of another manager as a conflict and writes nothing", func(ctx SpecContext) {
		foreign(ctx, f.Namespace, map[string]string{"key": "theirs"})
		Expect(hub.Create(ctx, work)).To(Succeed())
		Eventually(func(g Gomega) {
			applied := manifestCondition(ctx, g, work, workv1.ManifestApplied)
			g.Expect(applied.Status).To(Equal(metav1.ConditionFalse))
			g.Expect(applied.Message).To(And(ContainSubstring("conflict with"), ContainSubstring(".data.key")))
		}).WithContext(ctx).WithTimeout(suite.Timeout).Should(Succeed())
		Expect(copyIn(ctx, f.Namespace).Data).To(Equal(map[string]string{"key": "theirs"}))
		Expect(copyIn(ctx, f.Namespace).OwnerReferences).To(BeEmpty())

		Expect(hub.Delete(ctx, work)).To(Succeed())
		expectNoWork(ctx, work)
		Expect(copyIn(ctx, f.Namespace).Data).To(Equal(map[string]string{"key": "theirs"}), "it is not deleted with the work")
	})

	It("federated-selector 3.1.4: merges into an object whose fields do not collide, and deletes it with the work", func(ctx SpecContext) {
		foreign(ctx, f.Namespace, map[string]string{"other": "theirs"})
		Expect(hub.Create(ctx, work)).To(Succeed())
		expectConditions(ctx, work, workv1.WorkApplied)
		Expect(copyIn(ctx, f.Namespace).Data).To(Equal(map[string]string{"key": "value", "other": "theirs"}))
		Eventually(func() []metav1.OwnerReference { return copyIn(ctx, f.Namespace).OwnerReferences }).WithTimeout(suite.Timeout).
			Should(ConsistOf(HaveField("Kind", "AppliedManifestWork")))
		Expect(hub.Delete(ctx, work)).To(Succeed())
		expectNoWork(ctx, work)
		expectCopyGone(ctx, f.Namespace)
	})

	It("federated-selector 3.1.4: restores a deleted copy at its resync", func(ctx SpecContext) {
		Expect(hub.Create(ctx, work)).To(Succeed())
		expectConditions(ctx, work, workv1.WorkApplied)
		deleted := copyIn(ctx, f.Namespace)
		Expect(eu1.Client.Delete(ctx, deleted)).To(Succeed())
		Eventually(func(g Gomega) {
			restored := &corev1.ConfigMap{}
			g.Expect(eu1.Client.Get(ctx, client.ObjectKeyFromObject(deleted), restored)).To(Succeed())
			g.Expect(restored.UID).NotTo(Equal(deleted.UID))
		}).WithContext(ctx).WithTimeout(suite.Timeout).Should(Succeed())
	})

	It("federated-selector 3.1.4: keeps what another manager edits in a copy, and reports the conflict", func(ctx SpecContext) {
		Expect(hub.Create(ctx, work)).To(Succeed())
		expectConditions(ctx, work, workv1.WorkApplied)
		patchCopy(ctx, eu1, copyIn(ctx, f.Namespace), "key", "edited")
		Eventually(func(g Gomega) {
			applied := manifestCondition(ctx, g, work, workv1.ManifestApplied)
			g.Expect(applied.Message).To(And(ContainSubstring("conflict with"), ContainSubstring(".data.key")))
		}).WithContext(ctx).WithTimeout(suite.Timeout).Should(Succeed())
		Expect(copyIn(ctx, f.Namespace).Data).To(Equal(map[string]string{"key": "edited"}))
	})

	It("federated-selector 3.1.5: keeps the copy of a work with propagationPolicy Orphan", func(ctx SpecContext) {
		Expect(hub.Create(ctx, work)).To(Succeed())
		expectConditions(ctx, work, workv1.WorkApplied)
		before := work.DeepCopy()
		work.Spec.DeleteOption = &workv1.DeleteOption{PropagationPolicy: workv1.DeletePropagationPolicyTypeOrphan}
		Expect(hub.Patch(ctx, work, client.MergeFrom(before))).To(Succeed())
		Eventually(func(g Gomega) {
			g.Expect(hub.Get(ctx, client.ObjectKeyFromObject(work), work)).To(Succeed())
			g.Expect(federation.OrphanSeen(work)).To(BeTrue())
		}).WithContext(ctx).WithTimeout(suite.Timeout).Should(Succeed())

		Expect(hub.Delete(ctx, work)).To(Succeed())
		expectNoWork(ctx, work)
		Expect(copyIn(ctx, f.Namespace).Data).To(Equal(map[string]string{"key": "value"}))
		Expect(copyIn(ctx, f.Namespace).OwnerReferences).To(BeEmpty())
	})

	It("federated-selector 3.1.5: still owns a copy with a conflict after Orphan, so that the orphaning is not seen", func(ctx SpecContext) {
		Expect(hub.Create(ctx, work)).To(Succeed())
		expectConditions(ctx, work, workv1.WorkApplied)
		patchCopy(ctx, eu1, copyIn(ctx, f.Namespace), "key", "edited")

		before := work.DeepCopy()
		work.Spec.DeleteOption = &workv1.DeleteOption{PropagationPolicy: workv1.DeletePropagationPolicyTypeOrphan}
		Expect(hub.Patch(ctx, work, client.MergeFrom(before))).To(Succeed())
		Eventually(func(g Gomega) {
			applied := manifestCondition(ctx, g, work, workv1.ManifestApplied)
			g.Expect(applied.ObservedGeneration).To(Equal(work.Generation))
			g.Expect(applied.Message).To(ContainSubstring("conflict with"))
		}).WithContext(ctx).WithTimeout(suite.Timeout).Should(Succeed())
		Expect(copyIn(ctx, f.Namespace).OwnerReferences).To(ConsistOf(HaveField("Kind", "AppliedManifestWork")))
		Expect(federation.OrphanSeen(work)).To(BeFalse(), "the copy would be deleted with the work")
	})

	It("reaches nothing on the hub but what is in the namespace of its cluster", func(ctx SpecContext) {
		agent := eu1.AgentOnHub()
		Expect(agent.List(ctx, &workv1.ManifestWorkList{}, client.InNamespace(eu1.Cluster))).To(Succeed())
		for _, forbidden := range []error{
			agent.List(ctx, &workv1.ManifestWorkList{}, client.InNamespace(eu2.Cluster)),
			agent.List(ctx, &corev1.SecretList{}, client.InNamespace(eu1.Cluster)),
			agent.Create(ctx, handWritten(f.Namespace)),
			agent.Delete(ctx, handWritten(f.Namespace)),
		} {
			Expect(forbidden).To(MatchError(apierrors.IsForbidden, "Forbidden"))
		}
	})
})

// handWritten returns a work for eu1 with a Namespace, which stays, and the ConfigMap "c" in it.
func handWritten(namespace string) *workv1.ManifestWork {
	GinkgoHelper()

	resource := workv1.ResourceIdentifier{Resource: "configmaps", Namespace: namespace, Name: "c"}
	work := &workv1.ManifestWork{
		ObjectMeta: metav1.ObjectMeta{Namespace: "eu1", Name: "hand-written-" + namespace},
		Spec: workv1.ManifestWorkSpec{
			ManifestConfigs: []workv1.ManifestConfigOption{{ResourceIdentifier: resource, UpdateStrategy: &workv1.UpdateStrategy{
				Type:            workv1.UpdateStrategyTypeServerSideApply,
				ServerSideApply: &workv1.ServerSideApplyConfig{FieldManager: federation.AgentFieldManager},
			}}},
			DeleteOption: &workv1.DeleteOption{
				PropagationPolicy: workv1.DeletePropagationPolicyTypeSelectivelyOrphan,
				SelectivelyOrphan: &workv1.SelectivelyOrphan{OrphaningRules: []workv1.OrphaningRule{{Resource: "namespaces", Name: namespace}}},
			},
		},
	}

	for _, manifest := range []string{
		fmt.Sprintf(`{"apiVersion":"v1","kind":"Namespace","metadata":{"name":%q}}`, namespace),
		fmt.Sprintf(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"namespace":%q,"name":"c"},"data":{"key":"value"}}`, namespace),
	} {
		Expect(json.Valid([]byte(manifest))).To(BeTrue())
		work.Spec.Workload.Manifests = append(work.Spec.Workload.Manifests, workv1.Manifest{
			RawExtension: runtime.RawExtension{Raw: []byte(manifest)},
		})
	}
	return work
}

// foreign creates the namespace and the ConfigMap "c" in eu1, as somebody else does.
func foreign(ctx context.Context, namespace string, data map[string]string) {
	GinkgoHelper()
	Expect(eu1.Client.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}})).To(Succeed())
	Expect(eu1.Client.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "c"}, Data: data})).To(Succeed())
}

// patchCopy changes a value of a copy, of which the agent of its member may write the metadata at the same time.
func patchCopy(ctx context.Context, member *members.Member, copied *corev1.ConfigMap, key, value string) {
	GinkgoHelper()
	before := copied.DeepCopy()
	copied.Data[key] = value
	Expect(member.Client.Patch(ctx, copied, client.MergeFrom(before))).To(Succeed())
}

// copyIn returns the ConfigMap "c" of a namespace in eu1.
func copyIn(ctx context.Context, namespace string) *corev1.ConfigMap {
	GinkgoHelper()
	copied := &corev1.ConfigMap{}
	Expect(eu1.Client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: "c"}, copied)).To(Succeed())
	return copied
}

// expectCopyGone demands that the ConfigMap "c" of a namespace is not in eu1.
func expectCopyGone(ctx context.Context, namespace string) {
	GinkgoHelper()
	Expect(eu1.Client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: "c"}, &corev1.ConfigMap{})).
		To(MatchError(apierrors.IsNotFound, "NotFound"))
}

// expectConditions waits until the conditions of a work are true for its generation.
func expectConditions(ctx context.Context, work *workv1.ManifestWork, types ...string) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		g.Expect(hub.Get(ctx, client.ObjectKeyFromObject(work), work)).To(Succeed())
		for _, wanted := range types {
			condition := meta.FindStatusCondition(work.Status.Conditions, wanted)
			g.Expect(condition).NotTo(BeNil(), wanted)
			g.Expect(condition.Status).To(Equal(metav1.ConditionTrue), condition.Message)
			g.Expect(condition.ObservedGeneration).To(Equal(work.Generation))
		}
	}).WithContext(ctx).WithTimeout(suite.Timeout).Should(Succeed())
}

// manifestCondition returns a condition of the ConfigMap in a work.
func manifestCondition(ctx context.Context, g Gomega, work *workv1.ManifestWork, kind string) metav1.Condition {
	g.Expect(hub.Get(ctx, client.ObjectKeyFromObject(work), work)).To(Succeed())
	for _, manifest := range work.Status.ResourceStatus.Manifests {
		if manifest.ResourceMeta.Resource == "configmaps" {
			condition := meta.FindStatusCondition(manifest.Conditions, kind)
			g.Expect(condition).NotTo(BeNil())
			return *condition
		}
	}
	g.Expect(work.Status.ResourceStatus.Manifests).To(ContainElement(HaveField("ResourceMeta.Resource", "configmaps")))
	return metav1.Condition{}
}

// expectNoWork waits until a work is gone.
func expectNoWork(ctx context.Context, work *workv1.ManifestWork) {
	GinkgoHelper()
	Eventually(func() error { return hub.Get(ctx, client.ObjectKeyFromObject(work), &workv1.ManifestWork{}) }).
		WithContext(ctx).WithTimeout(suite.Timeout).Should(MatchError(apierrors.IsNotFound, "NotFound"))
}
