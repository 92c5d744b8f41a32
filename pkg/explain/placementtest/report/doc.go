// SPDX-License-Identifier: Apache-2.0

// Package report prints the results of PlacementTests: as text for people, as JSON, as JUnit XML for CI systems, and as Markdown for a comment on
// a merge request. The same results have the same text.
package report
