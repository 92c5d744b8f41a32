// SPDX-License-Identifier: Apache-2.0

package live

import (
	"bytes"
	"cmp"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/placement-hub/placement-hub/pkg/explain/document"
	"github.com/placement-hub/placement-hub/pkg/explain/printers"
	"github.com/placement-hub/placement-hub/test/expect"
)

// settled is the row of a Placement that has settled, and message says why it is not satisfied.
func settled(name, selected, status, decisions, message string) document.Row {
	row := document.NewRow(name, selected, status, decisions)
	row.Name = name
	if message != "" {
		row.Details = []string{message}
	}
	return row
}

// placementsBoard is a board of Placements.
func placementsBoard(summary string, rows ...document.Row) *document.Board {
	return &document.Board{
		Summary: cmp.Or(summary, "0 clusters, 0 sets, 0 placements"), Empty: "no placements yet",
		Table: document.Table{Columns: []string{"NAMESPACE/NAME", "SELECTED", "STATUS", "DECISIONS"}, Rows: rows},
	}
}

func TestTable(t *testing.T) {
	b := placementsBoard("1 cluster, 2 sets, 2 placements", settled("team/a", "2/2", "Satisfied", "eu1, eu2", ""),
		settled("team/longer", "0/all", "Misconfigured", "none", "two\nlines \x1b[2J"))
	want := []string{
		"NAMESPACE/NAME  SELECTED  STATUS         DECISIONS",
		"team/a          2/2       Satisfied      eu1, eu2",
		"team/longer     0/all     Misconfigured  none",
		"  two lines  [2J",
	}
	if diff := gocmp.Diff(want, printers.BoardLines(b)); diff != "" {
		t.Errorf("table (-want +got):\n%s", diff)
	}
	wantHead := []string{
		"placement hub at https://h: 1 cluster, 2 sets, 2 placements",
		"another process holds the lease n/l and decides; the controllers here stand by",
		"export KUBECONFIG=k",
	}
	h := Header{Server: "https://h", Access: []string{"export KUBECONFIG=k"}, Lease: "n/l", standby: true}
	if diff := gocmp.Diff(wantHead, h.lines(b)); diff != "" {
		t.Errorf("heading (-want +got):\n%s", diff)
	}
	h.overdue = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	wantHead[1] = "the process that holds the lease n/l has not renewed it since 2026-01-02T03:04:05Z; nothing is decided until it does, or " +
		"until a standby leads when the lease expires"
	if diff := gocmp.Diff(wantHead, h.lines(b)); diff != "" {
		t.Errorf("heading with a dead leader (-want +got):\n%s", diff)
	}
	if got := printers.BoardLines(placementsBoard("")); got[len(got)-1] != "no placements yet" {
		t.Errorf("an empty hub shows %q", got)
	}
}

func TestARowThatIsGoneIsALine(t *testing.T) {
	var out bytes.Buffer
	d := newLineDisplay(&out)
	kept, gone := settled("team/a", "2/all", "Satisfied", "eu1", ""), settled("team/a (v1alpha1)", "0/all", "Pending", "none", "")
	for _, rows := range [][]document.Row{{kept, gone}, {kept}} {
		out.Reset()
		_, err := d.show(Header{Server: "h"}, placementsBoard("", rows...), time.Time{})
		expect.NoError(t, err)
	}
	if got, want := out.String(), "team/a (v1alpha1)  deleted\n"; got != want {
		t.Errorf("printed %q, want %q", got, want)
	}
	out.Reset()
	_, err := d.show(Header{Server: "h"}, &document.Board{}, time.Time{})
	expect.NoError(t, err)
	if got, want := out.String(), "team/a  deleted\n"; got != want {
		t.Errorf("printed %q, want %q", got, want)
	}
}

