// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/placement-hub/placement-hub/pkg/placement/api"
	"github.com/placement-hub/placement-hub/pkg/scheduling"
)

// Desired has the desired decisions of a Placement and an index of the existing pages. Clusters are ids of that index.
type Desired struct {
	*pageIndex

	// keep reports whether the existing decisions are kept, because there is no result to apply.
	keep bool
	// sorted reports whether the pages follow the order of the clusters, even if clusters have to change their page for it.
	sorted bool
	// partitions are the desired clusters by group rule; groupLength is the maximal number of clusters in a decision group.
	partitions  []partition
	groupLength int

	// scores are the desired scores by id; nil when the decisions are sorted by name.
	scores []int64
	decide func(id int32) api.Decision
}

// partition has the desired clusters of a group rule.
type partition struct {
	// name is the name of the rule, or empty for clusters that match no rule. Several rules may have the same name.
	name string
	// clusters are sorted by name, or by score if the Placement asks for that.
	clusters []int32
}

// NewDesired returns the desired decisions for a result, given the existing decisions and the time of the evaluation. A result that does not
// apply keeps the existing decisions.
func NewDesired(result *scheduling.Result, existing Existing, now time.Time) Desired {
	if !result.Applies() {
		return keepDecisions(existing, func(d *api.Decision) api.Decision { return keptDecision(result, existing.Codec, d) })
	}
	sorted, _ := scoreUpdate(result, existing, now)
	return newSelection(result, existing).desired(sorted)
}

// keepDecisions returns the Desired that keeps the existing decisions, each as decide returns it.
func keepDecisions(existing Existing, decide func(*api.Decision) api.Decision) Desired {
	p := newPageIndex(existing, clusterNames{names: existing.clusters()})
	decisions := p.decisions()
	return Desired{
		pageIndex: p, keep: true, groupLength: math.MaxInt,
		decide: func(id int32) api.Decision { return decide(decisions[id]) },
	}
}

// keptDecision returns an existing decision for a result that does not apply, with the current availability of its cluster.
func keptDecision(result *scheduling.Result, codec api.Codec, existing *api.Decision) api.Decision {
	decision := *existing
	known := result.Cluster(decision.Cluster)
	decision.Available = known != nil && known.Available
	return codec.Normalize(decision)
}

// scoreUpdate reports whether the scores may be updated now (docs/spec/differences.md B7), so that clusters may change their pages to
// follow them, and when the update is due. It reads the time of the last update from the status of the Placement, so that an interrupted
// update continues.
func scoreUpdate(result *scheduling.Result, existing Existing, now time.Time) (sorted bool, due time.Time) {
	if result.Outcome() != scheduling.Decided || result.Request.Order != scheduling.ByScore {
		return false, time.Time{}
	}
	last := existing.Placement.Status.LastScoreUpdate
	if last == nil {
		return true, time.Time{}
	}
	due = last.Add(result.Request.ScoreInterval)

	// A time far in the future was written by a process with a wrong clock.
	return !now.Before(due) || last.After(now.Add(result.Request.ScoreInterval)), due
}

// selection is a result with an index of the existing pages. It returns the Desired with updated scores or without.
type selection struct {
	*pageIndex

	result *scheduling.Result
	// rules has by id the index of the group rule that each selected cluster matches; nil when there are no rules.
	rules []int32
}

// newSelection numbers the selected clusters of a result that applies.
func newSelection(result *scheduling.Result, existing Existing) *selection {
	s := &selection{pageIndex: newPageIndex(existing, clusterNames{infos: result.Selected}), result: result}
	rules := result.Request.Groups
	if len(rules) == 0 {
		return s
	}
	s.rules = matchRules(rules, result.Selected)
	s.keepGroups(rules)
	return s
}

