// SPDX-License-Identifier: Apache-2.0

package document

import (
	"fmt"
	"slices"
	"strings"

	"github.com/placement-hub/placement-hub/pkg/scheduling"
)

// Source is a result that is shown as a Document. It is its own JSON and YAML.
type Source interface {
	Document(o Options) Document
}

// Options choose what a Document has.
type Options struct {
	// Scores adds the ranks and the scores of every prioritizer to the table of the clusters.
	Scores bool
	// Wide adds the existing decision and the decision group of each cluster.
	Wide bool
	// ShowKept lists the clusters that a difference keeps, instead of their number.
	ShowKept bool
	// All is the flag that lists the clusters out of scope, for a hint.
	All string
	// Grouped is the flag that lists all clusters, for a hint: a table with many rejected clusters groups them by their cause. Empty lists them.
	Grouped string
}

// Document is a result for people, and names for scripts.
type Document struct {
	// Sections are in the order in which they are shown.
	Sections []Section
	// Names are the lines of the format name.
	Names []string
}

// Section says something about one object, or about a whole result.
type Section struct {
	// Title is the object; empty for a section about a whole result. Headline is the most important of all that follows; empty for none.
	Title    string
	Headline Text
	// Blocks are the facts and tables.
	Blocks []Block
	// Notes are about all sections until this one.
	Notes []string
	// Joined says that no empty line is between this section and the one before.
	Joined bool
}

// Block is a line, a table or a patch.
type Block struct {
	// Depth counts the steps by which a line belongs to one before, from 0.
	Depth int
	Line  Text
	Table *Table
	// Patch is a unified diff.
	Patch string
}

// Table has rows below its columns. All cells but the last of a row are short.
type Table struct {
	// Title is a line above the table; empty for none.
	Title string
	// Depth counts the steps by which the table belongs to the line before, from 0.
	Depth int
	// Columns are the titles of the columns; nil for none.
	Columns []string
	Rows    []Row
}

// Row is a row of a table.
type Row struct {
	Cells Text
	// Name identifies the row of a live table. Details are lines below it, and Unsettled is a sentence about what is still to happen with its object;
	// empty for nothing.
	Name      string
	Details   []string
	Unsettled string
}

// Text is a line or a row of cells.
type Text []Span

// Span is a part of a line, or a cell.
type Span struct {
	Text string
	Tone Tone
}

// Tone is the meaning of a colour.
type Tone string

// The tones.
const (
	Plain  Tone = ""
	Strong Tone = "strong"
	Good   Tone = "good"
	Fair   Tone = "fair"
	Bad    Tone = "bad"
)

// VerdictTone returns the tone of a verdict: good for selected, fair for held and for feasible, bad for rejected.
func VerdictTone(verdict string) Tone {
	switch verdict {
	case scheduling.StageSelected.String():
		return Good
	case VerdictHeld, scheduling.StageRank.String():
		return Fair
	case scheduling.StageScope.String():
		return Plain
	default:
		return Bad
	}
}

// Plainly returns a text without a tone.
func Plainly(text string) Text { return Text{{Text: text}} }

// Alarm returns a text that begins with an alarming word.
func Alarm(word, rest string) Text { return Text{{Text: word, Tone: Bad}, {Text: rest}} }

// With returns the text with a plain end.
func (t Text) With(rest string) Text { return append(slices.Clip(t), Span{Text: rest}) }

// String returns the text without tones.
func (t Text) String() string {
	var text strings.Builder
	for _, span := range t {
		text.WriteString(span.Text)
	}
	return text.String()
}

// Add adds sections.
func (d *Document) Add(sections ...Section) { d.Sections = append(d.Sections, sections...) }

// Append adds the sections and names of another document.
func (d *Document) Append(other Document) {
	d.Add(other.Sections...)
	d.Names = append(d.Names, other.Names...)
}

// Note adds notes about all sections.
func (d *Document) Note(notes ...string) {
	if len(notes) == 0 {
		return
	}
	if len(d.Sections) == 0 {
		d.Add(Section{})
	}
	last := &d.Sections[len(d.Sections)-1]
	last.Notes = append(last.Notes, notes...)
}

// Namef adds a line to the names.
func (d *Document) Namef(format string, arguments ...any) {
	d.Names = append(d.Names, fmt.Sprintf(format, arguments...))
}

// Linef adds a line.
func (s *Section) Linef(format string, arguments ...any) {
	s.Text(Plainly(fmt.Sprintf(format, arguments...)))
}

// Text adds a line with tones.
func (s *Section) Text(text Text) { s.Blocks = append(s.Blocks, Block{Line: text}) }

// Detailf adds a line that belongs to the one before.
func (s *Section) Detailf(format string, arguments ...any) {
	s.Blocks = append(s.Blocks, Block{Depth: 1, Line: Plainly(fmt.Sprintf(format, arguments...))})
}

// Lines adds a line for each text.
func (s *Section) Lines(texts []string) {
	for _, text := range texts {
		s.Text(Plainly(text))
	}
}

// Table adds a table that has rows.
func (s *Section) Table(table Table) {
	if len(table.Rows) > 0 {
		s.Blocks = append(s.Blocks, Block{Table: &table})
	}
}

// Row adds a row of cells without tones.
func (t *Table) Row(cells ...string) { t.Rows = append(t.Rows, NewRow(cells...)) }

// NewRow returns a row of cells without tones.
func NewRow(cells ...string) Row {
	row := Row{Cells: make(Text, 0, len(cells))}
	for _, cell := range cells {
		row.Cells = append(row.Cells, Span{Text: cell})
	}
	return row
}
