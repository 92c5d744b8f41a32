// SPDX-License-Identifier: Apache-2.0

package live

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/placement-hub/placement-hub/pkg/explain/document"
	"github.com/placement-hub/placement-hub/pkg/explain/printers"
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
func (h Header) lines(b *document.Board) []string {
	lines := []string{fmt.Sprintf("placement hub at %s: %s", h.Server, b.Summary)}
	switch {
	case !h.overdue.IsZero():
		lines = append(lines, "the process that holds the lease "+h.Lease+" has not renewed it since "+h.overdue.UTC().Format(time.RFC3339)+
			"; nothing is decided until it does, or until a standby leads when the lease expires")
	case h.standby:
		lines = append(lines, "another process holds the lease "+h.Lease+" and decides; the controllers here stand by")
	}
	return append(lines, h.Access...)
}

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
