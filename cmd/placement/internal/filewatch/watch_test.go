package filewatch

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestWatch(t *testing.T) {
	for _, tc := range []struct {
		reason  string
		prepare func(t *testing.T, dir string)
		change  func(t *testing.T, dir string)
	}{
		{
			reason:  "the file is written",
			prepare: func(t *testing.T, dir string) { writeFile(t, filepath.Join(dir, "file"), "one") },
			change:  func(t *testing.T, dir string) { writeFile(t, filepath.Join(dir, "file"), "two") },
		},
		{
			reason:  "the file is created",
			prepare: func(*testing.T, string) {},
			change:  func(t *testing.T, dir string) { writeFile(t, filepath.Join(dir, "file"), "") },
		},
		{
			reason:  "the file is removed",
			prepare: func(t *testing.T, dir string) { writeFile(t, filepath.Join(dir, "file"), "one") },
			change:  func(t *testing.T, dir string) { must(t, os.Remove(filepath.Join(dir, "file"))) },
		},
		{
			reason:  "another file is renamed over it",
			prepare: func(t *testing.T, dir string) { writeFile(t, filepath.Join(dir, "file"), "one") },
			change: func(t *testing.T, dir string) {
				must(t, os.Rename(writeFile(t, filepath.Join(t.TempDir(), "new"), "two"), filepath.Join(dir, "file")))
			},
		},
		{
			reason: "a mounted secret swaps its directory link",
			prepare: func(t *testing.T, dir string) {
				writeFile(t, filepath.Join(dir, "..1", "file"), "one")
				must(t, os.Symlink("..1", filepath.Join(dir, "..data")))
				must(t, os.Symlink(filepath.Join("..data", "file"), filepath.Join(dir, "file")))
			},
			change: func(t *testing.T, dir string) {
				writeFile(t, filepath.Join(dir, "..2", "file"), "two")
				must(t, os.Symlink("..2", filepath.Join(dir, "..tmp")))
				must(t, os.Rename(filepath.Join(dir, "..tmp"), filepath.Join(dir, "..data")))
			},
		},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			dir := t.TempDir()
			tc.prepare(t, dir)
			watch := startWatch(t, time.Hour, filepath.Join(dir, "file"), filepath.Join(dir, "other"))
			result := waitFor(t.Context(), watch)
			tc.change(t, dir)
			expect(t, result, filepath.Join(dir, "file"))
		})
	}
}

func TestWatchWithoutNotification(t *testing.T) {
	file := filepath.Join(t.TempDir(), "later", "file")
	watch := startWatch(t, 10*time.Millisecond, file)
	result := waitFor(t.Context(), watch)
	writeFile(t, file, "content")
	expect(t, result, file)
}

func TestWatchIgnoresSameContent(t *testing.T) {
	dir := t.TempDir()
	file := writeFile(t, filepath.Join(dir, "file"), "same")
	watch := startWatch(t, time.Hour, file)
	ctx, cancel := context.WithCancel(t.Context())
	result := waitFor(ctx, watch)
	must(t, os.Rename(writeFile(t, filepath.Join(dir, "neighbour"), "same"), file))
	if changed := watch.changed(); changed != "" {
		t.Errorf("%s counts as changed, but its content is what it was", changed)
	}
	cancel()
	expect(t, result, "")
}

func TestWatchRefusesADirectory(t *testing.T) {
	if _, err := New([]string{t.TempDir()}); err == nil {
		t.Error("a directory was accepted as a file")
	}
}

func startWatch(t *testing.T, recheck time.Duration, files ...string) *Watch {
	t.Helper()
	watch, err := newWatch(files, recheck)
	must(t, err)
	t.Cleanup(func() { must(t, watch.Close()) })
	return watch
}

func waitFor(ctx context.Context, watch *Watch) <-chan string {
	result := make(chan string, 1)
	go func() { result <- watch.Wait(ctx) }()
	return result
}

func expect(t *testing.T, result <-chan string, want string) {
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

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func writeFile(t *testing.T, path, content string) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
