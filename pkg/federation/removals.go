// SPDX-License-Identifier: Apache-2.0

package federation

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/placement-hub/placement-hub/pkg/clusterinfo"
	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/removalbudget"
)

const (
	// ScopeGrace is how long a cluster that has left the scope of an object keeps its work, so that unbinding and binding a set in one go
	// moves nothing.
	ScopeGrace = 10 * time.Second
	// GainWait is how long clusters keep their works because a selected cluster cannot get the object.
	GainWait = 5 * time.Minute
	// pendingRetry is after which time an object looks again for workloads whose dependencies are not known: one that turns out not to need
	// the object does not enqueue it.
	pendingRetry = 2 * time.Second
)

// Budget is the removal budget of an object.
type Budget struct {
	// Percent is the share of the works of the object that may be withdrawn within removalbudget.Window for causes outside of the object, from 0 to
	// removalbudget.NoLimit.
	Percent int
	// Release is the value of the annotation that allows all removals while it is Evaluation.ReleaseToken.
	Release string
	// Hub are the limits of the hub, without the annotations of the object. They alone hold works of clusters that have left the scope.
	Hub Limits
}

// Past is what a controller remembers of an object between two evaluations. The zero value is that of a controller that has just started.
type Past struct {
	// Target is the Evaluation.OwnTarget for which the works were completely written, and Selected the text of its Target; empty if that is not
	// known.
	Target, Selected string
	// OutOfScope has the time at which each cluster was first seen out of scope.
	OutOfScope map[string]time.Time
	// Unserved has the time since which each selected cluster could not get the object.
	Unserved map[string]time.Time
	// Withdrawn has the time at which each cluster lost its work within removalbudget.Window for a cause outside of the object, and Joined the time
	// at which each cluster got one so.
	Withdrawn, Joined map[string]time.Time
	// Exceeded is Withdrawal.Exceeded of the last evaluation. While it is true, no cluster leaves Joined because its time is over, so that clusters
	// that join do not release what is held.
	Exceeded bool
}

// Withdrawal says which works of an object may be deleted now.
type Withdrawal struct {
	// Allowed are the clusters that lose their work, sorted.
	Allowed []string
	// Graced are the clusters that keep it until ScopeGrace is over, and OutOfScope the next Past.OutOfScope.
	Graced     []string
	OutOfScope map[string]time.Time
	// Unserved is the next Past.Unserved.
	Unserved map[string]time.Time
	// Kept are the clusters that keep their work for what Held describes, sorted: the budget is exceeded, a selected cluster cannot get the
	// object, the selector matches no cluster, or a user of a dependency is not known yet. Reason is the reason of the Event, empty if there
	// is none. Holds has what ends the hold of each of them.
	Kept         []string
	Holds        map[string]removalbudget.Hold
	Reason, Held string
	// KeptLast reports that Kept has works of clusters out of scope, because no other cluster replaces them (docs/spec/differences.md B17).
	KeptLast bool
	// Draining are the clusters that would lose their work and are about to be deleted, sorted: no budget counts or holds them
	// (docs/spec/differences.md G5). Joined are the other ones that have just joined, sorted: they are neither in the base of a budget nor among
	// its losses (docs/spec/differences.md B19).
	Draining, Joined []string
	// Exceeded reports that Kept has clusters because the budget of the object or of the hub is exceeded.
	Exceeded bool
	// Outside reports that the removals of clusters in scope count for the budget. Those of clusters out of scope always do.
	Outside bool
	// RequeueAt is when to look again; zero for no such time.
	RequeueAt time.Time
}

// ForScope reports whether a work may be deleted because its cluster is out of scope. The other clusters do not match, and would not match in any
// scope, because an object is delivered to all matching clusters.
func (w *Withdrawal) ForScope() bool { return slices.ContainsFunc(w.Allowed, w.outOfScope) }

// Counts reports whether the removal of a cluster counts for the budget.
func (w *Withdrawal) Counts(cluster string) bool {
	return !w.drains(cluster) && !w.hasJoined(cluster) && (w.Outside || w.outOfScope(cluster))
}

func (w *Withdrawal) drains(cluster string) bool { return contains(w.Draining, cluster) }

func (w *Withdrawal) hasJoined(cluster string) bool { return contains(w.Joined, cluster) }

// contains reports whether a sorted list has a cluster.
func contains(clusters []string, cluster string) bool {
	_, found := slices.BinarySearch(clusters, cluster)
	return found
}

