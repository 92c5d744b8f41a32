// SPDX-License-Identifier: Apache-2.0

package scheduling

import (
	"fmt"
	"math"
	"slices"
	"time"

	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/placement-hub/placement-hub/pkg/clusterinfo"
	"github.com/placement-hub/placement-hub/pkg/inventory"
)

// day is the time within which the date of a time is not printed.
const day = 24 * time.Hour

// maxTolerationSeconds is the highest number of seconds that a time.Duration holds, about 292 years; a longer toleration never ends.
const maxTolerationSeconds = int64(math.MaxInt64 / time.Second)

// StageTaint is the stage of the clusters with a taint that is not tolerated.
const StageTaint Stage = "Taint"

// StepTaintToleration is the name of the filter upstream.
const StepTaintToleration Step = "TaintToleration"

var taintFilter = &filterPlugin{
	stage: StageTaint,
	step:  StepTaintToleration,
	reads: func(_ *Request, d *inventory.Dependencies) {
		d.Reads = append(d.Reads, clusterinfo.Property{Kind: clusterinfo.Taint})
	},
	batch:   (*evaluation).filterTaints,
	rejects: (*evaluation).rejectsTaints,
	text:    taintReason,
	count:   countTaints,
}

// taintResult is the effect of the taints of a cluster on a Placement.
type taintResult struct {
	// forbids is the index of the first taint that rejects the cluster, or -1.
	forbids int
	// avoid is the number of PreferNoSelect taints that are not tolerated (docs/spec/differences.md D1).
	avoid int
	// until is the earliest end of a toleration; zero means never. For a rejected cluster only the taints before the rejecting taint count,
	// because one of them rejects the cluster when its toleration ends.
	until time.Time
}

func (e *evaluation) checkTaints(info *clusterinfo.ClusterInfo) taintResult {
	t := taintResult{forbids: -1}
	for i, taint := range info.Taints {
		by, until := e.findToleration(info.Name, taint)
		switch {
		case by != notTolerated:
			t.until = earliest(t.until, until)
		case taint.Effect == clusterv1.TaintEffectPreferNoSelect:
			t.avoid++
		default:
			return taintResult{forbids: i, until: t.until}
		}
	}

	return t
}

// filterTaints removes the clusters with taints that are not tolerated.
func (e *evaluation) filterTaints(in *filtered) *filtered {
	var forbidden inventory.Members
	avoid := map[string]int{}
	for index := range in.tainted.EachSet() {
		info := e.snapshot.ClusterInfo(index)
		taints := e.checkTaints(info)
		switch {
		case taints.forbids >= 0:
			if forbidden == nil {
				forbidden = in.tainted.Clone().ClearAll()
			}
			forbidden.Set(index)
			e.result.taintsChangeAt = earliest(e.result.taintsChangeAt, taints.until)
			continue
		case taints.avoid > 0:
			avoid[info.Name] = taints.avoid
		}

		e.evalContext.RequeueAfterChange(taints.until)
	}

	left := *in
	if forbidden != nil {
		left = *e.without(in, forbidden)
	}
	left.avoid = avoid
	return &left
}

func (e *evaluation) rejectsTaints(info *clusterinfo.ClusterInfo, verdict *Verdict) bool {
	taints := e.checkTaints(info)
	verdict.taint, verdict.Avoid = taints.forbids, taints.avoid
	if taints.forbids >= 0 {
		e.result.taintsChangeAt = earliest(e.result.taintsChangeAt, taints.until)
		return true
	}
	e.evalContext.RequeueAfterChange(taints.until)
	return false
}

// countTaints counts the clusters with taints that are not tolerated by taint.
func countTaints(e *evaluation, before, _ *filtered, h histogram) {
	counts := map[clusterv1.Taint]int{}
	for index := range before.tainted.EachSet() {
		info := e.snapshot.ClusterInfo(index)
		if i := e.checkTaints(info).forbids; i >= 0 {
			counts[clusterv1.Taint{Key: info.Taints[i].Key, Value: info.Taints[i].Value, Effect: info.Taints[i].Effect}]++
		}
	}
	for taint, clusters := range counts {
		h.add(StageTaint, taintClause(taint), clusters)
	}
}

