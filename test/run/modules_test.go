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

// TestNestedModulesWithTestsAreNamed compares the list with the tree.
func TestNestedModulesWithTestsAreNamed(t *testing.T) {
	found := map[string]bool{}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	modules, err := filepath.Glob(filepath.Join(root, "test", "*", "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range modules {
		err := filepath.WalkDir(filepath.Dir(file), func(path string, _ os.DirEntry, err error) error {
			if strings.HasSuffix(path, "_test.go") {
				found["test/"+filepath.Base(filepath.Dir(file))] = true
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
