// SPDX-License-Identifier: Apache-2.0

// Package history holds the specs of the history of decisions on a real API server: what leader and standby record, and who reads it.
package history
