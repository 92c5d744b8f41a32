// SPDX-License-Identifier: Apache-2.0

// Package monitoring evaluates the rules of deploy/monitoring with promtool over scrapes of a hub in which the causes of alerts are real. The times
// of the scrapes are those that the specs give.
package monitoring
