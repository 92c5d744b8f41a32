package decision

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/placement-hub/placement-hub/pkg/decision/record"
	"github.com/placement-hub/placement-hub/pkg/scheduling"
	"github.com/placement-hub/placement-hub/pkg/selector"
)

// Desired is what the decisions of a placement are to say, beside the pages that exist. Clusters are ids of the existing index.
type Desired struct {
	*existing

	// keep says that there is no result to carry out: the existing decisions stay.
	keep bool
	// sorted says that the pages follow the order of the clusters, even if clusters have to change their page for it.
	sorted bool
	// partitions are the desired clusters by group rule; groupLength is the greatest number of clusters in one decision group.
	partitions  []partition
	groupLength int

	// scores are the desired scores by id; nil where the order is that of the names.
	scores []int64
	decide func(id int32) record.Decision
}

// partition is what one group rule takes of the desired clusters.
type partition struct {
	// name is the name of the rule, or empty for the rest. Several rules may carry one name.
	name string
	// clusters are in the order of the names, or of the scores if the placement asks for that.
	clusters []int32
}

// NewDesired returns what a result makes of the existing decisions at a time.
func NewDesired(result *scheduling.Result, present Present, now time.Time) Desired {
	if result.Stalled() {
		return keepDecisions(present, func(existing *record.Decision) record.Decision { return keptDecision(result, present.Form, existing) })
	}

	sorted, _ := scoreUpdate(result, present, now)

	return newSelection(result, present).desired(sorted)
}

// keepDecisions is the Desired that keeps the existing decisions, each as a function returns it.
func keepDecisions(present Present, decide func(*record.Decision) record.Decision) Desired {
	e := newExisting(present, clusterNames{names: present.clusters()})
	decisions := e.decisions()

	return Desired{
		existing: e, keep: true, groupLength: math.MaxInt,
		decide: func(id int32) record.Decision { return decide(decisions[id]) },
	}
}

// keptDecision is an existing decision while the result is held: what it says of the cluster beside its name is brought up to date.
func keptDecision(result *scheduling.Result, form record.Form, existing *record.Decision) record.Decision {
	decision := *existing
	known := result.Cluster(decision.Cluster)
	decision.Available = known != nil && known.Available

	return form.Normalize(decision)
}

// scoreUpdate says whether the scores may be brought up to date (docs/spec/differences.md B7), so that clusters may change their pages to
// follow them, and when that is due. The time is read from the status of the placement, so that an update that was cut off goes on.
func scoreUpdate(result *scheduling.Result, present Present, now time.Time) (sorted bool, due time.Time) {
	if result.Stalled() || result.Request.Order != scheduling.ByScore {
		return false, time.Time{}
	}

	last := present.Placement.Status.LastScoreUpdate
	if last == nil {
		return true, time.Time{}
	}

	due = last.Add(result.Request.ScoreInterval)

	// A time that is far ahead was written by a clock that went wrong.
	return !now.Before(due) || last.After(now.Add(result.Request.ScoreInterval)), due
}

// selection is a result beside the existing pages, of which a Desired can be made with new scores and without.
type selection struct {
	*existing

	result *scheduling.Result
	// rules are the indices of the rules that take the selected clusters, by id; nil when there are no rules.
	rules []int32
}

// newSelection numbers the selected clusters of a result that is not held.
func newSelection(result *scheduling.Result, present Present) *selection {
	s := &selection{existing: newExisting(present, clusterNames{facts: result.Selected}), result: result}

	rules := result.Request.Groups
	if len(rules) == 0 {
		return s
	}

	s.rules = slices.Repeat([]int32{int32(len(rules))}, len(result.Selected))

	for n, rule := range rules {
		pass := &selector.EvalContext{}

		for id, f := range result.Selected {
			if int(s.rules[id]) == len(rules) && rule.Selector.Matches(f, pass) {
				s.rules[id] = int32(n)
			}
		}
	}

	return s
}

// desired is what the decisions are to say: with the scores of the result if the pages are to follow them, and otherwise with the scores that
// are in the pages.
func (s *selection) desired(sorted bool) Desired {
	d := Desired{existing: s.existing, sorted: sorted, groupLength: s.result.Request.GroupLength.Of(len(s.result.Selected))}

	var scores []int64
	if s.result.Request.Order == scheduling.ByScore {
		scores = s.scores(sorted)
	}

	d.scores = scores
	d.partitions = s.partitions(s.order(scores))
	d.decide = func(id int32) record.Decision {
		f := s.result.Selected[id]
		decision := record.Decision{Cluster: f.Name, Available: f.Available}

		if scores != nil {
			decision.Score = scores[id]
		}

		return s.Form.Normalize(decision)
	}

	return d
}

// scores are the scores of the result by id, or those of the existing decisions where there are some and they are not to be brought up to date.
func (s *selection) scores(update bool) []int64 {
	scores := make([]int64, len(s.result.Selected))
	next := 0

	for f, score := range s.result.Scores() {
		for next < len(scores) && s.result.Selected[next].Name < f.Name {
			next++
		}

		if next == len(scores) {
			break
		}

		if s.result.Selected[next].Name == f.Name {
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

// order are the selected clusters in the order of the scores, or of the names without scores.
func (s *selection) order(scores []int64) []int32 {
	order := make([]int32, 0, len(s.result.Selected))

	if scores == nil {
		for id := range s.result.Selected {
			order = append(order, int32(id))
		}

		return order
	}

	defer clear(s.scratch)

	// The order of the pages is nearly that of the scores, and sorting what is nearly sorted costs little.
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

// sortByScore sorts ids by their scores, the highest first. Without scores, and where scores are equal, ids follow the names.
func sortByScore(ids []int32, scores []int64) {
	if scores == nil {
		slices.Sort(ids)

		return
	}

	slices.SortFunc(ids, func(a, b int32) int { return cmp.Or(cmp.Compare(scores[b], scores[a]), cmp.Compare(a, b)) })
}

// partitions divides clusters by the rules that take them; the rest comes last.
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

// decisionsOf are the decisions of clusters, in their order.
func (d *Desired) decisionsOf(clusters []int32) []record.Decision {
	decisions := make([]record.Decision, 0, len(clusters))
	for _, id := range clusters {
		decisions = append(decisions, d.decide(id))
	}

	return decisions
}
