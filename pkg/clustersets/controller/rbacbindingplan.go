// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/clustersets"
)

// entitlement has the ManagedClusterSets that RBAC lets a namespace bind.
type entitlement struct {
	account bool              // whether the namespace has a ServiceAccount named scope.Account
	grant   clustersets.Grant // what the ServiceAccount may bind
	sets    sets.Set[string]  // existing sets that the grant has, without the denied ones
	denied  sets.Set[string]  // sets that RBAC grants and the API server denies
}

// withoutDenied returns the entitlement without the sets that the API server denies.
func (e entitlement) withoutDenied(denied sets.Set[string]) entitlement {
	if len(denied) > 0 {
		e.sets, e.denied = e.sets.Difference(denied), denied
	}
	return e
}

// reason explains why a set is not bound.
type reason string

const (
	noAccount reason = "the namespace has no ServiceAccount named " + clustersets.Account
	noSet     reason = "the cluster set does not exist"
	noRight   reason = "no ClusterRoleBinding lets the ServiceAccount bind the cluster set"

	deniedRight reason = "an authorizer beside RBAC does not let the ServiceAccount bind the cluster set"
)

// reasonUnbound returns why a set is not in the entitlement.
func (e entitlement) reasonUnbound(set string) reason {
	switch {
	case !e.account:
		return noAccount
	case e.denied.Has(set):
		return deniedRight
	case e.grant.Contains(set):
		return noSet
	default:
		return noRight
	}
}

// entitlementOf computes the entitlement of a namespace from the cache. It returns an error if any read fails, because a partial result
// would look like a revocation.
func (r *rbacBindingReconciler) entitlementOf(ctx context.Context, namespace string) (entitlement, error) {
	account := &corev1.ServiceAccount{}
	key := types.NamespacedName{Namespace: namespace, Name: clustersets.Account}

	err := r.client.Get(ctx, key, account, client.UnsafeDisableDeepCopy)
	if apierrors.IsNotFound(err) || err == nil && !account.DeletionTimestamp.IsZero() {
		return entitlement{}, nil
	}
	if err != nil {
		return entitlement{}, fmt.Errorf("reading ServiceAccount %s: %w", key, err)
	}

	bindings, err := r.clusterRoleBindings(ctx, namespace)
	if err != nil {
		return entitlement{}, err
	}
	var unread []error

	grant := clustersets.Allowed(namespace, bindings, func(role string) clustersets.Grant {
		grant, err := r.grants.get(ctx, r.client, role)
		unread = append(unread, err)
		return grant
	})
	if err := errors.Join(unread...); err != nil {
		return entitlement{}, fmt.Errorf("what the ServiceAccount %s may bind: %w", key, err)
	}

	wanted := entitlement{account: true, grant: grant, sets: sets.New[string]()}
	if grant.Empty() {
		return wanted, nil
	}
	list := &clusterv1beta2.ManagedClusterSetList{}
	if err := r.client.List(ctx, list, client.UnsafeDisableDeepCopy); err != nil {
		return entitlement{}, fmt.Errorf("listing ManagedClusterSets: %w", err)
	}

	for i := range list.Items {
		if name := list.Items[i].Name; grant.Contains(name) {
			wanted.sets.Insert(name)
		}
	}
	return wanted, nil
}

// clusterRoleBindings returns the ClusterRoleBindings that concern a namespace.
func (r *rbacBindingReconciler) clusterRoleBindings(ctx context.Context, namespace string) ([]rbacv1.ClusterRoleBinding, error) {
	var found []rbacv1.ClusterRoleBinding
	for _, audience := range []string{namespace, everyNamespace} {
		list := &rbacv1.ClusterRoleBindingList{}
		if err := r.client.List(ctx, list, client.MatchingFields{audienceField: audience}, client.UnsafeDisableDeepCopy); err != nil {
			return nil, fmt.Errorf("listing the ClusterRoleBindings that concern namespace %s: %w", namespace, err)
		}
		found = append(found, list.Items...)
	}
	return found, nil
}

// bindingPlan has the writes that the bindings of a namespace need. Its objects belong to the cache and must not be modified.
type bindingPlan struct {
	create          []string
	restore, revoke []*clusterv1beta2.ManagedClusterSetBinding
}

func (p bindingPlan) empty() bool { return len(p.create)+len(p.restore)+len(p.revoke) == 0 }

// keptBindings returns the sets of the managed bindings that exist and are wanted.
func keptBindings(wanted sets.Set[string], existing []clusterv1beta2.ManagedClusterSetBinding) sets.Set[string] {
	kept := sets.New[string]()
	for i := range existing {
		if clustersets.Managed(&existing[i]) && existing[i].DeletionTimestamp.IsZero() && wanted.Has(existing[i].Name) {
			kept.Insert(existing[i].Name)
		}
	}
	return kept
}

// planBindings compares the wanted sets with the existing bindings. It ignores terminating bindings and bindings of others.
func planBindings(wanted sets.Set[string], existing []clusterv1beta2.ManagedClusterSetBinding) bindingPlan {
	var plan bindingPlan
	missing := wanted.Clone()
	for i := range existing {
		binding := &existing[i]
		missing.Delete(binding.Name)
		switch {
		case !clustersets.Managed(binding) || !binding.DeletionTimestamp.IsZero():
		case !wanted.Has(binding.Name):
			plan.revoke = append(plan.revoke, binding)
		case binding.Spec.ClusterSet != binding.Name:
			plan.restore = append(plan.restore, binding)
		}
	}

	plan.create = sets.List(missing)
	for _, bindings := range [][]*clusterv1beta2.ManagedClusterSetBinding{plan.restore, plan.revoke} {
		slices.SortFunc(bindings, func(a, b *clusterv1beta2.ManagedClusterSetBinding) int { return strings.Compare(a.Name, b.Name) })
	}
	return plan
}

// grantCache has the Grant of each ClusterRole, compiled once per resourceVersion. It is safe for concurrent use.
type grantCache struct {
	mu     sync.Mutex
	grants map[string]compiledGrant // by role
}

type compiledGrant struct {
	grant   clustersets.Grant
	version string // of the role
}

func newGrantCache() *grantCache { return &grantCache{grants: map[string]compiledGrant{}} }

// get returns the Grant of a ClusterRole; a role that does not exist grants nothing.
func (c *grantCache) get(ctx context.Context, reader client.Reader, role string) (clustersets.Grant, error) {
	found := &rbacv1.ClusterRole{}

	err := reader.Get(ctx, types.NamespacedName{Name: role}, found, client.UnsafeDisableDeepCopy)
	if client.IgnoreNotFound(err) != nil {
		return clustersets.Grant{}, fmt.Errorf("reading ClusterRole %s: %w", role, err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if err != nil {
		delete(c.grants, role)
		return clustersets.Grant{}, nil
	}

	known := c.grants[role]
	if known.version != found.ResourceVersion {
		known = compiledGrant{version: found.ResourceVersion, grant: clustersets.OfRules(found.Rules)}
		c.grants[role] = known
	}
	return known.grant, nil
}

// forget drops a deleted ClusterRole.
func (c *grantCache) forget(role string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.grants, role)
}