func TestFit(t *testing.T) {
	lines := []string{"alpha", "béta-gamma", "delta", "epsilon"}
	for _, tc := range []struct {
		reason        string
		width, height int
		want          []string
	}{
		{"it fits", 10, 4, lines},
		{"no window at all", 0, 0, lines},
		{"too narrow", 5, 4, []string{"alpha", "béta…", "delta", "epsi…"}},
		{"too low", 60, 3, []string{"alpha", "béta-gamma", "… 2 more lines; enlarge the window to see them"}},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			if diff := gocmp.Diff(tc.want, fit(lines, tc.width, tc.height)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestLinesTellChangesOnce(t *testing.T) {
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	row := func(decisions, unsettled string) document.Row {
		row := settled("team/p", "1/1", "Satisfied", decisions, "")
		row.Unsettled = unsettled
		return row
	}
	failed := settled("team/q", "0/1", "NoIntersection", "none", "no set")
	var out bytes.Buffer
	d := newLineDisplay(&out)
	for _, step := range []struct {
		reason string
		at     time.Duration
		rows   []document.Row
		want   string
		again  time.Duration
	}{
		{reason: "the heading comes first", want: "placement hub at h: 0 clusters, 0 sets, 0 placements\n"},
		{reason: "what is being decided waits", rows: []document.Row{row("a", "x"), failed}, again: maxDelay,
			want: "team/q  0/1  NoIntersection  none  (no set)\n"},
		{reason: "and waits", at: time.Second, rows: []document.Row{row("a b", "x"), failed}, again: time.Second},
		{reason: "it is decided", at: time.Second, rows: []document.Row{row("b", ""), failed}, want: "team/p  1/1  Satisfied  b\n"},
		{reason: "nothing changes", at: 2 * time.Second, rows: []document.Row{row("b", ""), failed}},
		{reason: "there and back is no change", at: 2 * time.Second, rows: []document.Row{row("c", "x"), failed}, again: maxDelay},
		{reason: "as said", at: 3 * time.Second, rows: []document.Row{row("b", ""), failed}},
		{reason: "another change", at: 4 * time.Second, rows: []document.Row{row("c", "x"), failed}, again: maxDelay},
		{reason: "that takes long is told", at: 6 * time.Second, rows: []document.Row{row("c", "x"), failed}, want: "team/p  1/1  Satisfied  c\n"},
		{reason: "a deletion", at: 7 * time.Second, rows: []document.Row{failed}, want: "team/p  deleted\n"},
		{reason: "once", at: 8 * time.Second, rows: []document.Row{failed}},
	} {
		out.Reset()
		again, err := d.show(Header{Server: "h"}, placementsBoard("", step.rows...), start.Add(step.at))
		expect.NoError(t, err)
		if out.String() != step.want || again != step.again {
			t.Errorf("%s: printed %q and comes again after %v, want %q and %v", step.reason, &out, again, step.want, step.again)
		}
	}
}

func TestLinesBeginWhenTheHubHasSettled(t *testing.T) {
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	open := placementsBoard("")
	open.Waiting = []string{"ManagedClusterSet prod: condition ClusterSetEmpty is not written yet"}
	for _, tc := range []struct {
		reason string
		second *document.Board
		after  time.Duration
		want   string
	}{
		{"not yet", open, time.Second, ""},
		{"now", placementsBoard("0 clusters, 5 sets, 0 placements"), time.Second, "placement hub at h: 0 clusters, 5 sets, 0 placements\n"},
		{"that takes too long", open, maxDelay, "placement hub at h: 0 clusters, 0 sets, 0 placements\n"},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			var out bytes.Buffer
			d := newLineDisplay(&out)
			again, err := d.show(Header{Server: "h"}, open, start)
			expect.NoError(t, err)
			if again != maxDelay || out.Len() > 0 {
				t.Errorf("the first board is shown: %q; it comes again after %v", &out, again)
			}
			_, err = d.show(Header{Server: "h"}, tc.second, start.Add(tc.after))
			expect.NoError(t, err)
			if out.String() != tc.want {
				t.Errorf("printed %q, want %q", &out, tc.want)
			}
		})
	}
}

func TestScreenIsRestored(t *testing.T) {
	var out bytes.Buffer
	stopped := false
	d := &screenDisplay{out: &out, size: func() (int, int, error) { return 30, 12, nil }, stop: func() { stopped = true }}
	b := placementsBoard("", settled("team/p", "0/1", "NoIntersection", "a-cluster-with-a-long-name",
		"0 of 2 clusters in scope selected; not selected: no rest"))
	h := Header{Server: "h", Access: []string{"export KUBECONFIG=k"}}
	for range 2 {
		_, err := d.show(h, b, time.Time{})
		expect.NoError(t, err)
	}
	expect.NoError(t, d.close())
	got := out.String()
	if !stopped || strings.Count(got, enterScreen) != 1 || strings.Count(got, cursorHome) != 1 {
		t.Errorf("the screen must be entered once, drawn once for one board, and watched no longer: %q", got)
	}
	_, left, found := strings.Cut(got, leaveScreen)
	if !found || !strings.Contains(left, "a-cluster-with-a-long-name\r\n") {
		t.Errorf("the last table must stay on the restored screen, in full: %q", got)
	}
	drawn, _, _ := strings.Cut(got, leaveScreen)
	for _, part := range []string{
		"export KUBECONFIG=k" + clearToEOL, "team/p          0/1       NoI…" + clearToEOL,
		"  0 of 2 clusters in scope" + clearToEOL + "\r\n    selected; not selected: no" + clearToEOL + "\r\n    rest" + clearToEOL, // Issue 26, U8.
	} {
		if !strings.Contains(drawn, part) {
			t.Errorf("the frame lacks %q: %q", part, drawn)
		}
	}
}
