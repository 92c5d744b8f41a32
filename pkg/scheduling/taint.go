package scheduling

import (
	"math"
	"time"

	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/placement-hub/placement-hub/pkg/clusterinfo"
)

// maxTolerationSeconds is the greatest number of seconds that a time.Duration holds, about 292 years; a longer toleration never ends.
const maxTolerationSeconds = int64(math.MaxInt64 / time.Second)

// taintResult is what the taints of a cluster mean for a placement.
type taintResult struct {
	// forbids is the index of the first taint that keeps the cluster out, or -1.
	forbids int
	// avoid is how many taints ask to prefer other clusters (docs/spec/differences.md D1).
	avoid int
	// until is the earliest time at which a toleration that counts runs out; zero means never. Of a cluster that is kept out those of the
	// taints before the one that forbids it count: another one forbids it then.
	until time.Time
}

func (e *evaluation) checkTaints(f *clusterinfo.ClusterInfo) taintResult {
	j := taintResult{forbids: -1}

	for i, taint := range f.Taints {
		by, until := e.findToleration(f.Name, taint)

		switch {
		case by != notTolerated:
			j.until = earliest(j.until, until)
		case taint.Effect == clusterv1.TaintEffectPreferNoSelect:
			j.avoid++
		default:
			return taintResult{forbids: i, until: j.until}
		}
	}

	return j
}

// earliest is the earlier of two times, where zero means never.
func earliest(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}

	return a
}

// What tolerates a taint when no toleration does.
const (
	// notTolerated is nothing.
	notTolerated = -2
	// toleratedByDecision is that the cluster is in the decisions already.
	toleratedByDecision = -1
)

// findToleration is the index of the toleration that lets a taint pass, byDecision or byNone, and when that ends.
func (e *evaluation) findToleration(cluster string, taint clusterv1.Taint) (by int, until time.Time) {
	if taint.Effect == clusterv1.TaintEffectNoSelectIfNew && e.incumbents[cluster] {
		return toleratedByDecision, time.Time{}
	}

	// The first toleration that holds now decides, and its end is what counts.
	for i := range e.request.Tolerations {
		toleration := &e.request.Tolerations[i]
		if !covers(*toleration, taint) {
			continue
		}

		if toleration.TolerationSeconds == nil {
			return i, time.Time{}
		}

		seconds := *toleration.TolerationSeconds
		if seconds <= 0 || taint.TimeAdded.IsZero() {
			continue // Expired before it began.
		}

		if seconds > maxTolerationSeconds || clusterinfo.HasUnreadableTime(taint) {
			return i, time.Time{}
		}

		if end := taint.TimeAdded.Add(time.Duration(seconds) * time.Second); e.evalContext.Now.Before(end) {
			return i, end
		}
	}

	return notTolerated, time.Time{}
}

// covers reports whether the toleration is meant for the taint. An unknown operator is meant for none.
func covers(toleration clusterv1beta1.Toleration, taint clusterv1.Taint) bool {
	if toleration.Effect != "" && toleration.Effect != taint.Effect || toleration.Key != "" && toleration.Key != taint.Key {
		return false
	}

	switch toleration.Operator {
	case clusterv1beta1.TolerationOpExists:
		return true
	case "", clusterv1beta1.TolerationOpEqual:
		return toleration.Value == taint.Value
	default:
		return false
	}
}

// taintClause says that a taint keeps a cluster out.
func taintClause(taint clusterv1.Taint) string { return "taint " + taintText(taint) + " not tolerated" }

// taintText is "gpu=a100:NoSelect", or "gpu:NoSelect" without a value.
func taintText(taint clusterv1.Taint) string {
	text := taint.Key
	if taint.Value != "" {
		text += "=" + taint.Value
	}

	return text + ":" + string(taint.Effect)
}
