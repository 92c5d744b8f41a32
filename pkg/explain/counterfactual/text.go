package counterfactual

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/placement-hub/placement-hub/pkg/explain"
)

const (
	yes = "yes"
	no  = "no"
)

// write writes the explanation for people.
func (s ClusterExplanation) write(out *bytes.Buffer, style explain.Style) {
	headline := explain.Printable(oneLine(s.Reason))
	if s.Verdict != "" {
		headline = style.Verdict(s.Verdict, s.Verdict) + ", " + headline
	}

	fmt.Fprintf(out, "%s: %s\n", style.Bold(s.Cluster), headline)
	s.writeScope(out)
	s.writePredicates(out)
	s.writeTaints(out)
	s.writeScores(out)
	s.writeDomains(out)
	s.writeDecision(out)
	s.writeCounterfactuals(out)
}

// oneLine replaces line breaks and tabs.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

func (s ClusterExplanation) writeScope(out *bytes.Buffer) {
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
	explain.Grid(out, rows, func(_, _ int, text string) string { return text })
}

func (s ClusterExplanation) writePredicates(out *bytes.Buffer) {
	rows := [][]string{}

	for _, predicate := range s.Predicates {
		if len(predicate.Clauses) == 0 {
			rows = append(rows, []string{fmt.Sprintf("  predicate %d", predicate.Number), "every cluster", yes})
		}

		for i, clause := range predicate.Clauses {
			name := ""
			if i == 0 {
				name = fmt.Sprintf("predicate %d", predicate.Number)
			}

			holds := yes
			if !clause.Holds {
				holds = no + strings.TrimPrefix(clause.Failure, clause.Text)
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

func (s ClusterExplanation) writeTaints(out *bytes.Buffer) {
	rows := make([][]string, 0, len(s.Taints))

	for _, taint := range s.Taints {
		said := "not tolerated"
		if taint.Tolerated {
			said = "tolerated: " + taint.By
		}

		if taint.Until != nil {
			said += ", until " + taint.Until.UTC().Format(time.RFC3339)
		}

		rows = append(rows, []string{"  " + taint.Text, said})
	}

	section(out, "taints", rows)
}

func (s ClusterExplanation) writeScores(out *bytes.Buffer) {
	if s.Score == nil {
		return
	}

	rows := [][]string{{"  PRIORITIZER", "WEIGHT", "SCORE", "POINTS", "RANK"}}

	for _, prioritizer := range s.Prioritizers {
		score := "-"
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

func (s ClusterExplanation) writeDomains(out *bytes.Buffer) {
	rows := [][]string{}
	add := func(what string, domain Domain, terms string) {
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

func (s ClusterExplanation) writeDecision(out *bytes.Buffer) {
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

func (s ClusterExplanation) writeCounterfactuals(out *bytes.Buffer) {
	for _, counterfactual := range s.Counterfactuals {
		fmt.Fprintf(out, "  %s\n", explain.Printable(oneLine(counterfactual.Text)))
	}

	switch {
	case len(s.Counterfactuals) > 0 || s.Verdict == "" || s.selected():
	case s.Terminating:
		fmt.Fprint(out, "  nothing selects a cluster that is being deleted\n")
	default:
		fmt.Fprint(out, "  no one or two of the changes that were tried would have it selected\n")
	}
}
