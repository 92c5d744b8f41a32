// SPDX-License-Identifier: Apache-2.0

package printers

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	cozystackv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/cozystack/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/explain/counterfactual"
	"github.com/placement-hub/placement-hub/pkg/explain/pods"
)

// Workloads prints where the Pods of workloads may run, and where the workloads are delivered. FormatName prints the nodes that fit, and the
// selected clusters as ObjectExplanations does.
func Workloads(out io.Writer, format Format, explanations counterfactual.WorkloadExplanations, style Style) error {
	return renderer{
		table: func(text *bytes.Buffer) {
			writeWorkloads(text, explanations.Workloads, explanations.Notes, style)

			if explanations.Federated != nil {
				text.WriteByte('\n')
				writeObjectExplanations(text, *explanations.Federated, style)
			}
		},
		names: func(text *bytes.Buffer) {
			writeNodeNames(text, explanations.Workloads)

			if explanations.Federated != nil {
				writeObjectNames(text, *explanations.Federated)
			}
		},
	}.write(out, format, WideFormats(), explanations)
}

func writeNodeNames(out *bytes.Buffer, reports []pods.Report) {
	for _, report := range reports {
		if report.Nodes == nil {
			continue
		}

		for _, node := range report.Nodes.Fit {
			fmt.Fprintf(out, "%s/%s %s\n", report.Namespace, report.Name, node)
		}
	}
}

func writeWorkloads(out *bytes.Buffer, reports []pods.Report, notes []string, style Style) {
	for i, report := range reports {
		if i > 0 {
			out.WriteByte('\n')
		}

		writeWorkload(out, report, style)
	}

	for _, note := range notes {
		fmt.Fprintf(out, "%s\n", Printable(indented(note)))
	}
}

// writeWorkload writes a report for people: a summary, the policies, the class and the nodes.
func writeWorkload(out *bytes.Buffer, r pods.Report, style Style) {
	fmt.Fprintf(out, "%s: %s\n", style.bold(fmt.Sprintf("%s %s/%s", r.Kind, r.Namespace, r.Name)), workloadSummary(r, style))

	if len(r.Drift) > 0 {
		fmt.Fprintf(out, "  lacks %s: %s\n", Printable(strings.Join(r.Drift, ", ")), driftAdvice(r.Kind))
	}

	if r.Exempt != "" {
		fmt.Fprintf(out, "  no policy is injected: %s\n", r.Exempt)
	}

	writePolicies(out, r, style)
	writeClass(out, r.Class, style)
	writeNodes(out, r.Nodes, style)

	for _, note := range r.Notes {
		fmt.Fprintf(out, "  %s\n", Printable(note))
	}
}

func workloadSummary(r pods.Report, style Style) string {
	var parts []string

	switch {
	case len(r.Drift) > 0:
		parts = append(parts, style.alarm("drifted"))
	case r.Exempt == "":
		parts = append(parts, matchingPolicies(r))
	}

	if r.Refused() {
		parts = append(parts, style.alarm("new Pods are refused"))
	}

	if r.Nodes != nil {
		parts = append(parts, fmt.Sprintf("%d of %s fit", len(r.Nodes.Fit), Count(r.Nodes.Total, "node")))
	}

	if len(parts) == 0 {
		return "no policy is injected"
	}

	return strings.Join(parts, ", ")
}

func matchingPolicies(r pods.Report) string {
	matching := 0

	for _, policy := range r.Policies {
		if policy.Matches {
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

// writePolicies writes one line for each thing that a policy does, and one for each policy that does not match.
func writePolicies(out *bytes.Buffer, r pods.Report, style Style) {
	if len(r.Policies) == 0 {
		return
	}

	adds := "lacks"
	if r.New {
		adds = "adds"
	}

	rows := [][]string{{"POLICY", "VERDICT", "DETAIL"}}

	for _, policy := range r.Policies {
		before := len(rows)
		row := func(verdict, detail string) { rows = append(rows, []string{policy.Policy, verdict, oneLine(detail)}) }

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

		if len(rows) == before {
			row("matches", noValue)
		}
	}

	style.writeTable(out, rows, style.header)
}

func writeClass(out *bytes.Buffer, c *pods.Class, style Style) {
	if c == nil {
		return
	}

	switch {
	case c.Release == "":
		fmt.Fprintf(out, "  %s\n", style.alarm("class unknown"))
	case c.Class == "":
		fmt.Fprintf(out, "  no class: HelmRelease %s of %s has none\n", c.Release, c.Application)
	default:
		fmt.Fprintf(out, "  class %s (%s): %s\n", c.Class, c.Origin, classVerdict(c, style))
	}

	if c.Denial != "" {
		fmt.Fprintf(out, "    a Pod that is created now is refused: %s\n", Printable(c.Denial))
	}

	if len(c.Lacks) > 0 {
		fmt.Fprintf(out, "    the Pod does not ask for %s: it is older than its class; it keeps running\n", strings.Join(c.Lacks, ", "))
	}

	for _, warning := range c.Warnings {
		fmt.Fprintf(out, "    warning: %s\n", Printable(warning))
	}

	for _, note := range c.Notes {
		fmt.Fprintf(out, "    %s\n", Printable(note))
	}
}

func classVerdict(c *pods.Class, style Style) string {
	switch {
	case c.Enforcement == "" && c.Denial == "":
		return "not known"
	case c.Satisfied:
		return "satisfied"
	case c.Enforcement == string(cozystackv1alpha1.EnforcementWarn):
		return "not satisfied, which is a warning (enforcement Warn)"
	default:
		return style.alarm("not satisfied")
	}
}

// writeNodes writes the message of kube-scheduler, and one line for each cause with its nodes.
func writeNodes(out *bytes.Buffer, n *pods.Nodes, style Style) {
	if n == nil {
		return
	}

	fmt.Fprintf(out, "  %s\n", n.Message)

	shown := abbreviate
	if style.Wide {
		shown = func(members []string) string { return strings.Join(members, ", ") }
	}

	var rows [][]string
	if len(n.Fit) > 0 {
		rows = append(rows, []string{"  fit", shown(n.Fit)})
	}

	for _, rejection := range n.Rejected {
		rows = append(rows, []string{"  " + rejection.Cause, shown(rejection.Nodes)})
	}

	writeTable(out, rows, nil)
}
