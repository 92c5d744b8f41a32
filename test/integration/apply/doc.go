// SPDX-License-Identifier: Apache-2.0

// Package apply tests on a real API server, for each kind that the hub and providers apply, what happens when the API server cannot carry out an
// apply: the managedFields of the object have a version that its definition does not have any more, or the definition is older than the hub.
package apply
