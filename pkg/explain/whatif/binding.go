// SPDX-License-Identifier: Apache-2.0

package whatif

import (
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"

	"github.com/placement-hub/placement-hub/pkg/explain"
)

// WithBinding binds a set to a namespace. An existing binding stays as it is.
type WithBinding struct{ Namespace, Set string }

// String is "bind edge to team-a".
func (w WithBinding) String() string { return fmt.Sprintf("bind %s to %s", w.Set, w.Namespace) }

// Apply implements Change.
func (w WithBinding) Apply(state *explain.State, _ time.Time) (*explain.State, error) {
	if w.Namespace == "" {
		return nil, fmt.Errorf("the set %s has to be bound to a namespace: name one", w.Set)
	}
	if err := checkSet(state, w.Set); err != nil {
		return nil, err
	}
	after := *state
	if slices.ContainsFunc(state.Bindings, isBinding(w.Namespace, w.Set)) {
		return &after, nil
	}

	after.Bindings = append(slices.Clone(state.Bindings), &clusterv1beta2.ManagedClusterSetBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: w.Set},
		Spec:       clusterv1beta2.ManagedClusterSetBindingSpec{ClusterSet: w.Set},
	})
	return &after, nil
}

// WithoutBinding removes the binding of a set from a namespace, or from all namespaces when Namespace is empty. A binding that follows from
// RBAC is removed as if the granting right was revoked.
type WithoutBinding struct{ Namespace, Set string }

// String is "unbind edge from team-a", or "unbind edge from all namespaces".
func (w WithoutBinding) String() string {
	from := w.Namespace
	if from == "" {
		from = "all namespaces"
	}
	return fmt.Sprintf("unbind %s from %s", w.Set, from)
}

// Apply implements Change.
func (w WithoutBinding) Apply(state *explain.State, _ time.Time) (*explain.State, error) {
	bindings := slices.Clone(state.EffectiveBindings())

	left := slices.DeleteFunc(slices.Clone(bindings), isBinding(w.Namespace, w.Set))
	if len(left) == len(bindings) {
		return nil, unknown("ManagedClusterSetBinding", w.name(), func(yield func(string) bool) {
			for _, binding := range bindings {
				if !yield(WithoutBinding{Namespace: w.namespaceOf(binding), Set: binding.Name}.name()) {
					return
				}
			}
		})
	}

	after := *state
	after.Bindings = left
	// EffectiveBindings are in Bindings now, so the RBAC objects must not add the removed binding again.
	after.Accounts, after.ClusterRoles, after.ClusterRoleBindings = nil, nil, nil
	return &after, nil
}

// name returns "namespace/set", or the set alone for all namespaces.
func (w WithoutBinding) name() string {
	if w.Namespace == "" {
		return w.Set
	}
	return w.Namespace + "/" + w.Set
}

// namespaceOf returns the namespace of a binding for name.
func (w WithoutBinding) namespaceOf(binding *clusterv1beta2.ManagedClusterSetBinding) string {
	if w.Namespace == "" {
		return ""
	}
	return binding.Namespace
}

func isBinding(namespace, set string) func(*clusterv1beta2.ManagedClusterSetBinding) bool {
	return func(binding *clusterv1beta2.ManagedClusterSetBinding) bool {
		return binding.Name == set && (namespace == "" || binding.Namespace == namespace)
	}
}
