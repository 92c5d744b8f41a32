// SPDX-License-Identifier: Apache-2.0

package dashboard

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	clusterv1 "open-cluster-management.io/api/cluster/v1"

	"github.com/placement-hub/placement-hub/pkg/explain"
	"github.com/placement-hub/placement-hub/pkg/explain/counterfactual"
	"github.com/placement-hub/placement-hub/pkg/explain/document"
	"github.com/placement-hub/placement-hub/pkg/scheduling"
)

// matrix has a row for each cluster and a column for each stage.
type matrix struct {
	Columns  []string
	Rows     []matrixRow
	Verdicts []verdictCount
	// Matching is the number of clusters that the filters leave, From the first one that is shown, from 0, and To the one after the last.
	Matching, From, To int
	Filter             string
	Verdict, API       string
	Previous, Next     string
	All                string
	// Picture is the page with the clusters as cells; empty for none.
	Picture string
}

// First is the number of the first cluster that is shown, from 1.
func (m matrix) First() int { return m.From + 1 }

// matrixRow is a cluster.
type matrixRow struct {
	Cluster, Link string
	Verdict       string
	Tone          document.Tone
	Cells         []matrixCell
}

// passing says what a stage did with a cluster.
type passing string

// The results of a stage.
const (
	passes  passing = "pass"
	fails   passing = "fail"
	unasked passing = "none" // The stage does not exist, or an earlier one has decided.
)

// matrixCell is what a stage did with a cluster. Clause is shown with it when it is pointed at, and Link is where the text leads; empty for nowhere.
type matrixCell struct {
	State  passing
	Text   string
	Clause string
	Link   string
}

// matrix returns the matrix of the clusters that were chosen.
func (f *rowFilter) matrix(v *visit, explanation *counterfactual.Explanation) matrix {
	var chosen []explain.ClusterReport
	if !f.chosen { // The hub that has answered explains no stages.
		chosen = f.choose(&explanation.Report)
	}
	shown := matrix{
		Verdicts: f.links(v), Matching: f.matching, From: f.from, Filter: v.query("name"), Verdict: f.verdict, API: v.query("api"),
	}
	if f.all {
		shown.From = 0
	}
	stages := stagesOf(explanation)
	for _, each := range stages {
		shown.Columns = append(shown.Columns, each.name)
	}
	base := detailLink(v.with("cluster", ""))
	if len(explanation.Rows) == 0 {
		shown.Rows, shown.Columns = verdictRows(chosen, base), []string{"Reason"}
	}
	for i := range explanation.Rows {
		cluster := &explanation.Rows[i]
		row := matrixRow{
			Cluster: cluster.Cluster, Link: inDetail(base, cluster.Cluster), Verdict: verdictOf(cluster.Verdict),
			Tone: document.VerdictTone(cluster.Verdict), Cells: make([]matrixCell, 0, len(stages)),
		}
		for _, each := range stages {
			cell := each.of(cluster)
			if cell.Clause == cell.Text {
				cell.Clause = ""
			}
			row.Cells = append(row.Cells, cell)
		}
		shown.Rows = append(shown.Rows, row)
	}
	shown.To = shown.From + len(shown.Rows)
	if !f.all {
		if shown.To < f.matching {
			shown.Next = v.with("from", itoa(shown.To)) + "#matrix"
			shown.All = v.with("rows", allRows, "from", "") + "#matrix"
		}
		if f.from > 0 {
			shown.Previous = v.with("from", itoa(max(0, f.from-f.count))) + "#matrix"
		}
	}
	return shown
}

// verdictRows returns rows with the verdicts alone, of a hub that has explained no stages.
func verdictRows(clusters []explain.ClusterReport, base string) []matrixRow {
	rows := make([]matrixRow, 0, len(clusters))
	for i := range clusters {
		cluster := &clusters[i]
		state := fails
		if cluster.Verdict == scheduling.StageSelected.String() {
			state = passes
		}
		rows = append(rows, matrixRow{
			Cluster: cluster.Name, Link: inDetail(base, cluster.Name), Verdict: cluster.Verdict, Tone: document.VerdictTone(cluster.Verdict),
			Cells: []matrixCell{{State: state, Text: cluster.Hold.Explain(cluster.Reason)}},
		})
	}
	return rows
}

// stage is a column of the matrix.
type stage struct {
	name string
	of   func(*counterfactual.ClusterExplanation) matrixCell
}

