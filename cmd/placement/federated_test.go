// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/placement-hub/placement-hub/cmd/placement/internal/exit"
	federated "github.com/placement-hub/placement-hub/pkg/federation/explain"
	"github.com/placement-hub/placement-hub/test/expect"
)

const (
	federatedHub   = "../../docs/examples/federated.yaml"
	federatedWorks = "../../docs/examples/federated-works.yaml"
)

func TestFederated(t *testing.T) {
	twins := expect.File(t, filepath.Join(t.TempDir(), "twins.yaml"),
		"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x, namespace: a}\n---\n"+
			"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x, namespace: b}\n")
	for _, tc := range []struct {
		reason     string
		args       []string
		wantCode   int
		wantStdout []string
		wantStderr []string
	}{
		{
			reason: "the form TYPE NAME, a short name, and one line for each selected cluster", args: []string{"cm", "settings", "-o", "name"},
			wantStdout: []string{"team-a/settings@configmap eu1\nteam-a/settings@configmap eu2\n"},
		},
		{
			reason: "federated-selector F38: held with the reason", args: []string{"configmap/canary"},
			wantStdout: []string{"held, no cluster has it", "the Placement canary of the annotation", "does not exist"},
		},
		{
			reason: "federated-selector F12: the text of the mistake", args: []string{"svc/web"},
			wantStdout: []string{"held, 1 cluster keeps it", `Unsupported value: "IN"`},
		},
		{
			reason: "federated-selector F33: missing dependencies", args: []string{"deploy/web"},
			wantStdout: []string{"DependenciesMissing: ConfigMap settings does not reach us1", "9 of 9 replicas ready"},
		},
		{
			reason: "federated-selector F18: the error of the agent", args: []string{"-o", "wide"},
			wantStdout: []string{"PENDING", `agent: configmaps team-a/settings: Failed to apply manifest: Apply failed with 1 conflict`},
		},
		{reason: "another namespace has none", args: []string{"-n", "team-b"}, wantStdout: []string{"no object is delivered"}},
		{
			reason: "an object that does not exist", args: []string{"cm/other"}, wantCode: exit.Failure,
			wantStderr: []string{"there is no ConfigMap other; correct the name or the namespace"},
		},
		{
			reason: "a kind that is not delivered", args: []string{"job/x"}, wantCode: exit.Usage,
			wantStderr: []string{`"job/x" names no object that is delivered`, "configmap, secret"},
		},
		{
			reason: "one name in two namespaces", args: []string{"cm/x", "-f", twins}, wantCode: exit.Failure,
			wantStderr: []string{"there is a ConfigMap x in each of the namespaces a, b: choose one with -n"},
		},
		{
			reason: "one of them takes no part", args: []string{"cm/x", "-n", "a", "-f", twins},
			wantStdout: []string{"ConfigMap/a/x: held", "the Namespace a is not known yet"},
		},
		{reason: "a format", args: []string{"-o", "xml"}, wantCode: exit.Usage, wantStderr: []string{`unknown format "xml"`}},
		{reason: "all and one", args: []string{"-A", "cm/x"}, wantCode: exit.Usage, wantStderr: []string{"--all-namespaces lists objects"}},
		{reason: "files do not change", args: []string{"--watch"}, wantCode: exit.Usage, wantStderr: []string{"--watch follows a hub"}},
		{reason: "a hub and files", args: []string{"--context", "c"}, wantCode: exit.Usage, wantStderr: []string{"the hub is read from files"}},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			args := append([]string{"federated", "-f", federatedHub, "-f", federatedWorks}, tc.args...)
			if code := executeWithInput(t, "", args, &stdout, &stderr); code != tc.wantCode {
				t.Errorf("exit code %d, want %d; stderr: %s", code, tc.wantCode, &stderr)
			}
			for _, part := range tc.wantStdout {
				if !strings.Contains(stdout.String(), part) {
					t.Errorf("stdout does not contain %q:\n%s", part, &stdout)
				}
			}
			for _, part := range tc.wantStderr {
				if !strings.Contains(stderr.String(), part) {
					t.Errorf("stderr does not contain %q:\n%s", part, &stderr)
				}
			}
		})
	}
}

func TestFederatedJSON(t *testing.T) {
	var stdout, stderr bytes.Buffer
	args := []string{"federated", "-f", federatedHub, "-f", federatedWorks, "--now", "2026-01-31T12:00:00Z", "-o", "json"}
	if code := executeWithInput(t, "", args, &stdout, &stderr); code != exit.OK {
		t.Fatalf("exit code %d: %s", code, &stderr)
	}
	var reports federated.Reports
	if err := json.Unmarshal(stdout.Bytes(), &reports); err != nil {
		t.Fatal(err)
	}
	states := map[string]string{}
	for _, report := range reports.Objects {
		states[report.Object] = report.State
	}
	for object, want := range map[string]string{
		"ConfigMap/team-a/canary": "Held", "ConfigMap/team-a/settings": "Delivering", "Deployment.apps/team-a/web": "Delivering",
		"Service/team-a/web": "Held",
	} {
		if states[object] != want {
			t.Errorf("%s is %q, want %q", object, states[object], want)
		}
	}
}
