// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"errors"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/placement-hub/placement-hub/pkg/federation"
	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/removalbudget"
	"github.com/placement-hub/placement-hub/pkg/scheduling"
	"github.com/placement-hub/placement-hub/pkg/selector"
)

// Hub is the state of a hub around the Objects.
type Hub struct {
	// Compiler compiles the selectors of the objects.
	Compiler *selector.Compiler
	// Snapshot has the clusters, sets and bindings.
	Snapshot *inventory.Snapshot
	// Decisions returns the decisions of a Placement.
	Decisions func(types.NamespacedName) federation.Decisions
}

// Evaluation is the evaluation of one object, with the writes that the controller would send.
type Evaluation struct {
	*federation.Evaluation

	// Plan has the writes, and Withdrawal says which of those of Plan.Lose would be sent. They are empty unless the object is delivering.
	Plan       federation.WorkPlan
	Withdrawal federation.Withdrawal
	// Unwritten says why no work can be written; empty otherwise.
	Unwritten string
	// Users are the workloads that propagate the object to a cluster.
	Users map[string][]string
	// BudgetUnknown reports that the removal budget of the hub is not known, so that it may hold the withdrawals. BudgetMistake describes an
	// invalid annotation.
	BudgetUnknown bool
	BudgetMistake string

	// limits are the removal limits that the hub is taken to have.
	limits federation.Limits
	// hashes are those of the works of the selected clusters.
	hashes map[string]string
	// worksUnread reports that the works could not be read.
	worksUnread bool
}

// Key returns the key of the object.
func (e Evaluation) Key() inventory.Key { return e.Object.Key() }

// Own returns the works that belong to the object and stay.
func (e Evaluation) Own() []federation.ExistingWork {
	return slices.DeleteFunc(slices.Clone(e.Works), func(work federation.ExistingWork) bool { return work.Foreign || work.Deleting })
}

// Clusters returns the clusters that the object reaches: those that are selected, or that have it while it or its withdrawal is held.
func (e Evaluation) Clusters() []string {
	switch e.State {
	case federation.Delivering:
		return slices.Concat(e.Selected, e.Withdrawal.Kept)
	case federation.Held, federation.Suspended:
		own := e.Own()
		clusters := make([]string, 0, len(own))
		for _, work := range own {
			if !slices.Contains(e.Plan.Lose, work.Cluster) || slices.Contains(e.Withdrawal.Kept, work.Cluster) {
				clusters = append(clusters, work.Cluster)
			}
		}
		return clusters
	default:
		return nil
	}
}

// Evaluator evaluates Objects, in one state of the hub or in several. It is not safe for concurrent use.
type Evaluator struct {
	objects  *Objects
	prepared []*prepared
	problems map[inventory.Key]string
	stray    []string
	// assumed reports that objects without works have those that Assume gave them, and pasts have the targets of those evaluations.
	assumed bool
	pasts   map[inventory.Key]federation.Past
}

// NewEvaluator returns an Evaluator. The Objects must not change afterwards.
func NewEvaluator(objects *Objects) *Evaluator {
	e := &Evaluator{objects: objects}
	e.prepared, e.problems, e.stray = objects.prepare()
	return e
}

// Stray returns a sentence for each object that does not exist and has works.
func (e *Evaluator) Stray() []string { return e.stray }

// Evaluate evaluates all objects at a time, sorted by namespace, name and kind.
func (e *Evaluator) Evaluate(hub Hub, now time.Time) []Evaluation {
	round := &round{Evaluator: e, hub: hub, now: now, done: map[inventory.Key]*Evaluation{}, users: map[inventory.Key]map[string][]string{}}
	for _, p := range e.prepared {
		if len(p.object.Body.Dependencies) > 0 {
			round.propagate(round.evaluate(p, false), p)
		}
	}

	for _, p := range e.prepared {
		if len(p.object.Body.Dependencies) == 0 {
			round.evaluate(p, true)
		}
	}
	evaluations := make([]Evaluation, 0, len(e.prepared))

	for _, p := range e.prepared {
		if len(p.object.Body.Dependencies) > 0 {
			round.evaluate(p, true)
		}
		evaluations = append(evaluations, *round.done[p.object.Key()])
	}
	return evaluations
}

// round is one evaluation of all objects.
type round struct {
	*Evaluator

	hub  Hub
	now  time.Time
	done map[inventory.Key]*Evaluation
	// users has the workloads that propagate a dependency, by its clusters.
	users map[inventory.Key]map[string][]string
}

// evaluate evaluates an object. Before the others are evaluated, its dependencies are not known to reach any cluster.
func (r *round) evaluate(p *prepared, others bool) *Evaluation {
	key := p.object.Key()
	e := &Evaluation{Users: r.users[key], worksUnread: r.objects.WorksUnread}
	r.done[key] = e
	if problem := r.problems[key]; problem != "" {
		e.Evaluation = &federation.Evaluation{Object: p.object, State: federation.Held, Message: problem, Works: p.works}
		return e
	}

	clusters := make([]string, 0, len(e.Users))
	for cluster := range e.Users {
		clusters = append(clusters, cluster)
	}

	e.Evaluation = federation.Evaluate(p.object, federation.View{
		Compiler: r.hub.Compiler, HubNamespace: r.objects.HubNamespace, Namespace: p.namespace, Works: p.works,
		Unguarded: r.objects.WorksUnguarded,
		Snapshot:  func(*scheduling.Request) *inventory.Snapshot { return r.hub.Snapshot },
		Decisions: func(name string) federation.Decisions {
			return r.hub.Decisions(types.NamespacedName{Namespace: key.Namespace, Name: name})
		},
		Users: federation.Users{Clusters: clusters},
		Reached: func(d federation.Dependency) ([]string, bool) {
			if !others {
				return nil, false
			}
			return r.reached(key.Namespace, d)
		},
	}, r.now)
	r.plan(e, p)

	return e
}