// withoutDraining returns those of the clusters that something can hold.
func (w *Withdrawal) withoutDraining(clusters []string) []string {
	return slices.DeleteFunc(slices.Clone(clusters), w.drains)
}

// counting returns those of the clusters that count for a budget.
func (w *Withdrawal) counting(clusters []string) []string {
	return slices.DeleteFunc(w.withoutDraining(clusters), w.hasJoined)
}

// OnlyScope drops those of Allowed that are in scope.
func (w *Withdrawal) OnlyScope() {
	w.Allowed = slices.DeleteFunc(w.Allowed, func(cluster string) bool { return !w.outOfScope(cluster) })
}

// Reads returns the properties of clusters that decide which of them get the object; it is never nil.
func (e *Evaluation) Reads() []clusterinfo.Property {
	reads := []clusterinfo.Property{}
	if e.Result != nil {
		reads = append(reads, e.Result.Reads()...)
	}
	return append(reads, e.snapshot.Scope(e.Object.Meta.Namespace, nil).Reads()...)
}

func (w *Withdrawal) outOfScope(cluster string) bool {
	_, out := w.OutOfScope[cluster]
	return out
}

// hold keeps works of clusters for a cause.
func (w *Withdrawal) hold(clusters []string, reason, why string) {
	w.Kept = append(w.Kept, clusters...)
	w.Reason = cmp.Or(w.Reason, reason)
	if w.Held != "" {
		w.Held += "; "
	}
	w.Held += why
}

// holdUntil records what ends the hold of clusters, as a part of a sentence, and the time at which it ends by itself; zero for none.
func (w *Withdrawal) holdUntil(clusters []string, until time.Time, release string) {
	for _, cluster := range clusters {
		w.holdAs(cluster, removalbudget.Hold{Until: until, Release: release})
	}
}

func (w *Withdrawal) holdAs(cluster string, hold removalbudget.Hold) {
	if w.Holds == nil {
		w.Holds = map[string]removalbudget.Hold{}
	}
	w.Holds[cluster] = hold
}

// lookAt moves RequeueAt to an earlier time.
func (w *Withdrawal) lookAt(at time.Time) {
	if w.RequeueAt.IsZero() || at.Before(w.RequeueAt) {
		w.RequeueAt = at
	}
}

// withdrawal decides which of the clusters of WorkPlan.Lose lose their work now (docs/spec/federated-selector.md 3.1.4). unserved are selected
// clusters for which a write has failed; those of WorkPlan.Conflicts count with them.
func (e *Evaluation) withdrawal(plan WorkPlan, unserved []string, budget Budget, past Past, now time.Time) Withdrawal {
	withdrawal := Withdrawal{
		OutOfScope: map[string]time.Time{}, Unserved: map[string]time.Time{}, Outside: past.Target == "" || past.Target == e.OwnTarget(),
	}
	for _, cluster := range slices.Concat(plan.Conflicts, unserved) {
		withdrawal.Unserved[cluster] = sinceIn(past.Unserved, cluster, now)
	}
	if len(plan.Lose) == 0 {
		return withdrawal
	}

	// Who joined before the window, while others were held, is lost as any other cluster.
	past.Joined = without(past.Joined, func(cluster string, at time.Time) bool {
		return !now.Before(at.Add(removalbudget.Window)) && contains(plan.Lose, cluster)
	})
	for _, cluster := range plan.Lose {
		if _, joined := past.Joined[cluster]; removalbudget.Drains(e.snapshot.Cluster(cluster)) {
			withdrawal.Draining = append(withdrawal.Draining, cluster)
		} else if joined {
			withdrawal.Joined = append(withdrawal.Joined, cluster)
		}
	}
	out, in := e.split(plan.Lose)
	if len(in) > 0 {
		e.loseInScope(&withdrawal, in, len(withdrawal.counting(plan.Lose)), budget, past, now)
	}
	last := budget.Hub.KeepLast && budget.Hub.Percent < removalbudget.NoLimit && e.losesLast(&withdrawal, plan, out)
	e.loseScope(&withdrawal, out, last, budget, past, now)

	slices.Sort(withdrawal.Allowed)
	slices.Sort(withdrawal.Kept)
	return withdrawal
}

// sinceIn returns the time of a cluster, or now.
func sinceIn(times map[string]time.Time, cluster string, now time.Time) time.Time {
	if since, known := times[cluster]; known {
		return since
	}
	return now
}

