// SPDX-License-Identifier: Apache-2.0

package timeline

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/placement-hub/placement-hub/test/property"
)

var now = time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)

func joined(ago time.Duration, link string) Event {
	return Event{At: now.Add(-ago), Joined: true, Link: link}
}

func left(ago time.Duration, link string) Event { return Event{At: now.Add(-ago), Link: link} }

// A bar is from where a line has joined to where it has left, or to an end of the axis.
func TestBars(t *testing.T) {
	const before, until = "from 2026-01-31 11:00:00", "to 2026-01-31 11:30:00"
	for _, tc := range []struct {
		reason string
		events []Event
		in     bool
		want   []Bar // without X and Width
	}{
		{"it has left", []Event{left(30*time.Minute, "#b")}, false, []Bar{{Style: In, Title: "c1: " + until + " UTC", Link: "#b"}}},
		{"it has joined", []Event{joined(time.Hour, "#a")}, true, []Bar{{Style: In, Title: "c1: " + before + " UTC", Link: "#a"}}},
		{
			"it has joined and left", []Event{joined(time.Hour, "#a"), left(30*time.Minute, "#b")}, false,
			[]Bar{{Style: In, Title: "c1: " + before + " " + until + " UTC", Link: "#a"}},
		},
		{
			"that it has left was not seen", []Event{joined(time.Hour, "#a"), joined(30*time.Minute, "#b")}, true, []Bar{
				{Style: Unsure, Title: "c1: a part of the time, which the hub has not seen, " + before + " " + until + " UTC", Link: "#a"},
				{Style: In, Title: "c1: from 2026-01-31 11:30:00 UTC", Link: "#b"},
			},
		},
		{
			"that it has joined again was not seen", []Event{left(time.Hour, "#a"), left(30*time.Minute, "#b")}, false, []Bar{
				{Style: In, Title: "c1: to 2026-01-31 11:00:00 UTC", Link: "#a"},
				{Style: Unsure, Title: "c1: a part of the time, which the hub has not seen, " + before + " " + until + " UTC", Link: "#a"},
			},
		},
	} {
		line := Draw([]Line{{Name: "c1", Events: tc.events}}, now).Lines[0]
		bars := slices.Clone(line.Bars)
		for i := range bars {
			bars[i].X, bars[i].Width = "", ""
		}
		if diff := cmp.Diff(tc.want, bars); diff != "" || line.In != tc.in {
			t.Errorf("%s: in is %t (-want +got):\n%s", tc.reason, line.In, diff)
		}
	}
}

// The latest events come first, and the axis names times between its ends.
func TestDraw(t *testing.T) {
	drawn := Draw([]Line{
		{Name: "c1", Events: []Event{joined(23*time.Hour, "")}}, {Name: "c3", Events: []Event{left(time.Hour, "")}},
		{Name: "c2", Events: []Event{left(time.Hour, "")}},
	}, now)
	var names, ticks []string
	for _, line := range drawn.Lines {
		names = append(names, line.Name)
	}
	for _, tick := range drawn.Ticks {
		ticks = append(ticks, tick.Text)
	}
	if diff := cmp.Diff([]string{"c2", "c3", "c1"}, names); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"18:00", "00:00", "06:00"}, ticks); diff != "" {
		t.Errorf("ticks (-want +got):\n%s", diff)
	}
	if got := Draw(nil, now); len(got.Lines) != 0 {
		t.Errorf("nothing has the lines %v", got.Lines)
	}
}

// A drawing stays as it is for some time, so that a page that follows changes does not change by itself.
func TestADrawingIsStable(t *testing.T) {
	lines := []Line{{Name: "c1", Events: []Event{joined(24*time.Hour, "")}}}
	if diff := cmp.Diff(Draw(lines, now.Add(time.Second)), Draw(lines, now.Add(30*time.Second))); diff != "" {
		t.Errorf("after half a minute (-want +got):\n%s", diff)
	}
}

// tenths returns a percentage in tenths of a percent.
func tenths(t *rapid.T, text string) int {
	number, err := strconv.ParseFloat(strings.TrimSuffix(text, "%"), 64)
	if err != nil || !strings.HasSuffix(text, "%") {
		t.Fatalf("%q is no percentage", text)
	}
	return int(number*10 + 0.5)
}

// Bars are on the axis in the order of time, whatever the events are, and the axis has few ticks.
func TestBarsAreOnTheAxis(t *testing.T) {
	property.Check(t, func(t *rapid.T) {
		events := rapid.SliceOf(rapid.Custom(func(t *rapid.T) Event {
			ago := time.Duration(rapid.Int64Range(int64(-time.Minute), int64(400*24*time.Hour)).Draw(t, "ago"))
			return Event{At: now.Add(-ago), Joined: rapid.Bool().Draw(t, "joined")}
		})).Draw(t, "events")
		slices.SortFunc(events, func(a, b Event) int { return a.At.Compare(b.At) })
		drawn := Draw([]Line{{Name: "c", Events: events}}, now)
		if len(drawn.Ticks) > 2*ticksShown {
			t.Fatalf("%d ticks", len(drawn.Ticks))
		}
		line, before := drawn.Lines[0], 0
		for _, bar := range line.Bars {
			x, width := tenths(t, bar.X), tenths(t, bar.Width)
			if x < before || width < leastWidth || x+width > full {
				t.Fatalf("the bar %+v is out of the axis, or before another", bar)
			}
			before = x
		}
		if len(events) > 0 && line.In != events[len(events)-1].Joined {
			t.Fatalf("in is %t after %+v", line.In, events)
		}
	})
}
