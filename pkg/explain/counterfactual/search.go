// SPDX-License-Identifier: Apache-2.0

package counterfactual

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/placement-hub/placement-hub/pkg/clusterinfo"
	"github.com/placement-hub/placement-hub/pkg/explain"
	"github.com/placement-hub/placement-hub/pkg/explain/search"
	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/scheduling"
)

// maxCounterfactuals bounds the returned counterfactuals.
const maxCounterfactuals = 3

// clusterSearch finds the counterfactuals of one cluster.
type clusterSearch struct {
	search.Search[step, candidate]

	state     *explain.State
	key       inventory.Key
	cluster   string
	now       time.Time
	evaluator *explain.Evaluator
	// selected are the clusters that are selected without a change, by name.
	selected []string
}

// step is the State after some candidates were applied, with the result in it.
type step struct {
	candidates []candidate
	state      *explain.State
	result     *scheduling.Result
	selected   bool
	// leaving are the clusters that are selected without the candidates and not with them, by name.
	leaving []string
}

// Search returns at most three counterfactuals of a cluster that a Placement does not select, the nearest first; each was confirmed by the
// scheduler. Those for which no other cluster leaves come first. It returns none when the cluster is selected, when the Placement has no valid
// result, or when no one or two changes help.
func Search(state *explain.State, key inventory.Key, cluster string, now time.Time) []Counterfactual {
	s := newSearch(state, key, cluster, now)
	if s.evaluator == nil {
		return nil
	}
	found := s.steps()
	counterfactuals := make([]Counterfactual, 0, len(found))
	for _, step := range found {
		counterfactuals = append(counterfactuals, newCounterfactual(step.candidates, step.leaving))
	}
	return counterfactuals
}

func newSearch(state *explain.State, key inventory.Key, cluster string, now time.Time) *clusterSearch {
	s := &clusterSearch{state: state, key: key, cluster: cluster, now: now, evaluator: state.NewEvaluator(key, now)}
	s.Search = search.Search[step, candidate]{
		Changes: s.changes, Apply: s.apply, Evaluate: s.evaluate, Helps: func(at step) bool { return at.selected }, Subject: candidate.subject,
		Left: search.MaxEvaluations,
	}
	return s
}

// steps returns the steps that select the cluster, the nearest first.
func (s *clusterSearch) steps() []step {
	present, answered := s.Start(step{state: s.state})
	if !answered || present.selected {
		return nil
	}
	s.selected = namesOf(present.result.Selected)
	helps, fails := s.One(present)
	if len(helps) > 0 {
		return nearest(append(helps, s.keeping(helps)...))
	}
	return nearest(s.Two(fails, s.sufficient))
}

// keeping returns steps that have the cluster selected beside those that are selected now, by a higher numberOfClusters. It returns none if that
// is not needed, because a step without it keeps them.
func (s *clusterSearch) keeping(helps []step) []step {
	if slices.ContainsFunc(helps, func(help step) bool { return len(help.leaving) == 0 }) {
		return nil
	}
	var found []step

	for _, help := range helps {
		wanted := help.result.Request.Wanted
		if wanted == nil {
			continue
		}
		next, answered := s.Extend(help, s.withNumber(int(*wanted)+len(help.leaving)))
		if answered && next.selected && len(next.leaving) == 0 {
			found = append(found, next)
		}
	}
	return found
}

func namesOf(clusters []*clusterinfo.ClusterInfo) []string {
	names := make([]string, 0, len(clusters))
	for _, cluster := range clusters {
		names = append(names, cluster.Name)
	}
	return names
}

// changes returns the candidates of a step, except those that change what the step has changed.
func (s *clusterSearch) changes(from step) []candidate {
	return slices.DeleteFunc(s.candidates(from), func(more candidate) bool {
		return slices.ContainsFunc(from.candidates, func(other candidate) bool { return other.subject() == more.subject() })
	})
}

// apply returns a step with one more candidate; false if the hub would refuse it.
func (s *clusterSearch) apply(from step, more candidate) (step, bool) {
	state, err := more.apply(from.state, s.now)
	return step{state: state, candidates: append(slices.Clone(from.candidates), more)}, err == nil
}

// sufficient returns the step with the second of two changes if that alone selects the cluster, and otherwise the step with both.
func (s *clusterSearch) sufficient(pair step) step {
	if single, answered := s.Extend(step{state: s.state}, pair.candidates[1]); answered && single.selected {
		return single
	}
	return pair
}

func (s *clusterSearch) evaluate(at step) (step, bool) {
	var more []scheduling.Prioritizer
	for _, candidate := range at.candidates {
		more = append(more, candidate.prioritizers...)
	}
	at.result = s.evaluator.Evaluate(at.state, more...)
	if at.result == nil || at.result.Outcome() != scheduling.Decided {
		return at, false
	}
	selected := namesOf(at.result.Selected)
	_, at.selected = slices.BinarySearch(selected, s.cluster)
	for _, name := range s.selected {
		if _, still := slices.BinarySearch(selected, name); !still {
			at.leaving = append(at.leaving, name)
		}
	}

	return at, true
}

// nearest returns the best steps without duplicates: those that let no cluster leave, then those with the fewest changes and the lowest cost. It
// leaves out steps with more changes than such a one.
func nearest(helps []step) []step {
	size := func(s step) int {
		sum := 0
		for _, candidate := range s.candidates {
			sum += candidate.cost
		}
		return sum
	}

	slices.SortStableFunc(helps, func(a, b step) int {
		return cmp.Or(
			cmp.Compare(min(len(a.leaving), 1), min(len(b.leaving), 1)), cmp.Compare(len(a.candidates), len(b.candidates)),
			cmp.Compare(size(a), size(b)),
		)
	})

	fewest := 0 // of the steps so far
	helps = slices.DeleteFunc(helps, func(s step) bool {
		if fewest == 0 || len(s.candidates) < fewest && len(s.leaving) > 0 {
			fewest = len(s.candidates)
		}
		return len(s.candidates) > fewest
	})

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

// newCounterfactual composes the sentence of a set of changes, by which clusters leave.
func newCounterfactual(candidates []candidate, leaving []string) Counterfactual {
	var conditions, demands []string
	counterfactual := Counterfactual{Leaving: leaving}
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

	if len(leaving) > 0 {
		counterfactual.Text += "; then " + named(leaving) + " would leave"
	}
	return counterfactual
}

// namesShown bounds the clusters that are named.
const namesShown = 3

// named returns the first names, and the number of the others.
func named(names []string) string {
	if len(names) <= namesShown {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:namesShown], ", "), len(names)-namesShown)
}
