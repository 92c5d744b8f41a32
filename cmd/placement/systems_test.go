// SPDX-License-Identifier: Apache-2.0

package main

import (
	"go/parser"
	"go/token"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// The commands loop over the systems: what they do with one is in the file of its System.
func TestTheCommandsKnowNoSystem(t *testing.T) {
	live, err := filepath.Glob("internal/live/*.go")
	if err != nil || len(live) == 0 {
		t.Fatalf("found %q, error %v", live, err)
	}
	for _, file := range append(live, []string{
		"internal/explaining/explainers.go", "internal/explaining/explaining.go", "internal/explaining/groups.go", "internal/explaining/complete.go",
		"internal/simulating/simulating.go", "internal/simulating/state.go", "internal/simulating/ask.go", "diff.go", "explain.go", "simulate.go",
	}...) {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, imported := range parsed.Imports {
			path, err := strconv.Unquote(imported.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			own, is := strings.CutPrefix(path, "github.com/placement-hub/placement-hub/pkg/")
			if system, of := strings.CutSuffix(own, "/explain"); is && of {
				t.Errorf("%s imports the explanations of the system %s", file, system)
			}
		}
	}
}
