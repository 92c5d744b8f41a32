// SPDX-License-Identifier: Apache-2.0

// Package hub runs the built binary as a user does who wants to look at the dashboard: `placement run` with a control plane of its own and the
// sample fleet, `placement dashboard` for other users of the same hub, and `placement controller` with the opt-in systems, a provider of clusters and
// the dashboard for everybody who logs in. It changes objects with kubectl, and reports what the agents of the sample's members would.
package hub
