// SPDX-License-Identifier: Apache-2.0

// Package tenancy has the specs of the controllers of AffinityClasses, Tenants, applications and namespaces: the scenarios of
// docs/spec/affinity-class.md in which the hub writes.
package tenancy
