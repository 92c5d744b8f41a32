// SPDX-License-Identifier: Apache-2.0

package filewatch

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/fsnotify/fsnotify"
	"k8s.io/klog/v2"
)

// recheckInterval is the period of reading the files, for changes without a notification: a file behind a symlink to another directory, a
// directory that did not exist at first, a network file system.
const recheckInterval = 10 * time.Second

// Watch detects files whose content or existence differs from when the Watch was made.
//
// It is not library-go's fileobserver, because that ends the process without a clean stop when a file cannot be read for a moment, and panics
// when a file cannot be read at the start.
type Watch struct {
	initial map[string]string
	watcher *fsnotify.Watcher
	recheck time.Duration
}

// New returns a Watch with the current state of the files. Files may be missing; any other read error is returned.
func New(files []string) (*Watch, error) { return newWatch(files, recheckInterval) }

func newWatch(files []string, recheck time.Duration) (*Watch, error) {
	w := &Watch{initial: map[string]string{}, recheck: recheck}
	for _, file := range files {
		content, err := fileContent(file)
		if err != nil {
			return nil, fmt.Errorf("--terminate-on-files: %w; name readable files", err)
		}
		w.initial[file] = content
	}
	var err error
	if w.watcher, err = fsnotify.NewWatcher(); err != nil {
		return nil, fmt.Errorf("--terminate-on-files: starting to watch: %w; raise fs.inotify.max_user_instances or drop the flag", err)
	}
	for file := range w.initial {
		if err := w.watchDirectories(file); err != nil {
			return nil, errors.Join(err, w.Close())
		}
	}
	return w, nil
}

// watchDirectories watches the directory of the file, where a mounted Secret or ConfigMap swaps its symlink, and that of the file
// it resolves to. The file itself is not watched: replacing it would end such a watch.
func (w *Watch) watchDirectories(file string) error {
	directories := []string{filepath.Dir(file)}
	if target, err := filepath.EvalSymlinks(file); err == nil {
		directories = append(directories, filepath.Dir(target))
	}
	for _, directory := range directories {
		if err := w.watcher.Add(directory); err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("--terminate-on-files: watching directory %s: %w", directory, err)
		}
	}
	return nil
}

// Wait blocks until a file differs from its initial state, and returns its name, or "" when ctx ended first.
func (w *Watch) Wait(ctx context.Context) string {
	ticker := time.NewTicker(w.recheck)
	defer ticker.Stop()
	for {
		if file := w.changed(); file != "" {
			return file
		}
		select {
		case <-ctx.Done():
			return ""
		case <-ticker.C:
		case <-w.watcher.Events:
		case err := <-w.watcher.Errors:
			klog.FromContext(ctx).Error(err, "Watching the files of --terminate-on-files; they are still read periodically",
				"interval", w.recheck)
		}
	}
}

func (w *Watch) changed() string {
	for file, initial := range w.initial {
		content, err := fileContent(file)
		if err != nil {
			klog.Background().Error(err, "Cannot read a file of --terminate-on-files; will try again", "interval", w.recheck)
			continue
		}
		if content != initial {
			return file
		}
	}
	return ""
}

// Close ends the watch.
func (w *Watch) Close() error {
	if err := w.watcher.Close(); err != nil {
		return fmt.Errorf("closing the file watch: %w", err)
	}
	return nil
}

// fileContent returns the SHA-256 digest of the file, or "missing".
func fileContent(file string) (string, error) {
	data, err := os.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) {
		return "missing", nil
	}
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%x", sha256.Sum256(data)), nil
}
