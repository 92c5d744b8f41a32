// SPDX-License-Identifier: Apache-2.0

package access

import (
	"context"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"sigs.k8s.io/controller-runtime/pkg/client"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/clusterrequest"
)

// accessObjects are the objects of one access on a cluster, as they are or as they should be.
type accessObjects struct {
	accounts            []corev1.ServiceAccount
	roles               []rbacv1.Role
	clusterRoles        []rbacv1.ClusterRole
	roleBindings        []rbacv1.RoleBinding
	clusterRoleBindings []rbacv1.ClusterRoleBinding
}

// pointer is an object of the type T.
type pointer[T any] interface {
	*T
	client.Object
}

// wantedOf returns the objects of an access as they should be, in memory of their own.
func wantedOf(access *clusterrequest.Access) *accessObjects {
	return &accessObjects{
		accounts: []corev1.ServiceAccount{access.Account}, roles: slices.Clone(access.Roles), clusterRoles: slices.Clone(access.ClusterRoles),
		roleBindings: slices.Clone(access.RoleBindings), clusterRoleBindings: slices.Clone(access.ClusterRoleBindings),
	}
}

// present returns the objects of an access that the cluster has.
func (t *target) present(ctx context.Context, id string) (*accessObjects, error) {
	return t.list(ctx, client.MatchingLabels{openmcpv1alpha1.AccessIDLabel: id})
}

// list returns the objects of accesses that the cluster has.
func (t *target) list(ctx context.Context, which client.ListOption) (*accessObjects, error) {
	accounts, roles, clusterRoles := &corev1.ServiceAccountList{}, &rbacv1.RoleList{}, &rbacv1.ClusterRoleList{}
	roleBindings, clusterRoleBindings := &rbacv1.RoleBindingList{}, &rbacv1.ClusterRoleBindingList{}
	for _, list := range []client.ObjectList{accounts, roles, clusterRoles, roleBindings, clusterRoleBindings} {
		if err := t.client.List(ctx, list, which); err != nil {
			return nil, fmt.Errorf("listing the objects of AccessRequests on the cluster: %w", err)
		}
	}
	return &accessObjects{accounts.Items, roles.Items, clusterRoles.Items, roleBindings.Items, clusterRoleBindings.Items}, nil
}

// missing returns copies of the objects that are not present.
func (o *accessObjects) missing(present *accessObjects) []client.Object {
	return slices.Concat(
		without(o.accounts, present.accounts), without(o.roles, present.roles), without(o.clusterRoles, present.clusterRoles),
		without(o.roleBindings, present.roleBindings), without(o.clusterRoleBindings, present.clusterRoleBindings),
	)
}

// write creates and updates objects, and roles before what binds them.
func (t *target) write(ctx context.Context, present, wanted *accessObjects) error {
	if err := write(ctx, t.client, present.accounts, wanted.accounts, func(_, _ *corev1.ServiceAccount) bool { return true }); err != nil {
		return err
	}
	if err := write(ctx, t.client, present.roles, wanted.roles, func(have, want *rbacv1.Role) bool {
		have.Rules = want.Rules
		return true
	}); err != nil {
		return err
	}

	if err := write(ctx, t.client, present.clusterRoles, wanted.clusterRoles, func(have, want *rbacv1.ClusterRole) bool {
		have.Rules, have.AggregationRule = want.Rules, nil
		return true
	}); err != nil {
		return err
	}

	if err := write(ctx, t.client, present.roleBindings, wanted.roleBindings, func(have, want *rbacv1.RoleBinding) bool {
		have.Subjects = want.Subjects
		return have.RoleRef == want.RoleRef
	}); err != nil {
		return err
	}
	return write(ctx, t.client, present.clusterRoleBindings, wanted.clusterRoleBindings, func(have, want *rbacv1.ClusterRoleBinding) bool {
		have.Subjects = want.Subjects
		return have.RoleRef == want.RoleRef
	})
}

// prune deletes the objects that are not wanted.
func (t *target) prune(ctx context.Context, present, wanted *accessObjects) error {
	for _, object := range present.inOrderOfDeletion(wanted) {
		if err := remove(ctx, t.client, object); err != nil {
			return err
		}
	}
	return nil
}

// inOrderOfDeletion returns copies of the objects that are not wanted, and what binds roles before the roles.
func (o *accessObjects) inOrderOfDeletion(wanted *accessObjects) []client.Object {
	return slices.Concat(
		without(o.clusterRoleBindings, wanted.clusterRoleBindings), without(o.roleBindings, wanted.roleBindings),
		without(o.clusterRoles, wanted.clusterRoles), without(o.roles, wanted.roles), without(o.accounts, wanted.accounts),
	)
}

// write creates and updates objects of one kind. adopt changes an object that the cluster has into the wanted one; it returns false if only
// a new object can be that. The wanted objects have their UIDs afterwards.
func write[T any, P pointer[T]](ctx context.Context, c client.Client, present, wanted []T, adopt func(have, want P) bool) error {
	for i := range wanted {
		want := P(&wanted[i])

		at := indexOf[T, P](present, want)
		if at < 0 {
			if err := create(ctx, c, want); err != nil {
				return err
			}
			continue
		}
		have := P(&present[at])
		before := have.DeepCopyObject()
		mark(have, want)
		switch {
		case !adopt(have, want):
			if err := remove(ctx, c, have); err != nil {
				return err
			}
			if err := create(ctx, c, want); err != nil {
				return err
			}
		case !equality.Semantic.DeepEqual(before, have):
			if err := c.Update(ctx, have); err != nil {
				return fmt.Errorf("updating %s on the cluster: %w", describe(have), err)
			}
		}

		if want.GetUID() == "" {
			want.SetUID(have.GetUID())
		}
	}

	return nil
}

// mark gives an object that the cluster has the labels and annotations of the wanted one.
func mark(have, want client.Object) {
	labels, annotations := maps.Clone(have.GetLabels()), have.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	maps.Copy(labels, want.GetLabels()) // It has the label by which it was found.
	maps.Copy(annotations, want.GetAnnotations())
	have.SetLabels(labels)
	have.SetAnnotations(annotations)
}

func create(ctx context.Context, c client.Client, object client.Object) error {
	if err := c.Create(ctx, object); err != nil {
		return fmt.Errorf("creating %s on the cluster: %w", describe(object), err)
	}
	return nil
}

// remove deletes an object unless it is another one of that name meanwhile.
func remove(ctx context.Context, c client.Client, object client.Object) error {
	uid := object.GetUID()
	if err := client.IgnoreNotFound(c.Delete(ctx, object, client.Preconditions{UID: &uid})); err != nil {
		return fmt.Errorf("deleting %s on the cluster: %w", describe(object), err)
	}
	return nil
}

// without returns copies of the objects that have no object of their name among others.
func without[T any, P pointer[T]](all, others []T) []client.Object {
	var left []client.Object
	for i := range all {
		object := P(&all[i])
		if indexOf[T, P](others, object) >= 0 {
			continue
		}
		if c, isObject := object.DeepCopyObject().(client.Object); isObject {
			left = append(left, c)
		}
	}
	return left
}

func indexOf[T any, P pointer[T]](all []T, object P) int {
	return slices.IndexFunc(all, func(t T) bool { return client.ObjectKeyFromObject(P(&t)) == client.ObjectKeyFromObject(object) })
}
