// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// kept matches the environment variables that tests see. Settings of Go and of compilers, proxies and certificates are those of `go`, which may
// have to download modules; the others ask for something that CONTRIBUTING.md describes.
var kept = regexp.MustCompile(`^(?:PATH|TMPDIR|GO[A-Z0-9]*|CGO_[A-Z_]+|CC|CXX|LD_LIBRARY_PATH|NIX_[A-Za-z_0-9]+|` +
	`(?i:https?_proxy|no_proxy|all_proxy)|SSL_CERT_(?:FILE|DIR)|NETRC|` +
	`CHROMIUM|KUBEBUILDER_ASSETS|OCM_ASSETS|(?:PLACEMENT|PROPERTY|RAPID|SOAK|ATTACK)_[A-Z_]+)$`)

// fixed are the environment variables that are the same on every machine.
var fixed = []string{"TZ=UTC", "LC_ALL=C.UTF-8", "TERM=dumb", "GIT_CONFIG_NOSYSTEM=1", "GOWORK=off"}

// goDirectories are the settings of Go that depend on the home directory.
var goDirectories = []string{"GOPATH", "GOCACHE", "GOMODCACHE", "GOENV"}

// home returns the home directory of tests. Its path is the same in every run, so that results of tests that read it are cached.
func (d *driver) home() string { return filepath.Join(d.root, "bin", "test-home") }

// isolate makes the environment of tests from that of the driver, so that their results do not depend on what a machine has: kubeconfigs, settings
// of git and Helm, a locale, a time zone, or a home directory that nobody may write to.
func (d *driver) isolate(ctx context.Context) error {
	cmd := exec.CommandContext(ctx, d.goCommand, append([]string{"env"}, goDirectories...)...)
	cmd.Dir, cmd.Stderr = d.root, os.Stderr
	output, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("reading the settings of Go: %s: %w", cmd, err)
	}
	values := strings.Split(strings.TrimSuffix(string(output), "\n"), "\n")
	if len(values) != len(goDirectories) {
		return fmt.Errorf("reading the settings of Go: %s prints %d lines, want %d", cmd, len(values), len(goDirectories))
	}
	if err := os.RemoveAll(d.home()); err != nil {
		return fmt.Errorf("emptying the home directory of tests: %w", err)
	}
	if err := os.MkdirAll(d.home(), 0o755); err != nil {
		return fmt.Errorf("making the home directory of tests: %w", err)
	}
	d.base = isolated(os.Environ(), d.home())
	for i, name := range goDirectories {
		d.base = append(d.base, name+"="+values[i])
	}
	return nil
}

// isolated returns the variables of an environment that tests see, and those that are the same on every machine.
func isolated(environment []string, home string) []string {
	own := slices.Concat(slices.DeleteFunc(slices.Clone(environment), func(variable string) bool {
		name, _, _ := strings.Cut(variable, "=")
		return !kept.MatchString(name)
	}), fixed, []string{"HOME=" + home})
	// The credentials of a private module proxy are in the home directory of the user.
	if user := valueOf(environment, "HOME"); user != "" && valueOf(environment, "NETRC") == "" {
		own = append(own, "NETRC="+filepath.Join(user, ".netrc"))
	}
	return own
}

// valueOf returns the value of a variable in an environment.
func valueOf(environment []string, name string) string {
	for _, variable := range slices.Backward(environment) {
		if value, has := strings.CutPrefix(variable, name+"="); has {
			return value
		}
	}
	return ""
}
