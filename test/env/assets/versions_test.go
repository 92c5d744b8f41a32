// SPDX-License-Identifier: Apache-2.0

package main

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/placement-hub/placement-hub/pkg/localplane/binaries"
)

func TestRunBuildsAVersionOfKubernetes(t *testing.T) {
	checkout := setCheckout(t, compiles)
	older := strings.NewReplacer("v1.37.0", "v1.33.13", "v3.7.0", "v3.5.21").Replace(pinnedModule)
	writeFile(t, filepath.Join(checkout.ModuleDir(binaries.ControlPlane), "v1.33", "go.mod"), older, 0o644)
	all := append(slices.Clone(complete), binaries.Scheduler)
	slices.Sort(all)

	for _, c := range []struct {
		reason, version, directory string
	}{
		{"an older version has a module and a directory of its own", "1.33", filepath.Join(checkout.BuildDir(binaries.ControlPlane), "v1.33")},
		{"the version of test/controlplane is that of all tests", "1.37", checkout.BuildDir(binaries.ControlPlane)},
	} {
		t.Run(c.reason, func(t *testing.T) {
			for _, built := range []bool{true, false} {
				stdout, stderr, err := runIn(t, "-kubernetes", c.version)
				if err != nil {
					t.Fatal(err)
				}
				if stdout != c.directory+"\n" || strings.Contains(stderr, "building") != built {
					t.Errorf("prints %q and says %q; want %s, and that it builds: %t", stdout, stderr, c.directory, built)
				}
			}
			there := slices.DeleteFunc(files(t, c.directory), func(name string) bool { return strings.HasPrefix(name, "v1.") })
			slices.Sort(there)
			if diff := cmp.Diff(all, there); diff != "" {
				t.Error(diff)
			}
		})
	}

	_, _, err := runIn(t, "-kubernetes", "1.20")
	if want := `no module pins "1.20": supported values: 1.33, 1.37`; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("the error of an unknown version is %v, want %q", err, want)
	}
}
