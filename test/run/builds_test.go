// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// withMissing makes the named programs missing, and the others present.
func (f *fake) withMissing(names ...string) {
	for i, p := range f.driver.programs {
		if slices.Contains(names, p.name) {
			f.driver.programs[i].present = func(*driver) (bool, error) { return false, nil }
		}
	}
}

func TestOnlyWhatIsNeededIsBuilt(t *testing.T) {
	cases := []struct {
		reason    string
		directory string
		missing   []string
		targets   string
	}{
		{"a package without servers", "pkg/limits", []string{controlPlane, workAgent}, ""},
		{"a warm machine", "test/integration/definitions", nil, ""},
		{"a suite on a control plane", "test/integration/definitions", []string{controlPlane, scheduler, workAgent, helm}, "assets\n"},
		{"a suite with an agent", "test/integration/federation", []string{scheduler, workAgent, workManager}, "assets-agent\n"},
		{"a suite with charts", "test/integration/tenancy", []string{helm, promtool}, "bin/tools/helm\n"},
		{"a suite that starts the binary", "test/e2e/hub", []string{scheduler}, "build\nassets-scheduler\n"},
	}
	for _, c := range cases {
		t.Run(c.reason, func(t *testing.T) {
			f := newFake(t)
			f.add(c.directory, passing(c.directory, "1.5s")...)
			f.withMissing(c.missing...)
			if code := f.run(t.Context()); code != 0 {
				t.Errorf("exit code %d; %s", code, f.errors.String())
			}
			if diff := cmp.Diff(c.targets, f.read("targets")); diff != "" {
				t.Errorf("targets of make (-want +got):\n%s", diff)
			}
			if got := strings.Contains(f.out.String(), "==> building server-tests "); got != strings.HasPrefix(c.directory, "test/") {
				t.Errorf("says that it builds the shared test program = %v:\n%s", got, f.out.String())
			}
			if got := strings.Count(f.out.String(), "==> building ") - strings.Count(f.out.String(), "==> building server-tests "); got !=
				strings.Count(c.targets, "\n") {
				t.Errorf("says that it builds %d programs:\n%s", got, f.out.String())
			}
		})
	}
}

// Each build ends when the tests that do not need it have started.
func TestServersWaitOnlyForTheirPrograms(t *testing.T) {
	f := newFake(t)
	for _, directory := range []string{"test/alerts", "test/consumers", "test/integration/access"} {
		f.add(directory, passing(directory, "1.5s")...)
	}
	f.withMissing(controlPlane, workManager)
	f.write("make", "#!/bin/sh\nfor target; do :; done\n"+
		"case $target in\n"+
		"assets) until grep -q 'tool.*test/alerts' \"$FAKE/calls\"; do sleep 0.01; done ;;\n"+
		"assets-ocm) until grep -q 'tool.*test/integration/access' \"$FAKE/calls\"; do sleep 0.01; done ;;\n"+
		"esac\n", 0o755)
	if code := f.run(t.Context()); code != 0 {
		t.Errorf("exit code %d; %s", code, f.errors.String())
	}
	want(t, f.out.String(),
		"==> building server-tests beside the tests (1 to 3 minutes; output: bin/test-logs/build-server-tests.log)\n",
		"==> building placement beside the tests (seconds; the first time 1 to 3 minutes)\n",
		"==> building control-plane beside the tests (5 to 10 minutes; output: bin/test-logs/build-control-plane.log)\n",
		"==> built control-plane in 0s\n", "==> building work beside")
	want(t, f.out.String(), "==> waiting for the build of ", "ok  \t"+module+"test/consumers\t")
}

