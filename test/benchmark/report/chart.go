// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"math"
	"strings"
)

// panel is one part of the chart: the same thing of the hub and of what it is compared with, for each size.
type panel struct {
	title string
	unit  Unit
	bars  []bar
}

type bar struct {
	figure, name, color string
}

// Readers who do not see all colours can distinguish these, on a light and on a dark page.
const (
	hubColor   = "#0072b2"
	idealColor = "#e69f00"
	floorColor = "#009e73"
)

func panels() []panel {
	hub := func(figure string) bar { return bar{figure, "hub", hubColor} }
	ideal := func(figure string) bar { return bar{figure, "ideal", idealColor} }
	return []panel{
		{"cold start until all decisions are right", Seconds, []bar{
			hub("cold-start/seconds"), {"floor/seconds", "write floor", floorColor},
		}},
		{"one label changed: last of 20 decisions, p50", Seconds, []bar{hub("label-change/last-p50"), ideal("ideal-label-change/last-p50")}},
		{"one label changed: CPU", Seconds, []bar{hub("label-change/cpu-per-event"), ideal("ideal-label-change/cpu-per-event")}},
		{"restart over settled decisions, until quiet", Seconds, []bar{hub("restart/quiet"), ideal("ideal-restart/quiet")}},
		{"one heartbeat that concerns nobody: CPU", Seconds, []bar{
			hub("heartbeats-100/cpu-per-heartbeat"), ideal("ideal-heartbeats-100/cpu-per-heartbeat"),
		}},
		{"peak memory", Bytes, []bar{hub("memory/peak"), ideal("ideal-restart/peak-memory")}},
	}
}

// The measures of the chart, in pixels.
const (
	columns     = 2
	panelWidth  = 460
	panelHeight = 250
	plotTop     = 50
	plotBottom  = 205
	plotLeft    = 20
	plotRight   = 440
)

// SVG draws the figures, one panel for each comparison, with the sizes side by side on a logarithmic scale.
func (r *Report) SVG() string {
	all := panels()
	rows := (len(all) + columns - 1) / columns
	var svg strings.Builder
	fmt.Fprintf(&svg, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %[1]d %[2]d" `+
		`font-family="sans-serif" font-size="11">`+"\n", columns*panelWidth, rows*panelHeight)
	fmt.Fprintln(&svg, `<title>Benchmark of the placement hub: clusters x placements, logarithmic scales</title>`)
	fmt.Fprintln(&svg, `<rect width="100%" height="100%" fill="#ffffff"/>`)
	for i, p := range all {
		fmt.Fprintf(&svg, `<g transform="translate(%d %d)">`+"\n", i%columns*panelWidth, i/columns*panelHeight)
		r.draw(&svg, p)
		fmt.Fprintln(&svg, `</g>`)
	}
	svg.WriteString("</svg>\n")
	return svg.String()
}

// draw draws one panel.
func (r *Report) draw(svg *strings.Builder, p panel) {
	fmt.Fprintf(svg, `<text x="%d" y="20" font-size="13" font-weight="bold">%s</text>`+"\n", plotLeft, p.title)
	x := plotLeft
	for _, b := range p.bars {
		fmt.Fprintf(svg, `<rect x="%d" y="28" width="10" height="10" fill="%s"/><text x="%d" y="37">%s</text>`+"\n", x, b.color, x+14, b.name)
		x += 100
	}
	fmt.Fprintf(svg, `<line x1="%d" y1="%d" x2="%d" y2="%[2]d" stroke="#888888"/>`+"\n", plotLeft, plotBottom, plotRight)
	if len(r.Runs) == 0 {
		return
	}
	low, high := r.span(p)
	slot := (plotRight - plotLeft) / len(r.Runs)
	width := slot * 4 / 5 / len(p.bars)
	for i := range r.Runs {
		left := plotLeft + i*slot
		fmt.Fprintf(svg, `<text x="%d" y="%d" text-anchor="middle">%s</text>`+"\n", left+slot*2/5, plotBottom+16, r.Runs[i].Size)
		for k, b := range p.bars {
			value, found := r.Runs[i].Value(b.figure)
			if !found || value <= 0 {
				continue
			}
			height := 4 + int(math.Log(value/low)/math.Log(high/low)*float64(plotBottom-plotTop-22))
			fmt.Fprintf(svg, `<rect x="%d" y="%d" width="%d" height="%d" fill="%s"/>`+"\n", left+k*width, plotBottom-height, width-2, height, b.color)
			fmt.Fprintf(svg, `<text x="%d" y="%d" text-anchor="middle" font-size="9">%s</text>`+"\n",
				left+k*width+width/2, plotBottom-height-4, p.unit.Text(value))
		}
	}
}

// span is from a little below the least to the greatest value of a panel.
func (r *Report) span(p panel) (low, high float64) {
	low, high = math.Inf(1), 0
	for i := range r.Runs {
		for _, b := range p.bars {
			if value, found := r.Runs[i].Value(b.figure); found && value > 0 {
				low, high = min(low, value), max(high, value)
			}
		}
	}
	return low / 2, max(high, low)
}
