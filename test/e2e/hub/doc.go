// SPDX-License-Identifier: Apache-2.0

// Package hub has the end-to-end tests of `placement controller`: its lease, endpoints, metrics, webhook, traces, and how it stops.
package hub
