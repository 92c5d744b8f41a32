// SPDX-License-Identifier: Apache-2.0

package timeline

import (
	"cmp"
	"slices"
	"strconv"
	"time"
)

// The styles of bars.
const (
	// In is a time in the decision, and Unsure one of which a part was in it.
	In     = "in"
	Unsure = "unsure"
)

const (
	// ticksShown bounds the ticks of an axis, and precision is the part of the axis to which its ends are rounded, so that a drawing does not change
	// all the time.
	ticksShown = 6
	precision  = 100
	// leastWidth is that of a bar, in tenths of a percent, so that short times are seen.
	leastWidth = 4
	// edge is the part of the axis at each end without ticks, in tenths of a percent: their texts would not fit.
	edge = 60
	full = 1000
)

// steps are the times between ticks.
var steps = []time.Duration{
	time.Second, 5 * time.Second, 15 * time.Second, time.Minute, 5 * time.Minute, 15 * time.Minute, time.Hour, 3 * time.Hour, 6 * time.Hour, day,
	2 * day, 7 * day, 30 * day,
}

const day = 24 * time.Hour

// Event is that a line has joined or left.
type Event struct {
	At     time.Time
	Joined bool
	// Link leads to the cause.
	Link string
}

// Line is what joins and leaves. Events are in the order of their times; Draw sets the other fields from In on.
type Line struct {
	Name, Link string
	Events     []Event

	// In reports that the line is in the decision at the end of the axis.
	In bool
	// Joined and Left are the last events; nil for none.
	Joined, Left *Event
	Bars         []Bar
}

// Bar is a time on the axis. X and Width are such as "12.5%", and Link is that of the event at its beginning, or at its end if the beginning is not
// known.
type Bar struct {
	X, Width, Style, Title, Link string
}

// Tick is a time that the axis names.
type Tick struct{ X, Text string }

// Timeline are lines with a common axis.
type Timeline struct {
	// From is the beginning of the axis, which ends now.
	From  time.Time
	Ticks []Tick
	Lines []Line
}

// Draw draws lines, those with the latest events first, from the first event to now.
func Draw(lines []Line, now time.Time) Timeline {
	from := now
	for i := range lines {
		if events := lines[i].Events; len(events) > 0 && events[0].At.Before(from) {
			from = events[0].At
		}
	}
	a := newAxis(from, now)
	drawn := Timeline{From: a.from, Ticks: a.ticks(), Lines: slices.Clone(lines)}
	for i := range drawn.Lines {
		a.draw(&drawn.Lines[i])
	}
	slices.SortStableFunc(drawn.Lines, func(a, b Line) int {
		return cmp.Or(b.last().Compare(a.last()), cmp.Compare(a.Name, b.Name))
	})
	return drawn
}

// last returns the time of the last event.
func (l *Line) last() time.Time {
	if len(l.Events) == 0 {
		return time.Time{}
	}
	return l.Events[len(l.Events)-1].At
}

// axis is the time between two times.
type axis struct{ from, to time.Time }

// newAxis returns an axis with some room before the first time.
func newAxis(from, now time.Time) axis {
	from = from.Add(-max(now.Sub(from)/25, time.Second))
	fine := stepOf(now.Sub(from) / precision)
	a := axis{from: from.UTC().Truncate(fine), to: now.UTC().Truncate(fine)}
	if a.to.Before(now) {
		a.to = a.to.Add(fine)
	}
	return a
}

// stepOf returns the first of the steps that is not shorter than a time.
func stepOf(least time.Duration) time.Duration {
	at, _ := slices.BinarySearch(steps, least)
	if at == len(steps) {
		return (least + day).Truncate(day)
	}
	return steps[at]
}

// place returns where a time is, in tenths of a percent.
func (a axis) place(at time.Time) int {
	part := float64(at.Sub(a.from)) / float64(a.to.Sub(a.from))
	return min(max(0, int(full*part)), full) // The clock of another process may be ahead.
}

// ticks returns the times that the axis names, in UTC.
func (a axis) ticks() []Tick {
	step := stepOf(a.to.Sub(a.from) / ticksShown)
	layout := "15:04"
	switch {
	case step >= day:
		layout = "01-02"
	case a.to.Sub(a.from) > day:
		layout = "01-02 15:04"
	case step < time.Minute:
		layout = time.TimeOnly
	}
	var ticks []Tick
	for at := a.from.Truncate(step).Add(step); at.Before(a.to); at = at.Add(step) {
		if place := a.place(at); place >= edge && place <= full-edge {
			ticks = append(ticks, Tick{X: percent(place), Text: at.Format(layout)})
		}
	}
	return ticks
}

// draw makes the bars of a line.
func (a axis) draw(line *Line) {
	for i := range line.Events {
		event := &line.Events[i]
		var before *Event
		if i > 0 {
			before = &line.Events[i-1]
		}
		switch wasIn := before != nil && before.Joined; {
		case before == nil && !event.Joined:
			a.bar(line, nil, event, In)
		case wasIn && !event.Joined:
			a.bar(line, before, event, In)
		case before != nil && wasIn == event.Joined: // It has left and joined again in between, or the other way around.
			a.bar(line, before, event, Unsure)
		}
		if line.In = event.Joined; event.Joined {
			line.Joined = event
		} else {
			line.Left = event
		}
	}
	if line.In {
		a.bar(line, line.Joined, nil, In)
	}
}

// bar adds the bar between two events, of which nil means an end of the axis.
func (a axis) bar(line *Line, from, to *Event, style string) {
	x, end, made := 0, full, Bar{Style: style}
	title := line.Name + ":"
	if style == Unsure {
		title += " a part of the time, which the hub has not seen,"
	}
	if from != nil {
		x, made.Link = a.place(from.At), from.Link
		title += " from " + from.At.UTC().Format(time.DateTime)
	}
	if to != nil {
		end = a.place(to.At)
		title += " to " + to.At.UTC().Format(time.DateTime)
	}
	if made.Link == "" && to != nil {
		made.Link = to.Link
	}
	width := max(end-x, leastWidth)
	made.X, made.Width, made.Title = percent(min(x, full-width)), percent(width), title+" UTC"
	line.Bars = append(line.Bars, made)
}

// percent returns tenths of a percent as a percentage.
func percent(tenths int) string {
	return strconv.Itoa(tenths/10) + "." + strconv.Itoa(tenths%10) + "%"
}
