// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/placement-hub/placement-hub/pkg/localplane/binaries"
	"github.com/placement-hub/placement-hub/pkg/localplane/filelock"
)

// suite has the programs of a nested module that are built together.
type suite struct {
	binaries.Programs

	title    string
	packages map[string]string // the main package of each binary
	variable string            // environment variable with a directory of binaries that were built elsewhere
	duration string            // of the first build
	// kubernetes is the pinned module whose version the binaries report as that of Kubernetes; empty if they report their own.
	kubernetes string
	// missing returns the binaries that were not found anywhere.
	missing func() ([]string, error)
}

// optional are the binaries that some control planes do not need.
var optional = []string{binaries.ControllerManager, binaries.Scheduler, binaries.Kubectl}

// controlPlane returns the binaries of a control plane, with those of optional that are named. find finds those that are there.
func controlPlane(named []string, find func() (binaries.Assets, error)) suite {
	return suite{
		Programs: binaries.ControlPlane,
		title:    "the control plane",
		packages: map[string]string{
			binaries.Etcd:              "go.etcd.io/etcd/server/v3",
			binaries.APIServer:         "k8s.io/kubernetes/cmd/kube-apiserver",
			binaries.ControllerManager: "k8s.io/kubernetes/cmd/kube-controller-manager",
			binaries.Scheduler:         "k8s.io/kubernetes/cmd/kube-scheduler",
			binaries.Kubectl:           "k8s.io/kubernetes/cmd/kubectl",
		},
		variable:   binaries.AssetsVariable,
		duration:   "5 to 10 minutes",
		kubernetes: "kubernetes",
		missing: func() ([]string, error) {
			assets, err := find()
			if err != nil && !errors.Is(err, binaries.ErrNoAssets) {
				return nil, fmt.Errorf("looking for the control plane: %w", err)
			}
			return slices.DeleteFunc(assets.Missing(true), func(name string) bool {
				return slices.Contains(optional, name) && !slices.Contains(named, name)
			}), nil
		},
	}
}

// ocm returns one binary of Open Cluster Management.
func ocm(name string) suite {
	return suite{
		Programs: binaries.OCM,
		title:    "OCM's programs",
		packages: map[string]string{
			binaries.Work:              "open-cluster-management.io/ocm/cmd/work",
			binaries.WorkAgent:         "./workagent",
			binaries.UpstreamPlacement: "open-cluster-management.io/ocm/cmd/placement",
		},
		variable: binaries.OCMVariable,
		duration: "5 to 15 minutes",
		missing: func() ([]string, error) {
			_, err := binaries.FindOCM(name)
			if errors.Is(err, binaries.ErrNoOCM) {
				return []string{name}, nil
			}
			return nil, err
		},
	}
}

// temporaryPrefix is the prefix of files that exist only during a build.
const temporaryPrefix = ".building-"

// ensure builds the binaries that were not found anywhere.
func (s suite) ensure(ctx context.Context, out io.Writer) error {
	missing, err := s.missing()
	if err != nil || len(missing) == 0 {
		return err
	}
	checkout, err := binaries.FindCheckout()
	if err != nil {
		return fmt.Errorf("%s must be built, but: %w; change into the checkout", strings.Join(missing, ", "), err)
	}
	return s.build(ctx, checkout, out)
}

// build builds the missing binaries in the build directory of the checkout. A lock serialises concurrent builds.
func (s suite) build(ctx context.Context, checkout binaries.Checkout, out io.Writer) (err error) {
	directory := checkout.BuildDir(s.Programs)
	if err := os.MkdirAll(directory, 0o755); err != nil {
		return fmt.Errorf("making the build directory: %w", err)
	}
	lock, err := s.waitForLock(ctx, filepath.Join(directory, ".lock"), out)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Release()) }()

	pins, err := s.prepare(checkout)
	if err != nil {
		return err
	}
	// Another process may have built them while this one waited for the lock.
	missing, err := s.missing()
	if err != nil {
		return err
	}
	if missing = unbuilt(directory, missing); len(missing) > 0 {
		return s.buildAll(ctx, checkout, pins, missing, out)
	}
	return nil
}

// unbuilt omits the binaries that an interrupted build had finished.
func unbuilt(directory string, missing []string) []string {
	var left []string
	for _, name := range missing {
		if _, err := os.Stat(filepath.Join(directory, name)); err != nil {
			left = append(left, name)
		}
	}
	return left
}

// waitForLock takes the lock of the build directory, and reports if another build holds it.
func (s suite) waitForLock(ctx context.Context, path string, out io.Writer) (*filelock.Lock, error) {
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
			fmt.Fprintf(out, "waiting for another build of %s: %v\n", s.title, err)
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("waiting for another build of %s: %w", s.title, ctx.Err())
		case <-tick.C:
		}
	}
}

// prepare removes the remains of a killed build and binaries of other versions, and writes the pinned versions to the stamp. Every binary
// that exists under its own name afterwards is complete and current.
func (s suite) prepare(checkout binaries.Checkout) (binaries.Pins, error) {
	pins, err := checkout.Pins(s.Programs)
	if err != nil {
		return nil, err
	}
	current, err := checkout.BuildIsCurrent(s.Programs)
	if err != nil {
		return nil, err
	}
	directory := checkout.BuildDir(s.Programs)
	entries, err := os.ReadDir(directory)
	if err != nil {
		return nil, fmt.Errorf("reading the build directory: %w", err)
	}
	for _, entry := range entries {
		_, isBinary := s.packages[entry.Name()]
		if strings.HasPrefix(entry.Name(), temporaryPrefix) || (isBinary && !current) {
			if err := os.RemoveAll(filepath.Join(directory, entry.Name())); err != nil {
				return nil, fmt.Errorf("removing the remains of another build: %w", err)
			}
		}
	}
	if current {
		return pins, nil
	}
	stamp := filepath.Join(directory, binaries.StampFile)
	temporary := filepath.Join(directory, temporaryPrefix+binaries.StampFile)
	if err := os.WriteFile(temporary, []byte(pins.Stamp()), 0o644); err != nil {
		return nil, fmt.Errorf("writing the version of the build: %w", err)
	}
	if err := os.Rename(temporary, stamp); err != nil {
		return nil, fmt.Errorf("writing the version of the build: %w", err)
	}
	return pins, nil
}

// buildAll builds the named binaries one after the other.
func (s suite) buildAll(
	ctx context.Context, checkout binaries.Checkout, pins binaries.Pins, names []string, out io.Writer,
) (err error) {
	directory := checkout.BuildDir(s.Programs)
	fmt.Fprintf(out, "building %s (%s) into %s\n", strings.Join(names, ", "), pins, directory)
	fmt.Fprintf(out, "  the first build takes about %s on 2 cores; later ones take seconds\n", s.duration)
	start := time.Now()
	// An interrupted `go` does not remove its temporary files, so they get a directory of their own.
	temporary := filepath.Join(directory, temporaryPrefix+"files")
	if err := os.MkdirAll(temporary, 0o755); err != nil {
		return fmt.Errorf("making a directory for temporary files: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(temporary)) }()
	for _, name := range names {
		compilation := compilation{
			name:      name,
			directory: checkout.ModuleDir(s.Programs),
			temporary: temporary,
			output:    filepath.Join(directory, temporaryPrefix+name),
			target:    filepath.Join(directory, name),
			arguments: arguments(s.packages[name], pins.Version(s.kubernetes)),
			variable:  s.variable,
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
