// SPDX-License-Identifier: Apache-2.0

// Package alerts tests the rules of deploy/monitoring with promtool, on series as the replicas of a hub export them, and the queries of the
// dashboard.
package alerts
