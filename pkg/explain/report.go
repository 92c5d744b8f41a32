// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"cmp"
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	requests "github.com/placement-hub/placement-hub/pkg/clusterrequest/explain"
	"github.com/placement-hub/placement-hub/pkg/explain/document"
	federated "github.com/placement-hub/placement-hub/pkg/federation/explain"
	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/placement"
	"github.com/placement-hub/placement-hub/pkg/placement/api"
	pods "github.com/placement-hub/placement-hub/pkg/podscheduling/explain"
	"github.com/placement-hub/placement-hub/pkg/scheduling"
)

// Reports is the output of the formats json and yaml.
type Reports struct {
	// Now is the time of the evaluation.
	Now metav1.Time `json:"now"`
	// Placements are sorted by namespace and name.
	Placements []Report `json:"placements"`
	// Objects say where objects are delivered, and ObjectNotes what of them could not be read.
	Objects     []federated.Report `json:"objects,omitempty"`
	ObjectNotes []string           `json:"objectNotes,omitempty"`
	// Workloads say where the Pods of the workloads in the files may run, in the order of the files.
	Workloads []pods.Report `json:"workloads,omitempty"`
	// Requests say what each ClusterRequest in the files has or gets. They are sorted by namespace and name.
	Requests []requests.Report `json:"requests,omitempty"`
}

// Report explains the result of one Placement. Its JSON names are stable: fields may be added, and none is renamed or removed.
type Report struct {
	// Key is the key of the Placement.
	Key inventory.Key `json:"-"`
	// Placement is "namespace/name".
	Placement string `json:"placement"`
	// API is the API group of the Placement, if that is not cluster.open-cluster-management.io.
	API string `json:"api,omitempty"`
	// Skipped is the reason why the controller does not schedule the Placement: its decisions stay as they are.
	Skipped string `json:"skipped,omitempty"`
	// Stalled reports that the existing decisions stay, because the Placement or a cluster set that it needs is invalid, or because the
	// removal budget blocks the removals. Conditions have the reason. Clusters have the verdicts of the result, if there is one.
	Stalled bool `json:"stalled,omitempty"`
	// Wanted is spec.numberOfClusters; absent when all feasible clusters are wanted.
	Wanted *int32 `json:"wanted,omitempty"`
	// Feasible is the number of clusters that are in scope and pass predicates and taints.
	Feasible int `json:"feasible"`
	// Selected are the clusters in the decisions: best first, or by name when skipped or stalled.
	Selected []string `json:"selected"`
	// Groups are the decision groups in their order.
	Groups []GroupReport `json:"groups"`
	// Conditions are the conditions of the placement's status.
	Conditions []metav1.Condition `json:"conditions"`
	// Causes are the reasons why clusters in scope were not selected, those of the most clusters first; absent when the Placement is
	// satisfied.
	Causes []CauseReport `json:"causes,omitempty"`
	// Behind is the difference between the existing decisions and the result; absent when there is none.
	Behind *BehindReport `json:"behind,omitempty"`
	// Unanswered is the reason why the Placement was not evaluated; the other fields then have the values that the hub has written.
	Unanswered string `json:"unanswered,omitempty"`
	// Notes name inputs that the result lacks and clusters that stay without their openMCP Clusters, and what to do about it.
	Notes []string `json:"notes,omitempty"`
	// Warnings are problems that do not invalidate the result.
	Warnings []string `json:"warnings,omitempty"`
	// ChangesAt is the earliest time at which the result can change without an event: a toleration or a score expires.
	ChangesAt *metav1.Time `json:"changesAt,omitempty"`
	// Prioritizers are the summands of the score, in their order.
	Prioritizers []PrioritizerReport `json:"prioritizers"`
	// Clusters are the clusters: held ones by name, then selected ones by rank, then the others by the stage that they reached, then by rank,
	// then by name. Clusters out of scope that are not held are left out unless they were asked for.
	Clusters []ClusterReport `json:"clusters"`
	// OutOfScope counts the clusters in no set that the Placement may use, whether listed or not; OutOfScopeReason is their reason.
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
	// Clusters are the clusters in these PlacementDecisions.
	Clusters []string `json:"clusters"`
}

// CauseReport is a reason why some clusters in scope were not selected.
type CauseReport struct {
	// Verdict is the stage that rejected them, as in ClusterReport.
	Verdict string `json:"verdict"`
	// Clause is the reason, without the details of single clusters.
	Clause string `json:"clause"`
	// Clusters is the number of these clusters, from 1.
	Clusters int `json:"clusters"`
}

