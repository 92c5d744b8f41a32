// SPDX-License-Identifier: Apache-2.0

package live

import (
	"io"
	"maps"
	"slices"
	"time"

	"github.com/placement-hub/placement-hub/pkg/explain/document"
	"github.com/placement-hub/placement-hub/pkg/explain/printers"
)

// maxDelay is how long the line of an object that has not settled may be delayed.
const maxDelay = 2 * time.Second

// lineDisplay prints the header once, and then a line for each change of an object. It begins when all has settled, or after maxDelay, and
// delays the line of an object that has not settled alike.
type lineDisplay struct {
	out     io.Writer
	begin   time.Time // of the first table
	started bool      // the header was printed
	standby bool
	overdue time.Time
	shown   map[string]string    // lines by title
	waiting map[string]time.Time // by title
}

func newLineDisplay(out io.Writer) *lineDisplay {
	return &lineDisplay{out: out, shown: map[string]string{}, waiting: map[string]time.Time{}}
}

func (d *lineDisplay) show(h Header, b *document.Board, now time.Time) (again time.Duration, err error) {
	if d.begin.IsZero() {
		d.begin = now
	}
	if left := maxDelay - now.Sub(d.begin); !d.started && left > 0 && len(b.Pending()) > 0 {
		return left, nil
	}
	var lines []string
	if d.headed(h) {
		lines = h.lines(b)
	}
	present := map[string]bool{}
	for _, row := range printers.BoardChanges(b) {
		present[row.Title] = true
		if d.shown[row.Title] == row.Line {
			delete(d.waiting, row.Title)
			continue
		}
		if left := d.delayLeft(row, now); left > 0 {
			if again == 0 || left < again {
				again = left
			}
			continue
		}
		d.shown[row.Title] = row.Line
		lines = append(lines, row.Line)
	}
	for _, title := range slices.Sorted(maps.Keys(d.shown)) {
		if !present[title] {
			delete(d.shown, title)
			lines = append(lines, title+columnGap+"deleted")
		}
	}
	maps.DeleteFunc(d.waiting, func(title string, _ time.Time) bool { return !present[title] })
	if len(lines) == 0 {
		return again, nil
	}
	return again, printLines(d.out, lines)
}

// headed reports whether the header is to be printed: at the start, and after a change of the lease.
func (d *lineDisplay) headed(h Header) bool {
	if d.started && d.standby == h.standby && d.overdue.Equal(h.overdue) {
		return false
	}
	d.started, d.standby, d.overdue = true, h.standby, h.overdue
	return true
}

// delayLeft returns how long the line of a changed object is still delayed; 0 when it is due.
func (d *lineDisplay) delayLeft(row printers.BoardChange, now time.Time) time.Duration {
	if !row.Unsettled {
		delete(d.waiting, row.Title)
		return 0
	}
	since, waits := d.waiting[row.Title]
	if !waits {
		since = now
		d.waiting[row.Title] = now
	}
	return max(maxDelay-now.Sub(since), 0)
}

func (d *lineDisplay) resized() <-chan struct{} { return nil }

func (d *lineDisplay) close() error { return nil }
