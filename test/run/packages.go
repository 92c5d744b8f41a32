// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path"
	"slices"
	"strings"
)

// module is the prefix of the import paths of this repository.
const module = "github.com/placement-hub/placement-hub/"

// suite is a set of packages with a name.
type suite struct {
	name     string
	patterns []string
	servers  bool // the tests start servers, and are linked into one program for each module
	nested   bool // the packages are those of a nested module
}

// has reports whether a package is in the suite.
func (s suite) has(directory string) bool {
	return slices.ContainsFunc(s.patterns, func(pattern string) bool {
		return strings.HasPrefix("./"+directory+"/", strings.TrimSuffix(pattern, "..."))
	})
}

// suites has every package with tests in one suite. The Makefile and CI name the suites alone.
var suites = []suite{
	{name: "unit", patterns: []string{
		"./cmd/...", "./pkg/...", "./manifests/...", "./deploy/...", "./test/benchmark/...", "./test/env/...", "./test/fakeapi/...",
		"./test/history/...", "./test/laws/...", "./test/licenses/...", "./test/property/...", "./test/run/...", "./test/surface/...",
	}},
	{name: "e2e", patterns: []string{"./test/e2e/..."}, servers: true},
	{name: "consumers", patterns: []string{"./test/consumers/..."}, servers: true},
	{name: conformanceSuite, patterns: []string{"./" + conformanceModule + "/..."}, servers: true, nested: true},
	{name: browserSuite, patterns: []string{"./" + browserModule + "/..."}, servers: true, nested: true},
	{name: "integration", patterns: []string{"./test/alerts/...", "./test/integration/...", "./test/soak/..."}, servers: true},
}

// longest has the packages with servers that take longest, for the first run: later ones know how long each took.
var longest = []string{
	"test/e2e/leaders", "test/integration/federation", "test/e2e/life", "test/integration/federationfaults", "test/consumers",
	"test/integration/chart", "test/integration/faults", "test/integration/binding", "test/integration/platform", "test/integration/access",
	"test/integration/decisions", "test/browser/stories", "test/integration/scale", "test/conformance", "test/e2e/commands", "test/e2e/hub",
	"test/e2e/platform",
}

// errUsage marks errors in the flags.
var errUsage = errors.New("wrong flags")

// selection has the packages to test, as paths below the root of the repository.
type selection struct {
	unit    []string
	servers []string
}

func (s selection) all() []string { return slices.Concat(s.unit, s.servers) }

// selectPackages lists the packages of the named suites, and keeps those of the subject only, if it is not empty.
func (d *driver) selectPackages(ctx context.Context, names []string, only string) (selection, error) {
	var all selection
	var chosen []suite
	for _, name := range names {
		index := slices.IndexFunc(suites, func(s suite) bool { return s.name == name })
		if index < 0 {
			return selection{}, fmt.Errorf("%w: -suites: unknown suite %q: supported values: %s", errUsage, name, strings.Join(suiteNames(), ", "))
		}
		chosen = append(chosen, suites[index])
	}
	packages, err := d.list(ctx, chosen)
	if err != nil {
		return selection{}, err
	}
	for _, directory := range packages {
		if slices.ContainsFunc(chosen, func(s suite) bool { return s.servers && s.has(directory) }) {
			all.servers = append(all.servers, directory)
		} else {
			all.unit = append(all.unit, directory)
		}
	}
	if all, err = d.leaveOut(all, only); err != nil || only == "" {
		return all, err
	}
	selected := selection{unit: ofSubject(all.unit, only), servers: ofSubject(all.servers, only)}
	if len(selected.all()) == 0 {
		return selection{}, fmt.Errorf("%w: ONLY: no package has a directory that begins with %q; subjects:\n%s",
			errUsage, only, strings.Join(subjects(all.all()), " "))
	}
	return selected, nil
}

func suiteNames() []string {
	names := make([]string, 0, len(suites))
	for _, s := range suites {
		names = append(names, s.name)
	}
	return names
}

// list returns the packages of the suites. With -find, go does not read what they import.
func (d *driver) list(ctx context.Context, suites []suite) ([]string, error) {
	arguments := []string{"list", "-find"}
	for _, s := range suites {
		if !s.nested {
			arguments = append(arguments, s.patterns...)
		}
	}
	if len(arguments) == 2 { // Without a pattern, go would list the package of the directory.
		return d.listNested(ctx, suites)
	}
	cmd := exec.CommandContext(ctx, d.goCommand, arguments...)
	cmd.Dir, cmd.Stderr = d.root, os.Stderr
	listed, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("listing packages: %s: %w", cmd, err)
	}
	var packages []string
	for importPath := range strings.FieldsSeq(string(listed)) {
		packages = append(packages, strings.TrimPrefix(importPath, module))
	}
	nested, err := d.listNested(ctx, suites)
	return append(packages, nested...), err
}

// ofSubject returns the packages with an element of the path that begins with the word.
func ofSubject(packages []string, word string) []string {
	var selected []string
	for _, directory := range packages {
		begins := func(element string) bool { return strings.HasPrefix(element, word) }
		if slices.ContainsFunc(strings.Split(directory, "/"), begins) {
			selected = append(selected, directory)
		}
	}
	return selected
}

// subjects returns the last elements of the paths of the packages, sorted.
func subjects(packages []string) []string {
	found := map[string]bool{}
	for _, directory := range packages {
		found[path.Base(directory)] = true
	}
	return slices.Sorted(maps.Keys(found))
}
