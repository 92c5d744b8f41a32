// SPDX-License-Identifier: Apache-2.0

package platform

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/clusterrequest"
	"github.com/placement-hub/placement-hub/test/integration/suite"
)

var _ = Describe("the finalizer of a request", func() {
	It("T7: comes off by the hub, or with the verb release", func(ctx SpecContext) {
		provide(ctx, nullProvider, nil)
		w := newWorld(ctx)
		eve := w.user("eve", editRole)
		request, other := w.request("r1", w.shared), w.request("r2", w.shared)
		cluster := w.published(request)
		Expect(w.published(other).UID).To(Equal(cluster.UID))

		strip := func() error {
			if err := suite.Client.Get(ctx, client.ObjectKeyFromObject(request), request); err != nil {
				return err
			}
			stripped := request.DeepCopy()
			stripped.Finalizers = nil
			return eve.Patch(ctx, stripped, client.MergeFromWithOptions(request, client.MergeFromWithOptimisticLock{}))
		}
		refused := And(Satisfy(apierrors.IsForbidden), MatchError(And(
			ContainSubstring(`user "%s" is not allowed to take the finalizer "cluster.openmcp.cloud/request" off`, eve.name),
			ContainSubstring(`needs the verb "release" on clusterrequests`), ContainSubstring("clusterrequest-admin"),
		)))

		w.eventually(func(g Gomega) { g.Expect(strip()).To(refused) })

		// A request that the user deletes is released by the hub.
		Expect(eve.Delete(ctx, other)).To(Succeed())
		w.eventually(func(g Gomega) {
			g.Expect(suite.Client.Get(ctx, client.ObjectKeyFromObject(cluster), cluster)).To(Succeed())
			g.Expect(clusterrequest.RequestUIDs(cluster)).To(ConsistOf(request.UID))
		})

		// Deleted and stripped, the request would leave the count at once. The hub does nothing about it meanwhile.
		Expect(suite.Client.Get(ctx, client.ObjectKeyFromObject(request), request)).To(Succeed())
		ignored := request.DeepCopy()
		ignored.Annotations = map[string]string{openmcpv1alpha1.OperationAnnotation: openmcpv1alpha1.OperationIgnore}
		Expect(eve.Patch(ctx, ignored, client.MergeFrom(request))).To(Succeed())
		Expect(eve.Delete(ctx, ignored)).To(Succeed())
		Expect(strip()).To(refused)

		suite.Allow(ctx, w.Namespace, eve.name, rbacv1.PolicyRule{
			APIGroups: []string{openmcpv1alpha1.GroupVersion.Group}, Resources: []string{"clusterrequests"}, Verbs: []string{"release"},
		})
		w.eventually(func(g Gomega) { g.Expect(strip()).To(Succeed()) })
		w.eventually(func(g Gomega) {
			err := suite.Client.Get(ctx, client.ObjectKeyFromObject(request), request)
			g.Expect(err).To(Satisfy(apierrors.IsNotFound))
			g.Expect(suite.Client.Get(ctx, client.ObjectKeyFromObject(cluster), cluster)).To(Succeed())
			g.Expect(clusterrequest.RequestUIDs(cluster)).To(BeEmpty())
		})
		Expect(suite.Client.Delete(ctx, cluster)).To(Succeed())
	})
})