// stagesOf returns the stages of a Placement, in the order in which the scheduler asks them. They are those of its clusters, which are alike if
// they exist.
func stagesOf(explanation *counterfactual.Explanation) []stage {
	stages := []stage{{"Scope", scopeCell}}
	if len(explanation.Rows) == 0 {
		return stages
	}
	first := mostDetailed(explanation.Rows)
	for i := range first.Predicates {
		stages = append(stages, stage{"Predicate " + strconv.Itoa(i+1), func(c *counterfactual.ClusterExplanation) matrixCell {
			return predicateCell(c, i)
		}})
	}
	stages = append(stages, stage{"Taints", taintCell})
	if first.AntiAffinity != nil {
		stages = append(stages, stage{"Anti-affinity, " + first.AntiAffinity.Key, antiAffinityCell})
	}
	for i := range first.Spread {
		stages = append(stages, stage{"Spread, " + first.Spread[i].Key, func(c *counterfactual.ClusterExplanation) matrixCell {
			return spreadCell(c, i)
		}})
	}
	return append(stages, stage{"Score", scoreCell}, stage{"Rank", rankCell}, stage{"Decision", decisionCell}, stage{"Removal", removalCell})
}

// mostDetailed returns the row with the most stages: nothing is known of a held cluster that is deleted.
func mostDetailed(rows []counterfactual.ClusterExplanation) *counterfactual.ClusterExplanation {
	most := &rows[0]
	for i := range rows {
		if countStages(&rows[i]) > countStages(most) {
			most = &rows[i]
		}
	}
	return most
}

// countStages counts the stages that not every Placement has.
func countStages(c *counterfactual.ClusterExplanation) int {
	count := len(c.Predicates) + len(c.Spread)
	if c.AntiAffinity != nil {
		count++
	}
	return count
}

// decided reports whether a stage is the one that has rejected a cluster.
func decided(c *counterfactual.ClusterExplanation, stage scheduling.Stage) bool {
	return c.Stage() == stage
}

// inScope reports whether the cluster is in a set that the Placement may use.
func inScope(c *counterfactual.ClusterExplanation) bool {
	for _, set := range c.Sets {
		if set.Contains && set.Bound && set.Asked {
			return true
		}
	}
	return false
}

func scopeCell(c *counterfactual.ClusterExplanation) matrixCell {
	var in []string
	for _, set := range c.Sets {
		if set.Contains && set.Bound && set.Asked {
			in = append(in, set.Name)
		}
	}
	switch {
	case decided(c, scheduling.StageTerminating):
		return matrixCell{State: fails, Text: c.Reason}
	case len(in) > 0:
		return matrixCell{State: passes, Text: strings.Join(in, ", ")}
	case c.Verdict == "":
		return matrixCell{State: unasked}
	default:
		return matrixCell{State: fails, Text: "out of scope", Clause: c.Reason}
	}
}

func predicateCell(c *counterfactual.ClusterExplanation, i int) matrixCell {
	if i >= len(c.Predicates) || !inScope(c) {
		return matrixCell{State: unasked}
	}
	var failures, clauses []string
	for _, clause := range c.Predicates[i].Clauses {
		clauses = append(clauses, clause.Text)
		if !clause.Holds {
			failures = append(failures, clause.Failure)
		}
	}
	if c.Predicates[i].Matches {
		return matrixCell{State: passes, Clause: strings.Join(clauses, "; ")}
	}
	return matrixCell{State: fails, Text: first(failures), Clause: strings.Join(failures, "; ")}
}

// first returns the first of some texts, with an ellipsis if there are more.
func first(texts []string) string {
	switch len(texts) {
	case 0:
		return ""
	case 1:
		return texts[0]
	default:
		return texts[0] + ", …"
	}
}

func taintCell(c *counterfactual.ClusterExplanation) matrixCell {
	if !inScope(c) {
		return matrixCell{State: unasked}
	}
	var failures, tolerated []string
	for _, taint := range c.Taints {
		switch {
		case taint.Tolerated:
			tolerated = append(tolerated, taint.Text+": "+taint.By)
		case taint.Effect != string(clusterv1.TaintEffectPreferNoSelect):
			failures = append(failures, taint.Text)
		default:
			tolerated = append(tolerated, taint.Text)
		}
	}
	if len(failures) > 0 && !decidedBefore(c, scheduling.StageTaint) {
		clauses := slices.Clone(failures)
		for _, taint := range c.Taints {
			if taint.Remedy != "" && !taint.Tolerated {
				clauses = append(clauses, taint.Remedy)
			}
		}
		return matrixCell{State: fails, Text: first(failures), Clause: strings.Join(clauses, "; ")}
	}
	return matrixCell{State: passes, Clause: strings.Join(append(tolerated, failures...), "; ")}
}

