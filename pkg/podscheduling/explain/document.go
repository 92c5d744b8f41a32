// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"fmt"
	"strings"

	cozystackv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/cozystack/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/explain/document"
)

// Document implements document.Source. Its names are "namespace/name node" for each node that fits.
func (r Reports) Document(o document.Options) document.Document {
	var d document.Document
	for i := range r.Workloads {
		report := &r.Workloads[i]
		d.Add(report.section(o))
		if report.Nodes == nil {
			continue
		}
		for _, node := range report.Nodes.Fit {
			d.Namef("%s/%s %s", report.Namespace, report.Name, node)
		}
	}
	d.Note(r.Notes...)
	return d
}

// section is a summary, the policies, the class and the nodes.
func (r *Report) section(o document.Options) document.Section {
	s := document.Section{Title: fmt.Sprintf("%s %s/%s", r.Kind, r.Namespace, r.Name), Headline: r.headline()}
	if len(r.Drift) > 0 {
		s.Linef("lacks %s: %s", strings.Join(r.Drift, ", "), driftAdvice(r.Kind))
	}
	if r.Exempt != "" {
		s.Linef("no policy is injected: %s", r.Exempt)
	}
	r.addPolicies(&s)
	r.Class.lines(&s)
	r.Nodes.lines(&s, o)
	s.Lines(r.Notes)
	return s
}

func (r *Report) headline() document.Text {
	var text document.Text
	add := func(part string, tone document.Tone) {
		if len(text) > 0 {
			text = text.With(", ")
		}
		text = append(text, document.Span{Text: part, Tone: tone})
	}
	switch {
	case len(r.Drift) > 0:
		add("drifted", document.Bad)
	case r.Exempt == "":
		add(r.matchingPolicies(), document.Plain)
	}
	if r.Refused() {
		add("new Pods are refused", document.Bad)
	}
	if r.Nodes != nil {
		add(fmt.Sprintf("%d of %s fit", len(r.Nodes.Fit), document.Count(r.Nodes.Total, "node")), document.Plain)
	}
	if len(text) == 0 {
		add("no policy is injected", document.Plain)
	}
	return text
}

func (r *Report) matchingPolicies() string {
	matching := 0
	for i := range r.Policies {
		if r.Policies[i].Matches {
			matching++
		}
	}
	switch matching {
	case 0:
		return "no policy matches"
	case 1:
		return "1 policy matches"
	default:
		return fmt.Sprintf("%d policies match", matching)
	}
}

// driftAdvice says why an existing workload lacks what a policy injects, and what adds it.
func driftAdvice(kind string) string {
	const cause = "it was admitted before the policy, or without the webhook; "
	switch kind {
	case "Pod":
		return cause + "only a new Pod gets it"
	case "Job":
		return cause + "only a new Job gets it"
	default:
		return cause + "its next update adds it and rolls out new Pods (a label is enough)"
	}
}

// addPolicies adds a row for each thing that a policy does, and one for each policy that does not match.
func (r *Report) addPolicies(s *document.Section) {
	adds := "lacks"
	if r.New {
		adds = "adds"
	}
	table := document.Table{Columns: []string{"POLICY", "VERDICT", "DETAIL"}}
	for i := range r.Policies {
		policy := &r.Policies[i]
		before := len(table.Rows)
		row := func(verdict, detail string) { table.Row(policy.Policy, verdict, document.OneLine(detail)) }
		if !policy.Matches {
			row("no match", policy.Mismatch)
			continue
		}
		if len(policy.Adds) > 0 {
			row(adds, strings.Join(policy.Adds, ", "))
		}
		if len(policy.Has) > 0 {
			row("has", strings.Join(policy.Has, ", "))
		}
		for _, skip := range policy.Skipped {
			row("skips", skip.Reason+": "+skip.Message)
		}
		for _, warning := range policy.Warnings {
			row("warns", warning)
		}
		if len(table.Rows) == before {
			row("matches", document.NoValue)
		}
	}
	s.Table(table)
}

func (c *Class) lines(s *document.Section) {
	if c == nil {
		return
	}
	switch {
	case c.Release == "":
		s.Text(document.Alarm("class unknown", ""))
	case c.Class == "":
		s.Linef("no class: HelmRelease %s of %s has none", c.Release, c.Application)
	default:
		s.Text(append(document.Plainly("class "+c.Class+" ("+c.Origin+"): "), c.verdict()))
	}
	if c.Denial != "" {
		s.Detailf("a Pod that is created now is refused: %s", c.Denial)
	}
	if len(c.Lacks) > 0 {
		s.Detailf("%s", olderThanClass(c.Lacks))
	}
	for _, warning := range c.Warnings {
		s.Detailf("warning: %s", warning)
	}
	for _, note := range c.Notes {
		s.Detailf("%s", note)
	}
}

func (c *Class) verdict() document.Span {
	switch {
	case c.Enforcement == "" && c.Denial == "":
		return document.Span{Text: "not known"}
	case c.Satisfied:
		return document.Span{Text: "satisfied"}
	case c.Enforcement == string(cozystackv1alpha1.EnforcementWarn):
		return document.Span{Text: "not satisfied, which is a warning (enforcement Warn)"}
	default:
		return document.Span{Text: "not satisfied", Tone: document.Bad}
	}
}

// olderThanClass says why an existing Pod does not ask for node labels of its class.
func olderThanClass(lacks []string) string {
	return "the Pod does not ask for " + strings.Join(lacks, ", ") + ": it is older than its class; it keeps running"
}

// lines adds the message of kube-scheduler, and a row for each cause with its nodes.
func (n *Nodes) lines(s *document.Section, o document.Options) {
	if n == nil {
		return
	}
	s.Linef("%s", n.Message)
	shown := document.Abbreviate
	if o.Wide {
		shown = func(nodes []string) string { return strings.Join(nodes, ", ") }
	}
	table := document.Table{Depth: 1}
	if len(n.Fit) > 0 {
		table.Row("fit", shown(n.Fit))
	}
	for _, rejection := range n.Rejected {
		table.Row(rejection.Cause, shown(rejection.Nodes))
	}
	s.Table(table)
}
