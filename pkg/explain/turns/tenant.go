// SPDX-License-Identifier: Apache-2.0

package turns

import (
	"k8s.io/apiserver/pkg/authentication/serviceaccount"
	"k8s.io/apiserver/pkg/authentication/user"
)

// Tenant is whom a limit counts: the accounts of a namespace together, and every other user by name (docs/spec/trust.md R9). Whoever may
// create accounts in a namespace gets no more by having many.
type Tenant string

// TenantOf returns the tenant of a user.
func TenantOf(who user.Info) Tenant {
	if namespace, _, err := serviceaccount.SplitUsername(who.GetName()); err == nil {
		return Tenant(serviceaccount.ServiceAccountUsernamePrefix + namespace)
	}
	return Tenant(who.GetName())
}
