// SPDX-License-Identifier: Apache-2.0

// Package hub runs the built binary as a user does who wants to look at the dashboard: `placement run` with a control plane of its own and the
// sample fleet, and `placement dashboard` for other users of the same hub. It changes objects with kubectl.
package hub
