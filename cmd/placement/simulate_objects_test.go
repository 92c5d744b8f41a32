// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/placement-hub/placement-hub/cmd/placement/internal/exit"
	"github.com/placement-hub/placement-hub/test/expect"
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
				"withdraws 3 objects, 1 of them a Deployment with 3 replicas\n\nDeployment.apps/team-a/web: ",
				"ConfigMap/team-a/settings: 0 gained, 1 lost, 1 kept",
			},
		},
		{
			reason: "a label delivers", args: []string{"--label", "us1:location=europe"},
			want: []string{"delivers 1 object newly", "+ us1  matches location in (europe)"},
		},
		{
			reason: "federated-selector F40: the removal budget", args: []string{"--label", "eu2:location=asia", "--max-removal-percent", "0"},
			want: []string{"the withdrawal of 1 object would be held", "RemovalHeld: 1 of 2 clusters would lose"},
		},
		{
			reason: "federated-selector F40: of an object without annotations too", args: []string{"--remove", "eu1", "--max-removal-percent", "0"},
			want: []string{"RemovalHeld: clusters eu1 have left the scope of Deployment.apps/team-a/web"},
		},
		{
			reason: "names", args: []string{"--remove", "eu1", "-o", "name"},
			want: []string{"team-a/web@deployment.apps -eu1\nteam-a/settings@configmap -eu1\n"},
		},
		{reason: "JSON", args: []string{"--remove", "eu1", "-o", "json"}, want: []string{`"objectSummary": {`, `"losing": 3`}},
		{reason: "nothing", args: []string{"--label", "eu1:a=b"}, want: []string{"no object is withdrawn or newly delivered"}},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			code, stdout, stderr := simulate(t, "", append(tc.args, "-f", federatedHub, "-f", federatedWorks)...)
			if code != exit.OK {
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

// Without changes, simulate reports the objects of the files after the Placements. An object that follows a Placement gets its simulated
// clusters.
func TestSimulateReportsObjects(t *testing.T) {
	placement := expect.File(t, filepath.Join(t.TempDir(), "placement.yaml"), `apiVersion: cluster.open-cluster-management.io/v1beta1
kind: Placement
metadata: {name: canary, namespace: team-a}
spec: {predicates: [{requiredClusterSelector: {labelSelector: {matchLabels: {location: usa}}}}]}
`)
	for _, tc := range []struct {
		reason   string
		args     []string
		want     []string
		unwanted string
	}{
		{
			reason: "a file without Placements", want: []string{
				"ConfigMap/team-a/settings: 2 clusters selected by location in (europe)", "Service/team-a/web: held",
				"\n\nDeployment team-a/web: no policy matches",
			},
		},
		{
			reason: "federated-selector F38: the Placement is evaluated first", args: []string{"-f", placement},
			want: []string{"team-a/canary: 1 cluster", "ConfigMap/team-a/canary: 1 cluster selected by Placement canary", "to be delivered"},
		},
		{
			reason: "names", args: []string{"-f", placement, "-o", "name"},
			want: []string{"team-a/canary us1\nteam-a/canary@configmap us1\nteam-a/settings@configmap eu1\n"},
		},
		{
			reason: "named Placements alone", args: []string{"-f", placement, "--placement", "team-a/canary", "-o", "name"},
			want: []string{"team-a/canary us1\n"}, unwanted: "configmap",
		},
		{reason: "JSON", args: []string{"-o", "json"}, want: []string{`"objects": [`, `"object": "ConfigMap/team-a/settings"`}},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			code, stdout, stderr := simulate(t, "", append(tc.args, "-f", federatedHub, "-f", federatedWorks)...)
			if code != exit.OK {
				t.Fatalf("exit code %d: %s", code, stderr)
			}
			for _, part := range tc.want {
				if !strings.Contains(stdout, part) {
					t.Errorf("stdout does not contain %q:\n%s", part, stdout)
				}
			}
			if tc.unwanted != "" && strings.Contains(stdout, tc.unwanted) {
				t.Errorf("stdout contains %q:\n%s", tc.unwanted, stdout)
			}
		})
	}
}

