// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"

	"github.com/placement-hub/placement-hub/pkg/localplane/binaries"
)

// program is something that tests start, and that a target of the Makefile builds.
type program struct {
	name   string // in messages, and of the log file
	target string // of the Makefile
	first  string // how long the first build takes
	// present reports whether nothing needs to be built; nil for a program that is always built, because it takes seconds.
	present func(d *driver) (bool, error)
	// command, unless it is nil, builds the program instead of make, and again is what the user does after a failure.
	command func(ctx context.Context, d *driver) (group, error)
	again   string
}

// The names of the programs.
const (
	serverTests     = "server-tests" // the shared test program, which is not in programs
	placementBinary = "placement"
	controlPlane    = "control-plane"
	scheduler       = "kube-scheduler"
	helm            = "helm"
	helm3           = "helm3"
	promtool        = "promtool"
	previous        = "previous-version"
	workAgent       = "work-agent"
	workManager     = "work"
	upstream        = "upstream-placement"
	browserTests    = "browser-tests" // the test programs of test/browser
	browser         = "browser"
	conformTests    = "conformance-tests" // the test program of test/conformance
)

// programs are built in this order.
var programs = []program{
	{name: placementBinary, target: "build", first: "1 to 3 minutes"},
	{name: browser, target: "browser", first: "half a minute, for a download of 100 MB"},
	{name: conformTests, command: buildNested(conformanceModule), again: "go -C " + conformanceModule + " vet ./...", first: "half a minute"},
	{name: browserTests, command: buildNested(browserModule), again: "go -C " + browserModule + " vet ./...", first: "half a minute"},
	{name: controlPlane, target: "assets", first: "5 to 10 minutes", present: controlPlanePresent(false)},
	{name: scheduler, target: "assets-scheduler", first: "a minute or two", present: controlPlanePresent(true)},
	{name: helm, target: "bin/tools/helm", first: "a minute or two", present: isUpToDate("bin/tools/helm")},
	{name: helm3, target: "bin/tools/helm3", first: "a minute or two", present: isUpToDate("bin/tools/helm3")},
	{name: promtool, target: "bin/tools/promtool", first: "a minute or two", present: isUpToDate("bin/tools/promtool")},
	{name: previous, target: "bin/previous/placement", first: "1 to 3 minutes", present: isUpToDate("bin/previous/placement")},
	{name: workAgent, target: "assets-agent", first: "5 to 15 minutes", present: ocmPresent(binaries.WorkAgent)},
	{name: workManager, target: "assets-ocm", first: "5 to 15 minutes", present: ocmPresent(binaries.Work)},
	{name: upstream, target: "assets-upstream", first: "1 to 15 minutes", present: ocmPresent(binaries.UpstreamPlacement)},
}

// needs has the programs that the tests of a directory, and of those below it, start. A package needs those of all directories above it.
var needs = []struct {
	directory string
	programs  []string
}{
	{"test/alerts", []string{promtool}},
	{browserModule, []string{browserTests}},
	{"test/browser/page", []string{browser}},
	{"test/browser/stories", []string{placementBinary, controlPlane, browser}},
	{conformanceModule, []string{conformTests, placementBinary, controlPlane}},
	{"test/soak", []string{controlPlane}},
	{"test/consumers", []string{placementBinary, controlPlane, workManager}},
	{"test/e2e", []string{placementBinary, controlPlane, scheduler}},
	{"test/e2e/federation", []string{workAgent}},
	{"test/e2e/argocd", []string{promtool}},
	{"test/e2e/leaders", []string{promtool}},
	{"test/e2e/life", []string{helm, previous, upstream}},
	{"test/e2e/platform", []string{workAgent}},
	{"test/integration", []string{controlPlane}},
	{"test/integration/affinityclass", []string{scheduler, promtool}},
	{"test/integration/chart", []string{helm, helm3}},
	{"test/integration/clusterprovider", []string{workAgent}},
	{"test/integration/federation", []string{workAgent}},
	{"test/integration/hubs", []string{workAgent}},
	{"test/integration/localplane", []string{scheduler}},
	{"test/integration/monitoring", []string{promtool}},
	{"test/integration/platform", []string{promtool}},
	{"test/integration/tenancy", []string{helm}},
}

// neededPrograms returns the names of the programs that the packages need.
func neededPrograms(packages ...string) []string {
	var names []string
	for _, need := range needs {
		within := func(directory string) bool { return strings.HasPrefix(directory+"/", need.directory+"/") }
		if slices.ContainsFunc(packages, within) {
			names = append(names, need.programs...)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// neededBy returns what must be built before the packages, which start servers, can run: programs, and for those of the root their shared one.
func neededBy(packages ...string) []string {
	names := neededPrograms(packages...)
	if slices.ContainsFunc(packages, func(directory string) bool { return !startsServers(directory) }) {
		names = append(names, serverTests)
	}
	return names
}

func controlPlanePresent(withScheduler bool) func(*driver) (bool, error) {
	return func(*driver) (bool, error) {
		assets, err := binaries.Find()
		if errors.Is(err, binaries.ErrNoAssets) {
			return false, nil
		}
		return err == nil && len(assets.Missing(withScheduler)) == 0, err
	}
}

func ocmPresent(name string) func(*driver) (bool, error) {
	return func(*driver) (bool, error) {
		_, err := binaries.FindOCM(name)
		if errors.Is(err, binaries.ErrNoOCM) {
			return false, nil
		}
		return err == nil, err
	}
}

// isUpToDate asks make whether a file is newer than its prerequisites.
func isUpToDate(target string) func(*driver) (bool, error) {
	return func(d *driver) (bool, error) {
		question := exec.Command(d.makeCommand, "--question", target) //nolint:noctx // It takes less than a second.
		question.Dir = d.root
		err := question.Run()
		if _, outdated := errors.AsType[*exec.ExitError](err); outdated {
			return false, nil // If the target is unknown, the build says so.
		}
		if err != nil {
			return false, fmt.Errorf("asking make about %s: %w", target, err)
		}
		return true, nil
	}
}
