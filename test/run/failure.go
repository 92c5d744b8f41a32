// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// maxFailedTests is how many failed tests a report quotes.
const maxFailedTests = 3

// report describes the failure of a package: the failed tests with excerpts of their output, how to run the package alone, and where the
// whole output is.
func (r *result) report(log string, servers bool) string {
	var text strings.Builder
	fmt.Fprintf(&text, "==> FAILED: %s\n", r.directory)
	failed := r.failedLeaves()
	quoted := failed[:min(len(failed), maxFailedTests)]
	for _, name := range quoted {
		fmt.Fprintf(&text, "  %s:\n%s\n", name, indent(r.tests[name].String()))
	}
	if len(quoted) == 0 {
		fmt.Fprintf(&text, "%s\n", indent(r.output.String()))
	}
	if more := len(failed) - len(quoted); more > 0 {
		fmt.Fprintf(&text, "  and %d more failed tests\n", more)
	}
	fmt.Fprintf(&text, "  whole output: %s\n  alone:        %s\n", log, r.command())
	if servers && !isBrowserTest(r.directory) {
		text.WriteString("                some specs of it: -ginkgo.focus 'words of their names'\n")
	}
	return text.String()
}

// failedLeaves returns the failed tests that have output and no failed subtest.
func (r *result) failedLeaves() []string {
	var leaves []string
	for _, name := range r.failed {
		isParent := slices.ContainsFunc(r.failed, func(other string) bool { return strings.HasPrefix(other, name+"/") })
		if !isParent && r.tests[name] != nil {
			leaves = append(leaves, name)
		}
	}
	return leaves
}

// command returns the command that runs the failed tests of the package alone, with the settings of the Makefile: the build cache has what it
// needs.
func (r *result) command() string {
	var tops []string
	for _, name := range r.failed {
		top, _, _ := strings.Cut(name, "/")
		top = strings.TrimSuffix(top, sharedSuffix(r.directory))
		if top = regexp.QuoteMeta(top); !slices.Contains(tops, top) {
			tops = append(tops, top)
		}
	}
	command := "CGO_ENABLED=0 GOFLAGS=-trimpath go test ./" + r.directory + " -count=1 -v"
	if nested := moduleOf(r.directory); nested != "" {
		command = "CGO_ENABLED=0 GOFLAGS=-trimpath go -C " + nested + " test ./" + ofModule([]string{r.directory}, nested)[0] + " -count=1 -v"
	}
	if len(tops) > 0 && len(tops) <= maxFailedTests {
		command += " -run '^(" + strings.Join(tops, "|") + ")$'"
	}
	return command
}
