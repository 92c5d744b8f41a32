// SPDX-License-Identifier: Apache-2.0

package affinityclass

import (
	"net/http"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/manifests"
	"github.com/placement-hub/placement-hub/pkg/affinityclass"
	"github.com/placement-hub/placement-hub/test/integration/suite"
)

var _ = Describe("Without a hub, docs/spec/affinity-class.md 1.6", func() {
	It("affinity-class A27: pods of tenants, Tenants and applications are refused; pods of system namespaces are created", func(ctx SpecContext) {
		_, namespace := acme(ctx)
		app := newApp("Postgres", namespace, "main-db", "dc1")
		Expect(suite.Client.Create(ctx, app)).To(Succeed())
		running := newPod(namespace, nil)
		Expect(suite.Client.Create(ctx, running)).To(Succeed())

		suite.StopHub()
		DeferCleanup(startHub)
		closed := func(err error, webhook string) {
			GinkgoHelper()
			Expect(err).To(refusedWith(http.StatusInternalServerError, "failed calling webhook",
				webhook+".affinityclass.placement-hub.open-cluster-management.io", "connection refused"))
		}
		closed(suite.Client.Create(ctx, newPod(namespace, map[string]string{zone: "dc1"})), "pods")
		closed(suite.Client.Create(ctx, newTenant(affinityclass.RootNamespace, "beta", "")), "tenants")
		closed(suite.Client.Create(ctx, newApp("Redis", namespace, "cache", "")), "applications")

		scale := client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"replicas":2}}`))
		closed(suite.Client.Patch(ctx, app.DeepCopy(), scale), "applications")
		label := client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"labels":{"a":"b"}}}`))
		Expect(suite.Client.Patch(ctx, running, label)).To(Succeed())
		Expect(suite.Client.Delete(ctx, running)).To(Succeed())

		// The selector names the system's namespaces, so that the label has no effect on them.
		for _, system := range []string{"kube-system", manifests.Namespace} {
			labelled := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: system}}
			verify := client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"labels":{"`+affinityclass.VerifyLabel+`":"true"}}}`))
			unverify := client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"labels":{"`+affinityclass.VerifyLabel+`":null}}}`))
			Expect(suite.Client.Patch(ctx, labelled, verify)).To(Succeed())
			Expect(client.NewDryRunClient(suite.Client).Create(ctx, newPod(system, nil))).To(Succeed())
			Expect(suite.Client.Patch(ctx, labelled, unverify)).To(Succeed())
		}
	})
})
