// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestNestedModulesAreTestedInTheirDirectories(t *testing.T) {
	f := newFake(t)
	nested := nestedModules[0]
	f.driver.modules = []string{nested}
	if err := os.MkdirAll(filepath.Join(f.driver.root, nested), 0o755); err != nil {
		t.Fatal(err)
	}
	// In the nested module the script lists and tests a package of its own.
	f.write("go", `#!/bin/sh
echo "$(basename "$PWD"): $*" >> "$FAKE/calls"
case $PWD in
*/`+nested+`) package=`+nested+`/deep ;;
*) package=pkg/limits ;;
esac
if [ "$1" = env ]; then printf '%s\n' /go /go/build /go/mod /go/env; exit 0; fi
if [ "$1" = list ]; then echo "github.com/placement-hub/placement-hub/$package"; exit 0; fi
cat "$FAKE/$(echo "$package" | tr / _)"
`, 0o755)
	f.add("pkg/limits", passing("pkg/limits", "1.5s")...)
	f.add(nested+"/deep", failing(nested+"/deep")...)
	if code := f.run(t.Context(), "-suites", "unit"); code != 1 {
		t.Errorf("exit code %d", code)
	}
	want(t, f.out.String()+f.errors.String(), "packages: 2", "FAILED: "+nested+"/deep", "go -C "+nested+" test ./deep -count=1 -v")
	var calls []string
	for line := range strings.Lines(f.read("calls")) {
		if directory, arguments, _ := strings.Cut(strings.TrimSpace(line), ": test "); arguments != "" {
			calls = append(calls, directory+": "+arguments)
		}
	}
	options := "-json -vet=off -ldflags=-s "
	if diff := cmp.Diff([]string{filepath.Base(f.driver.root) + ": " + options + "./pkg/limits", filepath.Base(nested) + ": " + options + "./deep"},
		calls); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
}

// newBrowserFake returns a driver of a checkout that has unit tests, tests with servers and browser tests.
func newBrowserFake(t *testing.T) *fake {
	t.Helper()
	f := newFake(t)
	f.driver.modules = []string{browserModule}
	f.write("root-go", fakeGo, 0o755)
	f.write("go", `#!/bin/sh
case $PWD in
*/`+browserModule+`) ;;
*) exec "$FAKE/root-go" "$@" ;;
esac
echo "browser: $*" >> "$FAKE/calls"
if [ "$1" = list ]; then printf '`+module+browserModule+`/%s\n' page axe; fi
`, 0o755)
	f.add("pkg/limits", passing("pkg/limits", "1.5s")...)
	f.add("test/e2e/hub", passing("test/e2e/hub", "1.5s")...)
	f.add("test/browser/page", passing("test/browser/page", "2s")...)
	if err := os.MkdirAll(filepath.Join(f.driver.root, "test", "browser", "axe"), 0o755); err != nil {
		t.Fatal(err)
	}
	return f
}

func TestBrowserTestsRunBesideThoseWithServers(t *testing.T) {
	f := newBrowserFake(t)
	if code := f.run(t.Context()); code != 0 {
		t.Errorf("exit code %d", code)
	}
	// The builds and the packages end in any order.
	want(t, f.out.String(), "packages: 4", "==> built browser-tests", "all passed")
	want(t, f.out.String(), "packages: 4", "test/browser/axe\t[no test files]", "all passed")
	if diff := cmp.Diff([]string{"test/browser/page", "test/e2e/hub"}, f.ran()); diff != "" {
		t.Errorf("packages with servers (-want +got):\n%s", diff)
	}
	programs := filepath.Join(f.driver.root, "bin", "tests", "browser")
	want(t, f.read("calls"), "browser: test -c -vet=off -ldflags=-s -o "+programs+"/ ./...",
		"tool test2json -t -p "+module+"test/browser/page "+filepath.Join(programs, "page.test")+" -test.v=test2json")
}

