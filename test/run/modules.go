// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// The nested modules whose tests start servers; each is a suite of its own.
const (
	browserModule     = "test/browser" // in a real browser
	browserSuite      = "browser"
	conformanceModule = "test/conformance" // the suite of the module conformance
	conformanceSuite  = "conformance"
)

// The value of the environment variable with which the browser tests are left out, as test/browser/chromium describes it.
const (
	browserVariable = "CHROMIUM"
	noBrowser       = "none"
)

// nestedModules are the modules below the root that have tests. `go test ./...` in the root leaves them out. The modules of their own keep the
// tools of releases and tests out of what the product depends on. The tests of those that are no suite are unit tests.
var nestedModules = []string{"test/envtest", "test/release", "conformance", browserModule, conformanceModule}

// moduleOf returns the nested module that has a package; "" for the root.
func moduleOf(directory string) string {
	index := slices.IndexFunc(nestedModules, func(m string) bool { return strings.HasPrefix(directory+"/", m+"/") })
	if index < 0 {
		return ""
	}
	return nestedModules[index]
}

// suiteOfModule returns the suite of a nested module.
func suiteOfModule(nested string) suite {
	index := slices.IndexFunc(suites, func(s suite) bool { return s.nested && s.has(nested) })
	return suites[max(index, 0)] // The first are the unit tests.
}

// listNested returns the packages of the nested modules that belong to the suites.
func (d *driver) listNested(ctx context.Context, chosen []suite) ([]string, error) {
	var packages []string
	for _, nested := range d.modules {
		if owner := suiteOfModule(nested).name; !slices.ContainsFunc(chosen, func(s suite) bool { return s.name == owner }) {
			continue
		}
		cmd := exec.CommandContext(ctx, d.goCommand, "list", "-find", "./...")
		cmd.Dir, cmd.Stderr = filepath.Join(d.root, filepath.FromSlash(nested)), os.Stderr
		listed, err := cmd.Output()
		if err != nil {
			return nil, fmt.Errorf("listing packages: %s: %w", cmd, err)
		}
		for importPath := range strings.FieldsSeq(string(listed)) {
			packages = append(packages, strings.TrimPrefix(importPath, module))
		}
	}
	return packages, nil
}

// leaveOut removes the browser tests from the packages, and says so, if the environment asks for it.
func (d *driver) leaveOut(all selection, only string) (selection, error) {
	browser := ofModule(all.servers, browserModule)
	if os.Getenv(browserVariable) != noBrowser || len(browser) == 0 {
		return all, nil
	}
	if all.servers = slices.DeleteFunc(all.servers, isBrowserTest); len(ofSubject(all.all(), only)) == 0 {
		return selection{}, fmt.Errorf("%w: %s=%s leaves out the browser tests, and no others are asked for", errUsage, browserVariable, noBrowser)
	}
	d.console.printf("==> test: %s=%s leaves out the browser tests: %d packages of %s", browserVariable, noBrowser, len(browser), browserModule)
	return all, nil
}

func isBrowserTest(directory string) bool { return moduleOf(directory) == browserModule }

// startsServers reports whether a package is one of a nested module whose tests start servers.
func startsServers(directory string) bool {
	nested := moduleOf(directory)
	return nested != "" && suiteOfModule(nested).servers
}

// ofModule returns the packages of a module, as paths below its directory.
func ofModule(packages []string, nested string) []string {
	var own []string
	for _, directory := range packages {
		switch {
		case moduleOf(directory) != nested:
		case nested == "":
			own = append(own, directory)
		default:
			own = append(own, strings.TrimPrefix(strings.TrimPrefix(directory, nested), "/"))
		}
	}
	return own
}

// nestedProgram returns the path of the test program of a package of a nested module whose tests start servers.
func (d *driver) nestedProgram(directory string) string {
	return filepath.Join(d.root, "bin", "tests", suiteOfModule(moduleOf(directory)).name, path.Base(directory)+".test")
}

// buildNested returns what makes the command that builds the programs of all packages of a nested module whose tests start servers.
func buildNested(nested string) func(context.Context, *driver) (group, error) {
	return func(ctx context.Context, d *driver) (group, error) {
		programs := filepath.Dir(d.nestedProgram(nested)) + string(filepath.Separator)
		cmd := newGroup(ctx, d.goCommand, "test", "-c", "-vet=off", "-ldflags=-s", "-o", programs, "./...")
		cmd.Dir, cmd.Env = filepath.Join(d.root, filepath.FromSlash(nested)), d.environment(false)
		return cmd, nil
	}
}

// testNested runs the tests of a package of a nested module that start servers.
func (t *testRun) testNested(ctx context.Context, r *results, directory string) error {
	d := t.driver
	p, err := readTests(d.root, directory)
	if err != nil {
		return fmt.Errorf("reading the tests of %s: %w", directory, err)
	}
	if len(p.files) == 0 {
		t.endWithoutTests(directory)
		return nil
	}
	return t.runServer(ctx, r, directory, nil,
		"tool", "test2json", "-t", "-p", module+directory, d.nestedProgram(directory),
		"-test.v=test2json", "-test.paniconexit0", "-test.timeout="+serverTimeout)
}
