// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"

	"sigs.k8s.io/controller-runtime/pkg/manager/signals"

	"github.com/placement-hub/placement-hub/cmd/placement/internal/build"
)

// The linker sets these: -X main.version=v1.2.3 -X main.commit=0123abc.
var (
	version string
	commit  string
)

func main() {
	build.Version, build.Commit = version, commit
	os.Exit(executeAs(signals.SetupSignalHandler(), os.Args[0], os.Args[1:], os.Stdout, os.Stderr))
}
