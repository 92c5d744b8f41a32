// SPDX-License-Identifier: Apache-2.0

package printers

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/placement-hub/placement-hub/pkg/explain/counterfactual"
	"github.com/placement-hub/placement-hub/pkg/scheduling"
)

// writeCluster writes the explanation of one cluster for people.
func writeCluster(out *bytes.Buffer, s counterfactual.ClusterExplanation, style Style) {
	headline := Printable(oneLine(s.Reason))
	if s.Verdict != "" {
		headline = style.verdict(s.Verdict, s.Verdict) + ", " + headline
	}

	fmt.Fprintf(out, "%s: %s\n", style.bold(s.Cluster), headline)

	if s.Gone != "" {
		fmt.Fprintf(out, "  %s\n", Printable(indented(s.Gone)))
	}

	writeScope(out, s)
	writePredicates(out, s)
	writeTaints(out, s)
	writeScores(out, s)
	writeDomains(out, s)
	writeDecision(out, s)
	writeCounterfactuals(out, s)
}

func writeScope(out *bytes.Buffer, s counterfactual.ClusterExplanation) {
	rows := [][]string{}

	for _, set := range s.Sets {
		said := []string{"does not hold it", "not bound to the namespace", "not asked for"}
		for i, is := range []bool{set.Contains, set.Bound, set.Asked} {
			if is {
				said[i] = []string{"holds it", "bound", "asked for"}[i]
			}
		}

		if set.Broken != "" {
			said = append(said, "broken: "+set.Broken)
		}

		rows = append(rows, []string{"  set " + set.Name, strings.Join(said, ", ")})
	}

	if len(rows) == 0 {
		rows = append(rows, []string{"  in no cluster set, and none is bound"})
	}

	section(out, "scope", rows)
}

func section(out *bytes.Buffer, name string, rows [][]string) {
	if len(rows) == 0 {
		return
	}

	fmt.Fprintf(out, "  %s:\n", name)
	writeTable(out, rows, nil)
}

func writePredicates(out *bytes.Buffer, s counterfactual.ClusterExplanation) {
	rows := [][]string{}

	for _, predicate := range s.Predicates {
		if len(predicate.Clauses) == 0 {
			rows = append(rows, []string{fmt.Sprintf("  predicate %d", predicate.Number), "every cluster", yesNo(true)})
		}

		for i, clause := range predicate.Clauses {
			name := ""
			if i == 0 {
				name = fmt.Sprintf("predicate %d", predicate.Number)
			}

			holds := yesNo(clause.Holds)
			if !clause.Holds {
				holds += strings.TrimPrefix(clause.Failure, clause.Text)
			}

			rows = append(rows, []string{"  " + name, oneLine(clause.Text), oneLine(holds)})
		}
	}

	name := "predicates"
	if len(s.Predicates) > 1 {
		name += " (one of them must match)"
	}

	section(out, name, rows)
}

func writeTaints(out *bytes.Buffer, s counterfactual.ClusterExplanation) {
	rows := make([][]string, 0, len(s.Taints))

	for _, taint := range s.Taints {
		said := "not tolerated"
		if taint.Tolerated {
			said = "tolerated: " + taint.By
		}

		if taint.Remedy != "" {
			said += ": " + taint.Remedy
		}

		if taint.Until != nil {
			said += ", until " + taint.Until.UTC().Format(time.RFC3339)
		}

		rows = append(rows, []string{"  " + taint.Text, said})
	}

	section(out, "taints", rows)
}

func writeScores(out *bytes.Buffer, s counterfactual.ClusterExplanation) {
	if s.Score == nil {
		return
	}

	rows := [][]string{{"  PRIORITIZER", "WEIGHT", "SCORE", "POINTS", "RANK"}}

	for _, prioritizer := range s.Prioritizers {
		score := noValue
		if prioritizer.Score != nil {
			score = strconv.FormatInt(*prioritizer.Score, 10)
		}

		rows = append(rows, []string{
			"  " + prioritizer.Name, "x" + strconv.Itoa(int(prioritizer.Weight)), score,
			strconv.FormatInt(prioritizer.Points, 10), fmt.Sprintf("%d of %d", prioritizer.Rank, s.Feasible),
		})
	}

	rows = append(rows, []string{"  all", "", "", strconv.FormatInt(*s.Score, 10), fmt.Sprintf("%d of %d", s.Rank, s.Feasible)})
	section(out, "scores", rows)
}

func writeDomains(out *bytes.Buffer, s counterfactual.ClusterExplanation) {
	rows := [][]string{}
	add := func(what string, domain counterfactual.Domain, terms string) {
		value := "not set"
		if domain.Value != nil {
			value = *domain.Value
		}

		rows = append(rows, []string{"  " + what + " " + domain.Key, "the cluster: " + value, "selected: " + sortedCounts(domain.Selected) + terms})
	}

	if s.AntiAffinity != nil {
		add("different", *s.AntiAffinity, "")
	}

	for _, domain := range s.Spread {
		add("even", domain, fmt.Sprintf("; skew at most %d, %s", domain.MaxSkew, domain.WhenUnsatisfiable))
	}

	section(out, "domains", rows)
}

func writeDecision(out *bytes.Buffer, s counterfactual.ClusterExplanation) {
	switch {
	case s.Decision == nil && !s.Decided:
		return
	case s.Decision == nil:
		fmt.Fprint(out, "  decision: written now, and to be taken away\n")

		return
	}

	place := s.Decision.Page
	if s.Decision.Group != nil {
		place += fmt.Sprintf(", group %s", strings.TrimSpace(strconv.Itoa(int(*s.Decision.Group))+" "+s.Decision.GroupName))
	}

	if !s.Decided {
		place += "; not written yet"
	}

	fmt.Fprintf(out, "  decision: %s\n", place)
}

func writeCounterfactuals(out *bytes.Buffer, s counterfactual.ClusterExplanation) {
	for _, found := range s.Counterfactuals {
		fmt.Fprintf(out, "  %s\n", Printable(oneLine(found.Text)))
	}

	switch {
	case len(s.Counterfactuals) > 0 || s.Verdict == "" || s.Verdict == scheduling.StageSelected.String():
	case s.Terminating:
		fmt.Fprint(out, "  nothing selects a cluster that is being deleted\n")
	default:
		fmt.Fprint(out, "  no one or two of the changes that were tried would have it selected\n")
	}
}

// sortedCounts returns "a 2, b 1", sorted by name.
func sortedCounts(counts map[string]int) string {
	texts := make([]string, 0, len(counts))
	for value, n := range counts {
		texts = append(texts, value+" "+strconv.Itoa(n))
	}

	slices.SortFunc(texts, cmp.Compare)

	return strings.Join(texts, ", ")
}
