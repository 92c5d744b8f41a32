// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/placement-hub/placement-hub/pkg/localplane/binaries"
	"github.com/placement-hub/placement-hub/pkg/localplane/process"
)

// The environment variables of the download.
const (
	envtestVariable = "ENVTEST"        // "off" leaves it out
	indexVariable   = "ENVTEST_INDEX"  // the URL of the index
	mirrorVariable  = "ENVTEST_MIRROR" // the URL below which the archives are
)

// download tries once to download etcd and kube-apiserver, if they are missing, into the store of setup-envtest. A failure is no error: what is
// missing is built. It says beforehand what happens.
func (s suite) download(ctx context.Context, out io.Writer) error {
	missing, err := s.missing()
	if err != nil || (!slices.Contains(missing, binaries.Etcd) && !slices.Contains(missing, binaries.APIServer)) {
		return err
	}
	if os.Getenv(envtestVariable) == "off" {
		fmt.Fprintf(out, "no etcd and kube-apiserver found; %s=off, so they are built, which takes %s on 2 cores\n", envtestVariable, s.duration)
		return nil
	}
	checkout, err := binaries.FindCheckout()
	if err != nil {
		return fmt.Errorf("finding the module with the download: %w", err)
	}
	pins, err := checkout.Pins(s.Programs)
	if err != nil {
		return fmt.Errorf("choosing the version to download: %w", err)
	}
	fmt.Fprintf(out, "no etcd and kube-apiserver found: downloading them (about 70 MB, a minute); where that fails, they are built, which takes %s\n"+
		"  %s=off leaves the download out; %s and %s set its URLs\n", s.duration, envtestVariable, indexVariable, mirrorVariable)
	cmd := process.GroupCommand(ctx, "go", "run", "-mod=readonly", "-trimpath", ".", "-version", minor(pins.Version(s.kubernetes)),
		"-index", os.Getenv(indexVariable), "-mirror", os.Getenv(mirrorVariable))
	cmd.Dir, cmd.Env = filepath.Join(checkout.Root, "test", "envtest"), environ()
	cmd.Stdout, cmd.Stderr = io.Discard, out // The directory is found as that of any version in the store.
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return fmt.Errorf("downloading: %w", ctx.Err())
		}
		fmt.Fprintf(out, "the download failed (%v); building\n", err)
	}
	return nil
}

// minor returns the minor version of a version: 1.37 of v1.37.2.
func minor(version string) string {
	parts := strings.SplitN(strings.TrimPrefix(version, "v"), ".", 3)
	return strings.Join(parts[:min(len(parts), 2)], ".")
}
