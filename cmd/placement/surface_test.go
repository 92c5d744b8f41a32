// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/placement-hub/placement-hub/cmd/placement/internal/build"
	"github.com/placement-hub/placement-hub/cmd/placement/internal/hubprocess"
	"github.com/placement-hub/placement-hub/cmd/placement/internal/tracing"
	requests "github.com/placement-hub/placement-hub/pkg/clusterrequest/explain"
	"github.com/placement-hub/placement-hub/pkg/explain"
	"github.com/placement-hub/placement-hub/pkg/explain/counterfactual"
	"github.com/placement-hub/placement-hub/pkg/explain/debug"
	"github.com/placement-hub/placement-hub/pkg/explain/endpoint"
	"github.com/placement-hub/placement-hub/pkg/explain/movelist"
	"github.com/placement-hub/placement-hub/pkg/explain/placementtest/cases"
	"github.com/placement-hub/placement-hub/pkg/explain/placementtest/evaluate"
	"github.com/placement-hub/placement-hub/pkg/explain/setlist"
	"github.com/placement-hub/placement-hub/pkg/explain/snapshot"
	federated "github.com/placement-hub/placement-hub/pkg/federation/explain"
	"github.com/placement-hub/placement-hub/test/surface"
)

const surfaces = "../../test/surface/testdata"

// Every command with its arguments, and every flag with its shorthand, type and default.
func TestSurfaceCommands(t *testing.T) {
	var (
		lines   []string
		started bool
	)
	var visit func(command *cobra.Command)

	visit = func(command *cobra.Command) {
		lines = append(lines, strings.Join(slices.Concat([]string{command.CommandPath()}, command.Aliases), ", ")+": "+command.Use)
		command.NonInheritedFlags().VisitAll(func(f *pflag.Flag) {
			words := []string{fmt.Sprintf("%s --%s %s default %q", command.CommandPath(), f.Name, f.Value.Type(), f.DefValue)}
			for _, note := range []struct {
				is   bool
				text string
			}{
				{f.Shorthand != "", "short -" + f.Shorthand},
				{f.NoOptDefVal != "" && f.Value.Type() != "bool", fmt.Sprintf("without value %q", f.NoOptDefVal)},
				{f.Deprecated != "", "deprecated"},
				{f.Hidden, "hidden"},
			} {
				if note.is {
					words = append(words, note.text)
				}
			}

			lines = append(lines, strings.Join(words, ", "))
		})

		for _, child := range command.Commands() {
			visit(child)
		}
	}

	visit(newRootCommand(&started, func() {}))
	surface.Golden(t, surfaces, "commands.txt", lines)
}

// The keys of all JSON and YAML output, of the debug endpoint, and of our own files. A type with json tags that none of these roots reaches
// fails the test: its root is missing here.
func TestSurfaceJSON(t *testing.T) {
	var keys surface.Keys
	for title, root := range map[string]any{
		"simulate":                         explain.Reports{},
		"simulate (what if)":               explain.WhatIf{},
		"diff":                             explain.Differences{},
		"explain":                          counterfactual.Explanations{},
		"explain --all":                    explain.Unsatisfied{},
		"explain TYPE/NAME":                counterfactual.WorkloadExplanations{},
		"explain OBJECT/NAME":              counterfactual.ObjectExplanations{},
		"explain clusterrequest/NAME":      requests.Reports{},
		"history":                          movelist.List{},
		"sets":                             setlist.List{},
		"snapshot (header)":                snapshot.Header{},
		"test":                             evaluate.Results{},
		"test (PlacementTest)":             cases.Document{},
		"test --schema":                    cases.Schema{},
		"federated":                        federated.Reports{},
		"version":                          build.Info{},
		"/debug/placements/":               debug.Response{},
		"/explanations (request)":          endpoint.Question{},
		"/explanations":                    endpoint.Answer{},
		"controller --config":              hubprocess.OperatorConfig{},
		"controller --tracing-config-file": tracing.Config{},
	} {
		keys.Add(title, reflect.TypeOf(root))
	}

	program, err := surface.Load(t.Context(), "../..", "./cmd/placement")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range slices.Concat(program.Tagged("pkg/explain"), program.Tagged("cmd/placement")) {
		// Package main is called by another path when it is tested.
		if !keys.Reached[name] && !keys.Reached[strings.Replace(name, surface.Module+"cmd/placement.", "main.", 1)] {
			t.Errorf("%s has json tags, and is in none of %v", name, slices.Sorted(maps.Keys(keys.Reached)))
		}
	}

	surface.Golden(t, surfaces, "json.txt", keys.Lines)
}
