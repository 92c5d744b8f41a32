package explain

import (
	"cmp"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/placement-hub/placement-hub/pkg/decision/record"
	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/scheduling"
)

// Reports is what the formats json and yaml print.
type Reports struct {
	// Now is the time of the evaluation.
	Now metav1.Time `json:"now"`
	// Placements are sorted by namespace and name.
	Placements []Report `json:"placements"`
}

// Report explains the answer for one placement. Its JSON names are stable: fields may be added, and none is renamed or removed.
type Report struct {
	// Key names the placement.
	Key inventory.PlacementKey `json:"-"`
	// Placement is "namespace/name".
	Placement string `json:"placement"`
	// API is the API group that the placement is written in, if that is not cluster.open-cluster-management.io.
	API string `json:"api,omitempty"`
	// Skipped says why the controller leaves the placement alone: its decisions stay as they are, whatever becomes of them.
	Skipped string `json:"skipped,omitempty"`
	// Stalled says that the present decisions stay, because there is no answer, as the placement or a cluster set it needs is broken, or because
	// the answer would remove too many clusters. The conditions say what is wrong. The clusters tell of the answer, if there is one.
	Stalled bool `json:"stalled,omitempty"`
	// Wanted is spec.numberOfClusters; absent when all feasible clusters are wanted.
	Wanted *int32 `json:"wanted,omitempty"`
	// Feasible is how many clusters are in scope and pass predicates and taints.
	Feasible int `json:"feasible"`
	// Selected are the clusters in the decisions: best first, or by name when skipped or held.
	Selected []string `json:"selected"`
	// Groups are the decision groups in their order.
	Groups []GroupReport `json:"groups"`
	// Conditions are the conditions of the placement's status.
	Conditions []metav1.Condition `json:"conditions"`
	// Causes are why the clusters in scope that were not selected were not, the cause of most clusters first; absent when the placement is
	// satisfied.
	Causes []CauseReport `json:"causes,omitempty"`
	// Behind is how the decisions that are written differ from the answer; absent when they do not.
	Behind *BehindReport `json:"behind,omitempty"`
	// Unanswered says why the placement was not evaluated; what else is said then was written by the hub before.
	Unanswered string `json:"unanswered,omitempty"`
	// Notes are what the answer leaves out or could not look at, and what to do about it.
	Notes []string `json:"notes,omitempty"`
	// Warnings are what a user should know although the answer stands.
	Warnings []string `json:"warnings,omitempty"`
	// ChangesAt is the earliest time at which the answer can change although nothing else does: a toleration or a score runs out.
	ChangesAt *metav1.Time `json:"changesAt,omitempty"`
	// Prioritizers are what the score is made of, in their order.
	Prioritizers []PrioritizerReport `json:"prioritizers"`
	// Clusters are the clusters: selected ones by rank, then the others by how far they came, then by rank, then by name. Clusters out
	// of scope are left out unless they were asked for.
	Clusters []ClusterReport `json:"clusters"`
	// OutOfScope counts the clusters in no set that the placement may use, whether listed or not; OutOfScopeReason says why they are.
	OutOfScope       int    `json:"outOfScope"`
	OutOfScopeReason string `json:"outOfScopeReason,omitempty"`
}

// GroupReport is one decision group.
type GroupReport struct {
	// Index counts from 0.
	Index int32 `json:"index"`
	// Name is the groupName of the rule that made the group; empty for the rest.
	Name string `json:"name"`
	// Decisions are the names of the PlacementDecisions.
	Decisions []string `json:"decisions"`
	// Clusters are their clusters.
	Clusters []string `json:"clusters"`
}

// CauseReport is why some clusters in scope were not selected.
type CauseReport struct {
	// Verdict is the stage that kept them out, as in ClusterReport.
	Verdict string `json:"verdict"`
	// Clause is why, without what is particular to a cluster.
	Clause string `json:"clause"`
	// Clusters is how many there are.
	Clusters int `json:"clusters"`
}

// BehindReport is what has still to be written. The lists are sorted by name.
type BehindReport struct {
	// Gained are the clusters that the decisions lack, Lost those that they have and should not have, and Moved those that stand in another
	// decision group than they should.
	Gained []string `json:"gained"`
	Lost   []string `json:"lost"`
	Moved  []string `json:"moved"`
}

// PrioritizerReport is one summand of the score.
type PrioritizerReport struct {
	// Name is "Balance", or "AddOn/<resourceName>/<scoreName>".
	Name string `json:"name"`
	// Weight is in [-10, 10] and not 0.
	Weight int32 `json:"weight"`
}

