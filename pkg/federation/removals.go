package federation

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/placement-hub/placement-hub/pkg/clusterinfo"
	"github.com/placement-hub/placement-hub/pkg/decision/removalbudget"
)

const (
	// ScopeGrace is how long a cluster that has left the scope of an object keeps its work, so that unbinding and binding a set in one go
	// moves nothing.
	ScopeGrace = 10 * time.Second
	// pendingRetry is after which time an object looks again for workloads whose dependencies are not known: one that turns out not to need
	// the object does not enqueue it.
	pendingRetry = 2 * time.Second

	percent = 100
)

// Budget is the removal budget of an object.
type Budget struct {
	// Percent is the share of the works of the object that may be withdrawn within removalbudget.Window for causes outside of the object, from 0 to
	// removalbudget.NoLimit.
	Percent int
	// Release is the value of the annotation that allows all removals while it is Evaluation.ReleaseToken.
	Release string
}

// Past is what a controller remembers of an object between two evaluations. The zero value is that of a controller that has just started.
type Past struct {
	// Target is the Evaluation.OwnTarget for which the works were completely written; empty if that is not known.
	Target string
	// OutOfScope has the time at which each cluster was first seen out of scope.
	OutOfScope map[string]time.Time
	// Withdrawn has the times at which works were withdrawn within removalbudget.Window for causes outside of the object.
	Withdrawn []time.Time
}

// Removal says which works of an object may be deleted now.
type Removal struct {
	// Allowed are the clusters that lose their work, sorted.
	Allowed []string
	// Graced are the clusters that keep it until ScopeGrace is over, and OutOfScope the next Past.OutOfScope.
	Graced     []string
	OutOfScope map[string]time.Time
	// Held describes why nothing is allowed: the budget is exceeded, or a user of a dependency is not known yet. Reason is the reason of the
	// Event, empty if there is none.
	Reason, Held string
	// Outside reports that the removals count for the budget.
	Outside bool
	// RequeueAt is when to look again; zero for no such time.
	RequeueAt time.Time
}

// ForScope reports whether a work may be deleted because its cluster is out of scope. The other clusters do not match, and would not match in any
// scope, because an object is delivered to all matching clusters.
func (r Removal) ForScope() bool {
	return slices.ContainsFunc(r.Allowed, func(cluster string) bool {
		_, out := r.OutOfScope[cluster]

		return out
	})
}

// Reads returns the properties of clusters that decide which of them get the object; it is never nil.
func (e *Evaluation) Reads() []clusterinfo.Property {
	reads := []clusterinfo.Property{}
	if e.Result != nil {
		reads = append(reads, e.Result.Reads()...)
	}

	return append(reads, e.snapshot.Scope(e.Object.Meta.Namespace, nil).Reads()...)
}

// Removal decides which of the clusters of WorkPlan.Lose lose their work now (docs/spec/federated-selector.md 3.1.4).
func (e *Evaluation) Removal(lose []string, budget Budget, past Past, now time.Time) Removal {
	removal := Removal{OutOfScope: map[string]time.Time{}, Outside: past.Target == "" || past.Target == e.OwnTarget()}

	if len(lose) == 0 {
		return removal
	}

	if e.pendingUser != "" {
		removal.Held = fmt.Sprintf("no work is withdrawn until the dependencies of %s are known", e.pendingUser)
		removal.RequeueAt = now.Add(pendingRetry)

		return removal
	}

	e.grace(&removal, lose, past, now)

	if held := e.exceeds(lose, budget, past, now); removal.Outside && held != "" {
		removal.Allowed, removal.Reason, removal.Held = nil, ReasonRemovalHeld, held

		if len(past.Withdrawn) > 0 {
			removal.RequeueAt = past.Withdrawn[0].Add(removalbudget.Window)
		}
	}

	return removal
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

// grace divides the clusters by whether they have been out of scope for long enough.
func (e *Evaluation) grace(removal *Removal, lose []string, past Past, now time.Time) {
	scope := e.snapshot.Scope(e.Object.Meta.Namespace, nil)

	for _, cluster := range lose {
		if info := e.snapshot.Cluster(cluster); info != nil && scope.Contains(info) {
			removal.Allowed = append(removal.Allowed, cluster)

			continue
		}

		since, known := past.OutOfScope[cluster]
		if !known {
			since = now
		}

		removal.OutOfScope[cluster] = since

		due := since.Add(ScopeGrace)
		if !due.After(now) {
			removal.Allowed = append(removal.Allowed, cluster)

			continue
		}

		removal.Graced = append(removal.Graced, cluster)

		if removal.RequeueAt.IsZero() || due.Before(removal.RequeueAt) {
			removal.RequeueAt = due
		}
	}
}

// StillOutOfScope returns those of Past.OutOfScope that are out of scope in this evaluation: a cluster that came back has a new ScopeGrace when
// it leaves again, whatever kept the works from being written meanwhile.
func (e *Evaluation) StillOutOfScope(past map[string]time.Time) map[string]time.Time {
	if len(past) == 0 || e.snapshot == nil {
		return past
	}

	scope, still := e.snapshot.Scope(e.Object.Meta.Namespace, nil), map[string]time.Time{}

	for cluster, since := range past {
		if info := e.snapshot.Cluster(cluster); info == nil || !scope.Contains(info) {
			still[cluster] = since
		}
	}

	return still
}

// exceeds returns a sentence if the removal exceeds the budget, or else "".
func (e *Evaluation) exceeds(lose []string, budget Budget, past Past, now time.Time) string {
	token := e.ReleaseToken()
	if budget.Percent >= removalbudget.NoLimit || budget.Release == token {
		return ""
	}

	before := len(slices.DeleteFunc(slices.Clone(past.Withdrawn), func(at time.Time) bool { return !at.Add(removalbudget.Window).After(now) }))
	total := before

	for _, work := range e.Works {
		if !work.Foreign && !work.Deleting {
			total++
		}
	}

	if (before+len(lose))*percent <= budget.Percent*total {
		return ""
	}

	return fmt.Sprintf("%d of %d clusters would lose %s within %s, which exceeds %d%%: %s; they keep it. To withdraw it, set the annotation %s=%s",
		before+len(lose), total, e.Object.Identity(), removalbudget.Window, budget.Percent, removalbudget.Name(lose),
		removalbudget.ReleaseAnnotation, token)
}

// ReleaseToken returns the value of ReleaseAnnotation that releases removals. It changes with the spec or data of the object.
func (e *Evaluation) ReleaseToken() string {
	if generation := e.Object.Meta.Generation; generation > 0 {
		return strconv.FormatInt(generation, 10)
	}

	return e.Object.Body.Digest
}
