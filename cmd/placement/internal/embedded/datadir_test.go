// SPDX-License-Identifier: Apache-2.0

package embedded

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/placement-hub/placement-hub/test/expect"
)

func TestClaimDataDir(t *testing.T) {
	directory := filepath.Join(t.TempDir(), "a", "b")
	check := func(reason string, want bool) {
		t.Helper()
		isNew, err := claimDataDir(directory, sampleFleet)
		expect.NoError(t, err)
		if isNew != want {
			t.Errorf("%s: new = %t, want %t", reason, isNew, want)
		}
	}
	check("nothing is there", true)
	expect.File(t, filepath.Join(directory, "port"), "1")
	check("the first run ended before it had set the directory up", true)
	expect.NoError(t, markPrepared(directory, sampleFleet))
	check("the directory has been set up", false)
	_, err := claimDataDir(directory, samplePods)
	expect.Error(t, err, []string{directory, "the sample fleet", "--sample=fleet"})
	if entries, err := os.ReadDir(directory); err != nil || len(entries) != 2 {
		t.Errorf("the directory holds %v (%v), want the marker and the port only", entries, err)
	}
}

func TestDataDirOfAnotherSample(t *testing.T) {
	directory := t.TempDir()
	_, err := claimDataDir(directory, samplePods)
	expect.NoError(t, err)
	expect.NoError(t, markPrepared(directory, samplePods))
	isNew, err := claimDataDir(directory, samplePods)
	expect.NoError(t, err)
	if isNew {
		t.Error("a directory that has been set up is new")
	}
	_, err = claimDataDir(directory, sampleFleet)
	expect.Error(t, err, []string{directory, "the sample pods", "--sample=pods"})
}

func TestBadDataDir(t *testing.T) {
	foreign := t.TempDir()
	expect.File(t, filepath.Join(foreign, "thesis.tex"), "")
	file := expect.File(t, filepath.Join(t.TempDir(), "file"), "")
	for _, tc := range []struct {
		reason, path string
		want         []string
	}{
		{"a directory with other things must not be filled", foreign, []string{foreign, "thesis.tex", "choose a new or an empty directory"}},
		{"a file", file, []string{"--data-dir", file, "choose"}},
		{"below a file", filepath.Join(file, "data"), []string{"--data-dir", file, "choose"}},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			_, err := claimDataDir(tc.path, sampleFleet)
			expect.Error(t, err, tc.want)
		})
	}
}
