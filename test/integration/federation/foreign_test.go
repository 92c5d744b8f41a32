// SPDX-License-Identifier: Apache-2.0

package federation

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
	workv1 "open-cluster-management.io/api/work/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/federation"
	"github.com/placement-hub/placement-hub/test/integration/members"
	"github.com/placement-hub/placement-hub/test/integration/suite"
)

var _ = Describe("copies and works that others touch", func() {
	It("federated-selector F17: an object of that name in a cluster that is not selected is left alone", func(ctx SpecContext) {
		s := newScene(ctx)
		theirs := s.foreign(ctx, us1, map[string]string{"v": "theirs"})
		object := s.configMap(ctx, "c", selecting(inEurope))
		expectDelivered(ctx, object, "eu1", "eu2")
		expectConditions(ctx, worksOf(ctx, Default, object)["eu1"], workv1.WorkApplied)
		expectConditions(ctx, worksOf(ctx, Default, object)["eu2"], workv1.WorkApplied)
		Expect(memberCopy(ctx, Default, us1, theirs)).To(Equal(theirs))

		Expect(hub.Delete(ctx, object)).To(Succeed())
		expectNoCopy(ctx, object, eu1)
		expectNoCopy(ctx, object, eu2)
		Expect(memberCopy(ctx, Default, us1, theirs)).To(Equal(theirs))
	})

	It("federated-selector F18: other content in the same fields is a conflict, and is left alone", func(ctx SpecContext) {
		s := newScene(ctx)
		theirs := s.foreign(ctx, us1, map[string]string{"v": "theirs"})
		object := s.configMap(ctx, "c", nil)
		expectEvent(ctx, object, federation.ReasonDeliveryConflict, "us1", ".data.v")
		Expect(memberCopy(ctx, Default, us1, theirs)).To(Equal(theirs))
		annotate(ctx, object, selecting(inEurope))
		expectDelivered(ctx, object, "eu1", "eu2")
		Expect(memberCopy(ctx, Default, us1, theirs)).To(Equal(theirs))
	})

	It("federated-selector F37: other keys are merged, and the object is deleted with the work", func(ctx SpecContext) {
		s := newScene(ctx)
		theirs := s.foreign(ctx, us1, map[string]string{"other": "theirs"})
		object := s.configMap(ctx, "c", selecting(inUSA))
		Eventually(func(g Gomega) map[string]string { return memberCopy(ctx, g, us1, theirs).Data }).
			WithContext(ctx).WithTimeout(suite.Timeout).Should(Equal(map[string]string{"v": "1", "other": "theirs"}))
		annotate(ctx, object, selecting(inEurope))
		expectNoCopy(ctx, object, us1)
	})

	It("federated-selector F31: a deleted copy is restored by the agent", func(ctx SpecContext) {
		s := newScene(ctx)
		object := s.configMap(ctx, "c", selecting(inUSA))
		expectCopies(ctx, object, us1)
		deleted := memberCopy(ctx, Default, us1, object)
		Expect(us1.Client.Delete(ctx, deleted)).To(Succeed())
		Eventually(func(g Gomega) *corev1.ConfigMap { return memberCopy(ctx, g, us1, object) }).
			WithContext(ctx).WithTimeout(suite.Timeout).ShouldNot(HaveField("UID", deleted.UID))
	})

	It("federated-selector F31: an edited copy is reported and kept", func(ctx SpecContext) {
		s := newScene(ctx)
		object := s.configMap(ctx, "c", selecting(inUSA))
		expectCopies(ctx, object, us1)
		copied := memberCopy(ctx, Default, us1, object)
		edited := copied.DeepCopy()
		edited.Data["v"] = "edited"
		Expect(us1.Client.Patch(ctx, edited, client.MergeFrom(copied))).To(Succeed()) // The agent may write at the same time.
		expectEvent(ctx, object, federation.ReasonDeliveryConflict, "us1", ".data.v")
		Expect(memberCopy(ctx, Default, us1, object).Data).To(Equal(edited.Data))
	})

	DescribeTable("federated-selector F31: a work that somebody changes is restored",
		func(ctx SpecContext, change func(ctx context.Context, work *workv1.ManifestWork) error) {
			s := newScene(ctx)
			object := s.configMap(ctx, "c", selecting(inUSA))
			expectDelivered(ctx, object, "us1")
			expectConditions(ctx, worksOf(ctx, Default, object)["us1"], workv1.WorkApplied)

			work := worksOf(ctx, Default, object)["us1"]
			hash, err := federation.WorkHash(work)
			Expect(err).NotTo(HaveOccurred())
			Expect(change(ctx, work.DeepCopy())).To(Succeed())
			Eventually(func(g Gomega) {
				restored := worksOf(ctx, g, object)["us1"]
				g.Expect(restored).NotTo(BeNil())
				g.Expect(restored.ResourceVersion).NotTo(Equal(work.ResourceVersion))
				g.Expect(restored.DeletionTimestamp).To(BeNil())
				g.Expect(federation.WorkHash(restored)).To(Equal(hash))
			}).WithContext(ctx).WithTimeout(suite.Timeout).Should(Succeed())
			expectCopies(ctx, object, us1)
		},
		Entry("its payload", edited(func(work *workv1.ManifestWork) {
			manifests := work.Spec.Workload.Manifests
			manifests[len(manifests)-1].RawExtension = runtime.RawExtension{Raw: []byte(
				`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"namespace":"` + work.Labels[federation.NamespaceLabel] +
					`","name":"c"},"data":{"v":"forged"}}`)}
		})),
		Entry("its delete option", edited(func(work *workv1.ManifestWork) {
			work.Spec.DeleteOption = &workv1.DeleteOption{PropagationPolicy: workv1.DeletePropagationPolicyTypeOrphan}
		})),
		Entry("the label by which the hub knows it", edited(func(work *workv1.ManifestWork) { delete(work.Labels, federation.ManagedLabel) })),
		Entry("T8: the annotation with its identity, which decides nothing", edited(func(work *workv1.ManifestWork) {
			work.Annotations[federation.ObjectAnnotation] = "ConfigMap/default/other"
		})),
		Entry("all of it: it is deleted", func(ctx context.Context, work *workv1.ManifestWork) error { return hub.Delete(ctx, work) }),
	)

	It("federated-selector 3.1.4: a ManifestWork of that name that is not the hub's is a conflict", func(ctx SpecContext) {
		s := newScene(ctx)
		object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: "c"}}
		theirs := handWritten(s.Namespace)
		theirs.Namespace, theirs.Name = "us1", identityOf(object).WorkName()
		Expect(hub.Create(ctx, theirs)).To(Succeed())
		DeferCleanup(func(ctx SpecContext) {
			Expect(hub.Delete(ctx, theirs)).To(Succeed())
			expectNoWork(ctx, theirs)
		})

		object = s.configMap(ctx, "c", nil)
		expectEvent(ctx, object, federation.ReasonDeliveryConflict, "us1")
		expectDelivered(ctx, object, "eu1", "eu2")
		Expect(hub.Delete(ctx, object)).To(Succeed())
		expectGone(ctx, object)
		found := &workv1.ManifestWork{}
		Expect(hub.Get(ctx, client.ObjectKeyFromObject(theirs), found)).To(Succeed())
		Expect(found.Spec).To(Equal(theirs.Spec))
		Expect(found.DeletionTimestamp).To(BeNil())
	})

	It("federated-selector F32: a Service keeps the address that the member gave it", func(ctx SpecContext) {
		s := newScene(ctx)
		object := &corev1.Service{
			ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: "web", Annotations: selecting(inUSA)},
			Spec: corev1.ServiceSpec{
				Type: corev1.ServiceTypeNodePort, Ports: []corev1.ServicePort{{Port: 80, TargetPort: intstr.FromInt32(8080)}},
			},
		}
		s.Create(ctx, object)
		port := func(g Gomega) int32 { return memberCopy(ctx, g, us1, object).Spec.Ports[0].Port }
		Eventually(port).WithContext(ctx).WithTimeout(suite.Timeout).Should(Equal(int32(80)))

		before := memberCopy(ctx, Default, us1, object).Spec
		payload := &corev1.Service{}
		decodePayload(Default, worksOf(ctx, Default, object)["us1"], payload)
		Expect(payload.Spec.ClusterIP).To(BeEmpty())
		Expect(payload.Spec.Ports[0].NodePort).To(BeZero())

		old := object.DeepCopy()
		object.Spec.Ports[0].Port = 81
		Expect(hub.Patch(ctx, object, client.MergeFrom(old))).To(Succeed())
		Eventually(port).WithContext(ctx).WithTimeout(suite.Timeout).Should(Equal(int32(81)))
		Expect(memberCopy(ctx, Default, us1, object).Spec.ClusterIP).To(Equal(before.ClusterIP))
		Expect(memberCopy(ctx, Default, us1, object).Spec.ClusterIPs).To(Equal(before.ClusterIPs))
	})
})

