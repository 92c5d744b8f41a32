// SPDX-License-Identifier: Apache-2.0

package live

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"golang.org/x/term"

	"github.com/placement-hub/placement-hub/pkg/explain/document"
	"github.com/placement-hub/placement-hub/pkg/explain/printers"
)

// Escape sequences: the alternate screen preserves the previous content; without a cursor and wrapping the output does not flicker or
// scroll.
const (
	enterScreen = "\x1b[?1049h\x1b[?25l\x1b[?7l"
	leaveScreen = "\x1b[?7h\x1b[?25h\x1b[?1049l"
	cursorHome  = "\x1b[H"
	clearToEOL  = "\x1b[K"
	clearBelow  = "\x1b[J"
)

// screenDisplay redraws tables on a terminal, and prints the last one when it ends.
type screenDisplay struct {
	out     io.Writer
	size    func() (width, height int, err error)
	resizes <-chan struct{}
	stop    func()
	entered bool
	frame   string   // as drawn last
	last    []string // what stays when it ends
}

// newDisplay returns the display for an output. A log on the same terminal would be overwritten, so it selects lines then.
func newDisplay(out io.Writer) display {
	file, ok := out.(*os.File)
	if !ok || !term.IsTerminal(int(file.Fd())) || os.Getenv("TERM") == "dumb" {
		return newLineDisplay(out)
	}
	if verbose() && term.IsTerminal(int(os.Stderr.Fd())) {
		return newLineDisplay(out)
	}
	resizes, stop := notifyResize()
	return &screenDisplay{
		out: out, size: func() (int, int, error) { return term.GetSize(int(file.Fd())) }, resizes: resizes, stop: stop,
	}
}

func (d *screenDisplay) show(h Header, b *document.Board, _ time.Time) (time.Duration, error) {
	width, height, err := d.size()
	if err != nil {
		return 0, fmt.Errorf("asking the terminal for its size: %w", err)
	}
	head, rows := h.lines(b), printers.BoardLines(b)
	d.last = slices.Concat(head[:1], []string{""}, rows)
	lines := slices.Concat(wrapped(head, width), []string{"Ctrl-C ends it", ""}, wrappedDetails(rows, width))
	frame := cursorHome + strings.Join(fit(lines, width, height), clearToEOL+"\r\n") + clearToEOL + clearBelow
	if frame == d.frame {
		return 0, nil
	}
	d.frame = frame
	if !d.entered {
		d.entered = true
		frame = enterScreen + frame
	}
	return 0, d.write(frame)
}

func (d *screenDisplay) resized() <-chan struct{} { return d.resizes }

func (d *screenDisplay) close() error {
	d.stop()
	if !d.entered {
		return nil
	}
	return d.write(leaveScreen + strings.Join(d.last, "\r\n") + "\r\n")
}

func (d *screenDisplay) write(text string) error {
	if _, err := io.WriteString(d.out, text); err != nil {
		return fmt.Errorf("drawing on the terminal: %w", err)
	}
	return nil
}
