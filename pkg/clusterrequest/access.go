// SPDX-License-Identifier: Apache-2.0

package clusterrequest

import (
	"fmt"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
)

const (
	// AccessNamespace has the ServiceAccounts of AccessRequests on a target cluster.
	AccessNamespace = "cluster-openmcp-access"

	accessIDLength   = 16
	nameLength       = 253
	shortHashLength  = 8
	kubeconfigSuffix = ".kubeconfig"
	// renewedAt is the share of its life after which a token is renewed, in percent.
	renewedAt = 80
)

// Access has the objects on a target cluster that give an AccessRequest its permissions, without a resourceVersion. Labels and annotations name
// the AccessRequest: see AccessMark.
type Access struct {
	// ID is the value of the label AccessIDLabel of all objects. An object without it is not the provider's.
	ID string
	// Account is who the kubeconfig authenticates as.
	Account corev1.ServiceAccount
	// Create are namespaces to create where they are missing, without the labels: they outlive the AccessRequest. Sorted.
	Create []string
	// Need are the other namespaces of Roles and bindings, which have to exist. Sorted.
	Need []string

	Roles               []rbacv1.Role
	ClusterRoles        []rbacv1.ClusterRole
	RoleBindings        []rbacv1.RoleBinding
	ClusterRoleBindings []rbacv1.ClusterRoleBinding
}

// NewAccess returns the objects for an AccessRequest of a provider. The environment distinguishes hubs that reach the same target cluster
// (docs/spec/cluster-request.md 4.1.6). The rules share memory with the request.
func NewAccess(environment, provider string, request *openmcpv1alpha1.AccessRequest) *Access {
	id := AccessID(environment, provider, keyOf(request))
	access := &Access{ID: id}
	labels := map[string]string{
		openmcpv1alpha1.AccessIDLabel: id, openmcpv1alpha1.AccessRequestNameLabel: shortened(request.Name, managedClusterNameLength),
		openmcpv1alpha1.AccessRequestNamespaceLabel: request.Namespace,
	}
	annotations := map[string]string{
		openmcpv1alpha1.AccessRequestAnnotation: keyOf(request).String(), openmcpv1alpha1.AccessRequestUIDAnnotation: string(request.UID),
	}
	if ref := request.Status.ClusterRef; ref != nil {
		annotations[openmcpv1alpha1.ClusterAnnotation] = keyOfName(*ref).String()
	}
	object := func(namespace, name string) metav1.ObjectMeta {
		return metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: maps.Clone(labels), Annotations: maps.Clone(annotations)}
	}
	access.Account.ObjectMeta = object(AccessNamespace, id)
	for i := range request.Spec.Permissions {
		permission := &request.Spec.Permissions[i]
		own := fmt.Sprintf("%s-%d", id, i)
		name := permission.Name
		if name == "" {
			name = own
		}
		if permission.Namespace == "" {
			access.addClusterRole(object("", name), permission.Rules)
			access.bind(object("", own), openmcpv1alpha1.KindClusterRole, name)
			continue
		}
		access.addNamespace(permission.Namespace, ptr.Deref(permission.CreateNamespace, true))
		access.addRole(object(permission.Namespace, name), permission.Rules)
		access.bind(object(permission.Namespace, own), openmcpv1alpha1.KindRole, name)
	}
	for i, ref := range request.Spec.RoleRefs {
		if ref.Namespace != "" {
			access.addNamespace(ref.Namespace, false)
		}
		access.bind(object(ref.Namespace, fmt.Sprintf("%s-ref-%d", id, i)), ref.Kind, ref.Name)
	}
	access.Need = slices.DeleteFunc(access.Need, func(name string) bool { return slices.Contains(access.Create, name) })

	return access
}

func (a *Access) addNamespace(name string, create bool) {
	list := &a.Need
	if create {
		list = &a.Create
	}
	if at, found := slices.BinarySearch(*list, name); !found {
		*list = slices.Insert(*list, at, name)
	}
}

// addRole adds a Role, or more rules to the Role of that name.
func (a *Access) addRole(meta metav1.ObjectMeta, rules []rbacv1.PolicyRule) {
	for i := range a.Roles {
		if role := &a.Roles[i]; role.Namespace == meta.Namespace && role.Name == meta.Name {
			role.Rules = slices.Concat(role.Rules, rules)
			return
		}
	}
	a.Roles = append(a.Roles, rbacv1.Role{ObjectMeta: meta, Rules: rules})
}

// addClusterRole adds a ClusterRole, or more rules to the ClusterRole of that name.
func (a *Access) addClusterRole(meta metav1.ObjectMeta, rules []rbacv1.PolicyRule) {
	for i := range a.ClusterRoles {
		if role := &a.ClusterRoles[i]; role.Name == meta.Name {
			role.Rules = slices.Concat(role.Rules, rules)
			return
		}
	}
	a.ClusterRoles = append(a.ClusterRoles, rbacv1.ClusterRole{ObjectMeta: meta, Rules: rules})
}

// bind binds a role to the account in the namespace of the binding, or everywhere if it has none.
func (a *Access) bind(meta metav1.ObjectMeta, kind openmcpv1alpha1.RoleKind, name string) {
	ref := rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: string(kind), Name: name}
	subjects := []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: a.Account.Namespace, Name: a.Account.Name}}
	if meta.Namespace == "" {
		a.ClusterRoleBindings = append(a.ClusterRoleBindings, rbacv1.ClusterRoleBinding{ObjectMeta: meta, RoleRef: ref, Subjects: subjects})
		return
	}
	a.RoleBindings = append(a.RoleBindings, rbacv1.RoleBinding{ObjectMeta: meta, RoleRef: ref, Subjects: subjects})
}

// SecretName returns the name of the Secret with the kubeconfig of an AccessRequest.
func SecretName(request string) string {
	return shortened(request, nameLength-len(kubeconfigSuffix)) + kubeconfigSuffix
}

// RenewalTime returns when a token has to be renewed: after 80 % of its life.
func RenewalTime(created, expires time.Time) time.Time {
	return created.Add(expires.Sub(created) / 100 * renewedAt)
}

// ExpiryTime returns when an AccessRequest has to be deleted; false for never.
func ExpiryTime(request *openmcpv1alpha1.AccessRequest) (time.Time, bool) {
	if request.Spec.TTL == nil {
		return time.Time{}, false
	}
	return request.CreationTimestamp.Add(request.Spec.TTL.Duration), true
}

// shortened returns a name of at most this length. A name that is cut ends with a hash of the whole name.
func shortened(name string, length int) string {
	if len(name) <= length {
		return name
	}
	return name[:length-shortHashLength-1] + "-" + hash(name, shortHashLength)
}