var _ = Describe("what users choose of a Service", func() {
	// create creates a Service as a user does, with a manager of its own.
	create := func(ctx context.Context, s scene, name string, spec corev1.ServiceSpec) *corev1.Service {
		GinkgoHelper()
		object := &corev1.Service{
			ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: name, Annotations: selecting(inUSA)}, Spec: spec,
		}
		s.Create(ctx, object)
		return object
	}
	inMember := func(ctx context.Context, object *corev1.Service) *corev1.Service {
		GinkgoHelper()
		var found *corev1.Service
		Eventually(func(g Gomega) { found = memberCopy(ctx, g, us1, object) }).WithContext(ctx).WithTimeout(suite.Timeout).Should(Succeed())
		return found
	}
	ports := func() []corev1.ServicePort { return []corev1.ServicePort{{Port: 80}} }

	It("trust 3: external addresses reach the member, with the traffic policy", func(ctx SpecContext) {
		copied := inMember(ctx, create(ctx, newScene(ctx), "web", corev1.ServiceSpec{
			Ports: ports(), ExternalIPs: []string{"192.0.2.7"}, ExternalTrafficPolicy: corev1.ServiceExternalTrafficPolicyLocal,
		}))
		Expect(copied.Spec.ExternalIPs).To(ConsistOf("192.0.2.7"))
		Expect(copied.Spec.ExternalTrafficPolicy).To(Equal(corev1.ServiceExternalTrafficPolicyLocal))
	})

	It("trust 3: a nodePort of the user is that of the member; one of the hub is not, nor are its address and families", func(ctx SpecContext) {
		s := newScene(ctx)
		free := create(ctx, s, "free", corev1.ServiceSpec{Type: corev1.ServiceTypeNodePort, Ports: ports()})
		fixed := create(ctx, s, "fixed", corev1.ServiceSpec{
			Type: corev1.ServiceTypeNodePort, Ports: []corev1.ServicePort{{Port: 80, NodePort: 30080}},
			IPFamilies: []corev1.IPFamily{corev1.IPv4Protocol},
		})
		Expect(inMember(ctx, fixed).Spec.Ports[0].NodePort).To(Equal(int32(30080)))
		inMember(ctx, free)

		payload := &corev1.Service{}
		decodePayload(Default, worksOf(ctx, Default, free)["us1"], payload)
		Expect(free.Spec.Ports[0].NodePort).NotTo(BeZero())
		Expect(free.Spec.IPFamilies).NotTo(BeEmpty())
		Expect(payload.Spec).To(Equal(corev1.ServiceSpec{
			Type: corev1.ServiceTypeNodePort, Ports: []corev1.ServicePort{{Port: 80, Protocol: corev1.ProtocolTCP, TargetPort: intstr.FromInt32(80)}},
			SessionAffinity: corev1.ServiceAffinityNone, ExternalTrafficPolicy: corev1.ServiceExternalTrafficPolicyCluster,
			InternalTrafficPolicy: ptr.To(corev1.ServiceInternalTrafficPolicyCluster),
		}))

		payload = &corev1.Service{}
		decodePayload(Default, worksOf(ctx, Default, fixed)["us1"], payload)
		Expect(payload.Spec.IPFamilies).To(ConsistOf(corev1.IPv4Protocol))
		Expect(payload.Spec.IPFamilyPolicy).To(BeNil())

		// A user who reads and writes all of a Service chooses no more than what the update changes.
		suite.Edit(ctx, free, func(s *corev1.Service) { s.Spec.Ports[0].Port = 81 })
		Eventually(func(g Gomega) int32 { return memberCopy(ctx, g, us1, free).Spec.Ports[0].Port }).
			WithContext(ctx).WithTimeout(suite.Timeout).Should(Equal(int32(81)))
		payload = &corev1.Service{}
		decodePayload(Default, worksOf(ctx, Default, free)["us1"], payload)
		Expect(payload.Spec.IPFamilies).To(BeEmpty())
		Expect(payload.Spec.ClusterIP).To(BeEmpty())
	})
})

