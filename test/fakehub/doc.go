// SPDX-License-Identifier: Apache-2.0

// Package fakehub has a hub in memory that explains its objects, and users with the roles that the manifests ship, for the tests of
// docs/spec/differences.md E1a.
package fakehub
