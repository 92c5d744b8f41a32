// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDurationsAreKept(t *testing.T) {
	path := filepath.Join(t.TempDir(), "bin", "durations.json")
	want := durations{Packages: map[string]float64{"pkg/a": 1.5}, AtOnce: 2.5}
	if err := want.write(path); err != nil {
		t.Fatal(err)
	}
	got, err := readDurations(path)
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if err := os.WriteFile(path, []byte("{"), 0o644); err != nil {
		t.Fatal(err)
	}
	if got, err := readDurations(path); err != nil || len(got.Packages) != 0 || got.AtOnce != 1 {
		t.Errorf("of a file that was not written to its end %v (%v), want none", got, err)
	}
}
