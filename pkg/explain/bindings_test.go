// SPDX-License-Identifier: Apache-2.0

package explain_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const (
	setHead     = "---\napiVersion: cluster.open-cluster-management.io/v1beta2\nkind: ManagedClusterSet\n"
	accountHead = "---\napiVersion: v1\nkind: ServiceAccount\n"
	rbacHead    = "---\napiVersion: rbac.authorization.k8s.io/v1\nkind: "
)

// setOfOne is a set with one cluster.
func setOfOne(set string) string {
	return fmt.Sprintf("%smetadata: {name: %s}\n---\n%smetadata: {name: in-%s, labels: {cluster.open-cluster-management.io/clusterset: %s}}\n",
		setHead, set, clusterHead, set, set)
}

// docs/spec/scope.md S6: what RBAC gives a namespace is given it in files too, beside the bindings that stand in them.
func TestBindingsFromRBAC(t *testing.T) {
	fleet := "---\n" + placementHead + "metadata: {namespace: ns, name: all}\nspec: {}\n" + setOfOne("east") + setOfOne("west") + setOfOne("north")
	account := accountHead + "metadata: {namespace: ns, name: placement}\n"
	role := func(names string) string {
		return rbacHead + "ClusterRole\nmetadata: {name: bind}\nrules: [{apiGroups: [cluster.open-cluster-management.io], " +
			"resources: [managedclustersets/bind], verbs: [create], resourceNames: [" + names + "]}]\n"
	}
	const roleRef = "roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: bind}\n"

	here := rbacHead + "RoleBinding\nmetadata: {name: grant, namespace: ns}\n" + roleRef +
		"subjects: [{kind: ServiceAccount, namespace: ns, name: placement}]\n"
	everywhere := rbacHead + "ClusterRoleBinding\nmetadata: {name: grant}\n" + roleRef +
		"subjects: [{kind: Group, apiGroup: rbac.authorization.k8s.io, name: 'system:serviceaccounts'}]\n"
	binding := "---\napiVersion: cluster.open-cluster-management.io/v1beta2\nkind: ManagedClusterSetBinding\n" +
		"metadata: {namespace: ns, name: north}\nspec: {clusterSet: north}\n"
	for _, tc := range []struct {
		reason, content string
		want            []string
	}{
		{"sets by name", account + role("east, gone") + everywhere, []string{"in-east"}},
		{"every set", account + role("") + everywhere, []string{"in-east", "in-north", "in-west"}},
		{"beside one that is there", account + role("west, north") + everywhere + binding, []string{"in-north", "in-west"}},
		{"no account of that name", accountHead + "metadata: {namespace: ns, name: default}\n" + role("") + everywhere, nil},
		{"an account of another namespace", accountHead + "metadata: {namespace: other, name: placement}\n" + role("") + everywhere, nil},
		{"RoleBindings never count", account + role("") + here, nil},
		{"no role", account + everywhere, nil},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			var got []string
			for _, report := range reportsOf(read(t, fleet+tc.content), true, nil).Placements {
				for _, cluster := range report.Clusters {
					if cluster.Verdict == "Selected" {
						got = append(got, cluster.Name)
					}
				}
			}
			slices.Sort(got)

			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("selected (-want +got):\n%s", diff)
			}
		})
	}
}
