// SPDX-License-Identifier: Apache-2.0

package federation

import (
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	workv1 "open-cluster-management.io/api/work/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/federation"
	"github.com/placement-hub/placement-hub/test/integration/suite"
)

var _ = Describe("what is delivered", func() {
	It("federated-selector 3.1.4: an object of each kind, once its namespace opts in", func(ctx SpecContext) {
		s := newScene(ctx, func(namespace *corev1.Namespace) { namespace.Labels = nil })
		labels, path := map[string]string{"app": "web"}, networkingv1.PathTypePrefix
		meta := func(name string) metav1.ObjectMeta {
			return metav1.ObjectMeta{Namespace: s.Namespace, Name: name, Annotations: selecting(inUSA), Labels: labels}
		}
		selector := &metav1.LabelSelector{MatchLabels: labels}
		pods := corev1.PodTemplateSpec{
			ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}},
		}
		objects := []client.Object{
			&corev1.ConfigMap{ObjectMeta: meta("configmap")},
			&corev1.Secret{ObjectMeta: meta("secret"), StringData: map[string]string{"k": "v"}},
			&corev1.Service{ObjectMeta: meta("service"), Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 80}}}},
			&appsv1.Deployment{ObjectMeta: meta("deployment"), Spec: appsv1.DeploymentSpec{Selector: selector, Template: pods}},
			&appsv1.ReplicaSet{ObjectMeta: meta("replicaset"), Spec: appsv1.ReplicaSetSpec{Selector: selector, Template: pods}},
			&appsv1.DaemonSet{ObjectMeta: meta("daemonset"), Spec: appsv1.DaemonSetSpec{Selector: selector, Template: pods}},
			&networkingv1.Ingress{ObjectMeta: meta("ingress"), Spec: networkingv1.IngressSpec{Rules: []networkingv1.IngressRule{{
				IngressRuleValue: networkingv1.IngressRuleValue{HTTP: &networkingv1.HTTPIngressRuleValue{Paths: []networkingv1.HTTPIngressPath{{
					Path: "/", PathType: &path, Backend: networkingv1.IngressBackend{
						Service: &networkingv1.IngressServiceBackend{Name: "service", Port: networkingv1.ServiceBackendPort{Number: 80}},
					},
				}}}},
			}}}},
		}
		Expect(objects).To(HaveLen(len(federation.DefaultKinds())))

		for _, object := range objects {
			s.Create(ctx, object)
		}
		suite.Edit(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: s.Namespace}}, func(n *corev1.Namespace) {
			n.Labels[federation.FederatedLabel] = "true"
		})

		for _, object := range objects {
			expectWorks(ctx, object, "us1")
			expectConditions(ctx, worksOf(ctx, Default, object)["us1"], workv1.WorkApplied, workv1.WorkAvailable)
			copied, ok := object.DeepCopyObject().(client.Object)
			Expect(ok).To(BeTrue())
			Expect(us1.Client.Get(ctx, client.ObjectKeyFromObject(object), copied)).To(Succeed())
			Expect(copied.GetLabels()).To(Equal(labels))
			Expect(copied.GetAnnotations()).NotTo(HaveKey(federation.SelectorAnnotation))
		}
	})
})

var _ = Describe("what is not delivered", func() {
	It("federated-selector F24: nothing of a namespace that has not opted in, and no ServiceAccount token", func(ctx SpecContext) {
		aside := newScene(ctx, func(namespace *corev1.Namespace) { namespace.Labels = nil })
		secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: aside.Namespace, Name: "s"}, StringData: map[string]string{"k": "v"}}
		aside.Create(ctx, secret)
		s := newScene(ctx)
		s.Create(ctx, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: "account"}})

		token := &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{
				Namespace: s.Namespace, Name: "token", Annotations: map[string]string{corev1.ServiceAccountNameKey: "account"},
			},
			Type: corev1.SecretTypeServiceAccountToken,
		}
		s.Create(ctx, token)

		// A Secret that comes later is delivered; the others would have been, too.
		later := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: "later"}, StringData: map[string]string{"k": "v"}}
		s.Create(ctx, later)
		expectWorks(ctx, later, "eu1", "eu2", "us1")
		Expect(clustersOf(ctx, Default, token)).To(BeEmpty())
		works := &workv1.ManifestWorkList{}
		Expect(hub.List(ctx, works, client.MatchingLabels{federation.NamespaceLabel: aside.Namespace})).To(Succeed())
		Expect(works.Items).To(BeEmpty())
	})

	It("federated-selector F39: an object that is too large, while the others are delivered", func(ctx SpecContext) {
		s := newScene(ctx)
		object := &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: "large"}, Data: map[string]string{"v": strings.Repeat("x", 600*1024)},
		}
		s.Create(ctx, object)
		expectEvent(ctx, object, federation.ReasonTooLarge, "exceeds the limit")
		expectDelivered(ctx, s.configMap(ctx, "small", nil), "eu1", "eu2", "us1")
		Expect(clustersOf(ctx, Default, object)).To(BeEmpty())
		put(ctx, object, "1")
		expectDelivered(ctx, object, "eu1", "eu2", "us1")
	})
})
