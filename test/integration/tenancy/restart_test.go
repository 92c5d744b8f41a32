// SPDX-License-Identifier: Apache-2.0

package tenancy

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	appsv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/cozystackapps/v1alpha1"
	"github.com/placement-hub/placement-hub/test/env/faults"
	"github.com/placement-hub/placement-hub/test/integration/suite"
)

func restartSpecs() {
	// settle creates Tenants and applications of every kind, and waits until they are settled.
	settle := func(ctx context.Context) (*appsv1alpha1.Tenant, *unstructured.Unstructured) {
		tenant := acme(ctx)
		createTenant(ctx, owned(tenant), "eu", "", "dc2")
		_, release := released(ctx, postgres, owned(tenant), "main-db", "dc1", "dc1")
		released(ctx, redis, owned(tenant), "cache", "", "dc1")
		released(ctx, redis, owned(tenant)+"-eu", "none", "", "")
		lonely := newApplication(postgres, owned(tenant), "lonely", "dc2")
		create(ctx, lonely)
		expectCondition(ctx, lonely, "AffinityClassResolved", "False", "ReleaseNotFound")
		return tenant, release
	}
	// writes are all writing requests of the hub but those of other systems.
	writes := func(g Gomega) []string { return suite.HubWrites(g, func(string) bool { return true }) }
	It("affinity-class 1.1: a restart over a settled hub writes nothing", func(ctx SpecContext) {
		settle(ctx)
		before := suite.AwaitUnchanged(ctx, writes)
		stopSystem()
		stopSystem = runSystem(ctx, suite.HubConfig(ctx, suite.ControlPlane))

		// A class that is new gets its finalizer when the caches have synced.
		class := createClass(ctx, unique("dc-probe"), zone)
		eventually(ctx, func(g Gomega) { g.Expect(len(writes(g))).To(BeNumerically(">", len(before))) })
		after := suite.AwaitUnchanged(ctx, writes)
		Expect(after[len(before):]).To(HaveEach(ContainSubstring(class.Name)))
	})

	It("affinity-class 1.3: a write that fails is tried again, and changes nothing meanwhile", func(ctx SpecContext) {
		tenant, release := settle(ctx)
		stopSystem()
		proxy, err := faults.Start(suite.HubConfig(ctx, suite.ControlPlane))
		Expect(err).NotTo(HaveOccurred())
		stopSystem = runSystem(ctx, proxy.Config())
		DeferCleanup(func(ctx SpecContext) {
			stopSystem()
			Expect(proxy.Close()).To(Succeed())
			stopSystem = runSystem(ctx, suite.HubConfig(ctx, suite.ControlPlane))
		})

		mend := proxy.Break(faults.Rule{
			Match: faults.Match{Verbs: []string{"patch", "create", "update"}}, Fault: faults.InternalError,
		})
		application := newApplication(postgres, owned(tenant), "main-db", "dc2")
		eventually(ctx, func(g Gomega) {
			g.Expect(suite.Client.Patch(ctx, application, mergeSpec(`{"spec":{"affinityClass":"dc2"}}`))).To(Succeed())
		})
		editTenant(ctx, tenant, "dc2", "dc1", "dc2")
		eventually(ctx, func(g Gomega) {
			g.Expect(proxy.Requests(faults.Match{Verbs: []string{"patch"}, Resources: []string{"helmreleases"}})).NotTo(BeEmpty())
			g.Expect(proxy.Requests(faults.Match{Verbs: []string{"patch"}, Resources: []string{"secrets"}})).NotTo(BeEmpty())
		})
		unchangedRelease(ctx, release)
		expectValues(ctx, owned(tenant), settings("dc1", "dc1", "dc2"))

		mend()
		expectClass(ctx, release, "dc2")
		expectValues(ctx, owned(tenant), settings("dc2", "dc1", "dc2"))
	})
}
