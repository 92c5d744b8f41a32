// SPDX-License-Identifier: Apache-2.0

// Package live renders `placement run`: the progress until the hub is up, and then its Placements and their decisions, its workloads and the
// nodes of their Pods, or its federated objects and their clusters, as they change.
//
// A View reads boards, the state of a hub at one moment, from a Source, and prints them: redrawn on a terminal, a line for each change elsewhere, or
// once when all has settled. Placements come from the informers of the controllers, the others from the API server. Each system makes its
// document.Board in its own package; this one knows none of them.
//
// It promises: the latest state is always shown in the end; where each change is a line, an object that has not settled gets its line when
// it has, or after maxDelay; the terminal is restored at the end, with the last table on it; user-provided messages cannot drive the
// terminal; and the log of the process does not mix with the table.
//
// It never writes to the hub.
package live