// keepGroups leaves the clusters that the result keeps in their existing groups: they do not move when their labels change or their
// ManagedClusters are deleted.
func (s *selection) keepGroups(rules []scheduling.GroupRule) {
	kept := make(map[string]int32, len(s.result.Kept))
	for _, name := range s.result.Kept {
		kept[name] = int32(len(rules))
	}
	if len(kept) == 0 {
		return
	}

	for i := range slices.Backward(s.pages) {
		page := &s.pages[i]
		rule := slices.IndexFunc(rules, func(rule scheduling.GroupRule) bool { return rule.Name == page.group.Name })
		for _, decision := range page.Decisions {
			if _, keeps := kept[decision.Cluster]; keeps && rule >= 0 {
				kept[decision.Cluster] = int32(rule)
			}
		}
	}

	for id, info := range s.result.Selected {
		if rule, keeps := kept[info.Name]; keeps {
			s.rules[id] = rule
		}
	}
}

// desired returns the desired decisions: with the scores of the result if sorted, and otherwise with the scores of the existing decisions.
func (s *selection) desired(sorted bool) Desired {
	d := Desired{pageIndex: s.pageIndex, sorted: sorted, groupLength: s.result.Request.GroupLength.Of(len(s.result.Selected))}
	var scores []int64
	if s.result.Request.Order == scheduling.ByScore {
		scores = s.scores(sorted)
	}

	d.scores = scores
	d.partitions = s.partitions(s.order(scores))
	d.decide = func(id int32) api.Decision {
		info := s.result.Selected[id]
		decision := api.Decision{Cluster: info.Name, Available: info.Available}
		if scores != nil {
			decision.Score = scores[id]
		}
		return s.Codec.Normalize(decision)
	}
	return d
}

// scores returns the scores of the result by id. Without update, the score of an existing decision takes precedence.
func (s *selection) scores(update bool) []int64 {
	scores := make([]int64, len(s.result.Selected))
	next := 0
	for info, score := range s.result.Scores() {
		for next < len(scores) && s.result.Selected[next].Name < info.Name {
			next++
		}
		if next == len(scores) {
			break
		}
		if s.result.Selected[next].Name == info.Name {
			scores[next] = score
		}
	}

	if update {
		return scores
	}
	for id, existing := range s.decisions()[:len(scores)] {
		if existing != nil {
			scores[id] = existing.Score
		}
	}
	return scores
}

// order returns the selected clusters sorted by score, or by name without scores.
func (s *selection) order(scores []int64) []int32 {
	order := make([]int32, 0, len(s.result.Selected))
	if scores == nil {
		for id := range s.result.Selected {
			order = append(order, int32(id))
		}
		return order
	}
	defer clear(s.scratch)

	// The order of the pages is nearly that of the scores, and sorting a nearly sorted list costs little.
	for i := range s.pages {
		for _, id := range s.pages[i].clusters {
			if s.isDesired(id) && s.scratch[id] == 0 {
				s.scratch[id] = 1
				order = append(order, id)
			}
		}
	}

	for id := range s.result.Selected {
		if s.scratch[id] == 0 {
			order = append(order, int32(id))
		}
	}
	sortByScore(order, scores)
	return order
}

// sortByScore sorts ids by descending score, then by name. Without scores it sorts by name.
func sortByScore(ids []int32, scores []int64) {
	if scores == nil {
		slices.Sort(ids)
		return
	}
	slices.SortFunc(ids, func(a, b int32) int { return cmp.Or(cmp.Compare(scores[b], scores[a]), cmp.Compare(a, b)) })
}

// partitions divides clusters by the rules that they match; clusters that match no rule come last.
func (s *selection) partitions(order []int32) []partition {
	rules := s.result.Request.Groups
	partitions := make([]partition, len(rules)+1)
	if len(rules) == 0 {
		partitions[0].clusters = order
		return partitions
	}
	for n, rule := range rules {
		partitions[n].name = rule.Name
	}

	for _, id := range order {
		taken := &partitions[s.rules[id]]
		taken.clusters = append(taken.clusters, id)
	}
	return partitions
}

// decisionsOf returns the decisions of clusters, in their order.
func (d *Desired) decisionsOf(clusters []int32) []api.Decision {
	decisions := make([]api.Decision, 0, len(clusters))
	for _, id := range clusters {
		decisions = append(decisions, d.decide(id))
	}
	return decisions
}
