// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/placement-hub/placement-hub/test/benchmark/fleet"
)

// Unit says what a value counts.
type Unit string

// The units. Times are in seconds and memory in bytes in JSON; tables show what reads best.
const (
	Seconds Unit = "s"
	Bytes   Unit = "B"
	Count   Unit = ""
	Ratio   Unit = "x"
)

// Figure is one thing that was measured.
type Figure struct {
	// Scenario and Name are joined by a slash where a figure is referred to: "label-change/last-p50".
	Scenario string  `json:"scenario"`
	Name     string  `json:"name"`
	Unit     Unit    `json:"unit,omitempty"`
	Value    float64 `json:"value"`
}

// Key is what the figure is referred to by.
func (f Figure) Key() string { return f.Scenario + "/" + f.Name }

// Run is what was measured at one size; the zero Size is that of a run that has none.
type Run struct {
	Size    fleet.Size `json:"size,omitzero"`
	Figures []Figure   `json:"figures"`
}

// Add notes a figure; a later one of the same key replaces it.
func (r *Run) Add(scenario, name string, unit Unit, value float64) {
	added := Figure{Scenario: scenario, Name: name, Unit: unit, Value: value}
	for i := range r.Figures {
		if r.Figures[i].Key() == added.Key() {
			r.Figures[i] = added
			return
		}
	}
	r.Figures = append(r.Figures, added)
}

// AddTime notes a duration.
func (r *Run) AddTime(scenario, name string, d time.Duration) {
	r.Add(scenario, name, Seconds, d.Seconds())
}

// Value finds a figure by its key.
func (r *Run) Value(key string) (float64, bool) {
	for _, figure := range r.Figures {
		if figure.Key() == key {
			return figure.Value, true
		}
	}
	return 0, false
}

// Machine is where it was measured.
type Machine struct {
	System string `json:"system"`
	CPUs   int    `json:"cpus"`
	Go     string `json:"go"`
}

// Report is everything that is said about a run of the benchmark.
type Report struct {
	Machine Machine `json:"machine"`
	// Missing says what could not be measured on this system.
	Missing []string `json:"missing,omitempty"`
	Runs    []Run    `json:"runs"`
	// Admission is what was measured of admission, which has no size; nil for nothing.
	Admission *Run `json:"admission,omitempty"`
	// Federation is what was measured of federated objects; nil for nothing.
	Federation *Run `json:"federation,omitempty"`
	// Requests is what was measured of ClusterRequests; nil for nothing.
	Requests *Run `json:"requests,omitempty"`
	// Hostile is what was measured of tenants beside a hostile one; nil for nothing.
	Hostile   *Run       `json:"hostile,omitempty"`
	Exponents []Exponent `json:"exponents,omitempty"`
	Targets   []Verdict  `json:"targets,omitempty"`
}

// separate returns the runs without a size that were measured.
func (r *Report) separate() []*Run {
	return slices.DeleteFunc([]*Run{r.Admission, r.Federation, r.Requests, r.Hostile}, func(run *Run) bool { return run == nil })
}

// Text shows a value with its unit.
func (u Unit) Text(value float64) string {
	switch u {
	case Bytes:
		return fmt.Sprintf("%.0f MiB", value/(1<<20))
	case Ratio:
		return fmt.Sprintf("%.2f", value)
	case Seconds:
		return seconds(value)
	case Count:
	}
	return strings.TrimSuffix(fmt.Sprintf("%.1f", value), ".0")
}

func seconds(value float64) string {
	switch {
	case value >= 10:
		return fmt.Sprintf("%.1f s", value)
	case value >= 1:
		return fmt.Sprintf("%.2f s", value)
	case value >= 0.01:
		return fmt.Sprintf("%.0f ms", value*1e3)
	case value >= 0.001:
		return fmt.Sprintf("%.1f ms", value*1e3)
	default:
		return fmt.Sprintf("%.0f µs", value*1e6)
	}
}
