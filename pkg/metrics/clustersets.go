// SPDX-License-Identifier: Apache-2.0

package metrics

var unmanagedBindingsLeft = gauge(hub+"unmanaged_bindings_left",
	"ManagedClusterSetBindings of clustersetbinding-rbac that are unmanaged, and whose set the account of their namespace may not bind any more.")

// SetUnmanagedBindingsLeft reports how many unmanaged bindings have outlived their right. It is safe for concurrent use.
func SetUnmanagedBindingsLeft(n int) { unmanagedBindingsLeft.Set(float64(n)) }
