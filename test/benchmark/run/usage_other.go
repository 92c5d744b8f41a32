// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package main

import "time"

// missing says what cannot be measured on this system.
var missing = []string{"CPU time and peak memory of the hub and the ideal (read as Linux shows them), so quiet means only that nothing is written"}

// cpuTime is not known on this system.
func cpuTime(int) (time.Duration, error) { return 0, nil }

// peakMemory is not known on this system.
func peakMemory(int) (int64, error) { return 0, nil }

// resetPeak does nothing on this system.
func resetPeak(int) error { return nil }
