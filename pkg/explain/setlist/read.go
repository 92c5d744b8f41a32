// SPDX-License-Identifier: Apache-2.0

package setlist

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"golang.org/x/sync/errgroup"
	authorizationv1 "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/utils/ptr"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/clustersets"
	"github.com/placement-hub/placement-hub/pkg/explain/hubstate"
)

// maxConcurrentReviews bounds concurrent SelfSubjectAccessReviews.
const maxConcurrentReviews = 8

// Hub is the client of Read: its scheme has authorization.k8s.io/v1 and cluster.open-cluster-management.io/v1beta2.
type Hub interface {
	client.Reader
	Create(ctx context.Context, obj client.Object, opts ...client.CreateOption) error
}

// Read lists the sets that the user of hub may bind, and those that are bound to the namespace, or to any if it is empty; of them those whose
// labels the selector selects, or all if it is nil. A user who may not list all sets gets the bound ones, and List.Unlisted. The
// error about bindings that may not be listed comes with a list of what could be read; any other error comes with nil. Labels of sets that may not be
// listed are not known, so that a selector selects none of them, which is an error too.
func Read(ctx context.Context, hub Hub, namespace string, selector labels.Selector) (*List, error) {
	return read(ctx, hub, namespace, selector, func(sets []Set) error { return review(ctx, hub, sets) })
}

// ReadUnreviewed lists all sets of a hub, with those that are bound to the namespace, or to any if it is empty, as Read does. It does not know
// what its user may bind.
func ReadUnreviewed(ctx context.Context, hub client.Reader, namespace string, selector labels.Selector) (*List, error) {
	return read(ctx, hub, namespace, selector, nil)
}

// read lists the sets. Without a review it lists all of them.
func read(
	ctx context.Context, hub client.Reader, namespace string, selector labels.Selector, review func([]Set) error,
) (*List, error) {
	list := &List{Namespace: namespace}

	known, notListed := hubstate.ClusterSets(ctx, hub)
	if notListed != nil && !apierrors.IsForbidden(notListed) {
		return nil, unreadable("ManagedClusterSets", notListed)
	}
	bindings, notBound := hubstate.Bindings(ctx, hub, namespace)
	if notBound != nil && !apierrors.IsForbidden(notBound) {
		return nil, unreadable("ManagedClusterSetBindings", notBound)
	}

	candidates := merge(known, bindings, notListed == nil)
	if selector != nil {
		candidates = selected(candidates, known, selector)
	}
	if namespace != "" {
		for i := range candidates {
			candidates[i].Namespaces = nil
		}
	}

	list.Sets = candidates
	if list.Unreviewed = review == nil; !list.Unreviewed {
		if err := review(candidates); err != nil {
			return nil, err
		}
		list.Sets = slices.DeleteFunc(slices.Clone(candidates), func(set Set) bool { return !set.MayBind && !set.Bound })
	}

	if notListed == nil {
		list.Hidden = ptr.To(len(candidates) - len(list.Sets))
	} else {
		notListed = missing(notListed, "the ClusterRole open-cluster-management:placement-hub:tenant, by a ClusterRoleBinding")
		list.Unlisted = notListed.Error()
	}
	if notBound == nil && selector == nil {
		return list, nil
	}
	return list, errors.Join(notListed, missing(notBound, bindingsRole(namespace)))
}

// bindingsRole names the role of a user who may list the bindings of a namespace, or of all.
func bindingsRole(namespace string) string {
	if namespace == "" {
		return "the ClusterRole view, by a ClusterRoleBinding, or name a namespace with -n"
	}
	return "the ClusterRole view, by a RoleBinding in the namespace"
}

// selected returns the sets that are known and whose labels are selected.
func selected(sets []Set, known []*clusterv1beta2.ManagedClusterSet, selector labels.Selector) []Set {
	return slices.DeleteFunc(sets, func(set Set) bool {
		return !slices.ContainsFunc(known, func(other *clusterv1beta2.ManagedClusterSet) bool {
			return other.Name == set.Name && selector.Matches(labels.Set(other.Labels))
		})
	})
}

// unreadable returns an error about the hub, not about the rights of the user.
func unreadable(what string, err error) error {
	if meta.IsNoMatchError(err) || apierrors.IsNotFound(err) {
		return fmt.Errorf("the hub does not serve %s: %w; name the kubeconfig or context of a hub", what, err)
	}
	return fmt.Errorf("listing %s: %w; check the connection to the hub and try again", what, err)
}

// missing returns an error that names the role that the user lacks; nil stays nil.
func missing(err error, role string) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("the hub does not allow this user to list all of it: %w; ask an administrator of the hub for %s", err, role)
}

// merge returns every set that is known or bound, sorted by name. A bound set that is not known is missing if allKnown.
func merge(known []*clusterv1beta2.ManagedClusterSet, bindings []*clusterv1beta2.ManagedClusterSetBinding, allKnown bool) []Set {
	byName := make(map[string]Set, len(known))
	for _, set := range known {
		byName[set.Name] = Set{Name: set.Name}
	}

	for _, binding := range bindings {
		name := binding.Spec.ClusterSet
		if binding.Name != name {
			continue // Such a binding has no effect.
		}
		set, exists := byName[name]
		if !exists {
			set = Set{Name: name, Missing: allKnown}
		}

		set.Managed = clustersets.Managed(binding) && (set.Managed || !set.Bound)
		set.Bound, set.Namespaces = true, append(set.Namespaces, binding.Namespace)
		byName[name] = set
	}

	merged := make([]Set, 0, len(byName))
	for _, set := range byName {
		slices.Sort(set.Namespaces)
		merged = append(merged, set)
	}
	slices.SortFunc(merged, func(a, b Set) int { return cmp.Compare(a.Name, b.Name) })
	return merged
}

// review sets MayBind of the sets by SelfSubjectAccessReviews.
func review(ctx context.Context, hub Hub, sets []Set) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(maxConcurrentReviews)
	for i := range sets {
		group.Go(func() error {
			review := &authorizationv1.SelfSubjectAccessReview{
				Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: clustersets.BindingOf(sets[i].Name)},
			}
			if err := hub.Create(ctx, review); err != nil {
				return fmt.Errorf("asking the API server whether you may bind ManagedClusterSet %s: %w", sets[i].Name, err)
			}
			sets[i].MayBind = review.Status.Allowed
			return nil
		})
	}

	return group.Wait() //nolint:wrapcheck // It says what was asked.
}
