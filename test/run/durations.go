// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// The estimate for a package without a duration: all of them take half an hour together when everything is compiled, on two cores, and each
// of them has an equal share. It is the only rule that does not come from a measurement.
const (
	warmTotal    = 30 * time.Minute
	warmPackages = 170
)

// durations has how long packages took when their tests last ran. Cached results do not change it.
type durations struct {
	// Packages has the seconds of each package.
	Packages map[string]float64 `json:"packages"`
	// AtOnce is how many packages ran at once on average in the last run of all packages; at least 1.
	AtOnce float64 `json:"atOnce"`
}

// readDurations reads the file of the last run; there may be none, or an unreadable one, which the next run replaces.
func readDurations(path string) (durations, error) {
	var d durations
	content, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return d, fmt.Errorf("reading the durations of the last run: %w", err)
	}
	if err == nil && json.Unmarshal(content, &d) != nil {
		d = durations{}
	}
	if d.Packages == nil {
		d.Packages = map[string]float64{}
	}
	d.AtOnce = max(1, d.AtOnce)
	return d, nil
}

// of returns how many seconds a package took. Of those without a duration, the packages in longest took most.
func (d durations) of(directory string) float64 {
	if seconds, known := d.Packages[directory]; known {
		return seconds
	}
	if index := slices.Index(longest, directory); index >= 0 {
		return warmTotal.Seconds() - float64(index)
	}
	return 0
}

// write writes the file for the next run.
func (d durations) write(path string) error {
	content, err := json.MarshalIndent(d, "", "  ")
	if err != nil {
		return fmt.Errorf("writing the durations of this run: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("writing the durations of this run: %w", err)
	}
	if err := os.WriteFile(path, append(content, '\n'), 0o644); err != nil {
		return fmt.Errorf("writing the durations of this run: %w", err)
	}
	return nil
}

// estimate returns how long the packages take together.
func (d durations) estimate(packages []string) time.Duration {
	var measured, share time.Duration
	for _, directory := range packages {
		if seconds, known := d.Packages[directory]; known {
			measured += time.Duration(seconds * float64(time.Second))
		} else {
			share += warmTotal / warmPackages
		}
	}
	return time.Duration(float64(measured)/d.AtOnce) + share
}
