// SPDX-License-Identifier: Apache-2.0

// Package printers prints what has a Document, for people in a terminal, as JSON, YAML or names.
//
// Print writes at once: an unknown format is an error, and nothing is written then. Every table has the same layout, which Align computes; in the
// width of a terminal its last column wraps, and nothing is cut.
//
// A result that was read from a hub has texts of users; they cannot break the layout of a table or drive a terminal.
package printers
