// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/placement-hub/placement-hub/manifests"
	"github.com/placement-hub/placement-hub/pkg/localplane"
	"github.com/placement-hub/placement-hub/pkg/localplane/binaries"
	"github.com/placement-hub/placement-hub/test/benchmark/fleet"
)

// keptFleets is the directory of the data of control planes with large fleets, which runs share.
const keptFleets = "bin/fleets"

// startKept starts a control plane on a copy of the data of one in which the fleet was created, and creates it if there is none. The manifests
// may have changed since.
func (s *stage) startKept(ctx context.Context) (*localplane.ControlPlane, error) {
	name, err := keptName(s.size)
	if err != nil {
		return nil, err
	}
	kept := filepath.Join(keptFleets, name)
	if _, err := os.Stat(kept); errors.Is(err, fs.ErrNotExist) {
		if err := s.keep(ctx, kept); err != nil {
			return nil, err
		}
	} else if err != nil {
		return nil, fmt.Errorf("looking for a kept fleet: %w", err)
	}
	directory := filepath.Join(s.directory, "fleet-"+s.size.String())
	begin := time.Now()
	if err := copyTree(ctx, kept, directory); err != nil {
		return nil, err
	}
	environment, err := localplane.Start(ctx, localplane.Options{DataDir: directory})
	if err != nil {
		return nil, err
	}
	s.logf("started on the fleet of %s in %.1f s", kept, time.Since(begin).Seconds())
	if err := manifests.Install(ctx, environment.AdminConfig()); err != nil {
		return nil, errors.Join(err, environment.Stop())
	}
	return environment, nil
}

// keep creates the fleet and keeps the data of its control plane. Other data of the size is removed.
func (s *stage) keep(ctx context.Context, path string) error {
	s.logf("creating the fleet, which takes 5 to 15 minutes; it is kept in %s", path)
	old, err := filepath.Glob(filepath.Join(keptFleets, s.size.String()+"-*"))
	if err != nil {
		return fmt.Errorf("looking for kept fleets: %w", err)
	}
	for _, directory := range old {
		if err := os.RemoveAll(directory); err != nil {
			return fmt.Errorf("removing a kept fleet: %w", err)
		}
	}
	if err := os.MkdirAll(keptFleets, 0o700); err != nil {
		return fmt.Errorf("making the directory of kept fleets: %w", err)
	}
	filling, err := os.MkdirTemp(keptFleets, "new-")
	if err != nil {
		return fmt.Errorf("making a directory: %w", err)
	}
	environment, err := s.startFilled(ctx, filling)
	if err == nil {
		err = environment.Stop()
	}
	if err != nil {
		return errors.Join(err, os.RemoveAll(filling))
	}
	if err := os.Rename(filling, path); err != nil {
		return fmt.Errorf("keeping a fleet: %w", err)
	}
	return nil
}

// copyTree copies a directory with the permissions of its files: they have keys.
func copyTree(ctx context.Context, from, to string) error {
	if output, err := exec.CommandContext(ctx, "cp", "-R", "-p", from, to).CombinedOutput(); err != nil {
		return fmt.Errorf("copying %s: %w: %s", from, err, output)
	}
	return nil
}

// keptName names the data of a fleet by what is in it and by the versions of the control plane.
func keptName(size fleet.Size) (string, error) {
	found, err := binaries.Find()
	if err != nil {
		return "", err
	}
	versions, err := os.ReadFile(filepath.Join(found.Dir, "VERSION"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("reading the versions of the control plane: %w", err)
	}
	sum := sha256.New()
	sum.Write(versions)
	encoder := json.NewEncoder(sum)
	add := func(object any) {
		if err == nil {
			err = encoder.Encode(object)
		}
	}
	add(size.Sets())
	for i := range size.Namespaces() {
		add(size.Bindings(i))
	}
	for i := range size.Clusters {
		add(size.Cluster(i))
		add(size.Scores(i))
	}
	for i := range size.Placements {
		add(size.Placement(i))
	}
	if err != nil {
		return "", fmt.Errorf("encoding a fleet: %w", err)
	}
	return size.String() + "-" + hex.EncodeToString(sum.Sum(nil))[:12], nil
}
