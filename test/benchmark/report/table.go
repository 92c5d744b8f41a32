// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
)

// grid is the table of the figures: a title, and then a row for each figure in the order in which they were first measured.
func (r *Report) grid() (head []string, rows [][]string) {
	head = append(make([]string, 0, 2+len(r.Runs)), "scenario", "figure")
	var order []Figure
	for i := range r.Runs {
		head = append(head, r.Runs[i].Size.String())
		for _, figure := range r.Runs[i].Figures {
			if !slices.ContainsFunc(order, func(f Figure) bool { return f.Key() == figure.Key() }) {
				order = append(order, figure)
			}
		}
	}
	slices.SortStableFunc(order, func(a, b Figure) int {
		return slices.IndexFunc(order, func(f Figure) bool { return f.Scenario == a.Scenario }) -
			slices.IndexFunc(order, func(f Figure) bool { return f.Scenario == b.Scenario })
	})
	last := ""
	for _, figure := range order {
		row := append(make([]string, 0, len(head)), figure.Scenario, figure.Name)
		if figure.Scenario == last {
			row[0] = ""
		}
		last = figure.Scenario
		for i := range r.Runs {
			text := "-"
			if value, found := r.Runs[i].Value(figure.Key()); found {
				text = figure.Unit.Text(value)
			}
			row = append(row, text)
		}
		rows = append(rows, row)
	}
	return head, rows
}

// tables are the figures by size, and those of each run without a size, each with its title as the first row. A table without figures is left out.
func (r *Report) tables() [][][]string {
	var tables [][][]string
	if len(r.Runs) > 0 {
		head, rows := r.grid()
		tables = append(tables, slices.Concat([][]string{head}, rows))
	}
	for _, run := range r.separate() {
		table := append(make([][]string, 0, 1+len(run.Figures)), []string{"scenario", "figure", "value"})
		for _, figure := range run.Figures {
			table = append(table, []string{figure.Scenario, figure.Name, figure.Unit.Text(figure.Value)})
		}
		tables = append(tables, table)
	}
	return tables
}

// WriteText writes the report for a terminal.
func (r *Report) WriteText(w io.Writer) error {
	var text strings.Builder
	fmt.Fprintf(&text, "%s, %d CPUs, %s\n\n", r.Machine.System, r.Machine.CPUs, r.Machine.Go)
	for _, missing := range r.Missing {
		fmt.Fprintf(&text, "Not measured: %s\n\n", missing)
	}
	for i, table := range r.tables() {
		if i > 0 {
			text.WriteString("\n")
		}
		columns := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
		for _, row := range table {
			fmt.Fprintln(columns, strings.Join(row, "\t"))
		}
		if err := columns.Flush(); err != nil {
			return fmt.Errorf("writing the table: %w", err)
		}
	}
	for _, exponent := range r.Exponents {
		fmt.Fprintf(&text, "\n%s grows with the size to the power of %.2f, from %s to %s",
			exponent.Figure, exponent.Value, exponent.From, exponent.To)
	}
	text.WriteString("\n\n")
	for _, verdict := range r.Targets {
		fmt.Fprintln(&text, verdict)
	}
	if _, err := io.WriteString(w, text.String()); err != nil {
		return fmt.Errorf("writing the report: %w", err)
	}
	return nil
}
