package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/placement-hub/placement-hub/cmd/placement/internal/expect"
)

func TestSimulateObjects(t *testing.T) {
	for _, tc := range []struct {
		reason string
		args   []string
		want   []string
	}{
		{
			reason: "a cluster leaves: what is withdrawn, largest loss first", args: []string{"--remove", "eu1"},
			want: []string{
				"withdraws 2 objects, 1 of them a Deployment with 3 replicas\n\nDeployment.apps/team-a/web: ",
				"ConfigMap/team-a/settings: 0 gained, 1 lost, 1 kept",
			},
		},
		{
			reason: "a label delivers", args: []string{"--label", "us1:location=europe"},
			want: []string{"delivers 1 object newly", "+ us1  matches location in (europe)"},
		},
		{
			reason: "federated-selector F40: the removal budget", args: []string{"--label", "eu2:location=asia", "--max-removal-percent", "30"},
			want: []string{"the withdrawal of 1 object would be held", "RemovalHeld: 1 of 2 clusters would lose"},
		},
		{
			reason: "federated-selector F40: of an object without annotations too", args: []string{"--remove", "eu1", "--max-removal-percent", "10"},
			want: []string{"RemovalHeld: 1 of 3 clusters would lose Deployment.apps/team-a/web"},
		},
		{
			reason: "names", args: []string{"--remove", "eu1", "-o", "name"},
			want: []string{"team-a/web@deployment.apps -eu1\nteam-a/settings@configmap -eu1\n"},
		},
		{reason: "JSON", args: []string{"--remove", "eu1", "-o", "json"}, want: []string{`"objectSummary": {`, `"losing": 2`}},
		{reason: "nothing", args: []string{"--label", "eu1:a=b"}, want: []string{"no object is withdrawn or newly delivered"}},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			code, stdout, stderr := simulate(t, "", append(tc.args, "-f", federatedHub, "-f", federatedWorks)...)
			if code != exitOK {
				t.Fatalf("exit code %d: %s", code, stderr)
			}
			for _, part := range tc.want {
				if !strings.Contains(stdout, part) {
					t.Errorf("stdout does not contain %q:\n%s", part, stdout)
				}
			}
		})
	}
}

// A Placement that a change moves takes the objects that follow it along.
func TestSimulateObjectsOfPlacement(t *testing.T) {
	placement := expect.File(t, filepath.Join(t.TempDir(), "placement.yaml"), `apiVersion: cluster.open-cluster-management.io/v1beta1
kind: Placement
metadata: {name: canary, namespace: team-a}
spec: {predicates: [{requiredClusterSelector: {labelSelector: {matchLabels: {location: usa}}}}]}
`)
	code, stdout, stderr := simulate(t, "", "--label", "us1:location=asia", "--label", "eu1:location=usa", "-o", "name",
		"-f", federatedHub, "-f", federatedWorks, "-f", placement)
	if code != exitOK {
		t.Fatal(stderr)
	}
	for _, line := range []string{"team-a/canary +eu1\n", "team-a/canary@configmap +eu1\n", "team-a/canary@configmap -us1\n"} {
		if !strings.Contains(stdout, line) {
			t.Errorf("stdout does not contain %q:\n%s", line, stdout)
		}
	}
}
