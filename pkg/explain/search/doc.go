// SPDX-License-Identifier: Apache-2.0

// Package search finds the smallest sets of changes with which something would be as wanted: each change alone, or if none helps, each two of
// them. A Search makes a bounded number of evaluations; what it finds was evaluated.
package search
