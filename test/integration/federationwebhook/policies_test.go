// SPDX-License-Identifier: Apache-2.0

package federationwebhook

import (
	"os"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/manifests"
	"github.com/placement-hub/placement-hub/pkg/federation"
	"github.com/placement-hub/placement-hub/pkg/system"
	"github.com/placement-hub/placement-hub/test/integration/suite"
)

// orphanDependents is the deprecated option that means propagationPolicy Orphan.
type orphanDependents struct{}

// ApplyToDelete sets the option.
func (orphanDependents) ApplyToDelete(o *client.DeleteOptions) {
	o.Raw = &metav1.DeleteOptions{OrphanDependents: ptr.To(true)} //nolint:staticcheck // API servers still accept it.
}

// refusedForOrphans matches the refusal of a deletion that orphans.
func refusedForOrphans() OmegaMatcher {
	return And(WithTransform(apierrors.IsForbidden, BeTrue()), MatchError(And(
		ContainSubstring("federation.kubernetes.io/orphan=true"), ContainSubstring("delete it without --cascade=orphan"))))
}

var _ = Describe("Deletions that orphan, docs/spec/federated-selector.md 3.1.5", func() {
	// delivered creates a ConfigMap that looks as if it had ManifestWorks.
	delivered := func(ctx SpecContext, f *suite.Fixture, name string, annotations map[string]string) *corev1.ConfigMap {
		GinkgoHelper()
		object := newConfigMap(f, name, annotations)
		object.Finalizers = []string{federation.Finalizer}
		object.Labels = map[string]string{"of": "orphans"}
		Expect(suite.Client.Create(ctx, object)).To(Succeed())
		DeferCleanup(suite.DropFinalizers, object)
		return object
	}
	const orphan = client.PropagationPolicy(metav1.DeletePropagationOrphan)

	BeforeEach(func(ctx SpecContext) {
		install(ctx, "https://127.0.0.1:1")
		f := newFixture(ctx)
		probe := delivered(ctx, f, "probe", nil)
		Eventually(func() error { return client.NewDryRunClient(suite.Client).Delete(ctx, probe, orphan) }).
			WithContext(ctx).WithTimeout(suite.Timeout).Should(refusedForOrphans())
	})

	It("federated-selector F22: are refused without the annotation, with a message that names it", func(ctx SpecContext) {
		f := newFixture(ctx)
		object := delivered(ctx, f, "c", nil)
		Expect(suite.Client.Delete(ctx, object, orphan)).To(refusedForOrphans())
		Expect(suite.Client.Delete(ctx, object, orphanDependents{})).To(refusedForOrphans())
		By("in a collection, too")
		Expect(suite.Client.DeleteAllOf(ctx, &corev1.ConfigMap{}, client.InNamespace(f.Namespace),
			client.MatchingLabels(object.Labels), orphan)).To(refusedForOrphans())
		Expect(suite.Client.Get(ctx, client.ObjectKeyFromObject(object), object)).To(Succeed())
		Expect(object.DeletionTimestamp).To(BeNil())
	})

	It("are admitted with the annotation, and every other deletion without it", func(ctx SpecContext) {
		f := newFixture(ctx)
		annotated := delivered(ctx, f, "annotated", map[string]string{federation.OrphanAnnotation: "true"})
		Expect(suite.Client.Delete(ctx, annotated, orphan)).To(Succeed())
		for name, policy := range map[string]metav1.DeletionPropagation{
			"background": metav1.DeletePropagationBackground, "foreground": metav1.DeletePropagationForeground,
		} {
			Expect(suite.Client.Delete(ctx, delivered(ctx, f, name, nil), client.PropagationPolicy(policy))).To(Succeed())
		}
		Expect(suite.Client.Delete(ctx, delivered(ctx, f, "default", nil))).To(Succeed())
	})

	It("concern no object that was never delivered", func(ctx SpecContext) {
		f := newFixture(ctx)
		object := newConfigMap(f, "c", nil)
		Expect(suite.Client.Create(ctx, object)).To(Succeed())
		Expect(suite.Client.Delete(ctx, object, orphan)).To(Succeed())
	})
})

var _ = Describe("The policy of manifests/federation/finalizers-only", func() {
	It("lets the hub change its finalizer, and nothing else", func(ctx SpecContext) {
		install(ctx, "https://127.0.0.1:1")
		file, err := os.Open("../../../manifests/federation/finalizers-only/policy.yaml")
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(file.Close)
		policy, err := manifests.Decode(file, file.Name())
		Expect(err).NotTo(HaveOccurred())
		Expect(manifests.Apply(ctx, suite.ControlPlane.AdminConfig(), policy)).To(Succeed())
		for _, object := range policy {
			DeferCleanup(func(ctx SpecContext) { Expect(suite.Client.Delete(ctx, object)).To(Succeed()) })
		}

		hub, err := client.New(suite.HubConfig(ctx, suite.ControlPlane), client.Options{Scheme: system.Scheme()})
		Expect(err).NotTo(HaveOccurred())
		f := newFixture(ctx)
		object := newConfigMap(f, "c", map[string]string{"team": "a"})
		object.Finalizers = []string{"example.com/other"}
		Expect(suite.Client.Create(ctx, object)).To(Succeed())
		DeferCleanup(suite.DropFinalizers, object)

		patch := func(body string, options ...client.PatchOption) error {
			return hub.Patch(ctx, object.DeepCopy(), client.RawPatch("application/merge-patch+json", []byte(body)), options...)
		}
		refused := func(message string) OmegaMatcher {
			return And(WithTransform(apierrors.IsForbidden, BeTrue()), MatchError(ContainSubstring(message)))
		}

		Eventually(func() error { return patch(`{"data":{"key":"stolen"}}`, client.DryRunAll) }).
			WithContext(ctx).WithTimeout(suite.Timeout).Should(refused("the hub may change nothing but its finalizer"))
		Expect(patch(`{"data":null}`)).To(refused("the hub may change nothing but its finalizer"))
		Expect(patch(`{"immutable":true}`)).To(refused("the hub may change nothing but its finalizer"))
		Expect(patch(`{"metadata":{"annotations":{"team":"b"}}}`)).To(refused("nothing of the metadata"))
		Expect(patch(`{"metadata":{"annotations":null}}`)).To(refused("nothing of the metadata"))
		Expect(patch(`{"metadata":{"labels":{"a":"b"}}}`)).To(refused("nothing of the metadata"))
		Expect(patch(`{"metadata":{"finalizers":[]}}`)).To(refused("a finalizer of others"))
		Expect(patch(`{"metadata":{"finalizers":["example.com/other","example.com/third"]}}`)).To(refused("a finalizer of others"))

		Expect(patch(`{"metadata":{"finalizers":["example.com/other","` + federation.Finalizer + `"]}}`)).To(Succeed())
		Expect(suite.Client.Delete(ctx, object)).To(Succeed())
		Expect(patch(`{"metadata":{"finalizers":["example.com/other"]}}`)).To(Succeed())
	})
})