// loseScope decides about clusters that have left the scope: neither annotations nor mistakes of the object keep their works. last reports that no
// other cluster has the object.
func (e *Evaluation) loseScope(withdrawal *Withdrawal, out []string, last bool, budget Budget, past Past, now time.Time) {
	exceeded := e.count(withdrawal, len(withdrawal.counting(out)), past).Exceeds(budget.Hub.Percent)
	var kept []string
	for _, cluster := range out {
		since := sinceIn(past.OutOfScope, cluster, now)
		withdrawal.OutOfScope[cluster] = since

		grace, held := ScopeGrace, exceeded && !withdrawal.drains(cluster) && !withdrawal.hasJoined(cluster) || last && !e.isGone(cluster)
		if held {
			grace = max(ScopeGrace, budget.Hub.ScopeHold)
		}
		due := since.Add(grace)
		if slices.Contains(e.leaving, cluster) { // Its users leave before it.
			due = due.Add(max(ScopeGrace, e.usersHold(budget)))
		}

		switch {
		case !due.After(now):
			withdrawal.Allowed = append(withdrawal.Allowed, cluster)
			continue
		case held:
			kept = append(kept, cluster)
			withdrawal.holdAs(cluster, removalbudget.NewScopeHold(due))
		default:
			withdrawal.Graced = append(withdrawal.Graced, cluster)
		}
		withdrawal.lookAt(due)
	}

	if len(kept) == 0 {
		return
	}
	withdrawal.Exceeded = withdrawal.Exceeded || exceeded
	holds := fmt.Sprintf("the removal budget of the hub, %d%%, holds their works for %s at most", budget.Hub.Percent, budget.Hub.ScopeHold)
	if withdrawal.KeptLast = !exceeded; withdrawal.KeptLast {
		holds = fmt.Sprintf("the hub holds the works of the last clusters for %s at most while no other cluster replaces them", budget.Hub.ScopeHold)
	}
	withdrawal.hold(kept, ReasonRemovalHeld, fmt.Sprintf("clusters %s have left the scope of %s, and %s; bind the set again, or wait",
		removalbudget.Name(kept), e.Object.Identity(), holds))
}

// usersHold returns how long the budget of the hub may hold the works of the users of a dependency.
func (*Evaluation) usersHold(budget Budget) time.Duration {
	if budget.Hub.Percent >= removalbudget.NoLimit {
		return 0
	}
	return budget.Hub.ScopeHold
}

// loseInScope decides about clusters that the object does not select any more; all is the number of clusters that would lose it and count for the
// budget.
func (e *Evaluation) loseInScope(withdrawal *Withdrawal, in []string, all int, budget Budget, past Past, now time.Time) {
	token := e.ReleaseToken()
	released, kept, counted := budget.Release == token, withdrawal.withoutDraining(in), withdrawal.counting(in)
	count, annotated := e.count(withdrawal, all, past), "the object has the annotation "+removalbudget.ReleaseAnnotation+"="+token
	switch {
	case e.pendingUser != "":
		withdrawal.lookAt(now.Add(pendingRetry))
		withdrawal.holdUntil(in, time.Time{}, "stays until the dependencies of "+e.pendingUser+" are known")
		withdrawal.hold(in, "", fmt.Sprintf("no work is withdrawn until the dependencies of %s are known", e.pendingUser))
		return
	case len(kept) == 0:
	case e.matchesNone && past.Selected != e.Target.String() && !released:
		withdrawal.holdUntil(kept, time.Time{}, "stays until the selector matches a cluster in scope, or "+annotated)
		withdrawal.hold(kept, ReasonRemovalHeld, fmt.Sprintf("the selector %s matches no cluster in scope, so clusters %s keep %s: correct it. "+
			"To withdraw the object, set the annotation %s=%s", e.Target, removalbudget.Name(kept), e.Object.Identity(),
			removalbudget.ReleaseAnnotation, token))
	case len(counted) > 0 && withdrawal.Outside && !released && count.Exceeds(budget.Percent):
		kept, withdrawal.Exceeded = counted, true
		withdrawal.holdUntil(kept, time.Time{}, "stays until the removal budget permits its removal, or "+annotated)
		withdrawal.hold(kept, ReasonRemovalHeld, e.exceeded(count, kept, budget))
		for _, at := range e.stillWithdrawn(past) {
			withdrawal.lookAt(at.Add(removalbudget.Window))
		}
	default:
		kept = nil
	}

	e.waitForGains(withdrawal, slices.DeleteFunc(slices.Clone(in), func(cluster string) bool { return slices.Contains(kept, cluster) }), now)
}

