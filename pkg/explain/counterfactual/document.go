// SPDX-License-Identifier: Apache-2.0

package counterfactual

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/placement-hub/placement-hub/pkg/explain/document"
	"github.com/placement-hub/placement-hub/pkg/scheduling"
)

// Document implements document.Source. Its names are those of the selected clusters that are explained.
func (e Explanations) Document(o document.Options) document.Document {
	var d document.Document
	for i := range e.Placements {
		explanation := &e.Placements[i]
		d.Add(sections(&explanation.Report, explanation.Explanations, o)...)
		for _, cluster := range explanation.Selected {
			explained := len(explanation.Explanations) == 0 || slices.ContainsFunc(explanation.Explanations, func(c ClusterExplanation) bool {
				return c.Cluster == cluster
			})
			if explained {
				d.Namef("%s %s", document.QualifiedName(explanation.Placement, explanation.API), cluster)
			}
		}
	}
	return d
}

// Document implements document.Source. Its names are those of the selected clusters that are explained.
func (e ObjectExplanations) Document(o document.Options) document.Document {
	var d document.Document
	for i := range e.Objects {
		explanation := &e.Objects[i]
		d.Add(sections(&explanation.Report, explanation.Explanations, o)...)
		for _, cluster := range explanation.Clusters {
			if cluster.Verdict == scheduling.StageSelected.String() {
				d.Namef("%s %s", explanation.QualifiedName(), cluster.Name)
			}
		}
	}
	d.Note(e.Notes...)
	return d
}

// Document implements document.Source. Its names are those of the nodes that fit, and of the selected clusters.
func (e WorkloadExplanations) Document(o document.Options) document.Document {
	d := e.Reports.Document(o)
	if e.Federated != nil {
		d.Append(e.Federated.Document(o))
	}
	return d
}

// report is a report of the objects whose clusters are explained.
type report interface {
	Section(o document.Options) document.Section
	Head(o document.Options) document.Section
}

// sections returns the whole report, or with clusters that are explained its head and a section for each of them.
func sections(of report, explanations []ClusterExplanation, o document.Options) []document.Section {
	if len(explanations) == 0 {
		return []document.Section{of.Section(o)}
	}
	sections := []document.Section{of.Head(o)}
	for i := range explanations {
		sections = append(sections, explanations[i].section())
	}
	return sections
}

// section explains one cluster.
func (c *ClusterExplanation) section() document.Section {
	s := document.Section{Title: c.Cluster, Headline: document.Plainly(document.OneLine(c.Reason))}
	if c.Verdict != "" {
		s.Headline = document.Text{
			{Text: c.Verdict, Tone: document.VerdictTone(c.Verdict)}, {Text: ", " + document.OneLine(c.Hold.Explain(c.Reason))},
		}
	}
	if c.Gone != "" {
		s.Linef("%s", c.Gone)
	}
	if !c.isVerdictAlone() {
		for _, table := range []document.Table{c.scope(), c.predicates(), c.taints(), c.scores(), c.domains()} {
			s.Table(table)
		}
	}
	for _, prioritizer := range c.Prioritizers {
		if prioritizer.Missing != "" {
			s.Linef("%s: %s", prioritizer.Name, prioritizer.Missing)
		}
	}
	c.addDecision(&s)
	c.addCounterfactuals(&s)
	return s
}

func (c *ClusterExplanation) scope() document.Table {
	table := document.Table{Title: "scope"}
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
		table.Row("set "+set.Name, strings.Join(said, ", "))
	}
	if len(table.Rows) == 0 {
		table.Row("in no cluster set, and none is bound")
	}
	return table
}

func (c *ClusterExplanation) predicates() document.Table {
	table := document.Table{Title: "predicates"}
	if len(c.Predicates) > 1 {
		table.Title += " (one of them must match)"
	}
	for _, predicate := range c.Predicates {
		name := fmt.Sprintf("predicate %d", predicate.Number)
		if len(predicate.Clauses) == 0 {
			table.Row(name, "every cluster", document.YesNo(true))
		}
		for _, clause := range predicate.Clauses {
			holds := document.YesNo(clause.Holds)
			if !clause.Holds {
				holds += strings.TrimPrefix(clause.Failure, clause.Text)
			}
			table.Row(name, document.OneLine(clause.Text), document.OneLine(holds))
			name = ""
		}
	}
	return table
}

func (c *ClusterExplanation) taints() document.Table {
	table := document.Table{Title: "taints"}
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
		table.Row(taint.Text, said)
	}
	return table
}

func (c *ClusterExplanation) scores() document.Table {
	if c.Score == nil {
		return document.Table{}
	}
	table := document.Table{Title: "scores", Columns: []string{"PRIORITIZER", "WEIGHT", "SCORE", "POINTS", "RANK"}}
	for _, prioritizer := range c.Prioritizers {
		score := document.NoValue
		if prioritizer.Score != nil {
			score = strconv.FormatInt(*prioritizer.Score, 10)
		}
		table.Row(prioritizer.Name, "x"+strconv.Itoa(int(prioritizer.Weight)), score, strconv.FormatInt(prioritizer.Points, 10),
			fmt.Sprintf("%d of %d", prioritizer.Rank, c.Feasible))
	}
	table.Row("all", "", "", strconv.FormatInt(*c.Score, 10), fmt.Sprintf("%d of %d", c.Rank, c.Feasible))
	return table
}

func (c *ClusterExplanation) domains() document.Table {
	table := document.Table{Title: "domains"}
	add := func(what string, domain *Domain, terms string) {
		value := "not set"
		if domain.Value != nil {
			value = *domain.Value
		}
		table.Row(what+" "+domain.Key, "the cluster: "+value, "selected: "+sortedCounts(domain.Selected)+terms)
	}
	if c.AntiAffinity != nil {
		add("different", c.AntiAffinity, "")
	}
	for i := range c.Spread {
		domain := &c.Spread[i]
		add("even", domain, fmt.Sprintf("; skew at most %d, %s", domain.MaxSkew, domain.WhenUnsatisfiable))
	}
	return table
}

func (c *ClusterExplanation) addDecision(s *document.Section) {
	switch {
	case c.Decision == nil && !c.Decided:
		return
	case c.Decision == nil:
		s.Linef("decision: written now, and to be taken away")
		return
	}
	place := c.Decision.Page
	if c.Decision.Group != nil {
		place += ", group " + strings.TrimSpace(strconv.Itoa(int(*c.Decision.Group))+" "+c.Decision.GroupName)
	}
	if !c.Decided {
		place += "; not written yet"
	}
	s.Linef("decision: %s", place)
}

func (c *ClusterExplanation) addCounterfactuals(s *document.Section) {
	for _, found := range c.Counterfactuals {
		s.Linef("%s", document.OneLine(found.Text))
	}
	switch {
	case len(c.Counterfactuals) > 0 || c.Verdict == "" || c.Verdict == scheduling.StageSelected.String() || c.isVerdictAlone():
	case c.Terminating:
		s.Linef("nothing selects a cluster that is being deleted")
	default:
		s.Linef("no one or two of the changes that were tried would have it selected")
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
