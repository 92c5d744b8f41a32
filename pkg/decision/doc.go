// Package decision turns a scheduling.Result into PlacementDecisions.
//
// The planning half is pure. A Desired is what the decisions are to say: the selected clusters, divided by the group rules. NewPlan gives every
// cluster its group and its page, compares the pages with those that exist, and returns the writes in a safe order; NewStatus returns the
// status of the placement. The other half is one Writer that carries a Plan out. Neither knows the API of the placement: package record does.
//
// There is one planner. It numbers the clusters in the order of their names and compares ids: pages list clusters by name in the common
// case, so that finding their ids merges two sorted lists, and a plan costs little more than reading the pages once. What it writes costs
// as much as it changes: the write order follows only the clusters that some page loses or gains.
//
// It promises:
//
//   - An empty plan sends no request (docs/spec/differences.md B6).
//   - Where nothing exists, groups and pages are those of the upstream controller. From then on a cluster that stays selected keeps its
//     group and its page, unless they have to be given up because there are more than needed (docs/spec/differences.md B2).
//   - Between any two writes every cluster that stays selected is in a page; no page holds more than PageSize, no group grows beyond its
//     length, and the group indices have no gap (docs/spec/differences.md B1). A restart after any single write finishes the job.
//   - The same holds when several processes write at once, each with a view of its own, for every cluster that all of them select: a page
//     gives a cluster away only after the page that has it was written by the same plan, and every write is refused on an old version.
//   - Once a plan is carried out, the group indices follow the order of the spec (docs/spec/differences.md B8). Groups keep their index as
//     long as it is one of their rule's; where a rule grows or shrinks, groups at the end of the rules behind it move to the other end.
//   - Every group index has one name at every moment, also between two writes and on empty pages, because the tracker of consumers keeps
//     one (docs/spec/differences.md B5). An index goes to another rule by a page that is emptied, renamed and filled; further pages of the
//     index are deleted before.
//   - Surplus is deleted last, from the highest group index down.
//   - Labels and owners of others stay. The group index of a page never changes, and its group name only while it is empty
//     (docs/spec/differences.md B4, B5).
//   - With sortBy: Score pages follow the scores. A cluster keeps its place and its score until the scores may be brought up to date again
//     (docs/spec/differences.md B7); then clusters move between the pages of their group, by the same safe order.
//   - For a Stalled result the present decisions stay, and only a placement that has none gets an empty one (docs/spec/differences.md A1).
//     A result that would remove too much for causes outside of the placement is stalled too: see package guard.
package decision
