// SPDX-License-Identifier: Apache-2.0

// Package binding holds the specs of ManagedClusterSetBindings that follow from RBAC.
package binding
