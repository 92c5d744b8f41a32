// SPDX-License-Identifier: Apache-2.0

package report

import (
	_ "embed" // Holds the targets.
	"encoding/json"
	"fmt"
	"slices"

	"github.com/placement-hub/placement-hub/test/benchmark/fleet"
)

//go:embed targets.json
var targets []byte

// Target is where a figure must arrive. Exactly one of Figure and Exponent is set, and one bound.
type Target struct {
	Name string `json:"name"`
	// Figure is what is compared, divided by the figure Over if there is one. Exponent is the figure whose growth is compared.
	Figure   string `json:"figure,omitempty"`
	Over     string `json:"over,omitempty"`
	Exponent string `json:"exponent,omitempty"`
	// Sizes are those that the target is for; empty: each that is measured.
	Sizes   []string `json:"sizes,omitempty"`
	AtLeast *float64 `json:"atLeast,omitempty"`
	AtMost  *float64 `json:"atMost,omitempty"`
}

// Verdict is a target with what was measured.
type Verdict struct {
	Target string  `json:"target"`
	Size   string  `json:"size,omitempty"`
	Bound  string  `json:"bound"`
	Value  float64 `json:"value"`
	Met    bool    `json:"met"`
}

// String is a line about the target.
func (v Verdict) String() string {
	size := ""
	if v.Size != "" {
		size = " at " + v.Size
	}
	return fmt.Sprintf("%-6s  %s%s: %.4g, must be %s", v.word(), v.Target, size, v.Value, v.Bound)
}

func (v Verdict) word() string {
	if v.Met {
		return "met"
	}
	return "missed"
}

// Targets are those of targets.json.
func Targets() ([]Target, error) {
	var list []Target
	if err := json.Unmarshal(targets, &list); err != nil {
		return nil, fmt.Errorf("reading targets.json: %w", err)
	}
	for _, target := range list {
		if (target.Figure == "") == (target.Exponent == "") || (target.AtLeast == nil) == (target.AtMost == nil) {
			return nil, fmt.Errorf("reading targets.json: %q: want one of figure and exponent, and one of atLeast and atMost", target.Name)
		}
	}
	return list, nil
}

// Judge compares what was measured with the targets. A target whose figures were not measured has no verdict.
func (r *Report) Judge(list []Target) []Verdict {
	var verdicts []Verdict
	for _, target := range list {
		for _, exponent := range r.Exponents {
			if target.Exponent == exponent.Figure {
				verdicts = append(verdicts, target.verdict("", exponent.Value))
			}
		}
		for _, run := range r.all() {
			value, found := run.Value(target.Figure)
			if !found || len(target.Sizes) > 0 && !slices.Contains(target.Sizes, run.Size.String()) {
				continue
			}
			if target.Over != "" {
				over, found := run.Value(target.Over)
				if !found || over == 0 {
					continue
				}
				value /= over
			}
			size := ""
			if run.Size != (fleet.Size{}) {
				size = run.Size.String()
			}
			verdicts = append(verdicts, target.verdict(size, value))
		}
	}
	return verdicts
}

// all returns the runs of all sizes, and those without.
func (r *Report) all() []*Run {
	runs := make([]*Run, 0, len(r.Runs)+4)
	for i := range r.Runs {
		runs = append(runs, &r.Runs[i])
	}
	return append(runs, r.separate()...)
}

func (t Target) verdict(size string, value float64) Verdict {
	verdict := Verdict{Target: t.Name, Size: size, Value: value}
	if t.AtLeast != nil {
		verdict.Bound, verdict.Met = fmt.Sprintf("at least %g", *t.AtLeast), value >= *t.AtLeast
	} else {
		verdict.Bound, verdict.Met = fmt.Sprintf("at most %g", *t.AtMost), value <= *t.AtMost
	}
	return verdict
}
