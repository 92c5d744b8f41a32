// SPDX-License-Identifier: Apache-2.0

package access

import (
	"context"
	"maps"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	placementv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/placement/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/explain/hubstate"
	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/placement/api"
	"github.com/placement-hub/placement-hub/test/integration/suite"
)

// verbsOf are the verbs that a user may use on a resource, written "group/resource[/subresource]", in a namespace.
func verbsOf(ctx context.Context, user, namespace, resource string) string {
	GinkgoHelper()
	parts := append(strings.Split(resource, "/"), "")
	everyVerb := []string{"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"}
	allowed := slices.DeleteFunc(everyVerb, func(verb string) bool {
		return !can(ctx, user, authorizationv1.ResourceAttributes{
			Namespace: namespace, Verb: verb, Group: parts[0], Resource: parts[1], Subresource: parts[2],
		})
	})
	return strings.Join(allowed, " ")
}

var _ = Describe("The roles for people", func() {
	const (
		older = placementv1alpha1.GroupName
		read  = "get list watch"
		all   = "create delete deletecollection get list patch update watch"
	)

	rights := func(placements string) map[string]string {
		return map[string]string{
			clusterGroup + "/placements": placements, clusterGroup + "/managedclustersetbindings": placements, older + "/placements": placements,
			clusterGroup + "/placementdecisions": read, older + "/placementdecisions": read,
			clusterGroup + "/placements/status": "", clusterGroup + "/placementdecisions/status": "",
			clusterGroup + "/managedclustersetbindings/status": "", older + "/placements/status": "", older + "/placementdecisions/status": "",
			clusterGroup + "/managedclustersets/bind": "", clusterGroup + "/managedclustersets/join": "",
			clusterGroup + "/managedclustersets": "", clusterGroup + "/managedclusters": "",
		}
	}

	DescribeTable("U18: are added to those of Kubernetes", func(ctx SpecContext, role string, want map[string]string) {
		f := suite.NewFixture(ctx)
		p := certified(f, "someone")
		roleHere(ctx, f, p.subject(), role)
		for _, resource := range slices.Sorted(maps.Keys(want)) {
			Eventually(func() string { return verbsOf(ctx, p.user, f.Namespace, resource) }).WithContext(ctx).WithTimeout(suite.Timeout).
				Should(Equal(want[resource]), resource)
			Expect(verbsOf(ctx, p.user, "default", resource)).To(BeEmpty(), "%s in another namespace", resource)
		}
	},
		Entry("view", "view", rights(read)),
		Entry("edit", "edit", rights(all)),
		Entry("admin", "admin", rights(all)),
		Entry("view, by its own name", "open-cluster-management:placement-hub:view", rights(read)),
		Entry("edit, by its own name", "open-cluster-management:placement-hub:edit", rights(all)),
		Entry("admin, by its own name", "open-cluster-management:placement-hub:admin", rights(all)),
	)

	It("U18: let an editor place, and bind what he may bind; decisions are the hub's", func(ctx SpecContext) {
		f := suite.NewFixture(ctx)
		accessInForce(ctx, f)
		f.UnboundSet(ctx, "set")
		f.Clusters(ctx, "set", 1, 2)
		editor, viewer := certified(f, "editor"), certified(f, "viewer")
		roleHere(ctx, f, editor.subject(), "edit")
		roleHere(ctx, f, viewer.subject(), "view")

		binding := newBinding(f, f.Name("set"), f.Name("set"))
		Eventually(func() error { return editor.Create(ctx, binding.DeepCopy()) }).WithContext(ctx).WithTimeout(suite.Timeout).
			Should(notAllowedToBind(editor, binding.Name))
		bindRole(ctx, f, editor.subject(), "open-cluster-management:managedclusterset:bind:"+f.Name("set"))
		Eventually(func() error { return editor.Create(ctx, binding.DeepCopy()) }).WithContext(ctx).WithTimeout(suite.Timeout).Should(Succeed())
		placement := &clusterv1beta1.Placement{ObjectMeta: metav1.ObjectMeta{Namespace: f.Namespace, Name: "p"}}
		Expect(editor.Create(ctx, placement)).To(Succeed())
		f.ExpectSelected(ctx, "p", suite.AllScheduled, "c001", "c002")

		pages := &clusterv1beta1.PlacementDecisionList{}
		Eventually(func() error { return viewer.List(ctx, pages, client.InNamespace(f.Namespace)) }).WithContext(ctx).WithTimeout(suite.Timeout).
			Should(Succeed())
		Expect(pages.Items).To(HaveLen(1))

		page := &pages.Items[0]
		page.Status.Decisions = page.Status.Decisions[:1]
		denied := "cannot update resource"
		Expect(viewer.Update(ctx, placement.DeepCopy())).To(beForbidden(denied))
		Expect(viewer.tries(ctx, newBinding(f, "global", "global"))).To(beForbidden("cannot create resource"))
		Expect(editor.Update(ctx, page.DeepCopy())).To(beForbidden(denied))
		Expect(editor.Status().Update(ctx, page.DeepCopy())).To(beForbidden(denied))
		Expect(editor.Status().Update(ctx, placement.DeepCopy())).To(beForbidden(denied))
		Expect(editor.Delete(ctx, page)).To(beForbidden("cannot delete resource"))
	})

	It("U19: let a tenant look sets up, and no more", func(ctx SpecContext) {
		f := suite.NewFixture(ctx)
		f.UnboundSet(ctx, "set")
		tenant := certified(f, "tenant")
		Expect(tenant.List(ctx, &clusterv1beta2.ManagedClusterSetList{})).To(beForbidden("cannot list resource"))
		bindRole(ctx, f, tenant.subject(), "open-cluster-management:placement-hub:tenant")
		Eventually(func() error { return tenant.List(ctx, &clusterv1beta2.ManagedClusterSetList{}) }).WithContext(ctx).WithTimeout(suite.Timeout).
			Should(Succeed())
		Expect(tenant.Get(ctx, client.ObjectKey{Name: f.Name("set")}, &clusterv1beta2.ManagedClusterSet{})).To(Succeed())
		Expect(tenant.List(ctx, &corev1.NamespaceList{})).To(beForbidden("cannot list resource"))

		for resource, verbs := range map[string]string{
			"managedclustersets": "get list", "managedclustersets/bind": "", "managedclustersets/join": "", "managedclusters": "", "placements": "",
		} {
			Expect(verbsOf(ctx, tenant.user, "", clusterGroup+"/"+resource)).To(Equal(verbs), resource)
		}
	})

	It("E1a: let a user with view and fleet-view explain placements, and tell others which role is missing", func(ctx SpecContext) {
		f := suite.NewFixture(ctx)
		f.Set(ctx, "set")
		f.Clusters(ctx, "set", 1, 1)
		placement := f.Placement(ctx, "p", clusterv1beta1.PlacementSpec{})
		f.ExpectSelected(ctx, "p", suite.AllScheduled, "c001")
		viewer := certified(f, "explainer")
		bindRole(ctx, f, viewer.subject(), "open-cluster-management:placement-hub:tenant")
		roleHere(ctx, f, viewer.subject(), "view")
		keys := []inventory.Key{api.V1beta1.Read(placement).Key()}

		Eventually(func(g Gomega) {
			_, err := hubstate.FromCluster(ctx, viewer, keys)
			g.Expect(err).To(MatchError(And(ContainSubstring("managedclusters"), ContainSubstring(hubstate.FleetViewRole))))
			written, err := hubstate.Written(ctx, viewer, keys, "because")
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(written).To(HaveLen(1))
		}).WithContext(ctx).WithTimeout(suite.Timeout).Should(Succeed())

		bindRole(ctx, f, viewer.subject(), hubstate.FleetViewRole)
		Eventually(func() error {
			_, err := hubstate.FromCluster(ctx, viewer, keys)
			return err
		}).WithContext(ctx).WithTimeout(suite.Timeout).Should(Succeed())
	})

	It("let whoever may see the whole fleet use clusteradm get clustersets", func(ctx SpecContext) {
		f := suite.NewFixture(ctx)
		viewer := certified(f, "viewer")
		bindRole(ctx, f, viewer.subject(), "open-cluster-management:placement-hub:tenant")
		Eventually(func() error { return viewer.List(ctx, &clusterv1beta2.ManagedClusterSetList{}) }).WithContext(ctx).WithTimeout(suite.Timeout).
			Should(Succeed())
		Expect(viewer.List(ctx, &clusterv1beta2.ManagedClusterSetBindingList{})).To(beForbidden("cannot list resource"))

		bindRole(ctx, f, viewer.subject(), "open-cluster-management:placement-hub:fleet-view")
		Eventually(func(g Gomega) {
			for _, list := range []client.ObjectList{
				&clusterv1beta2.ManagedClusterSetList{}, &clusterv1beta2.ManagedClusterSetBindingList{}, &clusterv1.ManagedClusterList{},
			} {
				g.Expect(viewer.List(ctx, list)).To(Succeed())
			}
		}).WithContext(ctx).WithTimeout(suite.Timeout).Should(Succeed())

		for resource, verbs := range map[string]string{
			"managedclusters": "get list watch", "managedclustersets": "get list watch", "managedclustersetbindings": "get list watch",
			"addonplacementscores": "get list watch", "placementdecisions": "get list watch",
			"managedclustersets/bind": "", "managedclustersets/join": "", "placements": "get list watch",
		} {
			Expect(verbsOf(ctx, viewer.user, "", clusterGroup+"/"+resource)).To(Equal(verbs), resource)
		}
	})
})
