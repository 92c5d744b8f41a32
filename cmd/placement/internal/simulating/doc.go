// SPDX-License-Identifier: Apache-2.0

// Package simulating is what placement simulate does: it evaluates all Placements of a hub or of files, with changes if the flags name some, and
// prints the decisions or the difference.
package simulating
