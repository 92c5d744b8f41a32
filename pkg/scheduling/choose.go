package scheduling

import (
	"cmp"
	"slices"
)

// choose ranks the feasible clusters and takes as many as are wanted, within what anti-affinity and spread constraints allow.
func (e *evaluation) choose() {
	ranked := e.rank()
	candidates := keepApart(e.request.AntiAffinity, ranked)

	wanted := len(ranked)
	if e.request.Wanted != nil {
		wanted = int(*e.request.Wanted)
	}

	chosen, spreads := spreadOut(e.request.Spread, candidates, min(wanted, len(candidates)))
	e.result.Spreads = spreads

	if e.request.Wanted != nil {
		e.result.Unscheduled = wanted - len(chosen)
	}

	for _, i := range chosen {
		verdict := &ranked[candidates[i].Rank-1]
		verdict.Stage = StageSelected
		e.result.Selected = append(e.result.Selected, *verdict)
	}

	for i, verdict := range ranked {
		if verdict.Stage != StageSelected {
			ranked[i].Stage = keptOut(verdict, ranked, len(chosen) < wanted || outside(spreads, verdict.Cluster))
		}
	}

	e.result.feasible = ranked

	for _, verdict := range ranked {
		at, _ := slices.BinarySearchFunc(e.result.Verdicts, verdict.Cluster.Name, func(v Verdict, name string) int {
			return cmp.Compare(v.Cluster.Name, name)
		})
		e.result.Verdicts[at] = verdict
	}
}

// rank sorts the feasible clusters: those with the fewest taints that ask to prefer others come first (ours.md D1), then those with the
// higher score, then the names decide.
func (e *evaluation) rank() []Verdict {
	var ranked []Verdict

	for _, verdict := range e.result.Verdicts {
		if verdict.Stage == StageRank {
			verdict.Score = e.result.total(verdict.Cluster.Name)
			ranked = append(ranked, verdict)
		}
	}

	slices.SortFunc(ranked, func(a, b Verdict) int {
		return cmp.Or(cmp.Compare(a.Avoid, b.Avoid), cmp.Compare(b.Score, a.Score), cmp.Compare(a.Cluster.Name, b.Cluster.Name))
	})

	for i := range ranked {
		ranked[i].Rank = i + 1
	}

	return ranked
}

// keptOut is the stage that kept out a feasible cluster that was not selected. When there was room for more, or it could not be taken
// however much room there is, something forbids it; otherwise it was not needed, unless it could not have been taken beside those that were.
func keptOut(v Verdict, ranked []Verdict, room bool) Stage {
	switch {
	case v.apart == withoutKey:
		return StageAntiAffinity
	case v.apart != 0 && (room || ranked[v.apart-1].Stage == StageSelected):
		return StageAntiAffinity
	case room:
		return StageSpread
	default:
		return StageRank
	}
}

func (r *Result) total(cluster string) int64 {
	var total int64
	for _, p := range r.Prioritizers {
		total += int64(p.Prioritizer.Weight) * p.Scores[cluster]
	}

	return total
}
