// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// nestedModules are the modules below the root that have tests, which start no server. `go test ./...` in the root leaves them out. The modules
// of their own keep the tools of releases out of what the product depends on.
var nestedModules = []string{"test/envtest", "test/release"}

// moduleOf returns the nested module that has a package; "" for the root.
func moduleOf(directory string) string {
	index := slices.IndexFunc(nestedModules, func(m string) bool { return strings.HasPrefix(directory+"/", m+"/") })
	if index < 0 {
		return ""
	}
	return nestedModules[index]
}

// listNested returns the packages of nested modules.
func (d *driver) listNested(ctx context.Context) ([]string, error) {
	var packages []string
	for _, nested := range d.modules {
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
