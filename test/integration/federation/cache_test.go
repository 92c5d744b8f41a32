// SPDX-License-Identifier: Apache-2.0

package federation

import (
	"context"
	"encoding/json"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	workv1 "open-cluster-management.io/api/work/v1"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/decoding"
	"github.com/placement-hub/placement-hub/pkg/federation"
	"github.com/placement-hub/placement-hub/pkg/system"
	"github.com/placement-hub/placement-hub/test/integration/suite"
)

var _ = Describe("the cache of ManifestWorks", func() {
	It("has of the works of the hub what the API server stores, without the payload", func(ctx SpecContext) {
		// The hub deletes works whose object does not exist.
		suite.PauseHub(ctx)
		f := suite.NewFixture(ctx)
		works := startCache(ctx)
		foreign, work := handWritten(f.Namespace), deployment(f.Namespace, 2)
		wanted := work.Annotations[federation.HashAnnotation]

		encoded, err := json.Marshal(work)
		Expect(err).NotTo(HaveOccurred())
		for _, created := range []*workv1.ManifestWork{foreign, work} {
			if created == work {
				Expect(hub.Patch(ctx, work, client.RawPatch(types.ApplyPatchType, encoded), client.FieldOwner(federation.FieldManager))).To(Succeed())
			} else {
				Expect(hub.Create(ctx, created)).To(Succeed())
			}
			DeferCleanup(func(ctx SpecContext) {
				Expect(client.IgnoreNotFound(hub.Delete(ctx, created))).To(Succeed())
				expectNoWork(ctx, created)
			})
		}

		cached := func(g Gomega) *workv1.ManifestWork {
			found := &workv1.ManifestWork{}
			g.Expect(works.Get(ctx, client.ObjectKeyFromObject(work), found)).To(Succeed())
			g.Expect(federation.IsCompactWork(found)).To(BeTrue())
			return found
		}

		expectConditions(ctx, work, workv1.WorkApplied)
		Eventually(func(g Gomega) {
			existing, err := federation.ExistingWorkOf(payloadOf(f.Namespace).Identity(), cached(g))
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(existing).To(And(HaveField("Applied", BeEquivalentTo("True")), HaveField("Foreign", BeFalse()),
				HaveField("Hash", wanted), HaveField("Replicas", BeEquivalentTo(2))))
		}).WithContext(ctx).WithTimeout(suite.Timeout).Should(Succeed())

		before := work.DeepCopy()
		work.Spec.Workload.Manifests = work.Spec.Workload.Manifests[:1]
		Expect(hub.Patch(ctx, work, client.MergeFrom(before))).To(Succeed())
		Eventually(func(g Gomega) { g.Expect(federation.StoredHash(cached(g))).NotTo(Equal(wanted)) }).
			WithContext(ctx).WithTimeout(suite.Timeout).Should(Succeed(), "somebody has edited it")
		list := &workv1.ManifestWorkList{}
		Expect(works.List(ctx, list)).To(Succeed())
		Expect(list.Items).To(HaveEach(HaveField("Name", work.Name)), "works of others are not listed")
	})
})

// startCache starts a cache of the ManifestWorks of the hub.
func startCache(ctx context.Context) cache.Cache {
	GinkgoHelper()
	options := system.Options{}.CacheOptions()
	options.Scheme = system.Scheme()
	options.ByObject = map[client.Object]cache.ByObject{&workv1.ManifestWork{}: {
		Label: labels.SelectorFromSet(labels.Set{federation.ManagedLabel: "true"}),
	}}

	works, err := decoding.NewCache(suite.ControlPlane.AdminConfig(), options)
	Expect(err).NotTo(HaveOccurred())
	_, err = works.GetInformer(ctx, &workv1.ManifestWork{}, cache.BlockUntilSynced(false))
	Expect(err).NotTo(HaveOccurred())
	running, stop := context.WithCancel(context.WithoutCancel(ctx))
	ended := make(chan error, 1)
	go func() { ended <- works.Start(running) }()

	DeferCleanup(func() {
		stop()
		Eventually(ended).WithTimeout(suite.Timeout).Should(Receive(BeNil()))
	})
	Expect(works.WaitForCacheSync(ctx)).To(BeTrue())
	return works
}

// payloadOf returns the payload of a Deployment.
func payloadOf(namespace string) *federation.Payload {
	var kind federation.FederatedKind
	for _, known := range federation.DefaultKinds() {
		if known.Kind == "Deployment" {
			kind = known
		}
	}
	return federation.NewPayload(kind, &unstructured.Unstructured{Object: map[string]any{
		"metadata": map[string]any{"namespace": namespace, "name": "web"},
		"spec": map[string]any{
			"selector": map[string]any{"matchLabels": map[string]any{"app": "web"}},
			"template": map[string]any{
				"metadata": map[string]any{"labels": map[string]any{"app": "web"}},
				"spec":     map[string]any{"containers": []any{map[string]any{"name": "web", "image": "web"}}},
			},
		},
	}})
}

// deployment returns the work for eu1 of a Deployment with replicas, as the hub writes it.
func deployment(namespace string, replicas int32) *workv1.ManifestWork {
	GinkgoHelper()
	work, err := payloadOf(namespace).Work("eu1", federation.Variant{HasReplicas: true, Replicas: replicas})
	Expect(err).NotTo(HaveOccurred())
	return work
}
