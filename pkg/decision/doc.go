// Package decision makes an answer durable: it turns a scheduling.Result into PlacementDecisions.
//
// The planning half is pure: Portions divides the selected clusters by the group rules, Groups and Paginate give every one of them its
// group and its page, NewPlan says what to write and in which order, NewStatus what the Placement's status is. The other half is one
// Writer that carries a Plan out.
//
// It promises:
//
//   - An empty plan sends no request (ours.md B6).
//   - Where nothing exists, groups and pages are those of the upstream controller. From then on a cluster that stays selected keeps its
//     group and its page, unless they have to be given up because there are more than needed (B2).
//   - Between any two writes every cluster that stays selected is in a page; no page holds more than PageSize, no group grows beyond its
//     length, and the group indices have no gap (B1). A restart after any single write finishes the job.
//   - Surplus is deleted last, from the highest group index down. There is one exception: where a group has to take the index of another,
//     both exist for a moment, and consumers see one of the two. The old one goes first, while the group behind still has everybody.
//   - Labels and owners of others stay. The group labels of a page never change: a page of another group is another page (B4, B5).
//   - For a Held result the present decisions stay, and only a placement that has none gets an empty one (A1).
package decision
