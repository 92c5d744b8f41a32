package federation

import (
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	workv1 "open-cluster-management.io/api/work/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/federation"
)

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
