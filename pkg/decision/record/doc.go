// Package record has placements and their PlacementDecisions in one form for all APIs.
//
// The planner of package decision knows Page and Placement only. What an API calls its labels, where it keeps the list of decisions and
// what it says of a cluster stands in its Form; what its status looks like and how its spec is read stands in its API. One file for
// each API; a new one is added here and nowhere else.
package record