// waitForGains lets healthy clusters keep their works while a selected cluster cannot get the object, for GainWait.
func (e *Evaluation) waitForGains(withdrawal *Withdrawal, in []string, now time.Time) {
	var until time.Time
	for _, since := range withdrawal.Unserved {
		if due := since.Add(GainWait); due.After(until) {
			until = due
		}
	}
	if !until.After(now) {
		withdrawal.Allowed = append(withdrawal.Allowed, in...)
		return
	}

	var kept []string
	for _, cluster := range in {
		if info := e.snapshot.Cluster(cluster); info != nil && info.Available {
			kept = append(kept, cluster)
		} else {
			withdrawal.Allowed = append(withdrawal.Allowed, cluster)
		}
	}

	if len(kept) > 0 {
		unserved := removalbudget.Name(slices.Sorted(maps.Keys(withdrawal.Unserved)))
		withdrawal.lookAt(until)
		withdrawal.holdUntil(kept, until, "leaves at "+until.UTC().Format(time.RFC3339)+", or when clusters "+unserved+" have the object")
		withdrawal.hold(kept, "", fmt.Sprintf("clusters %s keep the object while clusters %s cannot get it, for %s at most",
			removalbudget.Name(kept), unserved, GainWait))
	}
}

// OwnTarget returns a text that changes when the annotations of the object ask for other clusters, and never is empty. Annotations of the
// Namespace are a cause outside of the object.
func (e *Evaluation) OwnTarget() string {
	_, selects := e.Object.Meta.Annotations[SelectorAnnotation]
	_, places := e.Object.Meta.Annotations[PlacementAnnotation]
	if !selects && !places {
		return "default"
	}
	return e.Target.String()
}

// split divides clusters by whether they have left the scope.
func (e *Evaluation) split(lose []string) (out, in []string) {
	left := e.leftScope()
	for _, cluster := range lose {
		if left(cluster) {
			out = append(out, cluster)
		} else {
			in = append(in, cluster)
		}
	}
	return out, in
}

// leftScope returns a function that reports whether a cluster is out of the scope of the object. A cluster that an invalid set may contain, or
// whose labels could not be decoded, is not known to be out (docs/architecture.md law 6).
func (e *Evaluation) leftScope() func(cluster string) bool {
	scope := e.snapshot.Scope(e.Object.Meta.Namespace, nil)
	invalid := slices.ContainsFunc(scope.Eligible, func(set *inventory.ClusterSet) bool { return set.Err != nil })
	return func(cluster string) bool {
		info := e.snapshot.Cluster(cluster)
		return info == nil || !invalid && len(info.Unreadable.Under("metadata")) == 0 && !scope.Contains(info)
	}
}

// withdrawals returns the clusters with a work that have left the scope, sorted: they lose it also while the object is held or suspended.
func (e *Evaluation) withdrawals() []string {
	if e.snapshot == nil {
		return nil
	}
	var lose []string
	left := e.leftScope()
	for _, work := range e.Works {
		if !work.Foreign && !work.Deleting && left(work.Cluster) {
			lose = append(lose, work.Cluster)
		}
	}

	slices.Sort(lose)
	return lose
}

// StillOutOfScope returns those of Past.OutOfScope that are out of scope in this evaluation: a cluster that came back has a new ScopeGrace when
// it leaves again, whatever kept the works from being written meanwhile.
func (e *Evaluation) StillOutOfScope(past map[string]time.Time) map[string]time.Time {
	if len(past) == 0 || e.snapshot == nil {
		return past
	}
	left, still := e.leftScope(), map[string]time.Time{}
	for cluster, since := range past {
		if left(cluster) {
			still[cluster] = since
		}
	}
	return still
}

// exceeded returns a sentence about a budget that is exceeded.
func (e *Evaluation) exceeded(count removalbudget.Count, lose []string, budget Budget) string {
	return fmt.Sprintf("%s would lose %s within %s, which exceeds %d%%: %s; they keep it. To withdraw it, set the annotation %s=%s",
		count, e.Object.Identity(), removalbudget.Window, budget.Percent, removalbudget.Name(lose),
		removalbudget.ReleaseAnnotation, e.ReleaseToken())
}

// ReleaseToken returns the value of ReleaseAnnotation that releases removals. It changes with the spec or data of the object.
func (e *Evaluation) ReleaseToken() string {
	if generation := e.Object.Meta.Generation; generation > 0 {
		return strconv.FormatInt(generation, 10)
	}
	return e.Object.Body.Digest
}
