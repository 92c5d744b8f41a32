// SPDX-License-Identifier: Apache-2.0

package filelock

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestTryIsExclusiveUntilRelease(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	first, err := Try(path)
	if err != nil {
		t.Fatalf("first lock: %v", err)
	}
	_, err = Try(path)
	if !errors.Is(err, ErrLocked) {
		t.Fatalf("second lock while the first is held: got %v, want ErrLocked", err)
	}
	if want := fmt.Sprintf("process %d", os.Getpid()); !strings.Contains(err.Error(), want) {
		t.Errorf("error %q does not name the holder (%s)", err, want)
	}
	if err := first.Release(); err != nil {
		t.Fatalf("release: %v", err)
	}
	second, err := Try(path)
	if err != nil {
		t.Fatalf("lock after release: %v", err)
	}
	if err := second.Release(); err != nil {
		t.Fatalf("release: %v", err)
	}
}

func TestValidNoticesARemovedFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	lock, err := Try(path)
	if err != nil {
		t.Fatalf("lock: %v", err)
	}
	defer func() {
		if err := lock.Release(); err != nil {
			t.Errorf("release: %v", err)
		}
	}()
	if !lock.Valid() {
		t.Error("a lock whose file is in place must be valid")
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if lock.Valid() {
		t.Error("a lock whose file is gone must not be valid: another process can create and lock the path again")
	}
}
