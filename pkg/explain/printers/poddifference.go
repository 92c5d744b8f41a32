// SPDX-License-Identifier: Apache-2.0

package printers

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/placement-hub/placement-hub/pkg/explain/pods"
)

// anyway marks what comes without the change too.
const anyway = " (due anyway)"

// writePodDifferences writes what would change for workloads: the applied objects that have something to say, one section for each workload
// with its unified diff, and the Tenants.
func writePodDifferences(out *bytes.Buffer, d *pods.Differences) {
	for _, applied := range d.Objects {
		writeApplied(out, applied)
	}

	for i, workload := range d.Workloads {
		if i > 0 || len(d.Objects) > 0 {
			out.WriteByte('\n')
		}

		writePodDifference(out, workload)
	}

	for _, tenant := range d.Tenants {
		writeTenantDifference(out, tenant)
	}

	if len(d.Workloads)+len(d.Tenants) == 0 && !d.WorkloadsUnread {
		out.WriteString("no other workload and no Tenant differs\n")
	}

	for _, note := range d.Notes {
		fmt.Fprintf(out, "%s\n", Printable(indented(note)))
	}
}

func writeApplied(out *bytes.Buffer, applied pods.Applied) {
	state := "changed"

	switch {
	case len(applied.Refused) > 0:
		state = "would be refused"
	case applied.New:
		state = "new"
	case applied.Unchanged:
		state = "unchanged"
	}

	fmt.Fprintf(out, "%s: %s\n", applied.Object, state)

	for _, text := range applied.Refused {
		fmt.Fprintf(out, "  %s\n", Printable(text))
	}

	for _, warning := range applied.Warnings {
		fmt.Fprintf(out, "  warning: %s\n", Printable(warning))
	}

	if len(applied.Kept) > 0 {
		fmt.Fprintf(out, "  taken from the live object, as kubectl apply leaves what neither this file nor the last apply sets: %s\n",
			strings.Join(applied.Kept, ", "))
	}
}

func writePodDifference(out *bytes.Buffer, d pods.Difference) {
	fmt.Fprintf(out, "%s %s/%s: %s\n", d.Kind, d.Namespace, d.Name, podDifferenceSummary(d))

	if len(d.Dropped) > 0 {
		fmt.Fprintf(out, "  no policy adds %s any more\n", Printable(strings.Join(d.Dropped, ", ")))
	}

	for _, skip := range d.Skipped {
		fmt.Fprintf(out, "  skipped: %s\n", Printable(skip.Message))
	}

	switch {
	case d.Denial != "":
		fmt.Fprintf(out, "  new Pods are refused: %s\n", Printable(d.Denial))
	case d.Admitted:
		out.WriteString("  new Pods are no longer refused\n")
	}

	if len(d.LacksOfClass) > 0 {
		fmt.Fprintf(out, "  the Pod does not ask for %s: it is older than its class; it keeps running\n", strings.Join(d.LacksOfClass, ", "))
	}

	if d.After != nil {
		fmt.Fprintf(out, "  %s%s\n", d.After.Message, nodeChanges(d))
	}

	if d.Patch != "" {
		out.WriteString(Printable(d.Patch))

		if !strings.HasSuffix(d.Patch, "\n") {
			out.WriteByte('\n')
		}
	}
}

func podDifferenceSummary(d pods.Difference) string {
	mark := ""
	if d.Anyway {
		mark = anyway
	}

	switch {
	case len(d.Lacks) == 0 && len(d.LacksOfClass) > 0:
		return "older than its class" + mark
	case len(d.Lacks) == 0:
		return "policies add nothing" + mark
	case d.Kind == "Pod" || d.Kind == "Job":
		return fmt.Sprintf("a new %s gets %s%s", d.Kind, strings.Join(d.Lacks, ", "), mark)
	default:
		return fmt.Sprintf("the next update adds %s%s", strings.Join(d.Lacks, ", "), mark)
	}
}

// nodeChanges lists the nodes that fit only before or only after the change.
func nodeChanges(d pods.Difference) string {
	if d.Before == nil || d.After == nil {
		return ""
	}

	gained, lost := without(d.After.Fit, d.Before.Fit), without(d.Before.Fit, d.After.Fit)
	if len(gained)+len(lost) == 0 {
		return ""
	}

	var parts []string
	if len(gained) > 0 {
		parts = append(parts, "gained "+abbreviate(gained))
	}

	if len(lost) > 0 {
		parts = append(parts, "lost "+abbreviate(lost))
	}

	return fmt.Sprintf(" (%d before; %s)", len(d.Before.Fit), strings.Join(parts, "; "))
}

// without returns the names that another list does not have.
func without(names, others []string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return slices.Contains(others, name) })
}

func writeTenantDifference(out *bytes.Buffer, d pods.TenantDifference) {
	fmt.Fprintf(out, "\nTenant %s: %s", d.Tenant, settingsText(d.After))

	if d.Before != nil {
		fmt.Fprintf(out, " (before: %s)", settingsText(*d.Before))
	}

	out.WriteByte('\n')

	if d.After.Reason != "" {
		fmt.Fprintf(out, "  AffinityClassesCompliant=False (%s): %s\n", d.After.Reason, Printable(d.After.Message))
	}
}

func settingsText(s pods.TenantSettings) string {
	text := "no default"
	if s.Default != "" {
		text = "default " + s.Default
	}

	switch {
	case !s.Restricted:
		return text + ", every class is allowed"
	case len(s.Allowed) == 0:
		return text + ", no class is allowed"
	default:
		return text + ", allowed " + strings.Join(s.Allowed, ", ")
	}
}

// writePodDifferenceNames writes "namespace/name@kind ~field" for every field that the next admission adds, and "+node" and "-node" for the
// nodes that fit only after or only before the change.
func writePodDifferenceNames(out *bytes.Buffer, d *pods.Differences) {
	for _, workload := range d.Workloads {
		line := func(mark, text string) {
			fmt.Fprintf(out, "%s/%s@%s %s%s\n", workload.Namespace, workload.Name, strings.ToLower(workload.Kind), mark, text)
		}

		for _, field := range workload.Lacks {
			line(markMoved, field)
		}

		if workload.Before == nil || workload.After == nil {
			continue
		}

		for _, node := range without(workload.After.Fit, workload.Before.Fit) {
			line(markGained, node)
		}

		for _, node := range without(workload.Before.Fit, workload.After.Fit) {
			line(markLost, node)
		}
	}
}
