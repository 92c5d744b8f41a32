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
)

// Every system has a whole tool: what can be explained, compared or added is so in every command.
func TestEveryToolIsWhole(t *testing.T) {
	var named []string
	for _, each := range tools {
		named = append(named, each.family)
		if each.explain == nil || each.answer == nil || each.changed == nil || each.read == nil || each.compare == nil || each.report == nil {
			t.Errorf("the tool of %s has no function for a command", each.family)
		}
		if (each.added == 0) != (each.readAdded == nil) || (each.added == 0) != (each.simulate == nil) {
			t.Errorf("the tool of %s adds objects in part", each.family)
		}
		if (each.isType == nil) != (each == &placementTool) {
			t.Errorf("the tool of %s: Placements alone are what no type names", each.family)
		}
	}
	for _, each := range families {
		if hasTool := slices.Contains(named, each.name); hasTool == (each.used || each.bound || each.name == "policies") {
			t.Errorf("the family %s has a tool: %v", each.name, hasTool)
		}
		if len(each.named) == 0 {
			t.Errorf("no question is about %s", each.name)
		}
	}
}

// The commands loop over the tools: what they do with a system is in the files of its tool.
func TestTheCommandsKnowNoSystem(t *testing.T) {
	live, err := filepath.Glob("internal/live/*.go")
	if err != nil || len(live) == 0 {
		t.Fatalf("found %q, error %v", live, err)
	}
	for _, file := range append(live, []string{
		"tools.go", "diff.go", "explain.go", "explain_groups.go", "explain_complete.go", "explainer.go", "explainer_diff.go",
		"explainer_simulate.go", "simulate.go", "simulate_state.go", "simulate_ask.go",
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
			if room, is := strings.CutPrefix(path, "github.com/placement-hub/placement-hub/pkg/explain/"); is &&
				slices.Contains([]string{"pods", "federated", "requests"}, room) {
				t.Errorf("%s imports the package %s of one system", file, room)
			}
		}
	}
}
