package live

import (
	"io"
	"maps"
	"slices"
	"time"

	"github.com/placement-hub/placement-hub/pkg/inventory"
)

// maxDelay is how long the line of a Placement that is being decided may be delayed.
const maxDelay = 2 * time.Second

// lineDisplay prints the header once, and then a line for each change of a Placement. It begins when all has settled, or after maxDelay,
// and delays the line of a Placement that is being decided alike.
type lineDisplay struct {
	out     io.Writer
	begin   time.Time // of the first table
	started bool      // the header was printed
	standby bool
	shown   map[inventory.Key]string
	waiting map[inventory.Key]time.Time
}

func newLineDisplay(out io.Writer) *lineDisplay {
	return &lineDisplay{out: out, shown: map[inventory.Key]string{}, waiting: map[inventory.Key]time.Time{}}
}

func (d *lineDisplay) show(h Header, b *table, now time.Time) (again time.Duration, err error) {
	if d.begin.IsZero() {
		d.begin = now
	}
	if left := maxDelay - now.Sub(d.begin); !d.started && left > 0 && len(b.pending()) > 0 {
		return left, nil
	}
	var lines []string
	if !d.started || d.standby != h.standby {
		d.started, d.standby = true, h.standby
		lines = h.lines(b)
	}
	present := map[inventory.Key]bool{}
	for _, row := range b.rows {
		present[row.key] = true
		line := changeLine(row)
		if d.shown[row.key] == line {
			delete(d.waiting, row.key)
			continue
		}
		if left := d.delayLeft(row, now); left > 0 {
			if again == 0 || left < again {
				again = left
			}
			continue
		}
		d.shown[row.key] = line
		lines = append(lines, line)
	}
	for _, key := range slices.SortedFunc(maps.Keys(d.shown), inventory.Key.Compare) {
		if !present[key] {
			delete(d.shown, key)
			lines = append(lines, title(key)+columnGap+"deleted")
		}
	}
	maps.DeleteFunc(d.waiting, func(key inventory.Key, _ time.Time) bool { return !present[key] })
	if len(lines) == 0 {
		return again, nil
	}
	return again, printLines(d.out, lines)
}

// delayLeft returns how long the line of a changed Placement is still delayed; 0 when it is due.
func (d *lineDisplay) delayLeft(row tableRow, now time.Time) time.Duration {
	if row.unsettled == "" {
		delete(d.waiting, row.key)
		return 0
	}
	since, waits := d.waiting[row.key]
	if !waits {
		since = now
		d.waiting[row.key] = now
	}
	return max(maxDelay-now.Sub(since), 0)
}

func (d *lineDisplay) resized() <-chan struct{} { return nil }

func (d *lineDisplay) close() error { return nil }
