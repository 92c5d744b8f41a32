// Package binding holds the specs of ManagedClusterSetBindings that follow from RBAC.
package binding
