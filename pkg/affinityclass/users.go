// SPDX-License-Identifier: Apache-2.0

package affinityclass

import (
	"slices"

	appsv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/cozystackapps/v1alpha1"
)

// ApplicationUse says which classes an application uses.
type ApplicationUse struct {
	// Application is its kind, namespace and name: Postgres tenant-acme/main-db.
	Application string
	// Named is the class of its spec, and Released that of the label of its HelmRelease; empty for none.
	Named, Released string
}

// Users are those who keep an AffinityClass from going away, sorted.
type Users struct {
	Applications, Tenants []string
}

// UsersOf returns the applications that name a class in their spec or whose HelmRelease has its label, and the Tenants that name it.
func UsersOf(class string, applications []ApplicationUse, tenants []*appsv1alpha1.Tenant) Users {
	var users Users
	for _, application := range applications {
		if application.Named == class || application.Released == class {
			users.Applications = append(users.Applications, application.Application)
		}
	}
	for _, tenant := range tenants {
		if tenant.Spec.DefaultAffinityClass == class || slices.Contains(tenant.Spec.AllowedAffinityClasses, class) {
			users.Tenants = append(users.Tenants, "Tenant "+tenant.Namespace+"/"+tenant.Name)
		}
	}
	slices.Sort(users.Applications)
	slices.Sort(users.Tenants)

	return users
}

// InUse reports whether there is any user.
func (u Users) InUse() bool { return len(u.Applications)+len(u.Tenants) > 0 }

// String names at most ten users, applications first.
func (u Users) String() string { return atMost(slices.Concat(u.Applications, u.Tenants)) }
