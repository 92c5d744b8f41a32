// SPDX-License-Identifier: Apache-2.0

// Package printers renders the results of package explain and of its sub-packages: Reports, Explanations, Differences, a WhatIf, the Unsatisfied
// Placements, and cluster sets.
//
// Each kind of result has one function. It renders the result in a Format, as a table for people, JSON, YAML or names, and writes it at once:
// an unknown format is an error, and nothing is written then. Every table has the same layout, which Align computes; in the width of a terminal its
// last column wraps, and nothing is cut.
//
// A result that was read from a hub has texts of users; they cannot break the layout of a table or drive a terminal.
package printers
