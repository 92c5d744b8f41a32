package clusterset

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

	"github.com/placement-hub/placement-hub/pkg/scope"
)

// entitlement is what a namespace is bound to by RBAC.
type entitlement struct {
	account bool             // whether the namespace has one
	grant   scope.Grant      // what the account may bind
	sets    sets.Set[string] // what of that exists, without what is denied
	denied  sets.Set[string] // what the API server denies all the same
}

// withoutDenied takes away what the API server denies.
func (e entitlement) withoutDenied(denied sets.Set[string]) entitlement {
	if len(denied) > 0 {
		e.sets, e.denied = e.sets.Difference(denied), denied
	}

	return e
}

// reason is why a set is not bound.
type reason string

const (
	noAccount reason = "the namespace has no ServiceAccount named " + scope.Account
	noSet     reason = "the cluster set does not exist"
	noRight   reason = "no ClusterRoleBinding lets the ServiceAccount bind the cluster set"

	deniedRight reason = "an authorizer beside RBAC does not let the ServiceAccount bind the cluster set"
)

// reasonUnbound says why a set is not among those of the entitlement.
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

// entitlementOf reads the cache. After an error there is no answer: it must not look like a revocation.
func (r *rbacBindingReconciler) entitlementOf(ctx context.Context, namespace string) (entitlement, error) {
	account := &corev1.ServiceAccount{}
	key := types.NamespacedName{Namespace: namespace, Name: scope.Account}

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

	grant := scope.Allowed(namespace, bindings, func(role string) scope.Grant {
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

// clusterRoleBindings are those that concern a namespace.
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

// bindingPlan is what the bindings of a namespace lack. The objects belong to the cache.
type bindingPlan struct {
	create          []string
	restore, revoke []*clusterv1beta2.ManagedClusterSetBinding
}

func (p bindingPlan) empty() bool { return len(p.create)+len(p.restore)+len(p.revoke) == 0 }

// keptBindings are the sets whose bindings follow from RBAC and are to stay.
func keptBindings(wanted sets.Set[string], existing []clusterv1beta2.ManagedClusterSetBinding) sets.Set[string] {
	kept := sets.New[string]()

	for i := range existing {
		if scope.Managed(&existing[i]) && existing[i].DeletionTimestamp.IsZero() && wanted.Has(existing[i].Name) {
			kept.Insert(existing[i].Name)
		}
	}

	return kept
}

// planBindings compares what is wanted with what there is. What is being deleted is left to go, and what others made is left alone.
func planBindings(wanted sets.Set[string], existing []clusterv1beta2.ManagedClusterSetBinding) bindingPlan {
	var plan bindingPlan

	missing := wanted.Clone()

	for i := range existing {
		binding := &existing[i]
		missing.Delete(binding.Name)

		switch {
		case !scope.Managed(binding) || !binding.DeletionTimestamp.IsZero():
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

// grantCache keeps what each ClusterRole grants, so that its rules are gone through once. It is safe for concurrent use.
type grantCache struct {
	mu     sync.Mutex
	grants map[string]compiledGrant // by role
}

type compiledGrant struct {
	grant   scope.Grant
	version string // of the role
}

func newGrantCache() *grantCache { return &grantCache{grants: map[string]compiledGrant{}} }

// get is what a ClusterRole grants; one that does not exist grants nothing.
func (c *grantCache) get(ctx context.Context, reader client.Reader, role string) (scope.Grant, error) {
	found := &rbacv1.ClusterRole{}

	err := reader.Get(ctx, types.NamespacedName{Name: role}, found, client.UnsafeDisableDeepCopy)
	if client.IgnoreNotFound(err) != nil {
		return scope.Grant{}, fmt.Errorf("reading ClusterRole %s: %w", role, err)
	}

	c.mu.Lock()
	defer c.mu.Unlock()

	if err != nil {
		delete(c.grants, role)

		return scope.Grant{}, nil
	}

	known := c.grants[role]
	if known.version != found.ResourceVersion {
		known = compiledGrant{version: found.ResourceVersion, grant: scope.OfRules(found.Rules)}
		c.grants[role] = known
	}

	return known.grant, nil
}

// forget drops what a ClusterRole that is gone has granted.
func (c *grantCache) forget(role string) {
	c.mu.Lock()
	defer c.mu.Unlock()

	delete(c.grants, role)
}
