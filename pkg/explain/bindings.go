package explain

import (
	"slices"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"

	"github.com/placement-hub/placement-hub/pkg/scope"
)

// EffectiveBindings returns the bindings of the State and those that follow from RBAC: the controller clustersetbinding-rbac creates a
// binding where none of that name exists. A binding that this controller would delete stays, as on a hub that does not run it.
func (s *State) EffectiveBindings() []*clusterv1beta2.ManagedClusterSetBinding {
	bindings := slices.Clip(s.Bindings)
	present := make(map[types.NamespacedName]bool, len(bindings))

	for _, binding := range bindings {
		present[types.NamespacedName{Namespace: binding.Namespace, Name: binding.Name}] = true
	}

	allowed := s.allowed()

	for _, account := range s.Accounts {
		if account.Name != scope.Account {
			continue
		}

		grant := allowed(account.Namespace)

		for _, set := range s.ClusterSets {
			key := types.NamespacedName{Namespace: account.Namespace, Name: set.Name}
			if present[key] || !grant.Contains(set.Name) {
				continue
			}

			bindings = append(bindings, &clusterv1beta2.ManagedClusterSetBinding{
				ObjectMeta: metav1.ObjectMeta{
					Namespace: key.Namespace, Name: key.Name, Labels: map[string]string{scope.ManagedByLabel: scope.Manager},
				},
				Spec: clusterv1beta2.ManagedClusterSetBindingSpec{ClusterSet: set.Name},
			})
		}
	}

	return bindings
}

// allowed returns a function for the cluster sets that the ServiceAccount of a namespace may bind.
func (s *State) allowed() func(namespace string) scope.Grant {
	roles := make([]rbacv1.ClusterRole, 0, len(s.ClusterRoles))
	for _, role := range s.ClusterRoles {
		roles = append(roles, *role)
	}

	bindings := make([]rbacv1.ClusterRoleBinding, 0, len(s.ClusterRoleBindings))
	for _, binding := range s.ClusterRoleBindings {
		bindings = append(bindings, *binding)
	}

	grants := scope.GrantsOf(roles)

	return func(namespace string) scope.Grant { return scope.Allowed(namespace, bindings, grants) }
}
