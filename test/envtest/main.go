// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/go-logr/logr"
	"sigs.k8s.io/controller-runtime/tools/setup-envtest/remote"
	"sigs.k8s.io/controller-runtime/tools/setup-envtest/store"
	"sigs.k8s.io/controller-runtime/tools/setup-envtest/versions"
)

// wholeTimeout bounds the index and the archive together.
const wholeTimeout = 10 * time.Minute

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	if errors.Is(err, flag.ErrHelp) {
		return
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "envtest:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, arguments []string, stdout, stderr io.Writer) error {
	flags := flag.NewFlagSet("envtest", flag.ContinueOnError)
	flags.SetOutput(stderr)
	minor := flags.String("version", "", "the minor `version` of Kubernetes, such as 1.37")
	index := flags.String("index", remote.DefaultIndexURL, "the `URL` of the index of archives")
	mirror := flags.String("mirror", "", "take the archives of the index from below this `URL`")
	directory := flags.String("store", "", "the `directory` of the store; by default that of setup-envtest")
	if err := flags.Parse(arguments); err != nil {
		return fmt.Errorf("flags: %w", err)
	}
	wanted, err := versions.FromExpr(*minor + ".x")
	if err != nil {
		return fmt.Errorf("-version: %w", err)
	}
	if *directory == "" {
		if *directory, err = store.DefaultStoreDir(); err != nil {
			return fmt.Errorf("finding the store: %w", err)
		}
	}
	if *index == "" {
		*index = remote.DefaultIndexURL
	}
	ctx, cancel := context.WithTimeout(ctx, wholeTimeout)
	defer cancel()
	ctx = logr.NewContext(ctx, logr.Discard())

	transport := &limitedTransport{next: boundedTransport(), index: *index, mirror: strings.TrimSuffix(*mirror, "/"), out: stderr}
	http.DefaultClient = &http.Client{Transport: transport} // The library has no client of its own.
	d := &download{client: &remote.HTTPClient{Log: logr.Discard(), IndexURL: *index}, store: *directory, out: stderr}
	path, err := d.get(ctx, wanted)
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintln(stdout, path); err != nil {
		return fmt.Errorf("printing the directory: %w", err)
	}
	return nil
}

// download downloads one version into a store.
type download struct {
	client remote.Client
	store  string
	out    io.Writer
}

// get returns the directory with the newest of the wanted versions.
func (d *download) get(ctx context.Context, wanted versions.Spec) (string, error) {
	available, err := d.client.ListVersions(ctx)
	if err != nil {
		return "", fmt.Errorf("reading the index: %w", err)
	}
	own := versions.Platform{OS: runtime.GOOS, Arch: runtime.GOARCH}
	for _, set := range available { // the newest first
		if !wanted.Matches(set.Version) {
			continue
		}
		for _, platform := range set.Platforms {
			if platform.Platform == own {
				return d.fetch(ctx, set.Version, platform)
			}
		}
	}
	return "", fmt.Errorf("the index has no Kubernetes %s for %s", wanted, own)
}

// fetch downloads an archive to a temporary file, compares its hash with that of the index, and unpacks it.
func (d *download) fetch(ctx context.Context, version versions.Concrete, platform versions.PlatformItem) (directory string, err error) {
	if platform.Hash == nil || platform.Hash.Value == "" {
		return "", fmt.Errorf("the index has no SHA-512 of Kubernetes %s for %s", version, platform)
	}
	if err := os.MkdirAll(d.store, 0o755); err != nil {
		return "", fmt.Errorf("making the store: %w", err)
	}
	// It is in the directory of the store, so that what is unpacked can be renamed.
	temporary, err := os.MkdirTemp(d.store, ".download-")
	if err != nil {
		return "", fmt.Errorf("making a temporary directory: %w", err)
	}
	defer func() {
		if removed := removeAll(temporary); err == nil && removed != nil {
			err = fmt.Errorf("removing a temporary directory: %w", removed)
		}
	}()
	archive, err := os.Create(filepath.Join(temporary, "archive"))
	if err != nil {
		return "", fmt.Errorf("making a temporary file: %w", err)
	}
	defer func() { err = errors.Join(err, archive.Close()) }()
	start := time.Now()
	if err := d.client.GetVersion(ctx, version, platform, archive); err != nil {
		return "", fmt.Errorf("downloading Kubernetes %s: %w", version, err)
	}
	size, err := archive.Seek(0, io.SeekCurrent)
	if err == nil {
		_, err = archive.Seek(0, io.SeekStart)
	}
	if err != nil {
		return "", fmt.Errorf("reading what was downloaded: %w", err)
	}
	item := store.Item{Version: version, Platform: platform.Platform}
	unpacked := store.NewAt(filepath.Join(temporary, "store"))
	if err := unpacked.Initialize(ctx); err != nil {
		return "", fmt.Errorf("unpacking: %w", err)
	}
	if err := unpacked.Add(ctx, item, archive); err != nil {
		return "", fmt.Errorf("unpacking: %w", err)
	}
	from, err := unpacked.Path(item)
	if err != nil {
		return "", fmt.Errorf("unpacking: %w", err)
	}
	directory = filepath.Join(d.store, "k8s", filepath.Base(from))
	if err := replace(from, directory); err != nil {
		return "", err
	}
	fmt.Fprintf(d.out, "  downloaded Kubernetes %s (%d MB, SHA-512 as in the index) in %s into %s\n", version, size>>20,
		time.Since(start).Round(time.Second), directory)
	return directory, nil
}

// replace moves a directory of a store to its place. The library makes directories read-only, which cannot be moved.
func replace(from, to string) error {
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return fmt.Errorf("making the store: %w", err)
	}
	if err := removeAll(to); err != nil {
		return fmt.Errorf("removing what was there: %w", err)
	}
	if err := os.Chmod(from, 0o755); err != nil {
		return fmt.Errorf("moving what was unpacked: %w", err)
	}
	if err := os.Rename(from, to); err != nil {
		return fmt.Errorf("moving what was unpacked: %w", err)
	}
	if err := os.Chmod(to, 0o555); err != nil {
		return fmt.Errorf("moving what was unpacked: %w", err)
	}
	return nil
}

// removeAll removes a directory whose directories may be read-only.
func removeAll(directory string) error {
	err := filepath.WalkDir(directory, func(path string, entry os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			return os.Chmod(path, 0o755)
		}
		return nil
	})
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("making a directory writable: %w", err)
	}
	if err := os.RemoveAll(directory); err != nil {
		return fmt.Errorf("removing a directory: %w", err)
	}
	return nil
}
