// SPDX-License-Identifier: Apache-2.0

package report

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// The table in docs/benchmark.md stands between these lines.
const (
	tableBegin = "<!-- The table is written by make bench-report. -->"
	tableEnd   = "<!-- End of the table. -->"
)

// WriteJSON writes the report to a file.
func (r *Report) WriteJSON(path string) error {
	content, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return fmt.Errorf("encoding the report: %w", err)
	}
	return os.WriteFile(path, append(content, '\n'), 0o600)
}

// ReadJSON reads reports that WriteJSON wrote, as one: the sizes of all of them, smallest first, and of each size, and of those without, the
// last one read.
func ReadJSON(paths ...string) (*Report, error) {
	all := &Report{}
	for _, path := range paths {
		content, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		one := &Report{}
		if err := json.Unmarshal(content, one); err != nil {
			return nil, fmt.Errorf("reading the report %s: %w", path, err)
		}
		all.Machine, all.Missing = one.Machine, one.Missing
		all.Admission = cmp.Or(one.Admission, all.Admission)
		all.Federation = cmp.Or(one.Federation, all.Federation)
		all.Requests = cmp.Or(one.Requests, all.Requests)
		all.Hostile = cmp.Or(one.Hostile, all.Hostile)
		for _, run := range one.Runs {
			all.Runs = slices.DeleteFunc(all.Runs, func(r Run) bool { return r.Size == run.Size })
			all.Runs = append(all.Runs, run)
		}
	}
	slices.SortFunc(all.Runs, func(a, b Run) int {
		return cmp.Or(cmp.Compare(a.Size.Clusters, b.Size.Clusters), cmp.Compare(a.Size.Placements, b.Size.Placements))
	})
	return all, nil
}

// WriteDocs writes benchmark.json and benchmark.svg, and the table in docs/benchmark.md, which must be there.
func (r *Report) WriteDocs(directory string) error {
	page := filepath.Join(directory, "benchmark.md")
	content, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	before, rest, begins := strings.Cut(string(content), tableBegin)
	_, after, ends := strings.Cut(rest, tableEnd)
	if !begins || !ends {
		return fmt.Errorf("%s: want the lines %q and %q around the table", page, tableBegin, tableEnd)
	}
	text := before + tableBegin + "\n\n" + r.Markdown() + "\n" + tableEnd + after
	if err := os.WriteFile(page, []byte(text), 0o600); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(directory, "benchmark.svg"), []byte(r.SVG()), 0o600); err != nil {
		return err
	}
	return r.WriteJSON(filepath.Join(directory, "benchmark.json"))
}

// Markdown is the report as tables.
func (r *Report) Markdown() string {
	var text strings.Builder
	fmt.Fprintf(&text, "Measured on %s with %d CPUs, %s.\n\n", r.Machine.System, r.Machine.CPUs, r.Machine.Go)
	for _, missing := range r.Missing {
		fmt.Fprintf(&text, "Not measured: %s.\n\n", missing)
	}
	row := func(cells []string) { fmt.Fprintf(&text, "| %s |\n", strings.Join(cells, " | ")) }
	for i, table := range r.tables() {
		if i > 0 {
			text.WriteString("\n")
		}
		row(table[0])
		row(slices.Repeat([]string{"---"}, len(table[0])))
		for _, cells := range table[1:] {
			row(cells)
		}
	}
	if len(r.Exponents) > 0 {
		text.WriteString("\n| figure | from | to | exponent |\n| --- | --- | --- | --- |\n")
		for _, e := range r.Exponents {
			row([]string{e.Figure, e.From.String(), e.To.String(), fmt.Sprintf("%.2f", e.Value)})
		}
	}
	if len(r.Targets) > 0 {
		text.WriteString("\n| target | size | value | bound | |\n| --- | --- | --- | --- | --- |\n")
		for _, v := range r.Targets {
			row([]string{v.Target, v.Size, fmt.Sprintf("%.4g", v.Value), v.Bound, v.word()})
		}
	}
	return text.String()
}
