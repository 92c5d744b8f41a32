// SPDX-License-Identifier: Apache-2.0

// Package report is what the benchmark says: figures by size, how they grow, whether they are where they must be, as a table, JSON and a
// chart. It measures nothing itself.
package report
