// SPDX-License-Identifier: Apache-2.0

package commands

import (
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"

	"github.com/placement-hub/placement-hub/pkg/localplane"
	"github.com/placement-hub/placement-hub/test/e2e/suite"
)

// checkSets lists the sets of the samples as an administrator, as somebody of a team, and as one who may not list sets.
func checkSets(t *testing.T, h *suite.Hub) {
	t.Helper()
	t.Run("an administrator may bind every set", func(t *testing.T) {
		p := suite.Run(t, "sets", "--kubeconfig", h.AdminKubeconfig, "-n", "team-a")
		p.WantExit(t, 0)
		p.WantStdout(t, "namespace team-a: ", "that you may bind\n", "SET ", "  prod ", "  edge ")
	})

	h.Token(t, "sets-tenant")
	subjects := []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: metav1.NamespaceDefault, Name: "sets-tenant"}}
	bind := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "sets-tenant"}, Rules: []rbacv1.PolicyRule{{
		APIGroups: []string{clusterv1.GroupName}, Resources: []string{"managedclustersets/bind"}, Verbs: []string{"create"},
		ResourceNames: []string{"edge"},
	}}}
	suite.Must(t, h.Client.Create(t.Context(), bind))
	suite.Must(t, h.Client.Create(t.Context(), &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "sets-tenant"}, Subjects: subjects,
		RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: bind.Name},
	}))
	suite.Must(t, h.Client.Create(t.Context(), &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "sets-tenant"}, Subjects: subjects,
		RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "view"},
	}))
	h.AwaitRoles(t)
	account, err := h.Environment.ServiceAccountConfig(t.Context(), metav1.NamespaceDefault, "sets-tenant")
	suite.Must(t, err)
	tenant := suite.WriteKubeconfig(t, account)

	t.Run("who may not list sets is told so, and shown what is bound", func(t *testing.T) {
		p := suite.Run(t, "sets", "--kubeconfig", tenant, "-n", "team-a", "-o", "name")
		p.WantExit(t, 0)
		p.WantStderr(t, "note: ")
		p.WantStderr(t, "managedclustersets.cluster.open-cluster-management.io is forbidden", "open-cluster-management:placement-hub:tenant")
		if out := p.Stdout.String(); out != "prod\nstaging\n" {
			t.Errorf("the sets that are bound are %q", out)
		}
	})

	suite.Must(t, h.Client.Create(t.Context(), &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "sets-tenant-lists"}, Subjects: subjects,
		RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "open-cluster-management:placement-hub:tenant"},
	}))
	h.AwaitRoles(t)

	t.Run("a tenant sees what may be bound, and what is", func(t *testing.T) {
		p := suite.Run(t, "sets", "--kubeconfig", tenant, "-n", "team-a", "-o", "yaml")
		p.WantExit(t, 0)
		p.WantStdout(t, "- bound: false\n  mayBind: true\n  name: edge\n", "- bound: true\n  mayBind: false\n  name: prod\n")
		p = suite.Run(t, "sets", "--kubeconfig", tenant, "-n", "team-b")
		p.WantExit(t, 1)
		p.WantStdout(t, "  edge ")
		p.WantStderr(t, "managedclustersetbindings.cluster.open-cluster-management.io is forbidden", "ClusterRole view")
		h.AwaitAudit(t)
		writes, err := h.Environment.Writes(localplane.By("system:serviceaccount:default:sets-tenant"))
		suite.Must(t, err)
		for _, event := range writes {
			if event.ObjectRef.Resource != "selfsubjectaccessreviews" {
				t.Errorf("listing sets sent %s %s", event.Verb, event.RequestURI)
			}
		}
	})
}
