// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"golang.org/x/mod/semver"

	"github.com/placement-hub/placement-hub/pkg/localplane/binaries"
)

// buildVersion builds the programs of a minor version of Kubernetes that test/controlplane or the module test/controlplane/v<version> pins, and
// returns their directory.
func buildVersion(ctx context.Context, version string, out io.Writer) (string, error) {
	checkout, err := binaries.FindCheckout()
	if err != nil {
		return "", fmt.Errorf("finding the modules of versions: %w", err)
	}
	s := controlPlane(optional, binaries.Find)
	pinned, err := checkout.Pins(s.Programs)
	if err != nil {
		return "", fmt.Errorf("finding the modules of versions: %w", err)
	}
	newest := minorOf(pinned.Version(s.kubernetes))
	if version != newest {
		s.Name = path.Join(s.Name, "v"+version)
	}
	if _, err := os.Stat(checkout.ModuleDir(s.Programs)); errors.Is(err, fs.ErrNotExist) {
		known, err := filepath.Glob(filepath.Join(checkout.ModuleDir(binaries.ControlPlane), "v*"))
		if err != nil {
			return "", fmt.Errorf("listing the versions: %w", err)
		}
		for i, directory := range known {
			known[i] = strings.TrimPrefix(filepath.Base(directory), "v")
		}
		return "", fmt.Errorf("-kubernetes: no module pins %q: supported values: %s", version, strings.Join(append(known, newest), ", "))
	}
	directory := checkout.BuildDir(s.Programs)
	s.missing = func() ([]string, error) {
		all := append([]string{binaries.Etcd, binaries.APIServer}, optional...)
		current, err := checkout.BuildIsCurrent(s.Programs)
		if err != nil {
			return nil, fmt.Errorf("looking for Kubernetes %s: %w", version, err)
		}
		if !current {
			return all, nil
		}
		return unbuilt(directory, all), nil
	}
	return directory, s.ensure(ctx, out)
}

// minorOf returns the minor version of a version: 1.37 of v1.37.0.
func minorOf(version string) string {
	return strings.TrimPrefix(semver.MajorMinor(version), "v")
}