// BehindReport is the difference that has still to be written. The lists are sorted by name.
type BehindReport struct {
	// Gained are the clusters that the decisions lack, Lost those that must leave them, and Moved those that are in another decision group
	// than they should be.
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

// ClusterReport is the verdict on one cluster.
type ClusterReport struct {
	// Name is the name of the ManagedCluster.
	Name string `json:"name"`
	// Verdict is Selected, or the first stage that rejected the cluster: Rank, Spread, AntiAffinity, Taint, Predicate, Terminating or
	// OutOfScope. It is Held for a cluster that such a stage rejects, and that stays in the decisions all the same.
	Verdict string `json:"verdict"`
	// Rank counts from 1 over the feasible clusters; absent for the others.
	Rank int `json:"rank,omitempty"`
	// Score is the weighted sum of Scores; absent for clusters that are not feasible.
	Score *int64 `json:"score,omitempty"`
	// Scores are the unweighted scores by the name of the prioritizer; absent for clusters that are not feasible.
	Scores map[string]int64 `json:"scores,omitempty"`
	// Decided reports that the existing decisions have the cluster.
	Decided bool `json:"decided,omitempty"`
	// Reason is the exact clause that decided: for a held cluster the one by which it would leave.
	Reason string `json:"reason"`
	// Hold is the stage that rejects a held cluster, and what ends the hold; absent for the others.
	Hold *document.Hold `json:"hold,omitempty"`
	// Clause is the Reason without the details of the cluster, as in CauseReport; empty for selected clusters.
	Clause string `json:"-"`
}

// NewReport returns the report of an Evaluation. With all it lists the clusters out of scope too.
func NewReport(evaluation Evaluation, all bool) Report {
	return newReport(evaluation, all, newClusterReports)
}

// newReport is NewReport with a function for the reports of clusters.
func newReport(
	evaluation Evaluation, all bool, describe func(*scheduling.Result) func(scheduling.Verdict) ClusterReport,
) Report {
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
	if result == nil || result.Outcome() != scheduling.Decided {
		for _, clusters := range evaluation.Pages {
			report.Selected = append(report.Selected, clusters...)
		}
		slices.Sort(report.Selected)
		report.Stalled = result != nil
		if result != nil {
			report.Notes = goneNotes(result, report.Selected)
		}

		if result == nil || result.Outcome() == scheduling.Invalid {
			return report
		}
	}

	report.Feasible = result.Feasible()
	if !report.Stalled {
		for _, verdict := range result.Best() {
			report.Selected = append(report.Selected, verdict.Cluster.Name)
		}
		report.Notes = append(goneNotes(result, report.Selected), misspeltNotes(result)...)
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
	addClusters(&report, evaluation, all, describe(result))
	return report
}

// NewWrittenReport reports the status and the decisions that the hub has written for a Placement that was not evaluated; unanswered is the
// reason. The pages are those of its API and namespace.
func NewWrittenReport(p *api.Placement, pages []*api.Page, unanswered string) Report {
	existing := placement.NewExisting(p.API.Codec(), p, pages)
	evaluation := Evaluation{Placement: p, Existing: existing, Status: p.Status, Pages: pagesAfter(existing, placement.Plan{})}
	report := NewReport(evaluation, false)
	report.Unanswered = unanswered
	return report
}

// namedAPI returns the API group of a Placement; empty for v1beta1, which the output does not name.
func namedAPI(placement *api.Placement) string {
	if placement.API == api.V1beta1 {
		return ""
	}
	return string(placement.API.Name())
}

func addClusters(report *Report, evaluation Evaluation, all bool, describe func(scheduling.Verdict) ClusterReport) {
	result, decided, holds := evaluation.Result, evaluation.Existing.Incumbents(), evaluation.Holds()
	verdicts := inOrderOfReport(result.Verdicts())
	for _, verdict := range verdicts {
		if verdict.Stage == scheduling.StageScope {
			report.OutOfScope++
			if report.OutOfScope == 1 {
				report.OutOfScopeReason = result.Reason(verdict)
			}
		}
	}
	listed := len(verdicts)
	if !all {
		listed -= report.OutOfScope
	}
	report.Clusters = make([]ClusterReport, 0, listed+len(holds)) // Reports of large fleets are megabytes.
	add := func(cluster ClusterReport) {
		cluster.Decided = decided[cluster.Name]
		report.Clusters = append(report.Clusters, cluster)
	}
	for _, name := range slices.Sorted(maps.Keys(holds)) {
		cluster := ClusterReport{Name: name, Reason: scheduling.DeletedReason, Clause: scheduling.DeletedReason}
		if verdict, exists := result.Verdict(name); exists {
			cluster = describe(verdict)
		}
		cluster.Verdict, cluster.Hold = document.VerdictHeld, holds[name]
		add(cluster)
	}
	for _, verdict := range verdicts {
		_, held := holds[verdict.Cluster.Name]
		if !held && (all || verdict.Stage != scheduling.StageScope) {
			add(describe(verdict))
		}
	}
}

// inOrderOfReport returns verdicts, which are sorted by name, in the order of Report.Clusters without holds.
func inOrderOfReport(verdicts []scheduling.Verdict) []scheduling.Verdict {
	counts := map[scheduling.Stage]int{}
	for i := range verdicts {
		counts[verdicts[i].Stage]++
	}
	stages := slices.SortedFunc(maps.Keys(counts), func(a, b scheduling.Stage) int { return b.Compare(a) })
	next, begin := map[scheduling.Stage]int{}, 0 // where the next verdict of a stage is
	for _, stage := range stages {
		next[stage] = begin
		begin += counts[stage]
	}
	ordered := make([]scheduling.Verdict, len(verdicts))
	for i := range verdicts {
		stage := verdicts[i].Stage
		ordered[next[stage]] = verdicts[i]
		next[stage]++
	}
	for _, stage := range stages {
		same := ordered[next[stage]-counts[stage] : next[stage]]
		if slices.ContainsFunc(same, scheduling.Verdict.Feasible) { // Others have no rank, and stay sorted by name.
			slices.SortStableFunc(same, func(a, b scheduling.Verdict) int { return cmp.Compare(a.Rank, b.Rank) })
		}
	}
	return ordered
}

// newClusterReports returns a function for the report of a cluster, which does not know whether the decisions have it.
func newClusterReports(result *scheduling.Result) func(scheduling.Verdict) ClusterReport {
	texts := result.Texts()
	return func(verdict scheduling.Verdict) ClusterReport {
		report := nameCluster(verdict)
		report.Reason, report.Clause = texts(verdict)
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
}

// nameCluster returns the report of a cluster without texts and scores.
func nameCluster(verdict scheduling.Verdict) ClusterReport {
	return ClusterReport{Name: verdict.Cluster.Name, Verdict: verdict.Stage.String(), Rank: verdict.Rank}
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

// Explain reports an Evaluation of one of the Placements of the State, with notes on cluster sets and decisions that it lacks. With all it
// lists the clusters out of scope too.
func (s *State) Explain(evaluation Evaluation, all bool) Report {
	return s.annotated(NewReport(evaluation, all), evaluation)
}

// Outline is Explain without the reasons, clauses and scores of the clusters in scope, which are most of what a report of a large fleet costs.
func (s *State) Outline(evaluation Evaluation) Report {
	outline := func(*scheduling.Result) func(scheduling.Verdict) ClusterReport { return nameCluster }
	return s.annotated(newReport(evaluation, false, outline), evaluation)
}

// annotated returns a report with notes.
func (s *State) annotated(report Report, evaluation Evaluation) Report {
	if evaluation.Result == nil {
		return report
	}
	switch evaluation.Result.Outcome() {
	case scheduling.Decided:
		report.Notes = slices.Concat(report.Notes, unboundSetNotes(evaluation.Result, s), uncountedNotes(evaluation.Result, s))
	case scheduling.Invalid:
		report.Notes = append(report.Notes, missingClusters(evaluation)...)
	case scheduling.Held, scheduling.Postponed: // Missing clusters are held.
	}
	return report
}

// causesOf returns the rejection causes of an unsatisfied Placement; nil for a satisfied one.
func causesOf(evaluation Evaluation) []CauseReport {
	if evaluation.Satisfied() {
		return nil
	}
	var causes []CauseReport
	for _, cause := range evaluation.Result.Rejections() {
		causes = append(causes, CauseReport{Verdict: cause.Stage.String(), Clause: cause.Clause, Clusters: cause.Clusters})
	}
	return causes
}

// behindOf returns how the existing decisions differ from the result; nil when they do not, or when the Placement has never been decided.
func behindOf(evaluation Evaluation) *BehindReport {
	if len(evaluation.Existing.Pages) == 0 && len(evaluation.Placement.Status.Conditions) == 0 {
		return nil
	}
	difference := newDifference(evaluation)
	if !difference.Differs() {
		return nil
	}

	behind := &BehindReport{Gained: []string{}, Lost: []string{}, Moved: []string{}}
	for _, gain := range difference.Gained {
		behind.Gained = append(behind.Gained, gain.Cluster)
	}
	for _, loss := range difference.Lost {
		behind.Lost = append(behind.Lost, loss.Cluster)
	}
	for _, move := range difference.Moved {
		behind.Moved = append(behind.Moved, move.Cluster)
	}

	slices.Sort(behind.Gained)
	return behind
}
