// SPDX-License-Identifier: Apache-2.0

package clusterrequest

import (
	"strings"
	"testing"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
)

func accessRequest(spec openmcpv1alpha1.AccessRequestSpec) *openmcpv1alpha1.AccessRequest {
	return &openmcpv1alpha1.AccessRequest{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "reader"}, Spec: spec}
}

func rules(resource string) []rbacv1.PolicyRule {
	return []rbacv1.PolicyRule{{Verbs: []string{"get"}, APIGroups: []string{""}, Resources: []string{resource}}}
}

func TestNewAccess(t *testing.T) {
	t.Run("cluster-request C29: a Role and its binding in the namespace", func(t *testing.T) {
		access := NewAccess("hub", "loopback", accessRequest(openmcpv1alpha1.AccessRequestSpec{Permissions: []openmcpv1alpha1.Permission{
			{Namespace: "ns", Rules: rules("configmaps")},
		}}))
		labels := map[string]string{
			"cluster.openmcp.cloud/access-id": access.ID, "cluster.openmcp.cloud/access-request-name": "reader",
			"cluster.openmcp.cloud/access-request-namespace": "team-a",
		}
		annotations := map[string]string{
			"cluster.openmcp.cloud/access-request": "team-a/reader", "cluster.openmcp.cloud/access-request-uid": "",
		}
		want := &Access{ID: access.ID, Create: []string{"ns"}}
		want.Account.ObjectMeta = metav1.ObjectMeta{Namespace: AccessNamespace, Name: access.ID, Labels: labels, Annotations: annotations}
		meta := metav1.ObjectMeta{Namespace: "ns", Name: access.ID + "-0", Labels: labels, Annotations: annotations}
		want.Roles = []rbacv1.Role{{ObjectMeta: meta, Rules: rules("configmaps")}}
		want.RoleBindings = []rbacv1.RoleBinding{{
			ObjectMeta: meta, RoleRef: rbacv1.RoleRef{APIGroup: "rbac.authorization.k8s.io", Kind: "Role", Name: meta.Name},
			Subjects: []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: AccessNamespace, Name: access.ID}},
		}}
		expectEqual(t, want, access, "objects")
	})
	t.Run("cluster-request C30: a ClusterRole with a name", func(t *testing.T) {
		access := NewAccess("hub", "loopback", accessRequest(openmcpv1alpha1.AccessRequestSpec{Permissions: []openmcpv1alpha1.Permission{
			{Name: "nodes", Rules: rules("nodes")}, {Name: "nodes", Rules: rules("pods")},
		}}))
		if len(access.ClusterRoles) != 1 || access.ClusterRoles[0].Name != "nodes" || len(access.ClusterRoleBindings) != 2 ||
			len(access.Roles)+len(access.RoleBindings)+len(access.Create) > 0 {
			t.Errorf("%+v", access)
		}
		expectEqual(t, append(rules("nodes"), rules("pods")...), access.ClusterRoles[0].Rules, "rules of both permissions")
		expectEqual(t, rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "nodes"}, access.ClusterRoleBindings[1].RoleRef, "bound")
	})
	t.Run("cluster-request C44: roles that exist, and a namespace that has to", func(t *testing.T) {
		access := NewAccess("hub", "loopback", accessRequest(openmcpv1alpha1.AccessRequestSpec{
			Permissions: []openmcpv1alpha1.Permission{
				{Namespace: "b", CreateNamespace: ptr.To(false)}, {Namespace: "a", Name: "r", Rules: rules("pods")},
				{Namespace: "a", Name: "r", Rules: rules("nodes")}, {Namespace: "b", CreateNamespace: ptr.To(false)},
				{Namespace: "a", CreateNamespace: ptr.To(false)},
			},
			RoleRefs: []openmcpv1alpha1.RoleReference{{Kind: "ClusterRole", Name: "view"}, {Kind: "ClusterRole", Name: "edit", Namespace: "ns"}},
		}))
		expectEqual(t, []string{"a"}, access.Create, "namespaces to create")
		expectEqual(t, []string{"b", "ns"}, access.Need, "namespaces that have to exist")
		expectEqual(t, 4, len(access.Roles), "Roles")
		expectEqual(t, []string{"view"}, []string{access.ClusterRoleBindings[0].RoleRef.Name}, "bound everywhere")
		last := access.RoleBindings[len(access.RoleBindings)-1]
		got := strings.Join([]string{last.Namespace, last.RoleRef.Kind, last.RoleRef.Name, last.Name}, " ")
		expectEqual(t, "ns ClusterRole edit "+access.ID+"-ref-1", got, "bound in a namespace")
	})
	t.Run("cluster-request 4.1.6: environment, provider, namespace and name tell accounts apart", func(t *testing.T) {
		request := accessRequest(openmcpv1alpha1.AccessRequestSpec{})
		other := request.DeepCopy()
		other.Namespace = "team-b"
		ids := map[string]bool{}
		for _, access := range []*Access{
			NewAccess("hub", "loopback", request), NewAccess("hub", "loopback", request), NewAccess("hub2", "loopback", request),
			NewAccess("hub", "other", request), NewAccess("hub", "loopback", other),
		} {
			ids[access.Account.Name] = true
		}
		expectEqual(t, 4, len(ids), "names of accounts")
	})
}

func TestNamesAndTimesOfAccess(t *testing.T) {
	t.Run("cluster-request 4.1.6: the name of the Secret", func(t *testing.T) {
		expectEqual(t, "reader.kubeconfig", SecretName("reader"), "name")
		a, b := SecretName(strings.Repeat("a", 252)+"a"), SecretName(strings.Repeat("a", 252)+"b")
		if len(a) != 253 || a == b || !strings.HasSuffix(a, ".kubeconfig") {
			t.Errorf("%s, %s", a, b)
		}
	})
	t.Run("cluster-request 4.1.6: a long name as a label", func(t *testing.T) {
		request := accessRequest(openmcpv1alpha1.AccessRequestSpec{})
		request.Name = strings.Repeat("a", 253)
		label := NewAccess("", "", request).Account.Labels[openmcpv1alpha1.AccessRequestNameLabel]
		expectEqual(t, strings.Repeat("a", 54)+"-"+hash(request.Name, 8), label, "label")
	})
	t.Run("cluster-request C38: a token is renewed at 80 % of its life", func(t *testing.T) {
		expectEqual(t, now.Add(8*time.Hour), RenewalTime(now.Time, now.Add(10*time.Hour)), "time")
		expectEqual(t, now.Add(24*24*time.Hour), RenewalTime(now.Time, now.Add(30*24*time.Hour)), "time")
	})
	t.Run("cluster-request C34: the time to live begins with the creation", func(t *testing.T) {
		request := accessRequest(openmcpv1alpha1.AccessRequestSpec{TTL: &metav1.Duration{Duration: 2 * time.Second}})
		request.CreationTimestamp = now
		expires, limited := ExpiryTime(request)
		expectEqual(t, now.Add(2*time.Second), expires, "time")
		if _, forever := ExpiryTime(accessRequest(openmcpv1alpha1.AccessRequestSpec{})); !limited || forever {
			t.Error("only a time to live limits")
		}
	})
}
