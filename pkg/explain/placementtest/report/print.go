// SPDX-License-Identifier: Apache-2.0

package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/placement-hub/placement-hub/pkg/explain/placementtest/evaluate"
)

// Format is an output format.
type Format string

// The formats.
const (
	Text     Format = "text"
	JSON     Format = "json"
	JUnit    Format = "junit"
	Markdown Format = "markdown"
)

// Formats returns all formats.
func Formats() []Format { return []Format{Text, JSON, JUnit, Markdown} }

// Options say what Text has.
type Options struct {
	// Verbose lists the cases that hold too.
	Verbose bool
}

// Print prints results in a format.
func Print(out io.Writer, format Format, results *evaluate.Results, o Options) error {
	var text bytes.Buffer
	switch format {
	case Text:
		printText(&text, results, o)
	case JSON:
		encoder := json.NewEncoder(&text)
		encoder.SetIndent("", "  ")
		encoder.SetEscapeHTML(false)
		if err := encoder.Encode(results); err != nil {
			return fmt.Errorf("encoding the results: %w", err)
		}
	case JUnit:
		if err := printJUnit(&text, results); err != nil {
			return err
		}
	case Markdown:
		printMarkdown(&text, results)
	default:
		return fmt.Errorf("unknown format %q; use one of %v", format, Formats())
	}
	if _, err := text.WriteTo(out); err != nil {
		return fmt.Errorf("printing the results: %w", err)
	}
	return nil
}

func printText(text *bytes.Buffer, results *evaluate.Results, o Options) {
	for i := range results.Cases {
		each := &results.Cases[i]
		if each.Status == evaluate.Passed && !o.Verbose {
			continue
		}
		fmt.Fprintf(text, "%-11s %s (%s)%s\n", word(each.Status), each.Name, place(each, each.Line), evaluated(each))
		for _, line := range details(each) {
			fmt.Fprintf(text, "  %s\n", line)
		}
	}
	if text.Len() > 0 {
		text.WriteByte('\n')
	}
	if results.Coverage != nil {
		for _, each := range results.Coverage.Placements {
			fmt.Fprintf(text, "%s\n", each.Placement)
			for _, finding := range each.Findings {
				fmt.Fprintf(text, "  %s\n", finding)
			}
		}
		fmt.Fprintf(text, "coverage: %d Placements with terms that decide nothing in this world\n\n", len(results.Coverage.Placements))
	}
	fmt.Fprintln(text, Summary(results))
}

// word returns a status as it is printed.
func word(status evaluate.Status) string {
	switch status {
	case evaluate.Passed:
		return "PASS"
	case evaluate.Failed:
		return "FAIL"
	default:
		return strings.ToUpper(string(status))
	}
}

func place(each *evaluate.Result, line int) string { return each.File + ":" + strconv.Itoa(line) }

// evaluated says how many situations were tried; empty for a case with one.
func evaluated(each *evaluate.Result) string {
	situations := each.Situations
	if situations == nil {
		return ""
	}
	text := fmt.Sprintf(" tried %d of %d combinations", situations.Tried, situations.Of)
	if situations.Seed != nil {
		text += fmt.Sprintf(", seed %d", *situations.Seed)
	}
	return text
}

// details says why a case does not hold.
func details(each *evaluate.Result) []string {
	var lines []string
	if each.Description != "" && each.Status != evaluate.Passed {
		lines = append(lines, strings.Split(strings.TrimSpace(each.Description), "\n")...)
	}
	if each.Error != "" {
		lines = append(lines, each.Error)
	}
	if each.Failure == nil {
		return lines
	}
	subject := each.Failure.Object
	if each.Failure.When != "" {
		subject += ", " + each.Failure.When
	}
	lines = append(lines, subject, fmt.Sprintf("%s: %s: %s", place(each, each.Failure.Line), each.Failure.Field, each.Failure.Message))
	for _, counterfactual := range each.Failure.Counterfactuals {
		lines = append(lines, "  "+counterfactual)
	}
	if each.Failures > 1 {
		lines = append(lines, fmt.Sprintf("and %d more of its objects and situations", each.Failures-1))
	}
	return lines
}

// Summary returns "12 cases: 10 hold, 2 fail".
func Summary(results *evaluate.Results) string {
	s := results.Summary
	noun := "cases"
	if s.Cases == 1 {
		noun = "case"
	}
	parts := []string{}
	for _, part := range []struct {
		count int
		what  string
	}{{s.Passed, "hold"}, {s.Failed, "fail"}, {s.Errors, "could not be evaluated"}, {s.Interrupted, "interrupted"}} {
		if part.count > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", part.count, part.what))
		}
	}
	return fmt.Sprintf("%d %s: %s", s.Cases, noun, strings.Join(parts, ", "))
}

// printMarkdown prints a comment on a merge request: what does not hold first, and the others folded.
func printMarkdown(text *bytes.Buffer, results *evaluate.Results) {
	fmt.Fprintf(text, "### Placement tests: %s\n", Summary(results))
	var held []string
	for i := range results.Cases {
		each := &results.Cases[i]
		if each.Status == evaluate.Passed {
			held = append(held, fmt.Sprintf("* %s%s\n", escape(each.Name), evaluated(each)))
			continue
		}
		fmt.Fprintf(text, "\n**%s** %s (`%s`)%s\n\n", word(each.Status), escape(each.Name), place(each, each.Line), evaluated(each))
		fence, lines := "```", details(each)
		if len(lines) == 0 {
			continue
		}
		for slices.ContainsFunc(lines, func(line string) bool { return strings.Contains(line, fence) }) {
			fence += "`"
		}
		fmt.Fprintf(text, "%stext\n%s\n%s\n", fence, strings.Join(lines, "\n"), fence)
	}
	if len(held) > 0 {
		fmt.Fprintf(text, "\n<details><summary>%d hold</summary>\n\n%s\n</details>\n", len(held), strings.Join(held, ""))
	}
}

// escape returns a text that Markdown and HTML show as it is.
func escape(text string) string {
	return strings.NewReplacer(
		`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "<", "&lt;", ">", "&gt;", "&", "&amp;", "|", `\|`, "\n", " ",
	).Replace(text)
}
