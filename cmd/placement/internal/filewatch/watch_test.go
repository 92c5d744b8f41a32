// SPDX-License-Identifier: Apache-2.0

package filewatch

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/placement-hub/placement-hub/test/expect"
)

func TestWatch(t *testing.T) {
	for _, tc := range []struct {
		reason  string
		prepare func(t *testing.T, dir string)
		change  func(t *testing.T, dir string)
	}{
		{
			reason:  "the file is written",
			prepare: func(t *testing.T, dir string) { expect.File(t, filepath.Join(dir, "file"), "one") },
			change:  func(t *testing.T, dir string) { expect.File(t, filepath.Join(dir, "file"), "two") },
		},
		{
			reason:  "the file is created",
			prepare: func(*testing.T, string) {},
			change:  func(t *testing.T, dir string) { expect.File(t, filepath.Join(dir, "file"), "") },
		},
		{
			reason:  "the file is removed",
			prepare: func(t *testing.T, dir string) { expect.File(t, filepath.Join(dir, "file"), "one") },
			change:  func(t *testing.T, dir string) { expect.NoError(t, os.Remove(filepath.Join(dir, "file"))) },
		},
		{
			reason:  "another file is renamed over it",
			prepare: func(t *testing.T, dir string) { expect.File(t, filepath.Join(dir, "file"), "one") },
			change: func(t *testing.T, dir string) {
				expect.NoError(t, os.Rename(expect.File(t, filepath.Join(t.TempDir(), "new"), "two"), filepath.Join(dir, "file")))
			},
		},
		{
			reason: "a mounted secret swaps its directory link",
			prepare: func(t *testing.T, dir string) {
				expect.File(t, filepath.Join(dir, "..1", "file"), "one")
				expect.NoError(t, os.Symlink("..1", filepath.Join(dir, "..data")))
				expect.NoError(t, os.Symlink(filepath.Join("..data", "file"), filepath.Join(dir, "file")))
			},
			change: func(t *testing.T, dir string) {
				expect.File(t, filepath.Join(dir, "..2", "file"), "two")
				expect.NoError(t, os.Symlink("..2", filepath.Join(dir, "..tmp")))
				expect.NoError(t, os.Rename(filepath.Join(dir, "..tmp"), filepath.Join(dir, "..data")))
			},
		},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			dir := t.TempDir()
			tc.prepare(t, dir)
			watch := startWatch(t, time.Hour, filepath.Join(dir, "file"), filepath.Join(dir, "other"))
			result := waitFor(t.Context(), watch)
			tc.change(t, dir)
			check(t, result, filepath.Join(dir, "file"))
		})
	}
}

func TestWatchWithoutNotification(t *testing.T) {
	file := filepath.Join(t.TempDir(), "later", "file")
	watch := startWatch(t, 10*time.Millisecond, file)
	result := waitFor(t.Context(), watch)
	expect.File(t, file, "content")
	check(t, result, file)
}

func TestWatchIgnoresSameContent(t *testing.T) {
	dir := t.TempDir()
	file := expect.File(t, filepath.Join(dir, "file"), "same")
	watch := startWatch(t, time.Hour, file)
	ctx, cancel := context.WithCancel(t.Context())
	result := waitFor(ctx, watch)
	expect.NoError(t, os.Rename(expect.File(t, filepath.Join(dir, "neighbour"), "same"), file))
	if changed := watch.changed(); changed != "" {
		t.Errorf("%s counts as changed, but its content is what it was", changed)
	}
	cancel()
	check(t, result, "")
}

func TestWatchRefusesADirectory(t *testing.T) {
	if _, err := New([]string{t.TempDir()}); err == nil {
		t.Error("a directory was accepted as a file")
	}
}

func startWatch(t *testing.T, recheck time.Duration, files ...string) *Watch {
	t.Helper()
	watch, err := newWatch(files, recheck)
	expect.NoError(t, err)
	t.Cleanup(func() { expect.NoError(t, watch.Close()) })
	return watch
}

func waitFor(ctx context.Context, watch *Watch) <-chan string {
	result := make(chan string, 1)
	go func() { result <- watch.Wait(ctx) }()
	return result
}

func check(t *testing.T, result <-chan string, want string) {
	t.Helper()
	select {
	case got := <-result:
		if got != want {
			t.Errorf("the watch reports %q, want %q", got, want)
		}
	case <-time.After(30 * time.Second):
		t.Fatal("the watch did not notice the change within 30 s")
	}
}
