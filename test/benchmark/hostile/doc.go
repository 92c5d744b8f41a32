// SPDX-License-Identifier: Apache-2.0

// Package hostile has the objects of the scenario hostile: 16 tenants with Placements, pod scheduling policies and ClusterRequests, the last of
// which makes the work for its own objects as large as the limits of the hub permit (docs/spec/trust.md R5).
package hostile
