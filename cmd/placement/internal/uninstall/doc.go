// SPDX-License-Identifier: Apache-2.0

// Package uninstall finds the finalizers that the hub has left on objects, and releases them, and the objects that the hub has written into its
// namespace, and deletes them. It needs neither the hub nor its definitions: what the API server does not serve has no objects any more.
package uninstall
