// SPDX-License-Identifier: Apache-2.0

// Package placement evaluates Placements, and turns a scheduling.Result into PlacementDecisions.
//
// The planner is pure. Desired has the desired decisions: the selected clusters, divided by the group rules. NewPlan assigns a group and a
// page to every cluster, compares the pages with the existing pages, and returns the writes in a safe order; NewStatus returns the status
// of the Placement. Evaluate is the one pipeline: it schedules a Request, checks the Result against the removal budget (package
// removalbudget), and plans. Writer applies a Plan. None of them depends on the API of the Placement, which package api adapts.
//
// The planner numbers the clusters in the order of their names and compares ids: pages list clusters by name in the common case, so that
// finding their ids merges two sorted lists, and a plan costs little more than reading the pages once. Writes cost as much as they change:
// the write order follows only the clusters that some page loses or gains.
//
// It promises:
//
//   - An empty plan sends no request (docs/spec/differences.md B6).
//   - Without existing pages, groups and pages are those of the upstream controller. From then on a cluster that stays selected keeps its
//     group and its page, unless there are more groups or pages than needed (docs/spec/differences.md B2).
//   - Between any two writes every cluster that stays selected is in a page; no page holds more than PageSize, no group grows beyond its
//     length, and the group indices have no gap (docs/spec/differences.md B1). After a restart between two writes the next plan completes
//     the change.
//   - The same holds when several processes write at once, each with its own view, for every cluster that all of them select: a page gives
//     a cluster away only after the same plan has written the page that has it, and the API server rejects writes of old versions.
//   - After a plan was applied, the group indices follow the order of the spec (docs/spec/differences.md B8). Groups keep their index as
//     long as it is one of their rule's; where a rule grows or shrinks, groups at the end of the rules behind it move to the other end.
//   - Every group index has one name at every moment, also between two writes and on empty pages, because the tracker of consumers keeps
//     one (docs/spec/differences.md B5). An index goes to another rule by a page that is emptied, renamed and filled; further pages of the
//     index are deleted before.
//   - Surplus pages are deleted last, from the highest group index down.
//   - Labels and owners of others stay. The group index of a page never changes, and its group name only while it is empty
//     (docs/spec/differences.md B4, B5).
//   - With sortBy: Score pages follow the scores. A cluster keeps its place and its score until the scores may be updated again
//     (docs/spec/differences.md B7); then clusters move between the pages of their group, by the same safe order.
//   - For a stalled result, whose Outcome is Invalid, Held or Postponed, the existing decisions stay, and only a Placement without decisions gets an
//     empty page (docs/spec/differences.md A1). A result that exceeds the removal budget is Held: see package removalbudget.
package placement
