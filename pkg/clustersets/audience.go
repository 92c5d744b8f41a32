// SPDX-License-Identifier: Apache-2.0

package clustersets

import (
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/util/sets"
)

// Account is the name of the ServiceAccount whose rights decide which sets a namespace may bind.
const Account = "placement"

// The names of the users and groups of ServiceAccounts.
const (
	userPrefix         = "system:serviceaccount:"
	groupPrefix        = "system:serviceaccounts:"
	allAccounts        = "system:serviceaccounts"
	allAuthenticated   = "system:authenticated"
	accountOfNamespace = ":" + Account
)

// Audience is a set of namespaces, which need not exist. The zero Audience is empty.
type Audience struct {
	// Everyone includes every namespace, also those that are created later.
	Everyone bool
	// Namespaces has single namespaces by name. It may be set together with Everyone.
	Namespaces sets.Set[string]
}

// AudienceOf returns the namespaces whose account is among the subjects of a ClusterRoleBinding.
func AudienceOf(subjects []rbacv1.Subject) Audience {
	var audience Audience
	for i := range subjects {
		namespace, everyone := namespaceOf(&subjects[i])
		audience.Everyone = audience.Everyone || everyone
		if namespace != "" {
			if audience.Namespaces == nil {
				audience.Namespaces = sets.New[string]()
			}
			audience.Namespaces.Insert(namespace)
		}
	}

	return audience
}

// Contains reports whether a namespace belongs to the audience.
func (a Audience) Contains(namespace string) bool { return a.Everyone || a.Namespaces.Has(namespace) }

// Empty reports whether no namespace belongs to the audience.
func (a Audience) Empty() bool { return !a.Everyone && len(a.Namespaces) == 0 }

// Union returns the namespaces of either audience. The result may share Namespaces with one of them.
func (a Audience) Union(other Audience) Audience {
	union := Audience{Everyone: a.Everyone || other.Everyone, Namespaces: a.Namespaces}
	switch {
	case len(a.Namespaces) == 0:
		union.Namespaces = other.Namespaces
	case len(other.Namespaces) > 0:
		union.Namespaces = a.Namespaces.Union(other.Namespaces)
	}
	return union
}

// Difference returns at least the namespaces that exactly one of the audiences contains: it returns Everyone if one audience has it and the
// other does not.
func (a Audience) Difference(other Audience) Audience {
	switch {
	case a.Everyone && other.Everyone:
		return Audience{}
	case a.Everyone || other.Everyone:
		return Audience{Everyone: true}
	default:
		return Audience{Namespaces: a.Namespaces.SymmetricDifference(other.Namespaces)}
	}
}

// namespaceOf returns the namespace whose account a subject is, "" for none, and whether it is the account of every namespace. It compares
// names literally, and ignores the API group of the subject, as the API server does.
func namespaceOf(subject *rbacv1.Subject) (namespace string, everyone bool) {
	switch subject.Kind {
	case rbacv1.ServiceAccountKind:
		if subject.Name == Account {
			namespace = subject.Namespace
		}
	case rbacv1.UserKind:
		if rest, ok := strings.CutPrefix(subject.Name, userPrefix); ok {
			namespace, ok = strings.CutSuffix(rest, accountOfNamespace)
			if !ok {
				namespace = ""
			}
		}
	case rbacv1.GroupKind:
		if subject.Name == allAccounts || subject.Name == allAuthenticated {
			return "", true
		}
		if rest, ok := strings.CutPrefix(subject.Name, groupPrefix); ok {
			namespace = rest
		}
	}

	if strings.Contains(namespace, ":") { // The name of a namespace contains no colon.
		return "", false
	}
	return namespace, false
}

// includesAccount reports whether the account of a namespace is among the subjects. It equals AudienceOf(subjects).Contains(namespace)
// without building the Audience.
func includesAccount(subjects []rbacv1.Subject, namespace string) bool {
	return slices.ContainsFunc(subjects, func(subject rbacv1.Subject) bool {
		one, everyone := namespaceOf(&subject)
		return everyone || one != "" && one == namespace
	})
}
