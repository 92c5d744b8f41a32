package scheduling

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/placement-hub/placement-hub/pkg/facts"
	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/selector"
)

// evaluation is the state of one call of Schedule.
type evaluation struct {
	request    *Request
	snapshot   *inventory.Snapshot
	incumbents map[string]bool
	pass       *selector.Pass
	result     *Result
}

// Schedule answers the request on a snapshot. The incumbents are the clusters in the placement's present decisions; now is the time of
// the evaluation, and the result says when the answer can change by the passing of time alone.
func Schedule(request *Request, snapshot *inventory.Snapshot, incumbents map[string]bool, now time.Time) *Result {
	e := &evaluation{
		request: request, snapshot: snapshot, incumbents: incumbents, pass: &selector.Pass{Now: now},
		result: &Result{
			Request: request, Generation: snapshot.Generation, Mistakes: request.Mistakes, snapshot: snapshot, now: now,
		},
	}
	scope := e.scope()

	if e.result.Held() {
		return e.result
	}

	feasible := e.filter(scope)
	if e.pass.Exhausted() {
		return e.hold()
	}

	e.prioritize(feasible)
	e.choose()
	e.result.WakeAt = e.pass.WakeAt()

	return e.result
}

func (e *evaluation) scope() inventory.Scope {
	scope := e.snapshot.Scope(e.request.Key.Namespace, e.request.ClusterSets)
	e.result.Bound = scope.Bound

	for _, set := range scope.Eligible {
		e.result.Eligible = append(e.result.Eligible, set.Name)

		if set.Err != nil {
			e.result.BrokenSets = append(e.result.BrokenSets, set)
		}
	}

	return scope
}

// hold gives up an evaluation whose CEL expressions cost too much: the verdicts reached so far are no answer.
func (e *evaluation) hold() *Result {
	held := *e.result
	held.Verdicts, held.EvaluationErrors = nil, nil
	held.Mistakes = field.ErrorList{field.Forbidden(field.NewPath("spec", "predicates"), fmt.Sprintf(
		"the CEL expressions cost more than the %d that one evaluation over all clusters may cost: narrow the clusters by labelSelector, "+
			"claimSelector or clusterSets first, or make the expressions cheaper", uint64(selector.PassCost)))}

	return &held
}

// filter takes every cluster through scope, predicates and taints, and returns those that pass all.
func (e *evaluation) filter(scope inventory.Scope) []*facts.Facts {
	e.result.Verdicts = make([]Verdict, 0, len(e.snapshot.Clusters))

	var feasible []*facts.Facts

	for _, f := range e.snapshot.Clusters {
		verdict := Verdict{Cluster: f, Stage: StageRank, taint: -1}

		switch {
		case !scope.Holds(f):
			verdict.Stage = StageScope
		case f.Terminating:
			verdict.Stage = StageTerminating
		default:
			e.result.Available++

			if verdict.Stage = e.check(f, &verdict); verdict.Stage == StageRank {
				feasible = append(feasible, f)
			}
		}

		e.result.Verdicts = append(e.result.Verdicts, verdict)
	}

	return feasible
}

func (e *evaluation) check(f *facts.Facts, verdict *Verdict) Stage {
	if !e.passesPredicates(f) {
		return StagePredicate
	}

	taints := e.judge(f)

	verdict.taint, verdict.Avoid = taints.forbids, taints.avoid
	if taints.forbids >= 0 {
		return StageTaint
	}

	e.pass.Wake(taints.until)

	return StageRank
}

func (e *evaluation) passesPredicates(f *facts.Facts) bool {
	passes := len(e.request.Predicates) == 0

	for _, predicate := range e.request.Predicates {
		if e.pass.Exhausted() {
			return false
		}

		verdict := predicate.Selector.Match(f, e.pass)
		if verdict.Matched {
			return true
		}

		if verdict.Err != nil {
			e.noteError(predicate.CEL.Index(verdict.Expression), f.Name, verdict.Err)
		}
	}

	return passes
}

// noteError counts a failed evaluation. Clusters come in the order of their names, so the first one stays the first.
func (e *evaluation) noteError(path *field.Path, cluster string, err error) {
	known := slices.IndexFunc(e.result.EvaluationErrors, func(other EvaluationError) bool { return other.Path.String() == path.String() })
	if known >= 0 {
		e.result.EvaluationErrors[known].Clusters++

		return
	}

	e.result.EvaluationErrors = append(e.result.EvaluationErrors, EvaluationError{Path: path, Clusters: 1, First: cluster, Err: err})
	slices.SortFunc(e.result.EvaluationErrors, func(a, b EvaluationError) int { return cmp.Compare(a.Path.String(), b.Path.String()) })
}

func (e *evaluation) prioritize(feasible []*facts.Facts) {
	for _, prioritizer := range e.request.Prioritizers {
		e.result.Prioritizers = append(e.result.Prioritizers, PrioritizerScores{
			Prioritizer: prioritizer, Scores: prioritizer.scores(e, feasible),
		})
	}

	slices.SortFunc(e.result.Warnings, func(a, b Warning) int {
		return cmp.Or(cmp.Compare(a.Source, b.Source), cmp.Compare(a.Message, b.Message))
	})
}

func (e *evaluation) warnExpired(p Prioritizer, cluster string) {
	e.result.Warnings = append(e.result.Warnings, Warning{
		Source: p.Name(), Message: fmt.Sprintf("AddOnPlacementScores %s/%s expired", cluster, p.Resource),
	})
}