func TestFailedBuildEndsTheTestsWithItsHint(t *testing.T) {
	f := newFake(t)
	f.add("pkg/a", passing("pkg/a", "1.5s")...)
	f.write("blocks.pkg_a", "", 0o644)
	f.add("test/integration/federation", passing("test/integration/federation", "1.5s")...)
	f.withMissing(workAgent)
	f.write("make", "#!/bin/sh\nuntil [ -s \"$FAKE/pids\" ]; do sleep 0.01; done\n"+strings.TrimPrefix(fakeMake, "#!/bin/sh\n"), 0o755)
	f.write("fails.assets-agent", "", 0o644)
	if code := f.run(t.Context()); code != 1 {
		t.Errorf("exit code %d, want 1", code)
	}
	want(t, f.errors.String(),
		"==> test: FAILED after 0s: building work-agent: it ended with exit status 2\n",
		"    compile: no such module\n    hint: building needs the Go module proxy\n",
		"whole output: bin/test-logs/build-work-agent.log\n", "again:        make assets-agent")
	if len(f.ran()) > 0 {
		t.Error("a suite started without its program")
	}
	f.wantNoChild()
}

// usage is what shows in the source of a package that its tests start a program.
var usage = []struct{ text, program string }{
	{"test/integration/suite\"", controlPlane},
	{"pkg/localplane\"", controlPlane},
	{"Workloads: true", scheduler},
	{"FindOCM(binaries.WorkAgent)", workAgent},
	{"test/integration/members\"", workAgent},
	{"suite.WorkAgent(", workAgent},
	{"--sample=federation", workAgent},
	{"FindOCM(binaries.Work)", workManager},
	{"FindHelm()", helm},
	{"FindHelm3", helm3},
	{"FindHelm,", helm},
	{"FindPromtool()", promtool},
	{"test/env/scrapes\"", promtool},
	{"test/e2e/suite\"", placementBinary},
	{"test/e2e/suite\"", scheduler},
	{"PLACEMENT_BINARY", placementBinary},
}

func TestNeedsAreComplete(t *testing.T) {
	for directory, files := range testFiles(t) {
		for _, file := range files {
			checkUsage(t, directory, file)
		}
	}
}

// checkUsage expects in needs what a file with tests shows. Packages without servers start nothing.
func checkUsage(t *testing.T, directory, file string) {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	needed := neededPrograms(directory)
	if names := suitesOf(directory); !slices.ContainsFunc(suites, func(s suite) bool { return s.servers && slices.Contains(names, s.name) }) {
		if len(needed) > 0 {
			t.Errorf("%s needs %v, but is in a suite without servers", directory, needed)
		}
		return
	}
	for _, u := range usage {
		if strings.Contains(string(content), u.text) && !slices.Contains(needed, u.program) {
			t.Errorf("%s shows that %s needs %s (%q): write it into needs", file, directory, u.program, u.text)
		}
	}
}

// testFiles returns the files with tests of each directory of the module.
func testFiles(t *testing.T) map[string][]string {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]string{}
	err = filepath.WalkDir(root, func(path string, entry os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && path != root {
			_, nested := os.Stat(filepath.Join(path, "go.mod"))
			if nested == nil || slices.Contains([]string{"vendor", "bin", "testdata"}, entry.Name()) || strings.HasPrefix(entry.Name(), ".") {
				return filepath.SkipDir
			}
		}
		if strings.HasSuffix(path, "_test.go") {
			directory, err := filepath.Rel(root, filepath.Dir(path))
			if err != nil {
				return err
			}
			files[directory] = append(files[directory], path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// suitesOf returns the names of the suites that have a package.
func suitesOf(directory string) []string {
	var names []string
	for _, s := range suites {
		if s.has(directory) {
			names = append(names, s.name)
		}
	}
	return names
}

func TestSuitesHaveEveryPackageOnce(t *testing.T) {
	files := testFiles(t)
	for directory := range files {
		if names := suitesOf(directory); len(names) != 1 {
			t.Errorf("%s is in the suites %v, want one", directory, names)
		}
	}
	for _, directory := range longest {
		if moduleOf(directory) != "" { // The files are those of the root.
			if p, err := readTests("../..", directory); err != nil || len(p.Tests) == 0 {
				t.Errorf("longest has %s, which has no tests: %v", directory, err)
			}
		} else if files[directory] == nil {
			t.Errorf("longest has %s, which has no tests", directory)
		}
	}
}