// ClusterReport is what became of one cluster.
type ClusterReport struct {
	// Name is the name of the ManagedCluster.
	Name string `json:"name"`
	// Verdict is Selected, or the first stage that kept the cluster out: Rank, Spread, AntiAffinity, Taint, Predicate, Terminating or OutOfScope.
	Verdict string `json:"verdict"`
	// Rank counts from 1 over the feasible clusters; absent for the others.
	Rank int `json:"rank,omitempty"`
	// Score is the weighted sum of Scores; absent for clusters that are not feasible.
	Score *int64 `json:"score,omitempty"`
	// Scores are the unweighted scores by the name of the prioritizer; absent for clusters that are not feasible.
	Scores map[string]int64 `json:"scores,omitempty"`
	// Decided says that the decisions, as they are written now, have the cluster.
	Decided bool `json:"decided,omitempty"`
	// Reason is the exact clause that decided.
	Reason string `json:"reason"`
}

// NewReport explains an evaluation. With all it lists the clusters out of scope too.
func NewReport(evaluation Evaluation, all bool) Report {
	placement := evaluation.Placement
	report := Report{
		Key:          placement.Key(),
		Placement:    placement.Namespace + "/" + placement.Name,
		API:          namedAPI(placement),
		Skipped:      evaluation.Skipped,
		Wanted:       placement.Wanted,
		Selected:     []string{},
		Groups:       groupReports(evaluation),
		Conditions:   append([]metav1.Condition{}, evaluation.Status.Conditions...),
		Prioritizers: []PrioritizerReport{},
		Clusters:     []ClusterReport{},
	}

	result := evaluation.Result
	if result == nil || result.Stalled() {
		for _, clusters := range evaluation.Pages {
			report.Selected = append(report.Selected, clusters...)
		}

		slices.Sort(report.Selected)
		report.Stalled = result != nil

		if result == nil || !result.Valid() {
			return report
		}
	}

	report.Feasible = result.Feasible()

	if !report.Stalled {
		for _, verdict := range result.Best() {
			report.Selected = append(report.Selected, verdict.Cluster.Name)
		}
	}

	for _, warning := range result.Warnings() {
		report.Warnings = append(report.Warnings, warning.Source+": "+warning.Message)
	}

	report.Warnings = append(report.Warnings, result.Unreadable()...)

	if evaluation.LimitUnknown {
		report.Warnings = append(report.Warnings, unknownLimit)
	}

	if !result.RequeueAt.IsZero() {
		report.ChangesAt = &metav1.Time{Time: result.RequeueAt}
	}

	for _, scores := range result.Prioritizers() {
		report.Prioritizers = append(report.Prioritizers, PrioritizerReport{
			Name: scores.Prioritizer.Name(), Weight: scores.Prioritizer.Weight,
		})
	}

	report.Causes, report.Behind = causesOf(evaluation), behindOf(evaluation)
	addClusters(&report, evaluation, all)

	return report
}

// namedAPI is the name of the API of a placement; empty for the one that is not said.
func namedAPI(placement *record.Placement) string {
	if placement.API == record.V1beta1 {
		return ""
	}

	return string(placement.API.Name())
}

func addClusters(report *Report, evaluation Evaluation, all bool) {
	result, decided := evaluation.Result, evaluation.Present.Incumbents()
	verdicts := slices.SortedFunc(slices.Values(result.Verdicts()), func(a, b scheduling.Verdict) int {
		return cmp.Or(cmp.Compare(b.Stage, a.Stage), cmp.Compare(a.Rank, b.Rank), cmp.Compare(a.Cluster.Name, b.Cluster.Name))
	})

	for _, verdict := range verdicts {
		if verdict.Stage == scheduling.StageScope {
			report.OutOfScope++

			if report.OutOfScope == 1 {
				report.OutOfScopeReason = result.Reason(verdict)
			}

			if !all {
				continue
			}
		}

		cluster := newClusterReport(result, verdict)
		cluster.Decided = decided[cluster.Name]
		report.Clusters = append(report.Clusters, cluster)
	}
}

func newClusterReport(result *scheduling.Result, verdict scheduling.Verdict) ClusterReport {
	report := ClusterReport{
		Name: verdict.Cluster.Name, Verdict: verdict.Stage.String(), Rank: verdict.Rank, Reason: result.Reason(verdict),
	}
	if verdict.Rank == 0 {
		return report
	}

	report.Score = &verdict.Score
	report.Scores = make(map[string]int64, len(result.Prioritizers()))

	for _, scores := range result.Prioritizers() {
		if score, given := scores.Scores[verdict.Cluster.Name]; given {
			report.Scores[scores.Prioritizer.Name()] = score
		}
	}

	return report
}

func groupReports(evaluation Evaluation) []GroupReport {
	groups := make([]GroupReport, 0, len(evaluation.Status.Groups))

	for _, status := range evaluation.Status.Groups {
		group := GroupReport{
			Index: int32(status.Index), Name: status.Name, Clusters: []string{}, Decisions: append([]string{}, status.Pages...),
		}
		for _, page := range status.Pages {
			group.Clusters = append(group.Clusters, evaluation.Pages[page]...)
		}

		groups = append(groups, group)
	}

	return groups
}