// plan adds the writes to an evaluation.
func (r *round) plan(e *Evaluation, p *prepared) {
	if e.State == federation.Deleting {
		return
	}
	e.hashes = make(map[string]string, len(e.Selected))
	for _, cluster := range e.Selected {
		if hash, err := p.hash(e.Variant(cluster)); err == nil {
			e.hashes[cluster] = hash
		}
	}

	if r.objects.WorksUnread && !r.assumed {
		return
	}
	var err error
	if e.Plan, err = e.Evaluation.Plan(p.hash); err != nil {
		e.Unwritten = err.Error()
		if _, tooLarge := errors.AsType[*federation.TooLargeError](err); tooLarge {
			e.Reason = federation.ReasonTooLarge
		}
	}

	e.limits = federation.LimitsOf(r.objects.Limit)
	_, annotated := p.object.Meta.Annotations[removalbudget.PercentAnnotation]
	outcome := e.Evaluation.Outcome(r.objects.writable(e), nil, e.limits, r.pasts[p.object.Key()], r.now)
	e.Withdrawal, e.BudgetMistake = outcome.Withdrawal, outcome.Mistake
	e.BudgetUnknown = r.objects.Limit.Percent == nil && (!annotated && e.Withdrawal.Outside || len(e.Withdrawal.OutOfScope) > 0)
}

// propagate notes the clusters of a workload for the dependencies that are delivered with it.
func (r *round) propagate(e *Evaluation, p *prepared) {
	if p.namespace == nil || !federation.Propagates(p.object.Meta.Annotations, p.namespace.Annotations) {
		return
	}
	for _, dependency := range p.object.Body.Dependencies {
		kind, delivered := r.dependencyKind(dependency)
		if !delivered {
			continue
		}
		key := Key(kind, p.object.Meta.Namespace, dependency.Name)
		if r.users[key] == nil {
			r.users[key] = map[string][]string{}
		}

		for _, cluster := range e.Clusters() {
			r.users[key][cluster] = append(r.users[key][cluster], p.object.Identity().String())
		}
	}
}

// dependencyKind returns the delivered kind of a dependency; false for ServiceAccounts.
func (r *round) dependencyKind(dependency federation.Dependency) (federation.FederatedKind, bool) {
	kinds := r.objects.kinds()
	at := slices.IndexFunc(kinds, func(kind federation.FederatedKind) bool { return kind.Group == "" && kind.Kind == dependency.Kind })
	if at < 0 {
		return federation.FederatedKind{}, false
	}
	return kinds[at], true
}

// reached returns the clusters that a dependency reaches; false if it could not be read.
func (r *round) reached(namespace string, dependency federation.Dependency) ([]string, bool) {
	if slices.Contains(r.objects.KindsUnread, dependency.Kind) {
		return nil, false
	}
	kind, delivered := r.dependencyKind(dependency)
	if !delivered {
		return nil, true
	}
	if e := r.done[Key(kind, namespace, dependency.Name)]; e != nil {
		return e.Clusters(), true
	}
	return nil, true
}

// Written reports the works of all objects, without an evaluation. The State of an object is NotDelivered if it is never delivered as far as the
// object, its Namespace and its works say so, and empty otherwise.
func (e *Evaluator) Written() []Report {
	reports := make([]Report, 0, len(e.prepared))
	for _, p := range e.prepared {
		written := &federation.Evaluation{Object: p.object, Works: p.works}
		if why := e.objects.excluded(p); why != "" {
			written.State, written.Message = federation.NotDelivered, why
		}
		reports = append(reports, NewReport(Evaluation{Evaluation: written, worksUnread: e.objects.WorksUnread}, false))
	}
	return reports
}

// Assume gives the objects without works those that the evaluations would make, with all replicas ready. Objects that the evaluations lack
// stay without. The removal budget does not hold what follows from another OwnTarget than that of the evaluations, as on a hub.
func (e *Evaluator) Assume(evaluations []Evaluation) {
	e.assumed = true
	selected := make(map[inventory.Key]Evaluation, len(evaluations))
	e.pasts = make(map[inventory.Key]federation.Past, len(evaluations))
	for _, evaluation := range evaluations {
		selected[evaluation.Key()] = evaluation
		if evaluation.State != federation.Delivering {
			continue
		}
		past := federation.Past{Target: evaluation.OwnTarget()}
		if len(evaluation.Plan.Lose) == 0 { // Otherwise the works are held, and were written for another target.
			past.Selected = evaluation.Target.String()
		}
		e.pasts[evaluation.Key()] = past
	}

	for _, p := range e.prepared {
		evaluation, found := selected[p.object.Key()]
		if !found || len(p.works) > 0 || evaluation.State != federation.Delivering {
			continue
		}
		for _, cluster := range evaluation.Selected {
			replicas := evaluation.Replicas[cluster]
			p.works = append(p.works, federation.ExistingWork{
				Cluster: cluster, Hash: evaluation.hashes[cluster], Replicas: replicas, Ready: replicas,
			})
		}
	}
}
