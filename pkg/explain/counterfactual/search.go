package counterfactual

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/placement-hub/placement-hub/pkg/clusterinfo"
	"github.com/placement-hub/placement-hub/pkg/explain"
	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/scheduling"
)

const (
	// maxCounterfactuals bounds the returned counterfactuals.
	maxCounterfactuals = 3
	// maxEvaluations bounds the evaluations of one search.
	maxEvaluations = 400
)

// search finds the counterfactuals of one cluster.
type search struct {
	state     *explain.State
	key       inventory.Key
	cluster   string
	now       time.Time
	evaluator *explain.Evaluator
	// budget is the number of evaluations that are left.
	budget int
}

// step is the State after some candidates were applied, with the result in it.
type step struct {
	candidates []candidate
	state      *explain.State
	result     *scheduling.Result
	selected   bool
}

// Search returns at most three counterfactuals of a cluster that a Placement does not select, the nearest first; each was confirmed by the
// scheduler. It returns none when the cluster is selected, when the Placement has no valid result, or when no one or two changes help.
func Search(state *explain.State, key inventory.Key, cluster string, now time.Time) []Counterfactual {
	s := &search{state: state, key: key, cluster: cluster, now: now, evaluator: state.NewEvaluator(key, now), budget: maxEvaluations}
	if s.evaluator == nil {
		return nil
	}

	found := s.steps()

	counterfactuals := make([]Counterfactual, 0, len(found))
	for _, step := range found {
		counterfactuals = append(counterfactuals, newCounterfactual(step.candidates))
	}

	return counterfactuals
}

// steps returns the steps that select the cluster, the nearest first.
func (s *search) steps() []step {
	present, answered := s.evaluate(step{state: s.state})
	if !answered || present.selected {
		return nil
	}

	helps, fails := s.try(present)
	if len(helps) > 0 {
		return nearest(helps)
	}

	for _, first := range fails {
		both, _ := s.try(first)
		for _, pair := range both {
			if second, alone := s.sufficient(pair.candidates[1]); alone {
				helps = append(helps, second)
			} else {
				helps = append(helps, pair)
			}
		}
	}

	return nearest(helps)
}

// try applies each candidate to a step, and separates the steps that select the cluster from the others.
func (s *search) try(from step) (helps, fails []step) {
	seen := map[string]bool{}

	for _, more := range s.candidates(from) {
		if seen[more.subject()] || slices.ContainsFunc(from.candidates, func(other candidate) bool { return other.subject() == more.subject() }) {
			continue
		}

		next, answered := s.extend(from, more)

		switch {
		case !answered:
		case next.selected:
			seen[more.subject()] = true
			helps = append(helps, next)
		default:
			fails = append(fails, next)
		}
	}

	return helps, fails
}

// extend evaluates a step with one more candidate. It returns false when the candidate cannot be applied, or the budget is used up.
func (s *search) extend(from step, more candidate) (step, bool) {
	if s.budget == 0 {
		return step{}, false
	}

	state, err := more.apply(from.state, s.now)
	if err != nil { // The hub would refuse the change.
		return step{}, false
	}

	return s.evaluate(step{state: state, candidates: append(slices.Clone(from.candidates), more)})
}

// sufficient reports whether the second of two changes alone selects the cluster.
func (s *search) sufficient(second candidate) (step, bool) {
	single, answered := s.extend(step{state: s.state}, second)

	return single, answered && single.selected
}

func (s *search) evaluate(at step) (step, bool) {
	s.budget--

	var more []scheduling.Prioritizer
	for _, candidate := range at.candidates {
		more = append(more, candidate.prioritizers...)
	}

	at.result = s.evaluator.Evaluate(at.state, more...)
	if at.result == nil || at.result.Outcome() != scheduling.Decided {
		return at, false
	}

	_, at.selected = slices.BinarySearchFunc(at.result.Selected, s.cluster, func(f *clusterinfo.ClusterInfo, name string) int {
		return cmp.Compare(f.Name, name)
	})

	return at, true
}

// nearest returns the best steps without duplicates: the fewest changes, then the lowest cost.
func nearest(helps []step) []step {
	size := func(s step) int {
		sum := 0
		for _, candidate := range s.candidates {
			sum += candidate.cost
		}

		return sum
	}

	slices.SortStableFunc(helps, func(a, b step) int {
		return cmp.Or(cmp.Compare(len(a.candidates), len(b.candidates)), cmp.Compare(size(a), size(b)))
	})

	if len(helps) > 0 {
		fewest := len(helps[0].candidates)
		helps = slices.DeleteFunc(helps, func(s step) bool { return len(s.candidates) > fewest })
	}

	known := map[string]bool{}
	helps = slices.DeleteFunc(helps, func(s step) bool {
		subjects := make([]string, 0, len(s.candidates))
		for _, candidate := range s.candidates {
			subjects = append(subjects, candidate.subject())
		}

		slices.Sort(subjects)

		subject := strings.Join(subjects, "\n")
		again := known[subject]
		known[subject] = true

		return again
	})

	return helps[:min(maxCounterfactuals, len(helps))]
}

// newCounterfactual composes the sentence of a set of changes.
func newCounterfactual(candidates []candidate) Counterfactual {
	var (
		counterfactual      Counterfactual
		conditions, demands []string
	)

	for _, candidate := range candidates {
		counterfactual.Changes = append(counterfactual.Changes, Change{Kind: candidate.kind, Text: candidate.text})

		if candidate.conditional() {
			conditions = append(conditions, candidate.text)
		} else {
			demands = append(demands, candidate.text)
		}
	}

	condition, demand := strings.Join(conditions, " and "), strings.Join(demands, " and ")

	switch {
	case demand == "":
		counterfactual.Text = "would be selected if " + condition
	case condition == "":
		counterfactual.Text = "needs " + demand
	default:
		counterfactual.Text = "would be selected if " + condition + ", and needs " + demand + " too"
	}

	return counterfactual
}