// decidedBefore reports whether the cluster is selected although the stage would reject it.
func decidedBefore(c *counterfactual.ClusterExplanation, stage scheduling.Stage) bool {
	return c.Rank > 0 && !decided(c, stage)
}

func antiAffinityCell(c *counterfactual.ClusterExplanation) matrixCell {
	switch {
	case c.AntiAffinity == nil || c.Rank == 0 && !decided(c, scheduling.StageAntiAffinity):
		return matrixCell{State: unasked}
	case decided(c, scheduling.StageAntiAffinity):
		return matrixCell{State: fails, Text: domainText(c.AntiAffinity), Clause: c.Reason}
	default:
		return matrixCell{State: passes, Text: domainText(c.AntiAffinity)}
	}
}

func spreadCell(c *counterfactual.ClusterExplanation, i int) matrixCell {
	switch {
	case i >= len(c.Spread) || c.Rank == 0 && !decided(c, scheduling.StageSpread):
		return matrixCell{State: unasked}
	case decided(c, scheduling.StageSpread):
		return matrixCell{State: fails, Text: domainText(&c.Spread[i]), Clause: c.Reason}
	default:
		return matrixCell{State: passes, Text: domainText(&c.Spread[i])}
	}
}

// domainText returns the value of a domain and how many selected clusters have it.
func domainText(domain *counterfactual.Domain) string {
	if domain.Value == nil {
		return "no value"
	}
	return fmt.Sprintf("%s (%d selected)", *domain.Value, domain.Selected[*domain.Value])
}

func scoreCell(c *counterfactual.ClusterExplanation) matrixCell {
	if c.Score == nil {
		return matrixCell{State: unasked}
	}
	parts := make([]string, 0, len(c.Prioritizers))
	for _, prioritizer := range c.Prioritizers {
		score := document.NoValue
		if prioritizer.Score != nil {
			score = strconv.FormatInt(*prioritizer.Score, 10)
		}
		part := fmt.Sprintf("%s %s x %d = %d", prioritizer.Name, score, prioritizer.Weight, prioritizer.Points)
		if prioritizer.Missing != "" {
			part += " (" + prioritizer.Missing + ")"
		}
		parts = append(parts, part)
	}
	return matrixCell{State: passes, Text: strconv.FormatInt(*c.Score, 10), Clause: strings.Join(parts, "; ")}
}

func rankCell(c *counterfactual.ClusterExplanation) matrixCell {
	switch {
	case c.Rank == 0:
		return matrixCell{State: unasked}
	case decided(c, scheduling.StageRank):
		return matrixCell{State: fails, Text: fmt.Sprintf("%d of %d", c.Rank, c.Feasible), Clause: c.Reason}
	default:
		return matrixCell{State: passes, Text: fmt.Sprintf("%d of %d", c.Rank, c.Feasible)}
	}
}

func decisionCell(c *counterfactual.ClusterExplanation) matrixCell {
	if c.Decision == nil {
		return matrixCell{State: unasked}
	}
	group := ""
	if c.Decision.Group != nil {
		group = strings.TrimSpace("group "+strconv.Itoa(int(*c.Decision.Group))+" "+c.Decision.GroupName) + ", "
	}
	return matrixCell{State: passes, Text: group + c.Decision.Page}
}

// removalCell says what becomes of a cluster in the decisions that is not selected any more.
func removalCell(c *counterfactual.ClusterExplanation) matrixCell {
	switch {
	case c.Gone != "":
		return matrixCell{State: fails, Text: "stays", Clause: c.Gone}
	case !c.Decided || decided(c, scheduling.StageSelected):
		return matrixCell{State: unasked}
	case c.Verdict == "":
		return matrixCell{State: passes, Text: "stays", Clause: "the last decisions stay while there is no answer"}
	case c.Hold != nil:
		return matrixCell{State: fails, Text: "held", Clause: c.Hold.Release}
	default:
		return matrixCell{State: fails, Text: "leaves", Clause: "the decisions have the cluster, and it is to leave them"}
	}
}