// federated-selector 3.1.4: the commands read the kinds of --federated-kinds, as the hub does.
func TestFederatedKinds(t *testing.T) {
	hub := []string{"-f", federatedHub, "-f", expect.File(t, filepath.Join(t.TempDir(), "more.yaml"), `apiVersion: batch/v1
kind: CronJob
metadata: {name: nightly, namespace: team-a, uid: "1"}
spec:
  schedule: "0 3 * * *"
  jobTemplate: {spec: {template: {spec: {restartPolicy: Never, containers: [{name: c, image: i}]}}}}
---
apiVersion: example.com/v1
kind: Widget
metadata:
  name: blue
  namespace: team-a
  annotations: {federation.alpha.kubernetes.io/cluster-selector: '[{"key":"location","operator":"=","values":["usa"]}]'}
spec: {size: 3}
`)}
	widget := expect.File(t, filepath.Join(t.TempDir(), "widget.yaml"), `apiVersion: example.com/v1
kind: Widget
metadata:
  name: blue
  namespace: team-a
  annotations: {federation.alpha.kubernetes.io/cluster-selector: '[{"key":"location","operator":"=","values":["asia"]}]'}
spec: {size: 3}
`)
	kinds := "--federated-kinds=batch/v1/CronJob,example.com/v1/Widget"
	for _, tc := range []struct {
		reason string
		args   []string
		code   int
		want   string
	}{
		{"federated", append(hub, "federated", kinds, "cronjob/nightly"), exit.OK, "CronJob.batch/team-a/nightly: 3 clusters selected, all in scope"},
		{"by the plural name", append(hub, "federated", kinds, "widgets", "blue"), exit.OK, "Widget.example.com/team-a/blue: 1 cluster selected"},
		{"explain", append(hub, "explain", kinds, "widget/blue", "--cluster", "eu1"), exit.OK, "would be selected if label location were usa"},
		{"simulate", append(hub, "simulate", kinds, "--remove", "us1"), exit.OK, "Widget.example.com/team-a/blue: 0 gained, 1 lost"},
		{"diff", []string{"diff", kinds, "-f", widget, "--hub", hub[1], "--hub", hub[3]}, exit.Differs,
			"Widget.example.com/team-a/blue: 0 gained, 0 lost, 1 kept, 1 of them held"},
		{"without the flag", append(hub, "federated", "widget/blue"), exit.Usage, `"widget/blue" names no object that is delivered`},
		{"a file without the flag", append(hub, "federated"), exit.OK, "\nskipped 1 Widget\n"},
		{"a mistake", append(hub, "federated", "--federated-kinds=v1/Event"), exit.Usage, `--federated-kinds: "v1/Event" is never delivered`},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			at := slices.IndexFunc(tc.args, func(arg string) bool {
				return slices.Contains([]string{"federated", "explain", "simulate", "diff"}, arg)
			})
			args := slices.Concat(tc.args[at:], tc.args[:at])
			code := executeWithInput(t, "", args, &stdout, &stderr)
			if code != tc.code || !strings.Contains(stdout.String()+stderr.String(), tc.want) {
				t.Errorf("exit code %d, want %d and %q:\n%s\n%s", code, tc.code, tc.want, &stdout, &stderr)
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
	if code != exit.OK {
		t.Fatal(stderr)
	}
	for _, line := range []string{"team-a/canary +eu1\n", "team-a/canary@configmap +eu1\n", "team-a/canary@configmap -us1\n"} {
		if !strings.Contains(stdout, line) {
			t.Errorf("stdout does not contain %q:\n%s", line, stdout)
		}
	}
}

// The directories of the samples have files that only kubectl needs.
func TestSimulateOfSampleDirectories(t *testing.T) {
	for directory, want := range map[string]string{
		"":           "Placement",
		"clusters":   "ClusterRequest/shop/web",
		"federation": "ConfigMap",
		"pods":       "Deployment",
	} {
		t.Run(directory, func(t *testing.T) {
			code, stdout, stderr := simulate(t, "", "-f", filepath.Join("..", "..", "deploy", "samples", directory))
			if code != exit.OK || !strings.Contains(stdout, want) {
				t.Errorf("exit code %d: %s\nstdout does not contain %q:\n%s", code, stderr, want, stdout)
			}
		})
	}
}
