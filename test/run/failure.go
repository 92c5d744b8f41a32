// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// failure is the error of packages that failed: the first one, or all of them if the run kept going.
type failure struct {
	packages []failedPackage // in the order in which they failed
	cause    error           // why a run that kept going ended before its packages; nil if it did not
}

func (f *failure) Error() string {
	directories := make([]string, 0, len(f.packages))
	for _, p := range f.packages {
		directories = append(directories, p.directory)
	}
	return strings.Join(directories, ", ") + " failed"
}

func (f *failure) Unwrap() error { return f.cause }

// failedPackage is a package that failed: its report, the path of its whole output, and the command that runs it alone.
type failedPackage struct{ directory, report, log, command string }

// failedPackages returns the packages that failed, of which some start servers.
func (r *results) failedPackages(servers []string) []failedPackage {
	packages := make([]failedPackage, 0, len(r.failures))
	for _, p := range r.failures {
		log := r.driver.logPath(p.directory)
		packages = append(packages, failedPackage{
			directory: p.directory, report: p.report(log, slices.Contains(servers, p.directory)), log: log, command: p.command(),
		})
	}
	return packages
}

// list lists the packages for the end of a run that kept going.
func (f *failure) list() string {
	var text strings.Builder
	for _, p := range f.packages {
		fmt.Fprintf(&text, "  %s\n    whole output: %s\n    alone:        %s\n", p.directory, p.log, p.command)
	}
	return text.String()
}

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
