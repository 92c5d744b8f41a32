package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/version"
)

// arguments are those of `go`, save for the output. They are fixed, because a change of them makes the build cache useless:
// -mod and -buildvcs are given so that a GOFLAGS of the user cannot change them. An empty version of Kubernetes leaves the binary with its
// own.
func arguments(pkg, kubernetes string) []string {
	return []string{
		"build", "-v", "-mod=readonly", "-trimpath", "-buildvcs=false",
		"-ldflags", linkerFlags(kubernetes), pkg,
	}
}

// environ is the environment of `go`: static binaries, and no workspace that would change the pinned versions.
func environ() []string {
	return append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off")
}

// linkerFlags set the version that the binaries and the API report. Modules carry no commit, so the tag stands for it.
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
