// Package record represents Placements and their PlacementDecisions in one way for all APIs.
//
// The planner of package decision knows only Page and Placement. The labels of an API, the field with the decisions and the fields of a
// decision are in its Form; its status and the conversion of its spec are in its API. There is one file for each API.
package record
