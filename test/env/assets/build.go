package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/placement-hub/placement-hub/test/env"
	"github.com/placement-hub/placement-hub/test/env/internal/filelock"
)

// packages are the main packages of the binaries in the control plane module.
var packages = map[string]string{
	env.EtcdBinary:              "go.etcd.io/etcd/server/v3",
	env.APIServerBinary:         "k8s.io/kubernetes/cmd/kube-apiserver",
	env.ControllerManagerBinary: "k8s.io/kubernetes/cmd/kube-controller-manager",
	env.KubectlBinary:           "k8s.io/kubernetes/cmd/kubectl",
}

// temporaryPrefix begins the names of what exists during a build only.
const temporaryPrefix = ".building-"

// build makes the missing binaries in the build directory of the checkout, one builder at a time.
func build(ctx context.Context, checkout env.Checkout, out io.Writer) (assets env.Assets, err error) {
	directory := checkout.BuildDir()
	if err := os.MkdirAll(directory, 0o755); err != nil {
		return env.Assets{}, fmt.Errorf("making the build directory: %w", err)
	}
	lock, err := waitForLock(ctx, filepath.Join(directory, ".lock"), out)
	if err != nil {
		return env.Assets{}, err
	}
	defer func() { err = errors.Join(err, lock.Release()) }()

	pins, err := prepare(checkout)
	if err != nil {
		return env.Assets{}, err
	}
	// Somebody else may have built them while this process waited for the lock.
	assets, err = env.FindAssets()
	if err != nil && !errors.Is(err, env.ErrNoAssets) {
		return env.Assets{}, err
	}
	missing := unbuilt(directory, assets.Missing())
	if len(missing) > 0 {
		if err := buildAll(ctx, checkout, pins, missing, out); err != nil {
			return env.Assets{}, err
		}
	}
	return env.FindAssets()
}

// unbuilt leaves out the binaries that an interrupted build had finished.
func unbuilt(directory string, missing []string) []string {
	var left []string
	for _, name := range missing {
		if _, err := os.Stat(filepath.Join(directory, name)); err != nil {
			left = append(left, name)
		}
	}
	return left
}

// waitForLock takes the lock of the build directory, and says so when another build holds it.
func waitForLock(ctx context.Context, path string, out io.Writer) (*filelock.Lock, error) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for waiting := false; ; waiting = true {
		lock, err := filelock.Try(path)
		if err == nil {
			return lock, nil
		}
		if !errors.Is(err, filelock.ErrLocked) {
			return nil, fmt.Errorf("locking the build directory: %w", err)
		}
		if !waiting {
			fmt.Fprintln(out, "waiting for another build of the control plane:", err)
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("waiting for another build of the control plane: %w", ctx.Err())
		case <-tick.C:
		}
	}
}

// prepare removes what a killed build left and binaries of other versions, and stamps the directory with the pinned
// versions. Every binary that is there under its own name afterwards is whole and current.
func prepare(checkout env.Checkout) (env.Pins, error) {
	pins, err := checkout.Pins()
	if err != nil {
		return env.Pins{}, err
	}
	current, err := checkout.BuildIsCurrent()
	if err != nil {
		return env.Pins{}, err
	}
	directory := checkout.BuildDir()
	entries, err := os.ReadDir(directory)
	if err != nil {
		return env.Pins{}, fmt.Errorf("reading the build directory: %w", err)
	}
	for _, entry := range entries {
		_, isBinary := packages[entry.Name()]
		if strings.HasPrefix(entry.Name(), temporaryPrefix) || (isBinary && !current) {
			if err := os.RemoveAll(filepath.Join(directory, entry.Name())); err != nil {
				return env.Pins{}, fmt.Errorf("removing the remains of another build: %w", err)
			}
		}
	}
	if current {
		return pins, nil
	}
	stamp := filepath.Join(directory, env.StampFile)
	temporary := filepath.Join(directory, temporaryPrefix+env.StampFile)
	if err := os.WriteFile(temporary, []byte(pins.Stamp()), 0o644); err != nil {
		return env.Pins{}, fmt.Errorf("writing the version of the build: %w", err)
	}
	if err := os.Rename(temporary, stamp); err != nil {
		return env.Pins{}, fmt.Errorf("writing the version of the build: %w", err)
	}
	return pins, nil
}

// buildAll builds the named binaries one after the other.
func buildAll(ctx context.Context, checkout env.Checkout, pins env.Pins, names []string, out io.Writer) (err error) {
	fmt.Fprintf(out, "building %s (Kubernetes %s, etcd %s) into %s\n",
		strings.Join(names, ", "), pins.Kubernetes, pins.Etcd, checkout.BuildDir())
	fmt.Fprintln(out, "  the first build takes about 5 to 10 minutes on 2 cores; later ones take seconds")
	start := time.Now()
	// `go` does not remove its temporary files when it is interrupted, so they get a directory of their own.
	temporary := filepath.Join(checkout.BuildDir(), temporaryPrefix+"files")
	if err := os.MkdirAll(temporary, 0o755); err != nil {
		return fmt.Errorf("making a directory for temporary files: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(temporary)) }()
	for _, name := range names {
		compilation := compilation{
			name:      name,
			directory: checkout.ModuleDir(),
			temporary: temporary,
			output:    filepath.Join(checkout.BuildDir(), temporaryPrefix+name),
			target:    filepath.Join(checkout.BuildDir(), name),
			arguments: arguments(packages[name], pins),
			out:       out,
			interval:  15 * time.Second,
		}
		if err := compilation.run(ctx); err != nil {
			return err
		}
	}
	fmt.Fprintf(out, "built %d binaries in %s\n", len(names), time.Since(start).Round(time.Second))
	return nil
}