// Values of findToleration that are no index of a toleration.
const (
	// notTolerated means that nothing tolerates the taint.
	notTolerated = -2
	// toleratedByDecision means that the cluster is an incumbent.
	toleratedByDecision = -1
)

// findToleration returns the index of the toleration of a taint, toleratedByDecision or notTolerated, and the end of the toleration.
func (e *evaluation) findToleration(cluster string, taint clusterv1.Taint) (by int, until time.Time) {
	if e.incumbents[cluster] && (taint.Effect == clusterv1.TaintEffectNoSelectIfNew || clusterinfo.IsPending(taint)) {
		return toleratedByDecision, time.Time{}
	}
	if taint.Key == clusterinfo.IncompleteTaint || slices.Contains(e.request.NotTolerated, taint.Key) {
		return notTolerated, time.Time{}
	}

	// The first toleration that applies now decides, and its end counts.
	for i := range e.request.Tolerations {
		toleration := &e.request.Tolerations[i]
		if !covers(toleration, &taint) {
			continue
		}
		if toleration.TolerationSeconds == nil {
			return i, time.Time{}
		}

		seconds := *toleration.TolerationSeconds
		if seconds <= 0 || taint.TimeAdded.IsZero() {
			continue // Expired before it began.
		}
		if seconds > maxTolerationSeconds || clusterinfo.HasUnknownTime(taint) {
			return i, time.Time{}
		}
		if end := taint.TimeAdded.Add(time.Duration(seconds) * time.Second); e.evalContext.Now.Before(end) {
			return i, end
		}
	}

	return notTolerated, time.Time{}
}

// covers reports whether the toleration applies to the taint. A toleration with an unknown operator applies to none.
func covers(toleration *clusterv1beta1.Toleration, taint *clusterv1.Taint) bool {
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

// taintReason returns the clause of a cluster that a taint rejects, in detail with the toleration that has ended.
func taintReason(r *reasons, v Verdict, d detail) string {
	taint := v.Cluster.Taints[v.taint]
	if d == clauseOnly {
		return taintClause(taint)
	}
	return taintClause(taint) + r.result.endedToleration(taint)
}

// endedToleration returns "; it was tolerated for 15 s, until 14:12:37Z" of a taint that is not tolerated any more; empty if it never was.
func (r *Result) endedToleration(taint clusterv1.Taint) string {
	if taint.Key == clusterinfo.IncompleteTaint || slices.Contains(r.Request.NotTolerated, taint.Key) {
		return ""
	}
	at := slices.IndexFunc(r.Request.Tolerations, func(toleration clusterv1beta1.Toleration) bool {
		return toleration.TolerationSeconds != nil && *toleration.TolerationSeconds > 0 && covers(&toleration, &taint)
	})
	if at < 0 {
		return ""
	}
	seconds := *r.Request.Tolerations[at].TolerationSeconds
	if taint.TimeAdded.IsZero() {
		return fmt.Sprintf("; it would be tolerated for %d s, but it has no timeAdded", seconds)
	}

	end := taint.TimeAdded.Add(time.Duration(seconds) * time.Second).UTC()
	layout := "15:04:05Z"
	if end.Truncate(day) != r.now.UTC().Truncate(day) {
		layout = time.RFC3339
	}
	return fmt.Sprintf("; it was tolerated for %d s, until %s", seconds, end.Format(layout))
}

// taintClause returns the clause of a cluster that a taint rejects.
func taintClause(taint clusterv1.Taint) string { return "taint " + taintText(taint) + " not tolerated" }

// taintText returns "gpu=a100:NoSelect", or "gpu:NoSelect" without a value.
func taintText(taint clusterv1.Taint) string {
	text := taint.Key
	if taint.Value != "" {
		text += "=" + taint.Value
	}
	return text + ":" + string(taint.Effect)
}
