// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/version"
)

// arguments returns the arguments of `go`, except for the output. They are fixed because a change makes the build cache useless: -mod and
// -buildvcs are set so that GOFLAGS of the user cannot change them. With an empty version of Kubernetes the binary reports its own.
func arguments(pkg, kubernetes string) []string {
	return []string{
		"build", "-v", "-mod=readonly", "-trimpath", "-buildvcs=false",
		"-ldflags", linkerFlags(kubernetes), pkg,
	}
}

// environ returns the environment of `go`: static binaries, and no workspace that would change the pinned versions.
func environ() []string {
	return append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off")
}

// linkerFlags returns the flags that set the version of the binaries and of the API. Modules have no commit, so the tag replaces it.
func linkerFlags(kubernetes string) string {
	flags := []string{"-s", "-w"}
	parsed, err := version.ParseSemantic(kubernetes)
	if err != nil { // none, or a pseudo-version without a meaning as a release: the binaries report what they have
		return strings.Join(flags, " ")
	}
	for _, pkg := range []string{"k8s.io/component-base/version", "k8s.io/client-go/pkg/version"} {
		for _, variable := range []struct{ name, value string }{
			{"gitVersion", kubernetes},
			{"gitMajor", strconv.FormatUint(uint64(parsed.Major()), 10)},
			{"gitMinor", strconv.FormatUint(uint64(parsed.Minor()), 10)},
			{"gitTreeState", "archive"},
			{"gitCommit", kubernetes},
		} {
			flags = append(flags, fmt.Sprintf("-X %s.%s=%s", pkg, variable.name, variable.value))
		}
	}
	return strings.Join(flags, " ")
}
