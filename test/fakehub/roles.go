// SPDX-License-Identifier: Apache-2.0

package fakehub

import (
	"bytes"
	"context"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"sigs.k8s.io/yaml"

	"github.com/placement-hub/placement-hub/test/expect"
)

// The roles of users in the namespace team-a. KubernetesEdit has the rules on delivered kinds of the ClusterRole edit of Kubernetes.
const (
	RoleView       = "open-cluster-management:placement-hub:view"
	RoleEdit       = "open-cluster-management:placement-hub:edit"
	RolePolicies   = "open-cluster-management:placement-hub:podscheduling-admin"
	RoleRequester  = "open-cluster-management:placement-hub:clusterrequest-edit"
	RolePurposes   = "open-cluster-management:placement-hub:clusterrequest-purposes"
	RoleBindOthers = "open-cluster-management:managedclusterset:bind:others"
	KubernetesEdit = "edit"
	KubernetesView = "view"
)

// Roles authenticates a token "ROLE ROLE" as a user with these roles in team-a, and authorizes by the roles of the manifests.
type Roles map[string][]rbacv1.PolicyRule

// NewRoles returns the roles of the manifests below the root of the repository.
func NewRoles(t *testing.T, root string) Roles {
	t.Helper()
	core := func(resources []string, verbs ...string) []rbacv1.PolicyRule {
		return []rbacv1.PolicyRule{{APIGroups: []string{"", "apps", "networking.k8s.io"}, Resources: resources, Verbs: verbs}}
	}
	open := []string{"configmaps", "services", "deployments", "replicasets", "daemonsets", "ingresses"}
	roles := Roles{
		KubernetesEdit: core(append(slices.Clone(open), "secrets", "pods"), "get", "list", "create", "update", "delete"),
		KubernetesView: core(open, "get", "list"),
	}
	for _, file := range []string{"rbac/people/aggregated.yaml", "clusterrequest/people.yaml", "podscheduling/people.yaml"} {
		text, err := os.ReadFile(filepath.Join(root, "manifests", file))
		expect.NoError(t, err)
		for document := range bytes.SplitSeq(text, []byte("\n---\n")) {
			var role rbacv1.ClusterRole
			expect.NoError(t, yaml.Unmarshal(document, &role))
			roles[role.Name] = role.Rules
		}
	}
	return roles
}

// AuthenticateRequest implements authenticator.Request.
func (Roles) AuthenticateRequest(request *http.Request) (*authenticator.Response, bool, error) {
	token := strings.TrimPrefix(request.Header.Get("Authorization"), "Bearer ")
	return &authenticator.Response{User: &user.DefaultInfo{Name: "jane", Groups: strings.Fields(token)}}, true, nil
}

// Authorize implements authorizer.Authorizer.
func (r Roles) Authorize(_ context.Context, asked authorizer.Attributes) (authorizer.Decision, string, error) {
	for _, role := range asked.GetUser().GetGroups() {
		// A ClusterRoleBinding to the role that the hub makes for a set is of all namespaces.
		if role == RoleBindOthers && asked.GetVerb() == "create" && asked.GetSubresource() == "bind" && asked.GetName() == "others" &&
			asked.GetNamespace() == "" && asked.GetResource() == "managedclustersets" {
			return authorizer.DecisionAllow, "", nil
		}
		for _, rule := range r[role] {
			if asked.GetSubresource() == "" && asked.GetNamespace() == "team-a" && slices.Contains(rule.APIGroups, asked.GetAPIGroup()) &&
				slices.Contains(rule.Resources, asked.GetResource()) && slices.Contains(rule.Verbs, asked.GetVerb()) {
				return authorizer.DecisionAllow, "", nil
			}
		}
	}
	return authorizer.DecisionNoOpinion, "", nil
}