func TestAllNestedModulesWithServersHaveProgramsOfTheirOwn(t *testing.T) {
	f := newFake(t)
	f.driver.modules = []string{conformanceModule}
	f.write("root-go", fakeGo, 0o755)
	f.write("go", `#!/bin/sh
case $PWD in
*/`+conformanceModule+`) ;;
*) exec "$FAKE/root-go" "$@" ;;
esac
if [ "$1" = tool ]; then exec "$FAKE/root-go" "$@"; fi
echo "conformance: $*" >> "$FAKE/calls"
if [ "$1" = list ]; then echo '`+module+conformanceModule+`'; fi
`, 0o755)
	f.add(conformanceModule, passing(conformanceModule, "2s")...)
	if code := f.run(t.Context(), "-suites", "conformance"); code != 0 {
		t.Errorf("exit code %d", code)
	}
	want(t, f.out.String()+f.errors.String(), "packages: 1", "==> built conformance-tests", "all passed")
	if diff := cmp.Diff([]string{conformanceModule}, f.ran()); diff != "" {
		t.Errorf("packages with servers (-want +got):\n%s", diff)
	}
	programs := filepath.Join(f.driver.root, "bin", "tests", "conformance")
	want(t, f.read("calls"), "conformance: test -c -vet=off -ldflags=-s -o "+programs+"/ ./...",
		"tool test2json -t -p "+module+conformanceModule+" "+filepath.Join(programs, "conformance.test")+" -test.v=test2json")
}

func TestFailuresOfBrowserTestsSayHowToRunThemAlone(t *testing.T) {
	f := newBrowserFake(t)
	f.add("test/browser/page", failing("test/browser/page")...)
	if code := f.run(t.Context(), "-suites", "browser"); code != 1 {
		t.Errorf("exit code %d", code)
	}
	out := f.out.String() + f.errors.String()
	want(t, out, "FAILED: test/browser/page", "go -C test/browser test ./page -count=1 -v")
	if strings.Contains(out, "ginkgo") {
		t.Errorf("the browser tests have no specs:\n%s", out)
	}
}

func TestBrowserTestsAreLeftOutExplicitly(t *testing.T) {
	f := newBrowserFake(t)
	t.Setenv(browserVariable, noBrowser)
	if code := f.run(t.Context()); code != 0 {
		t.Errorf("exit code %d", code)
	}
	want(t, f.out.String(), "CHROMIUM=none leaves out the browser tests: 2 packages of test/browser", "packages: 2", "all passed")
	if diff := cmp.Diff([]string{"test/e2e/hub"}, f.ran()); diff != "" {
		t.Errorf("packages with servers (-want +got):\n%s", diff)
	}
	if targets := f.read("targets"); strings.Contains(targets, "browser") {
		t.Errorf("a browser was fetched: %s", targets)
	}
	if code := f.run(t.Context(), "-only", "page"); code != 2 {
		t.Errorf("exit code %d", code)
	}
	want(t, f.errors.String(), "CHROMIUM=none leaves out the browser tests, and no others are asked for")
}

// TestNestedModulesWithTestsAreNamed compares the list with the tree.
func TestNestedModulesWithTestsAreNamed(t *testing.T) {
	found := map[string]bool{}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	var modules []string
	for _, pattern := range []string{"*/go.mod", "test/*/go.mod"} {
		matches, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(pattern)))
		if err != nil {
			t.Fatal(err)
		}
		modules = append(modules, matches...)
	}
	for _, file := range modules {
		err := filepath.WalkDir(filepath.Dir(file), func(path string, _ os.DirEntry, err error) error {
			if strings.HasSuffix(path, "_test.go") {
				found[filepath.ToSlash(strings.TrimPrefix(filepath.Dir(file), root+string(filepath.Separator)))] = true
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	named := map[string]bool{}
	for _, nested := range nestedModules {
		named[nested] = true
	}
	if diff := cmp.Diff(found, named); diff != "" {
		t.Errorf("nested modules with tests (-tree +list):\n%s", diff)
	}
}
