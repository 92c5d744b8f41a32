package story

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
	// told is how many counterfactuals are told at most.
	told = 3
	// runs bounds how often the engine is asked for one cluster.
	runs = 400
)

// search looks for counterfactuals of one cluster.
type search struct {
	world   *explain.World
	key     inventory.PlacementKey
	cluster string
	now     time.Time
	trial   *explain.Trial
	// left is how often the engine may still be asked.
	left int
}

// step is a state of the world that some proposals lead to, and the answer in it.
type step struct {
	proposals []proposal
	world     *explain.World
	result    *scheduling.Result
	selected  bool
}

// Search finds what would have a cluster of a world selected by a placement: at most three sets of changes, each put to the engine, the
// nearest first. One change is tried before two. It finds nothing when the cluster is selected, when the placement has no answer, or when
// nothing helps.
func Search(world *explain.World, key inventory.PlacementKey, cluster string, now time.Time) []Counterfactual {
	s := &search{world: world, key: key, cluster: cluster, now: now, trial: world.NewTrial(key, now), left: runs}
	if s.trial == nil {
		return nil
	}

	found := s.steps()

	counterfactuals := make([]Counterfactual, 0, len(found))
	for _, step := range found {
		counterfactuals = append(counterfactuals, newCounterfactual(step.proposals))
	}

	return counterfactuals
}

// steps are those that have the cluster selected, the nearest first.
func (s *search) steps() []step {
	present, answered := s.run(step{world: s.world})
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
			if second, alone := s.alone(pair.proposals[1]); alone {
				helps = append(helps, second)
			} else {
				helps = append(helps, pair)
			}
		}
	}

	return nearest(helps)
}

// try adds each proposal for what keeps the cluster out in a state, and tells apart those that have it selected.
func (s *search) try(from step) (helps, fails []step) {
	seen := map[string]bool{}

	for _, more := range s.proposals(from) {
		if seen[more.subject()] || slices.ContainsFunc(from.proposals, func(other proposal) bool { return other.subject() == more.subject() }) {
			continue
		}

		next, answered := s.take(from, more)

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

// take asks the engine with one more proposal. It is false when the proposal cannot be carried out, or the engine was asked too often.
func (s *search) take(from step, more proposal) (step, bool) {
	if s.left == 0 {
		return step{}, false
	}

	world, err := more.change(from.world, s.now)
	if err != nil { // The hub would refuse it, so it is no way.
		return step{}, false
	}

	return s.run(step{world: world, proposals: append(slices.Clone(from.proposals), more)})
}

// alone reports whether the second of two changes is enough.
func (s *search) alone(second proposal) (step, bool) {
	single, answered := s.take(step{world: s.world}, second)

	return single, answered && single.selected
}

func (s *search) run(at step) (step, bool) {
	s.left--

	var more []scheduling.Prioritizer
	for _, proposal := range at.proposals {
		more = append(more, proposal.more...)
	}

	at.result = s.trial.Run(at.world, more...)
	if at.result == nil || at.result.Stalled() {
		return at, false
	}

	_, at.selected = slices.BinarySearchFunc(at.result.Selected, s.cluster, func(f *clusterinfo.ClusterInfo, name string) int {
		return cmp.Compare(f.Name, name)
	})

	return at, true
}

// nearest are the best of what helps: the fewest changes, then the smallest. Each is told once.
func nearest(helps []step) []step {
	size := func(s step) int {
		sum := 0
		for _, proposal := range s.proposals {
			sum += proposal.size
		}

		return sum
	}

	slices.SortStableFunc(helps, func(a, b step) int {
		return cmp.Or(cmp.Compare(len(a.proposals), len(b.proposals)), cmp.Compare(size(a), size(b)))
	})

	if len(helps) > 0 {
		fewest := len(helps[0].proposals)
		helps = slices.DeleteFunc(helps, func(s step) bool { return len(s.proposals) > fewest })
	}

	known := map[string]bool{}
	helps = slices.DeleteFunc(helps, func(s step) bool {
		subjects := make([]string, 0, len(s.proposals))
		for _, proposal := range s.proposals {
			subjects = append(subjects, proposal.subject())
		}

		slices.Sort(subjects)

		subject := strings.Join(subjects, "\n")
		again := known[subject]
		known[subject] = true

		return again
	})

	return helps[:min(told, len(helps))]
}

// newCounterfactual makes a sentence of changes.
func newCounterfactual(proposals []proposal) Counterfactual {
	var (
		counterfactual      Counterfactual
		conditions, demands []string
	)

	for _, proposal := range proposals {
		counterfactual.Changes = append(counterfactual.Changes, Change{Kind: proposal.kind, Text: proposal.text})

		if proposal.conditional() {
			conditions = append(conditions, proposal.text)
		} else {
			demands = append(demands, proposal.text)
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
