// SPDX-License-Identifier: Apache-2.0

package localplane

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/placement-hub/placement-hub/pkg/localplane/process"
)

func TestOpenKillsWhatAnEarlierRunLeft(t *testing.T) {
	path := t.TempDir()
	first, err := openDataDirectory(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	p, err := process.Start(process.Command{
		Name: "sh", Path: "/bin/sh", Args: []string{"-c", "tail -f /dev/null; : " + first.file("etcd")}, LogPath: first.file("log"),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Kill(); err != nil {
			t.Error(err)
		}
	})
	for !process.Running(t.Context(), p.PID(), "sh", path) { // The kernel sets the command line a moment after the start.
		runtime.Gosched()
	}
	if err := first.record(p); err != nil {
		t.Fatal(err)
	}
	if err := first.lock.Release(); err != nil { // as if its process had died
		t.Fatal(err)
	}

	second, err := openDataDirectory(t.Context(), path)
	if err != nil {
		t.Fatalf("opening the directory again: %v", err)
	}
	<-p.Done()
	if err := second.close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); err != nil {
		t.Errorf("a directory that was asked for must stay: %v", err)
	}
}

func TestSweepRemovesAbandonedTemporaryDirectoriesOnly(t *testing.T) {
	temporary := t.TempDir()
	t.Setenv("TMPDIR", temporary)
	inUse, err := openDataDirectory(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	abandoned, err := openDataDirectory(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	chosen, err := openDataDirectory(t.Context(), filepath.Join(temporary, temporaryPattern+"chosen"))
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range []*dataDirectory{abandoned, chosen} {
		if err := d.lock.Release(); err != nil {
			t.Fatal(err)
		}
	}

	sweepAbandoned(t.Context(), Options{})
	for _, c := range []struct {
		reason string
		path   string
		kept   bool
	}{
		{"in use", inUse.path, true},
		{"abandoned", abandoned.path, false},
		{"chosen by a person", chosen.path, true},
	} {
		if _, err := os.Stat(c.path); (err == nil) != c.kept {
			t.Errorf("directory that is %s: %v, want kept = %v", c.reason, err, c.kept)
		}
	}
	if err := inUse.close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(inUse.path); !os.IsNotExist(err) {
		t.Errorf("a temporary directory must go when it is closed: %v", err)
	}
}
