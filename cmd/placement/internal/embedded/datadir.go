// SPDX-License-Identifier: Apache-2.0

package embedded

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// The marker identifies a data directory, and records whether it has been set up: a run that ends before the samples are applied must not
// look like a hub that its user has emptied. Its second word is the sample; there is none for fleet.
const (
	dataMarker   = "placement-run"
	dataNew      = "new"
	dataPrepared = "prepared"
)

// claimDataDir creates or checks the directory of --data-dir and reports whether it still has to be set up. It does not lock it.
func claimDataDir(path, sample string) (isNew bool, err error) {
	marker := filepath.Join(path, dataMarker)
	content, err := os.ReadFile(marker)
	switch {
	case err == nil:
		state, held, _ := strings.Cut(strings.TrimSpace(string(content)), " ")
		if held = cmp.Or(held, sampleFleet); held != sample {
			return false, fmt.Errorf("--data-dir: %s has the objects of the sample %s; choose another directory, or --sample=%s", path, held, held)
		}
		return state != dataPrepared, checkWritable(path)
	case !errors.Is(err, fs.ErrNotExist):
		return false, fmt.Errorf("--data-dir: %w; choose a directory", err)
	}
	if err := os.MkdirAll(path, 0o700); err != nil {
		return false, fmt.Errorf("--data-dir: %w; choose a directory that you may write to", err)
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return false, fmt.Errorf("--data-dir: %w; choose a directory that you may read and write", err)
	}
	if len(entries) > 0 {
		return false, fmt.Errorf("--data-dir: %s holds other things (%s) and no data of an earlier run; choose a new or an empty directory",
			path, entries[0].Name())
	}
	if err := os.WriteFile(marker, mark(dataNew, sample), 0o600); err != nil {
		return false, fmt.Errorf("--data-dir: %w; choose a directory that you may write to", err)
	}
	return true, nil
}

// mark returns the content of the marker.
func mark(state, sample string) []byte {
	if sample == sampleFleet {
		return []byte(state + "\n")
	}
	return []byte(state + " " + sample + "\n")
}

func checkWritable(path string) error {
	trial, err := os.CreateTemp(path, "writable-")
	if err != nil {
		return fmt.Errorf("--data-dir: %w; make it writable for you, or choose another directory", err)
	}
	if err := errors.Join(trial.Close(), os.Remove(trial.Name())); err != nil {
		return fmt.Errorf("--data-dir: %w", err)
	}
	return nil
}

// markPrepared records that the directory has been set up.
func markPrepared(path, sample string) error {
	if err := os.WriteFile(filepath.Join(path, dataMarker), mark(dataPrepared, sample), 0o600); err != nil {
		return fmt.Errorf("--data-dir: %w", err)
	}
	return nil
}