// foreign creates the namespace of the scene and the ConfigMap "c" in a member, as somebody else does.
func (s scene) foreign(ctx context.Context, member *members.Member, data map[string]string) *corev1.ConfigMap {
	GinkgoHelper()
	theirs := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: "c"}, Data: data}
	Expect(member.Client.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: s.Namespace}})).To(Succeed())
	Expect(member.Client.Create(ctx, theirs)).To(Succeed())
	return memberCopy(ctx, Default, member, theirs)
}

// edited returns a function that updates a work in the hub after a change.
func edited(change func(*workv1.ManifestWork)) func(context.Context, *workv1.ManifestWork) error {
	return func(ctx context.Context, work *workv1.ManifestWork) error {
		before := work.DeepCopy()
		change(work)
		return hub.Patch(ctx, work, client.MergeFrom(before))
	}
}

// expectGone waits until an object is not on the hub any more.
func expectGone(ctx context.Context, object client.Object) {
	GinkgoHelper()
	read, ok := object.DeepCopyObject().(client.Object)
	Expect(ok).To(BeTrue())
	Eventually(func() error { return hub.Get(ctx, client.ObjectKeyFromObject(object), read) }).
		WithContext(ctx).WithTimeout(suite.Timeout).Should(MatchError(apierrors.IsNotFound, "NotFound"))
}
