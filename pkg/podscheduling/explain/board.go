// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/placement-hub/placement-hub/pkg/explain/document"
)

// boardRow is a workload without a controller.
type boardRow struct {
	title         string
	bound, wanted int
	nodes         []string // sorted, each once
	class         string   // empty for none
	details       []string // what was injected, kept and refused
	refused       bool     // no Pod of it is admitted
}

// NewBoard returns the workloads by namespace, kind and name, with what policies and classes do with them. Rendered are workloads as they were
// written, before anything was injected: of other workloads the board does not know what was. Refused are sentences about what admission has refused.
func NewBoard(objects *Objects, rendered []*unstructured.Unstructured, refused []string) (*document.Board, error) {
	b := &document.Board{
		Refused: refused, Versions: versionsOf(objects), Empty: "no workloads yet",
		Table: document.Table{Columns: []string{"NAMESPACE/KIND/NAME", "BOUND", "NODES", "CLASS"}},
	}
	evaluator := NewEvaluator(objects)
	family := newFamily(objects.Workloads)
	applications := map[string]bool{}
	for _, workload := range family.roots {
		report, err := evaluator.Explain(workload, false)
		if err != nil {
			return nil, fmt.Errorf("explaining a workload: %w", err)
		}
		written, err := writtenReport(evaluator, workload, rendered)
		if err != nil {
			return nil, err
		}
		row := boardRow{title: workloadTitle(workload), refused: report.Refused(), wanted: wantedPods(workload, family.pods(workload))}
		row.bound, row.nodes = boundPods(family.pods(workload))
		if report.Class != nil {
			row.class = report.Class.Class
			applications[report.Class.Release] = true
		}
		row.details = details(&report, written)
		b.Table.Rows = append(b.Table.Rows, row.row())
	}
	b.Sort()
	b.Summary = strings.Join([]string{
		document.Count(len(objects.Nodes), "node"), document.Count(len(objects.Tenants), "tenant"),
		plural(len(objects.ClusterPolicies)+len(objects.Policies), "policy", "policies"), plural(len(objects.Classes), "class", "classes"),
		document.Count(len(applications), "application"), document.Count(len(b.Table.Rows), "workload"),
	}, ", ")
	return b, nil
}

// plural is document.Count for nouns with another plural.
func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + many
}

// writtenReport explains a workload as it was written; nil if that is not known.
func writtenReport(evaluator *Evaluator, workload *unstructured.Unstructured, rendered []*unstructured.Unstructured) (*Report, error) {
	at := slices.IndexFunc(rendered, func(written *unstructured.Unstructured) bool {
		return workloadTitle(written) == workloadTitle(workload)
	})
	if at < 0 {
		return nil, nil
	}
	report, err := evaluator.Explain(rendered[at], true)
	if err != nil {
		return nil, fmt.Errorf("explaining a sample: %w", err)
	}
	return &report, nil
}

// details says what policies and the class do with a workload. written is the report of the workload as it was written; nil if unknown.
func details(report, written *Report) []string {
	var lines []string
	for _, policy := range report.Policies {
		if !policy.Matches {
			continue
		}
		var injected []string
		if written != nil {
			at := slices.IndexFunc(written.Policies, func(p Policy) bool { return p.Policy == policy.Policy })
			adds := written.Policies[at].Adds
			injected = slices.DeleteFunc(slices.Clone(policy.Has), func(field string) bool { return !slices.Contains(adds, field) })
		}
		own := slices.DeleteFunc(slices.Clone(policy.Has), func(field string) bool { return slices.Contains(injected, field) })
		var parts []string
		for _, part := range []struct {
			word   string
			fields []string
		}{{"injected", injected}, {"has", own}, {"lacks", policy.Adds}} {
			if len(part.fields) > 0 {
				parts = append(parts, part.word+" "+strings.Join(part.fields, ", "))
			}
		}
		for _, skip := range policy.Skipped {
			parts = append(parts, skip.Message)
		}
		if len(parts) > 0 {
			lines = append(lines, policy.Policy+": "+strings.Join(parts, "; "))
		}
	}
	if class := report.Class; class != nil && class.Class != "" {
		lines = append(lines, fmt.Sprintf("AffinityClass %s: %s", class.Class, verdict(class)))
	}
	return lines
}

// verdict says where a class comes from, and whether new Pods are admitted.
func verdict(class *Class) string {
	switch {
	case class.Denial != "":
		return class.Origin + "; refused: " + class.Denial
	case !class.Verified:
		return class.Origin + "; not verified in this namespace"
	default:
		return class.Origin + "; verified"
	}
}
