// SPDX-License-Identifier: Apache-2.0

// Package objectlist finds and replaces objects in lists by their kind, namespace and name.
//
// It promises not to modify the lists that it is given. It never reads anything of an object but its identity.
package objectlist
