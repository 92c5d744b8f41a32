// SPDX-License-Identifier: Apache-2.0

// Package api represents Placements and their PlacementDecisions in one way for all APIs.
//
// The planner of package placement knows only Page and Placement. There is one Adapter for each API, in files of its own: it reads
// Placements, converts them to Requests and writes their status, and has a Codec, which reads, writes and compacts PlacementDecisions.
// Adapters is the table of all APIs, in which Find looks them up.
package api
