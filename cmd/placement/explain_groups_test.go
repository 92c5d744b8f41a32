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

// Several names are explained in one command, in their namespaces and of different sorts.
func TestExplainSeveral(t *testing.T) {
	const example = "../../docs/examples/federated.yaml"
	placements := expect.File(t, filepath.Join(t.TempDir(), "placements.yaml"),
		diffedHead+"metadata: {name: p, namespace: team-a}\nspec: {}\n---\n"+diffedHead+"metadata: {name: q, namespace: team-b}\nspec: {}\n")
	for _, tc := range []struct {
		reason   string
		args     []string
		wantCode int
		want     []string
	}{
		{"two namespaces", []string{"team-a/p", "team-b/q"}, exit.OK, []string{"team-a/p: ", "team-b/q: "}},
		{"two sorts", []string{"team-a/p", "configmap/settings"}, exit.OK, []string{"team-a/p: ", "ConfigMap/team-a/settings: "}},
		{
			"one of them is not there", []string{"team-a/p", "configmap/nosuch"}, exit.Failure,
			[]string{"team-a/p: ", "there is no ConfigMap nosuch"},
		},
		{"one sort is watched", []string{"team-a/p", "configmap/settings", "-w"}, exit.Usage, []string{"--watch"}},
		{"documents of a stream", []string{"team-a/p", "configmap/settings", "-o", "yaml"}, exit.OK, []string{"\n---\n"}},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			var output bytes.Buffer
			args := slices.Concat([]string{"explain", "-f", placements, "-f", example}, tc.args)
			if code := execute(t.Context(), args, &output, &output); code != tc.wantCode {
				t.Errorf("exit code %d, want %d", code, tc.wantCode)
			}
			for _, part := range tc.want {
				if !strings.Contains(output.String(), part) {
					t.Errorf("output lacks %q:\n%s", part, &output)
				}
			}
		})
	}
}

// A mistake in the files is one error, and standard input is read once.
func TestExplainSeveralReadsOnce(t *testing.T) {
	var stdout, stderr bytes.Buffer
	args := []string{"explain", "-f", "-", "team-a/p", "configmap/settings"}
	if code := executeWithInput(t, "kind: [", args, &stdout, &stderr); code != exit.Usage || strings.Count(stderr.String(), "stdin") != 1 {
		t.Errorf("exit code %d, stderr %s", code, &stderr)
	}
}
