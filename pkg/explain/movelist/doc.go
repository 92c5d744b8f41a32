// SPDX-License-Identifier: Apache-2.0

// Package movelist lists what happened to decisions for one user (docs/spec/history.md HI8 to HI10).
//
// Select takes the rows of a history, leaves out those of former namespaces, and replaces the causes that the user may not read by their number. A
// List renders to a document with a line for each row. The package reads what decides about that through functions, and evaluates nothing.
package movelist
