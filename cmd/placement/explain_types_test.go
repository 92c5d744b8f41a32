// SPDX-License-Identifier: Apache-2.0

package main

import (
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/placement-hub/placement-hub/pkg/explain/tools"
)

// What a System explains to the hub's users, explain prints.
func TestEverySystemHasAnExplainer(t *testing.T) {
	explained := []tools.System{placementExplainer.of}
	for _, each := range explainers {
		explained = append(explained, each.of)
		if each.isType == nil || each.explain == nil {
			t.Errorf("the explainer of %T has no function for a command", each.of)
		}
	}
	for _, each := range tools.All() {
		if !slices.Contains(explained, each) {
			t.Errorf("explain has no explainer of %T", each)
		}
	}
}

// The commands loop over the systems: what they do with one is in the file of its System.
func TestTheCommandsKnowNoSystem(t *testing.T) {
	live, err := filepath.Glob("internal/live/*.go")
	if err != nil || len(live) == 0 {
		t.Fatalf("found %q, error %v", live, err)
	}
	for _, file := range append(live, []string{
		"explain_types.go", "diff.go", "explain.go", "explain_groups.go", "explain_complete.go", "simulate.go", "simulate_state.go",
		"simulate_ask.go",
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
