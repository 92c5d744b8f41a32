package decision

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/placement-hub/placement-hub/pkg/decision/record"
	"github.com/placement-hub/placement-hub/pkg/facts"
	"github.com/placement-hub/placement-hub/pkg/scheduling"
	"github.com/placement-hub/placement-hub/pkg/selector"
)

// Answer is what the decisions of a placement are to say.
type Answer struct {
	// Held says that there is no answer, so that the clusters that are decided stay.
	Held bool
	// Portions are the selected clusters by group rule; Length is the greatest number of members of one decision group.
	Portions []Portion
	Length   int
	// Say are the decisions by cluster: of those that are selected, and of those that are decided already.
	Say map[string]record.Decision

	order scheduling.Order
	// sorted says that the pages follow the order of the answer, even if clusters have to change their page for it.
	sorted bool
}

// Portion is what one group rule takes of the selected clusters.
type Portion struct {
	// Name is the name of the rule, or empty for the rest. Several rules may carry one name.
	Name string
	// Clusters are sorted by name, or by score if the placement asks for that.
	Clusters []string
}

// NewAnswer is what a result says at a time.
func NewAnswer(result *scheduling.Result, present Present, now time.Time) Answer {
	answer := Answer{Held: result.Held(), Length: math.MaxInt, Say: present.decisions(), order: result.Request.Order}

	for cluster, decision := range answer.Say {
		known := result.Cluster(cluster)
		decision.Available = known != nil && known.Available
		answer.Say[cluster] = present.Form.Own(decision)
	}

	if answer.Held {
		return answer
	}

	answer.Length = result.Request.GroupLength.Of(len(result.Selected))
	answer.sorted, _ = schedule(result, present, now)

	for _, f := range result.Selected {
		decision := record.Decision{Cluster: f.Name, Available: f.Available}
		before, decided := answer.Say[decision.Cluster]

		switch {
		case answer.order != scheduling.ByScore:
		case answer.sorted || !decided:
			decision.Score = result.Score(f.Name)
		default:
			decision.Score = before.Score
		}

		answer.Say[decision.Cluster] = present.Form.Own(decision)
	}

	answer.Portions = answer.portions(result)

	return answer
}

// schedule says whether the scores may be brought up to date (docs/spec/differences.md B7), so that clusters may change their pages to
// follow them, and when that is due. The time is read from the status of the placement, so that an update that was cut off goes on.
func schedule(result *scheduling.Result, present Present, now time.Time) (sorted bool, due time.Time) {
	if result.Held() || result.Request.Order != scheduling.ByScore {
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

// portions divides the selected clusters: each rule in its order takes the matching ones that are left, and the rest comes last.
func (a *Answer) portions(result *scheduling.Result) []Portion {
	left := slices.Clone(result.Selected)
	slices.SortFunc(left, func(x, y *facts.Facts) int { return a.compare(x.Name, y.Name) })

	portions := make([]Portion, 0, len(result.Request.Groups)+1)

	for _, rule := range result.Request.Groups {
		portion := Portion{Name: rule.Name}
		pass := &selector.Pass{}
		left = slices.DeleteFunc(left, func(f *facts.Facts) bool {
			if !rule.Selector.Matches(f, pass) {
				return false
			}

			portion.Clusters = append(portion.Clusters, f.Name)

			return true
		})
		portions = append(portions, portion)
	}

	rest := Portion{}
	for _, f := range left {
		rest.Clusters = append(rest.Clusters, f.Name)
	}

	return append(portions, rest)
}

// compare is the order of clusters in a page and in a group.
func (a *Answer) compare(x, y string) int {
	if a.order == scheduling.ByScore {
		return cmp.Or(cmp.Compare(a.Say[y].Score, a.Say[x].Score), cmp.Compare(x, y))
	}

	return cmp.Compare(x, y)
}

// decisions are what is said of clusters, in their order. Nil stays nil.
func (a *Answer) decisions(clusters []string) []record.Decision {
	if clusters == nil {
		return nil
	}

	decisions := make([]record.Decision, 0, len(clusters))
	for _, cluster := range clusters {
		decisions = append(decisions, a.Say[cluster])
	}

	return decisions
}

// sort puts clusters in the order of the answer.
func (a *Answer) sort(clusters []string) []string {
	slices.SortFunc(clusters, a.compare)

	return clusters
}
