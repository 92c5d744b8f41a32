// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/placement-hub/placement-hub/cmd/placement/internal/exit"
	"github.com/placement-hub/placement-hub/test/expect"
)

func TestDiffOfObjects(t *testing.T) {
	directory := t.TempDir()
	file := func(name, content string) string { return expect.File(t, filepath.Join(directory, name), content) }
	const unchanged = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings, namespace: team-a}\ndata: {mode: fast}\n"
	const inUSA = `{federation.alpha.kubernetes.io/cluster-selector: '[{"key":"location","operator":"in","values":["usa"]}]'}`
	moved := file("moved.yaml", strings.Replace(unchanged, "team-a}", "team-a, annotations: "+inUSA+"}", 1))
	for _, tc := range []struct {
		reason   string
		args     []string
		wantCode int
		want     []string
		unwanted string
	}{
		{reason: "what the file does not set stays", args: []string{"--server-side=false", "-f", file("same.yaml", unchanged)},
			want: []string{"no object is withdrawn or newly delivered"}},
		{
			reason: "federated-selector F15: another selector", args: []string{"-f", moved}, wantCode: exit.Differs,
			want: []string{"withdraws 1 object (2 copies); delivers 1 object newly",
				"- eu1  predicate 1 label location In [usa]: is europe", "+ us1"},
		},
		{
			reason: "federated-selector 3.1.4: the budget does not hold what the object itself asks for", wantCode: exit.Differs,
			args: []string{"-f", moved, "--max-removal-percent", "10"}, want: []string{"- eu1"}, unwanted: "RemovalHeld",
		},
		{
			reason: "content", wantCode: exit.Differs, args: []string{"-f", file("content.yaml", strings.Replace(unchanged, "fast", "slow", 1))},
			want: []string{"0 gained, 0 lost, 2 kept, 2 of them updated"},
		},
		{
			reason: "a new object, by names", wantCode: exit.Differs,
			args: []string{"-o", "name", "-f", file("new.yaml", "apiVersion: v1\nkind: Secret\nmetadata: {name: key, namespace: team-a}\n")},
			want: []string{"team-a/key@secret +eu1\nteam-a/key@secret +eu2\nteam-a/key@secret +us1\n"},
		},
		{
			reason: "the default of the Namespace", wantCode: exit.Differs,
			args: []string{"-f", file("namespace.yaml", "apiVersion: v1\nkind: Namespace\nmetadata: {name: team-a, annotations: "+inUSA+"}\n")},
			want: []string{"1 of them a Deployment with 6 replicas", "Deployment.apps/team-a/web: 0 gained, 2 lost, 1 kept"},
		},
		{
			reason: "federated-selector 3.1.4: a default of the Namespace counts for the budget", wantCode: exit.Differs,
			args: []string{"--max-removal-percent", "10",
				"-f", file("default.yaml", "apiVersion: v1\nkind: Namespace\nmetadata: {name: team-a, annotations: "+inUSA+"}\n")},
			want: []string{"RemovalHeld: 2 of 3 clusters would lose Deployment.apps/team-a/web"},
		},
		{
			reason: "a mistake holds", wantCode: exit.OK,
			args: []string{"-f", file("mistake.yaml", strings.Replace(unchanged, "team-a}",
				"team-a, annotations: {federation.alpha.kubernetes.io/cluster-selector: '{'}}", 1))},
			want: []string{"1 object would be held as it is", "ConfigMap/team-a/settings: held, 2 clusters keep it"},
		},
		{
			reason: "issue 44, 8: a mistake in a new object", wantCode: exit.Differs,
			args: []string{"-f", file("newmistake.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: new, namespace: team-a, "+
				"annotations: {federation.kubernetes.io/cluster-selector: '[]'}}\n")},
			want: []string{"ConfigMap/team-a/new (new): held, no cluster has it", "did you mean federation.alpha.kubernetes.io/cluster-selector?"},
		},
		{
			reason: "issue 44, 8: a mistake in a Namespace",
			args: []string{"--server-side=false", "-f", file("nsmistake.yaml", "apiVersion: v1\nkind: Namespace\nmetadata: {name: team-a, "+
				"annotations: {federation.kubernetes.io/cluster-selector: '[]'}}\n")},
			want: []string{"warning: Namespace team-a: annotation federation.kubernetes.io/cluster-selector: is unknown; did you mean "},
		},
		{
			reason: "the fields that go have names", wantCode: exit.Differs,
			args: []string{"--replace", "-f", file("dropped.yaml", strings.Replace(unchanged, "data: {mode: fast}\n", "", 1))},
			want: []string{"of live objects that the files do not set would go: data.mode of ConfigMap team-a/settings"},
		},
		{
			reason: "federated-selector F38: a Placement comes", wantCode: exit.Differs,
			args: []string{"-o", "name", "-f", file("placement.yaml",
				"apiVersion: cluster.open-cluster-management.io/v1beta1\nkind: Placement\nmetadata: {name: canary, namespace: team-a}\n"+
					"spec: {predicates: [{requiredClusterSelector: {labelSelector: {matchLabels: {location: usa}}}}]}\n")},
			want: []string{"team-a/canary +us1\nteam-a/canary@configmap +us1\n"},
		},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			args := append([]string{"diff", "--hub", federatedHub, "--hub", federatedWorks}, tc.args...)
			if code := executeWithInput(t, "", args, &stdout, &stderr); code != tc.wantCode {
				t.Errorf("exit code %d, want %d; stderr: %s", code, tc.wantCode, &stderr)
			}
			for _, part := range tc.want {
				if !strings.Contains(stdout.String(), part) {
					t.Errorf("stdout does not contain %q:\n%s", part, &stdout)
				}
			}
			if tc.unwanted != "" && strings.Contains(stdout.String(), tc.unwanted) {
				t.Errorf("stdout contains %q:\n%s", tc.unwanted, &stdout)
			}
		})
	}
}
