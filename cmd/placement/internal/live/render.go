// SPDX-License-Identifier: Apache-2.0

package live

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/placement-hub/placement-hub/pkg/explain/document"
	"github.com/placement-hub/placement-hub/pkg/explain/printers"
	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/placement/api"
)

const columnGap = "  "

// Header names the server and how to reach it.
type Header struct {
	Server  string   // its address
	Access  []string // lines with the address and the credentials of the hub
	Lease   string   // namespace/name; "" without leader election
	standby bool     // another process holds the lease
	// overdue is when that process has renewed the lease last, if it should have renewed it since; otherwise zero.
	overdue time.Time
}

// lines returns the lines above the table.
func (h Header) lines(b content) []string {
	lines := []string{fmt.Sprintf("placement hub at %s: %s", h.Server, b.summary())}
	switch {
	case !h.overdue.IsZero():
		lines = append(lines, "the process that holds the lease "+h.Lease+" has not renewed it since "+h.overdue.UTC().Format(time.RFC3339)+
			"; nothing is decided until it does, or until a standby leads when the lease expires")
	case h.standby:
		lines = append(lines, "another process holds the lease "+h.Lease+" and decides; the controllers here stand by")
	}
	return append(lines, h.Access...)
}

func (t *table) summary() string {
	return fmt.Sprintf("%s, %s, %s%s",
		document.Count(t.clusters, "cluster"), document.Count(t.sets, "set"), document.Count(len(t.rows), "placement"), ofOtherAPIs(t))
}

// ofOtherAPIs counts the Placements of other APIs than v1beta1; their titles have only the version.
func ofOtherAPIs(b *table) string {
	var text strings.Builder
	for _, adapter := range api.Adapters() {
		of := 0
		for _, row := range b.rows {
			if row.key.API() == adapter.Name() {
				of++
			}
		}
		if adapter != api.V1beta1 && of > 0 {
			fmt.Fprintf(&text, ", %d of them of %s", of, adapter.Kind().GroupVersion())
		}
	}
	return text.String()
}

// title returns "namespace/name", with the version of the API if that is not v1beta1, because two APIs may have Placements of one name.
func title(key inventory.Key) string {
	version := ""
	if adapter := api.Of(key); adapter != api.V1beta1 {
		version = adapter.Kind().Version
	}
	return document.Title(key.NamespacedName.String(), version)
}

// tableLines renders the table, with the message of each unsatisfied Placement below its row.
func tableLines(b *table) []string {
	rows := make([][]string, 0, len(b.rows)+1)
	rows = append(rows, []string{"NAMESPACE/NAME", "SELECTED", "STATUS", "DECISIONS"})
	for _, row := range b.rows {
		rows = append(rows, []string{title(row.key), row.selected, row.status, row.decisions})
	}
	lines := make([]string, 0, len(rows))
	for i, line := range aligned(rows) {
		lines = append(lines, line)
		if i > 0 && b.rows[i-1].message != "" {
			lines = append(lines, columnGap+oneLine(b.rows[i-1].message))
		}
	}
	if len(b.rows) == 0 {
		lines = append(lines, "no placements yet")
	}
	return lines
}

func (t *table) body() []string { return tableLines(t) }

func (t *table) changes() []change {
	changes := make([]change, 0, len(t.rows))
	for _, row := range t.rows {
		changes = append(changes, change{title: title(row.key), line: changeLine(row), unsettled: row.unsettled != ""})
	}
	return changes
}

func (t *table) version() string { return t.versions }

// changeLine renders a Placement in one line.
func changeLine(row tableRow) string {
	line := strings.Join([]string{title(row.key), row.selected, row.status, row.decisions}, columnGap)
	if row.message != "" {
		line += columnGap + "(" + oneLine(row.message) + ")"
	}
	return line
}

// oneLine replaces control characters of user-provided messages, line breaks too.
func oneLine(text string) string { return strings.ReplaceAll(printers.Printable(text), "\n", " ") }

// wrapped breaks lines between words, so that a window shows all of them.
func wrapped(lines []string, width int) []string {
	broken := make([]string, 0, len(lines))
	for _, line := range lines {
		broken = append(broken, printers.Wrap(line, width)...)
	}
	return broken
}

// wrappedDetails breaks the details below the rows of a table, which say why something is as it is. The rows stay as they are.
func wrappedDetails(rows []string, width int) []string {
	lines := make([]string, 0, len(rows))
	for _, row := range rows {
		if strings.HasPrefix(row, columnGap) {
			lines = append(lines, printers.Wrap(row, width)...)
		} else {
			lines = append(lines, row)
		}
	}
	return lines
}

// fit truncates lines to a window: a line beyond width ends in "…", and lines beyond height are counted.
func fit(lines []string, width, height int) []string {
	if height > 0 && len(lines) > height {
		hidden := len(lines) - height + 1
		lines = append(lines[:height-1:height-1], fmt.Sprintf("… %d more lines; enlarge the window to see them", hidden))
	}
	fitted := make([]string, 0, len(lines))
	for _, line := range lines {
		if width > 0 && utf8.RuneCountInString(line) > width {
			line = string([]rune(line)[:width-1]) + "…"
		}
		fitted = append(fitted, line)
	}
	return fitted
}

func aligned(rows [][]string) []string {
	texts := make([]document.Text, 0, len(rows))
	for _, row := range rows {
		texts = append(texts, document.NewRow(row...).Cells)
	}
	return printers.Align(texts)
}
