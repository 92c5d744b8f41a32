// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"cmp"
	"maps"
	"slices"

	"k8s.io/utils/ptr"

	"github.com/placement-hub/placement-hub/pkg/explain/document"
	"github.com/placement-hub/placement-hub/pkg/federation"
	"github.com/placement-hub/placement-hub/pkg/scheduling"
)

// verdicts returns the verdicts on all clusters by name, and counts those out of scope in a report.
func (e Evaluation) verdicts(report *Report) map[string]scheduling.Verdict {
	verdicts := map[string]scheduling.Verdict{}
	if e.Result == nil || e.Result.Outcome() != scheduling.Decided {
		return verdicts
	}

	for _, verdict := range e.Result.Verdicts() {
		verdicts[verdict.Cluster.Name] = verdict
		if verdict.Stage == scheduling.StageScope {
			report.OutOfScope++
			report.OutOfScopeReason = e.Result.Reason(verdict)
		}
	}
	return verdicts
}

// addClusters adds the clusters to a report: the selected ones, those with a work, and those with a verdict.
func addClusters(report *Report, e Evaluation, all bool) {
	verdicts, causeOf := e.verdicts(report), e.causes()
	works := make(map[string]federation.ExistingWork, len(e.Works))
	names := slices.AppendSeq(slices.Clone(e.Selected), maps.Keys(verdicts))
	for _, work := range e.Works {
		works[work.Cluster] = work
		names = append(names, work.Cluster)
	}
	slices.Sort(names)

	for _, name := range slices.Compact(names) {
		work, delivered := works[name]
		_, selected := slices.BinarySearch(e.Selected, name)
		verdict, known := verdicts[name]
		if known && verdict.Stage == scheduling.StageScope && !delivered && !selected && !all {
			continue
		}
		cluster := Cluster{Name: name, Delivered: delivered && !work.Foreign}
		cluster.Verdict, cluster.Reason = e.verdict(name, selected, verdict, known)
		cluster.Clause = causeOf(cluster, verdict)

		cluster.Pending = e.pending(name, work, delivered)
		if cluster.Pending == PendingHold {
			hold := e.Withdrawal.Holds[name]
			cluster.Hold, cluster.Verdict = document.NewHold(cluster.Verdict, hold.Until, hold.Release), document.VerdictHeld
		}
		if cluster.Delivered {
			cluster.Applied, cluster.Available, cluster.Problem = string(work.Applied), string(work.Available), work.Problem
		}
		e.addNumbers(&cluster, work, selected)
		report.Clusters = append(report.Clusters, cluster)
	}

	sortClusters(report.Clusters)
}

// addNumbers adds the replicas of a workload in a cluster, and the clusters that a hub has selected for a Placement.
func (e Evaluation) addNumbers(cluster *Cluster, work federation.ExistingWork, selected bool) {
	if e.Object.Kind.HasReplicas() && (selected || cluster.Delivered) {
		cluster.Wanted, cluster.WhyNoReplicas = ptr.To(e.wanted(cluster.Name, work)), e.WhyNoReplicas(cluster.Name)
		if !e.worksUnread {
			cluster.Ready = ptr.To(work.Ready)
		}
	}
	if e.Object.Kind.SelectsClusters() && !e.worksUnread {
		cluster.Selected = work.Selected
	}
}

// causes returns a function for the clause that rejected a cluster: the reason of its report, without the details of the cluster if the verdict is
// the scheduler's. It is empty for selected clusters.
func (e Evaluation) causes() func(Cluster, scheduling.Verdict) string {
	causeOf := func(scheduling.Verdict) string { return "" }
	if e.Result != nil {
		causeOf = e.Result.Causes()
	}
	return func(cluster Cluster, verdict scheduling.Verdict) string {
		switch {
		case cluster.Verdict == scheduling.StageSelected.String():
			return ""
		case cluster.Verdict != "" && !e.Target.Nowhere:
			return causeOf(verdict)
		default:
			return cluster.Reason
		}
	}
}

// wanted returns the replicas that a cluster is to have: those of the plan, or without one those of its work.
func (e Evaluation) wanted(cluster string, work federation.ExistingWork) int32 {
	if e.State == federation.Delivering {
		return e.Replicas[cluster]
	}
	return work.Replicas
}

// verdict returns the verdict on a cluster, and the clause that decided.
func (e Evaluation) verdict(cluster string, selected bool, verdict scheduling.Verdict, known bool) (stage, reason string) {
	switch {
	case selected:
		return scheduling.StageSelected.String(), e.selectedBy(cluster)
	case known && e.Target.Nowhere && verdict.Stage == scheduling.StageRank:
		return verdict.Stage.String(), "the annotation keeps the object on the hub"
	case known:
		return verdict.Stage.String(), e.Result.Reason(verdict)
	case e.State == federation.Delivering:
		return "", e.UnselectedReason(cluster)
	default:
		return "", ""
	}
}

// selectedBy returns why a cluster is selected.
func (e Evaluation) selectedBy(cluster string) string {
	if slices.Contains(e.Propagated, cluster) {
		return usersText(e.Users[cluster])
	}
	return e.SelectedReason()
}

// pending returns what the hub is to do with the work of a cluster.
func (e Evaluation) pending(cluster string, work federation.ExistingWork, exists bool) string {
	switch {
	case slices.Contains(e.Plan.Conflicts, cluster):
		return PendingConflict
	case slices.Contains(e.Plan.Waiting, cluster):
		return PendingWait
	case exists && work.Deleting && !work.Foreign:
		return PendingRemove
	case slices.Contains(e.Withdrawal.Kept, cluster):
		return PendingHold
	case slices.Contains(e.Plan.Lose, cluster), e.State == federation.Deleting && exists && !work.Foreign:
		return PendingWithdraw
	case slices.Contains(e.Plan.Gain, cluster) && !exists:
		return PendingCreate
	case slices.Contains(e.Plan.Gain, cluster), slices.Contains(e.Plan.Reduce, cluster):
		return PendingUpdate
	default:
		return ""
	}
}

// sortClusters sorts the held clusters first, then the selected ones, those with a work, and the others by the stage that they reached.
func sortClusters(clusters []Cluster) {
	rank := func(c Cluster) int {
		switch {
		case c.Verdict == document.VerdictHeld:
			return 0
		case c.Verdict == scheduling.StageSelected.String():
			return 1
		case c.Delivered:
			return 2
		default:
			return 3
		}
	}

	slices.SortStableFunc(clusters, func(a, b Cluster) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), document.CompareVerdicts(a.Verdict, b.Verdict), cmp.Compare(a.Name, b.Name))
	})
}
