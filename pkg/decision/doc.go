// Package decision makes an answer durable: it turns a scheduling.Result into PlacementDecisions.
//
// The planning half is pure: Groups divides the selected clusters, Paginate cuts the groups into pages of at most PageSize and finds
// the PlacementDecision that holds each, NewPlan says what to write and in which order, NewStatus what the Placement's status is. The
// other half is one Writer that carries a Plan out.
//
// It promises: an empty plan sends no request; pages that gain are written before pages that lose, and surplus is deleted last, from
// the highest group index down; labels and owners of others stay; the group labels of a page never change, a page of another group is
// another page (ours.md B3 to B6). For a Held result the present decisions stay, and only a placement that has none gets an empty one
// (ours.md A1).
package decision
