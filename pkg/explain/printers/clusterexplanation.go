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
func writeCluster(out *bytes.Buffer, c counterfactual.ClusterExplanation, style Style) {
	headline := Printable(oneLine(c.Reason))
	if c.Verdict != "" {
		headline = style.verdict(c.Verdict, c.Verdict) + ", " + headline
	}

	fmt.Fprintf(out, "%s: %s\n", style.bold(c.Cluster), headline)

	if c.Gone != "" {
		fmt.Fprintf(out, "  %s\n", Printable(indented(c.Gone)))
	}

	writeScope(out, c)
	writePredicates(out, c)
	writeTaints(out, c)
	writeScores(out, c)
	writeDomains(out, c)
	writeDecision(out, c)
	writeCounterfactuals(out, c)
}

func writeScope(out *bytes.Buffer, c counterfactual.ClusterExplanation) {
	rows := [][]string{}

	for _, set := range c.Sets {
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

func writePredicates(out *bytes.Buffer, c counterfactual.ClusterExplanation) {
	rows := [][]string{}

	for _, predicate := range c.Predicates {
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
	if len(c.Predicates) > 1 {
		name += " (one of them must match)"
	}

	section(out, name, rows)
}

func writeTaints(out *bytes.Buffer, c counterfactual.ClusterExplanation) {
	rows := make([][]string, 0, len(c.Taints))

	for _, taint := range c.Taints {
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

func writeScores(out *bytes.Buffer, c counterfactual.ClusterExplanation) {
	if c.Score == nil {
		return
	}

	rows := [][]string{{"  PRIORITIZER", "WEIGHT", "SCORE", "POINTS", "RANK"}}

	for _, prioritizer := range c.Prioritizers {
		score := noValue
		if prioritizer.Score != nil {
			score = strconv.FormatInt(*prioritizer.Score, 10)
		}

		rows = append(rows, []string{
			"  " + prioritizer.Name, "x" + strconv.Itoa(int(prioritizer.Weight)), score,
			strconv.FormatInt(prioritizer.Points, 10), fmt.Sprintf("%d of %d", prioritizer.Rank, c.Feasible),
		})
	}

	rows = append(rows, []string{"  all", "", "", strconv.FormatInt(*c.Score, 10), fmt.Sprintf("%d of %d", c.Rank, c.Feasible)})
	section(out, "scores", rows)
}

func writeDomains(out *bytes.Buffer, c counterfactual.ClusterExplanation) {
	rows := [][]string{}
	add := func(what string, domain counterfactual.Domain, terms string) {
		value := "not set"
		if domain.Value != nil {
			value = *domain.Value
		}

		rows = append(rows, []string{"  " + what + " " + domain.Key, "the cluster: " + value, "selected: " + sortedCounts(domain.Selected) + terms})
	}

	if c.AntiAffinity != nil {
		add("different", *c.AntiAffinity, "")
	}

	for _, domain := range c.Spread {
		add("even", domain, fmt.Sprintf("; skew at most %d, %s", domain.MaxSkew, domain.WhenUnsatisfiable))
	}

	section(out, "domains", rows)
}

func writeDecision(out *bytes.Buffer, c counterfactual.ClusterExplanation) {
	switch {
	case c.Decision == nil && !c.Decided:
		return
	case c.Decision == nil:
		fmt.Fprint(out, "  decision: written now, and to be taken away\n")

		return
	}

	place := c.Decision.Page
	if c.Decision.Group != nil {
		place += fmt.Sprintf(", group %s", strings.TrimSpace(strconv.Itoa(int(*c.Decision.Group))+" "+c.Decision.GroupName))
	}

	if !c.Decided {
		place += "; not written yet"
	}

	fmt.Fprintf(out, "  decision: %s\n", place)
}

func writeCounterfactuals(out *bytes.Buffer, c counterfactual.ClusterExplanation) {
	for _, found := range c.Counterfactuals {
		fmt.Fprintf(out, "  %s\n", Printable(oneLine(found.Text)))
	}

	switch {
	case len(c.Counterfactuals) > 0 || c.Verdict == "" || c.Verdict == scheduling.StageSelected.String():
	case c.Terminating:
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
