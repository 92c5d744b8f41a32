// SPDX-License-Identifier: Apache-2.0

package platform

import (
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	"github.com/placement-hub/placement-hub/test/integration/suite"
)

// Roles for users.
const (
	editRole     = "edit" // of Kubernetes
	purposesRole = "open-cluster-management:placement-hub:clusterrequest-purposes"
)

var _ = Describe("purposes", func() {
	It("T3: a user names only Purposes with the verb use", func(ctx SpecContext) {
		provide(ctx, nullProvider, nil)
		w := newWorld(ctx)
		eve := w.user("eve", editRole)
		const most = 16
		allowed := make([]openmcpv1alpha1.PurposeName, 0, most)
		for i := range most {
			name := w.Name(fmt.Sprintf("own-%02d", i))
			w.Create(ctx, &openmcpv1alpha1.Purpose{ObjectMeta: metav1.ObjectMeta{Name: name}})
			allowed = append(allowed, openmcpv1alpha1.PurposeName(name))
		}

		suite.Allow(ctx, w.Namespace, eve.name, useOf(allowed...))
		secret := openmcpv1alpha1.PurposeName(w.dedicated)
		w.eventually(func(g Gomega) { g.Expect(eve.asks(w, "own", nil, allowed...)).To(Succeed()) })
		refusal := And(Satisfy(apierrors.IsForbidden), MatchError(And(
			ContainSubstring(`user "%s" is not allowed to use Purpose "%s" in namespace "%s"`, eve.name, secret, w.Namespace),
			ContainSubstring(`needs the verb "use" on purposes`), ContainSubstring("kubectl create rolebinding purposes"),
			ContainSubstring(purposesRole),
		)))

		for _, dedicated := range []*bool{nil, ptr.To(true), ptr.To(false)} {
			Expect(eve.asks(w, "stolen", dedicated, secret)).To(refusal)
			Expect(eve.asks(w, "stolen", dedicated, append([]openmcpv1alpha1.PurposeName{secret}, allowed[1:]...)...)).To(refusal)
			Expect(eve.asks(w, "stolen", dedicated, append(allowed[:most-1:most-1], secret)...)).To(refusal)
		}
		Expect(eve.asks(w, "many", nil, append(allowed[:most:most], secret)...)).To(MatchError(ContainSubstring("more than 16 items")))

		// Nothing of the refused requests is left.
		own := &openmcpv1alpha1.ClusterRequest{ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: "own"}}
		cluster := w.published(own)
		managed := &clusterv1.ManagedClusterList{}
		Expect(suite.Client.List(ctx, managed)).To(Succeed())
		key := openmcpv1alpha1.PurposeKeyPrefix + string(secret)
		for _, item := range managed.Items {
			Expect(item.Labels).NotTo(HaveKey(key))
			Expect(item.Status.ClusterClaims).NotTo(ContainElement(HaveField("Name", key)))
		}
		Expect(cluster.Spec.Purposes).To(Equal(allowed))

		// The role for all Purposes grants the rest.
		suite.Bind(ctx, w.Namespace, purposesRole, eve.name)
		w.eventually(func(g Gomega) { g.Expect(eve.asks(w, "any", nil, secret)).To(Succeed()) })
	})

	It("T3: a request that is older than the right can be labelled and deleted", func(ctx SpecContext) {
		provide(ctx, nullProvider, nil)
		w := newWorld(ctx)
		eve := w.user("eve", editRole)

		request := w.request("older", w.shared)
		w.published(request)

		w.eventually(func(g Gomega) {
			g.Expect(suite.Client.Get(ctx, client.ObjectKeyFromObject(request), request)).To(Succeed())
			changed := request.DeepCopy()
			changed.Labels = map[string]string{"a": "b"}
			g.Expect(eve.Patch(ctx, changed, client.MergeFrom(request))).To(Succeed())
		})
		Expect(eve.Delete(ctx, request)).To(Succeed())
		w.eventually(func(g Gomega) {
			err := suite.Client.Get(ctx, client.ObjectKeyFromObject(request), request)
			g.Expect(err).To(Satisfy(apierrors.IsNotFound))
		})
	})
})

// asks creates a request for purposes in the namespace of a world.
func (u *user) asks(w *world, name string, dedicated *bool, purposes ...openmcpv1alpha1.PurposeName) error {
	request := &openmcpv1alpha1.ClusterRequest{ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: name}}
	request.Spec.Purposes, request.Spec.Dedicated = purposes, dedicated
	return u.Create(w.ctx, request)
}

// useOf is the right to use Purposes.
func useOf(purposes ...openmcpv1alpha1.PurposeName) rbacv1.PolicyRule {
	names := make([]string, len(purposes))
	for i := range purposes {
		names[i] = string(purposes[i])
	}
	return rbacv1.PolicyRule{
		APIGroups: []string{openmcpv1alpha1.GroupVersion.Group}, Resources: []string{"purposes"}, ResourceNames: names, Verbs: []string{"use"},
	}
}
