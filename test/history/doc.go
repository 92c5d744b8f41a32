// SPDX-License-Identifier: Apache-2.0

// Package history records every state of the PlacementDecisions of a namespace, in the order in which an API server shows them to
// consumers, and reports violations of the rules of safe writing (docs/spec/differences.md B1, B2, B3, B5).
//
// A History has the whole state after every single event of one watch without gaps. The rules check the events between two settled states,
// because only then it is known which clusters had to be there all the time. Findings are sentences, so that any test framework can report
// them.
package history
