// Package api represents Placements and their PlacementDecisions in one way for all APIs.
//
// The planner of package decision knows only Page and Placement. There is one Adapter for each API, in a file of its own: it reads and
// writes Placements and their status, and its Codec reads and writes PlacementDecisions.
package api
