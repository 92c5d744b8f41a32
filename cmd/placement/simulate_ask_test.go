// SPDX-License-Identifier: Apache-2.0

package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"github.com/placement-hub/placement-hub/cmd/placement/internal/hubflags"
	"github.com/placement-hub/placement-hub/cmd/placement/internal/simulating"
	"github.com/placement-hub/placement-hub/pkg/explain/whatif"
	"github.com/placement-hub/placement-hub/test/expect"
)

// docs/spec/differences.md E1a: the hub simulates what the user may write. A change of the fleet takes the role that shows the fleet.
func TestE1aWhatTheHubSimulates(t *testing.T) {
	names := func(names ...string) map[types.NamespacedName]bool {
		wanted, err := simulating.ParsePlacements(names)
		expect.NoError(t, err)
		return wanted
	}
	inTeamA := hubflags.Files{Hub: hubflags.Hub{Namespace: "team-a"}}
	for _, tc := range []struct {
		reason    string
		options   simulating.Options
		names     map[types.NamespacedName]bool
		namespace string
		sets      []string
		refused   []string
	}{
		{reason: "a namespace", options: simulating.Options{Files: inTeamA}, namespace: "team-a"},
		{reason: "Placements of a namespace", names: names("team-a/p", "team-a/q"), namespace: "team-a"},
		{
			reason: "bindings", names: names("team-a/p"), namespace: "team-a", sets: []string{"edge", "prod"},
			options: simulating.Options{ChangeFlags: simulating.ChangeFlags{Changes: []whatif.Change{
				whatif.WithoutBinding{Namespace: "team-a", Set: "edge"}, whatif.WithoutBinding{Namespace: "team-a", Set: "prod"},
			}}},
		},
		{reason: "all namespaces", refused: []string{"one namespace at a time", "name one with -n"}},
		{reason: "Placements of several namespaces", names: names("team-a/p", "team-b/q"), refused: []string{"one namespace at a time"}},
		{
			reason: "a binding of all namespaces", names: names("team-a/p"), namespace: "team-a",
			refused: []string{"--without-binding", "write team-a/edge"},
			options: simulating.Options{ChangeFlags: simulating.ChangeFlags{Changes: []whatif.Change{whatif.WithoutBinding{Set: "edge"}}}},
		},
		{
			reason: "a change of a cluster", names: names("team-a/p"),
			options: simulating.Options{ChangeFlags: simulating.ChangeFlags{Changes: []whatif.Change{whatif.Drain{Cluster: "c7"}}}},
			refused: []string{"drain c7", "all namespaces", "open-cluster-management:placement-hub:fleet-view"},
		},
		{
			reason: "additions with another change", names: names("team-a/p"), refused: []string{"--add", "leave out the others"},
			options: simulating.Options{ChangeFlags: simulating.ChangeFlags{
				Adding: true, Changes: []whatif.Change{simulating.ToAdd{}, whatif.Drain{Cluster: "c7"}},
			}},
		},
		{
			reason: "clusters out of scope", names: names("team-a/p"), options: simulating.Options{All: true},
			refused: []string{"--all", "-o wide", "fleet-view", "leave it out"},
		},
		{
			reason: "a difference in the format wide", names: names("team-a/p"), namespace: "team-a", sets: []string{"edge"},
			options: simulating.Options{All: true, ShowKept: true, ChangeFlags: simulating.ChangeFlags{Changes: []whatif.Change{
				whatif.WithoutBinding{Namespace: "team-a", Set: "edge"},
			}}},
		},
		{reason: "another time", names: names("team-a/p"), options: simulating.Options{Now: "2026-01-31T12:00:00Z"}, refused: []string{"--now"}},
		{
			reason: "labels", options: simulating.Options{Files: inTeamA, Labels: hubflags.Labels{Selector: labels.Everything()}},
			refused: []string{"leave --selector out"},
		},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			err := tc.options.CheckAsk()
			if err == nil {
				var namespace string
				namespace, err = tc.options.AskedNamespace(tc.names)
				if err == nil && namespace != tc.namespace {
					t.Errorf("the question is about %q, want %q", namespace, tc.namespace)
				}
			}
			if err == nil {
				var sets []string
				sets, err = tc.options.AskedBindings(tc.namespace)
				if diff := cmp.Diff(tc.sets, sets); err == nil && diff != "" {
					t.Errorf("sets (-want +got):\n%s", diff)
				}
			}
			expect.Error(t, err, tc.refused)
		})
	}
}
