// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"errors"
	"fmt"
	"html/template"
	"io"
	"os"
	"path/filepath"
	"slices"

	inventory "sigs.k8s.io/cluster-inventory-api/apis/v1alpha1"
	"sigs.k8s.io/yaml"
)

// Outcome is what came of a rule.
type Outcome string

// The outcomes. Skipped is never as good as Passed.
const (
	Passed  Outcome = "Passed"
	Failed  Outcome = "Failed"
	Skipped Outcome = "Skipped"
)

// Result is what came of one rule.
type Result struct {
	Rule `json:",inline"`

	Outcome  Outcome   `json:"outcome"`
	Findings []Finding `json:"findings,omitempty"`
	// Reason says why the rule was skipped.
	Reason string `json:"reason,omitempty"`
}

// Verdict is what came of a level.
type Verdict struct {
	Level Level `json:"level"`
	// Conformant means that each rule of the level, and of those that it includes, has passed.
	Conformant bool `json:"conformant"`
	// Failed and Skipped are the rules of the level that have not passed.
	Failed  []string `json:"failed,omitempty"`
	Skipped []string `json:"skipped,omitempty"`
}

// Report has the results of all rules.
type Report struct {
	Kind           string    `json:"kind"`
	API            string    `json:"api"`
	Implementation string    `json:"implementation"`
	Levels         []Verdict `json:"levels"`
	Rules          []Result  `json:"rules"`
}

const (
	reportKind = "PlacementDecisionConformanceReport"
	notRun     = "the test that has this rule was not run"
)

// newReport returns a report in which each rule is skipped.
func newReport(implementation string) *Report {
	r := &Report{Kind: reportKind, API: inventory.GroupVersion.String(), Implementation: implementation}
	for _, rule := range Rules() {
		r.Rules = append(r.Rules, Result{Rule: rule, Outcome: Skipped, Reason: notRun})
	}
	r.judge()
	return r
}

// add replaces the results of rules.
func (r *Report) add(results []Result) {
	for _, result := range results {
		index := slices.IndexFunc(r.Rules, func(other Result) bool { return other.ID == result.ID })
		r.Rules[index] = result
	}
	r.judge()
}

func (r *Report) judge() {
	r.Levels = nil
	for _, level := range append(slices.Clone(producerLevels), Consumer) {
		v := Verdict{Level: level, Conformant: true}
		for _, result := range r.Rules {
			switch {
			case !level.includes(result.Level):
			case result.Outcome == Failed:
				v.Conformant, v.Failed = false, append(v.Failed, result.ID)
			case result.Outcome != Passed:
				v.Conformant, v.Skipped = false, append(v.Skipped, result.ID)
			}
		}
		r.Levels = append(r.Levels, v)
	}
}

// Result returns the result of a rule.
func (r *Report) Result(rule string) Result {
	return r.Rules[slices.IndexFunc(r.Rules, func(result Result) bool { return result.ID == rule })]
}

// Conformant reports whether each rule of a level, and of those that it includes, has passed.
func (r *Report) Conformant(level Level) bool {
	return slices.ContainsFunc(r.Levels, func(v Verdict) bool { return v.Level == level && v.Conformant })
}

// WriteYAML writes the report as YAML.
func (r *Report) WriteYAML(w io.Writer) error {
	content, err := yaml.Marshal(r)
	if err == nil {
		_, err = w.Write(content)
	}
	if err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	return nil
}

var reportPage = template.Must(template.New("report").Parse(`<!DOCTYPE html>
<html lang="en">
<head><meta charset="utf-8"><title>Conformance of {{.Implementation}} to {{.API}}</title>
<style>
body { font: 16px/1.5 sans-serif; margin: 2em; } table { border-collapse: collapse; }
th, td { border: 1px solid #999; padding: .3em .6em; text-align: left; vertical-align: top; }
.Passed { background: #d7f0d7; } .Failed { background: #f6d0d0; } .Skipped { background: #eee; }
</style></head>
<body>
<h1>{{.Implementation}}: PlacementDecisions of {{.API}}</h1>
<table><caption>Levels</caption>
<tr><th>Level</th><th>Conformant</th><th>Failed</th><th>Skipped</th></tr>
{{range .Levels}}<tr class="{{if .Conformant}}Passed{{else if .Failed}}Failed{{else}}Skipped{{end}}"><td>{{.Level}}</td>
<td>{{if .Conformant}}yes{{else}}no{{end}}</td>
<td>{{range .Failed}}{{.}} {{end}}</td><td>{{range .Skipped}}{{.}} {{end}}</td></tr>
{{end}}</table>
<table><caption>Rules</caption>
<tr><th>Rule</th><th>Level</th><th>What it asks for</th><th>Outcome</th><th>Findings</th></tr>
{{range .Rules}}<tr class="{{.Outcome}}"><td>{{.ID}}</td><td>{{.Level}}</td><td>{{.Title}}</td><td>{{.Outcome}}</td>
<td>{{.Reason}}{{range .Findings}}{{.}}<br>{{end}}</td></tr>
{{end}}</table>
</body>
</html>
`))

// WriteHTML writes the report as a page.
func (r *Report) WriteHTML(w io.Writer) error {
	if err := reportPage.Execute(w, r); err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	return nil
}

// WriteFiles writes report.yaml and report.html into a directory, which is created if needed.
func (r *Report) WriteFiles(directory string) error {
	if err := os.MkdirAll(directory, 0o750); err != nil {
		return fmt.Errorf("make the directory of the report: %w", err)
	}
	for name, write := range map[string]func(io.Writer) error{"report.yaml": r.WriteYAML, "report.html": r.WriteHTML} {
		file, err := os.Create(filepath.Join(directory, name))
		if err != nil {
			return fmt.Errorf("write the report: %w", err)
		}
		if err := errors.Join(write(file), file.Close()); err != nil {
			return err
		}
	}
	return nil
}

// outcomes gathers findings by rule.
type outcomes struct {
	findings map[string][]Finding
	skipped  map[string]string
}

func newOutcomes() *outcomes { return &outcomes{map[string][]Finding{}, map[string]string{}} }

// add records findings; the same one again is not recorded.
func (o *outcomes) add(findings ...Finding) {
	for _, finding := range findings {
		if !slices.Contains(o.findings[finding.Rule], finding) {
			o.findings[finding.Rule] = append(o.findings[finding.Rule], finding)
		}
	}
}

func (o *outcomes) addf(rule, format string, arguments ...any) {
	o.add(Finding{Rule: rule, Message: fmt.Sprintf(format, arguments...)})
}

func (o *outcomes) skip(reason string, rules ...string) {
	for _, rule := range rules {
		o.skipped[rule] = reason
	}
}

func (o *outcomes) failed(rule string) bool { return len(o.findings[rule]) > 0 }

// results returns the results of rules. A finding counts more than a reason to skip.
func (o *outcomes) results(rules ...string) []Result {
	var results []Result
	for _, rule := range Rules() {
		if !slices.Contains(rules, rule.ID) {
			continue
		}
		result := Result{Rule: rule, Outcome: Passed}
		if reason, skipped := o.skipped[rule.ID]; skipped {
			result.Outcome, result.Reason = Skipped, reason
		}
		if o.failed(rule.ID) {
			result.Outcome, result.Reason, result.Findings = Failed, "", o.findings[rule.ID]
		}
		results = append(results, result)
	}
	return results
}
