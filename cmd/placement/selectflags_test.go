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

const labelledPlacements = diffedHead + "metadata: {name: p, namespace: team-a, labels: {tier: web}}\nspec: {}\n---\n" +
	diffedHead + "metadata: {name: q, namespace: team-b, labels: {tier: db}}\nspec: {}\n"

// -l, -o wide, -A and -n mean the same in every command that has them.
func TestSelectingFlags(t *testing.T) {
	const example = "../../docs/examples/federated.yaml"
	placements := expect.File(t, filepath.Join(t.TempDir(), "placements.yaml"), labelledPlacements)
	hub := []string{"-f", placements, "-f", example}
	for _, tc := range []struct {
		args     []string
		wantCode int
		want     []string
		without  string
	}{
		{[]string{"explain", "-A", "-l", "tier=db"}, exit.OK, []string{"team-b/q"}, "team-a/p"},
		{[]string{"explain", "-l", "tier=db"}, exit.OK, []string{"team-b/q"}, "team-a/p"},
		{[]string{"explain", "-l", "tier in (db"}, exit.Usage, []string{"--selector: ", "kubectl get -l"}, ""},
		{[]string{"explain", "-l", "tier=db", "team-b/q"}, exit.Usage, []string{"--selector lists placements"}, ""},
		{[]string{"explain", "-A", "-n", "team-a"}, exit.Usage, []string{"contradict"}, ""},
		{[]string{"explain", "--all", "--all-clusters"}, exit.Usage, []string{"--all-clusters lists the clusters"}, ""},
		{[]string{"simulate", "-l", "tier=db"}, exit.OK, []string{"team-b/q: "}, "team-a/"},
		{[]string{"simulate", "-A", "-o", "wide"}, exit.OK, []string{"team-a/p: ", "team-b/q: "}, "-o wide lists"},
		{[]string{"simulate", "-n", "team-a"}, exit.OK, []string{"team-a/p: "}, "team-b/q"},
		{[]string{"simulate", "-A", "-n", "team-a"}, exit.OK, []string{"team-a/p: ", "team-b/q: "}, ""},
		{[]string{"simulate", "-l", "tier=none"}, exit.Failure, []string{"no Placement in the files has the labels tier=none"}, ""},
		{[]string{"simulate", "-l", "tier=db", "--placement", "team-a/p"}, exit.Usage, []string{"--selector, --placement"}, ""},
		{[]string{"federated", "-A", "-l", "app=nosuch"}, exit.OK, nil, "settings"},
		{[]string{"federated", "-A", "-l", "app!=nosuch"}, exit.OK, []string{"settings"}, ""},
		{[]string{"federated", "-l", "a=b", "configmap/settings"}, exit.Usage, []string{"--selector lists objects"}, ""},
		{[]string{"federated", "-A", "-n", "team-a"}, exit.Usage, []string{"contradict"}, ""},
	} {
		t.Run(strings.Join(tc.args, " "), func(t *testing.T) {
			var output bytes.Buffer
			if code := execute(t.Context(), slices.Concat(tc.args, hub), &output, &output); code != tc.wantCode {
				t.Errorf("exit code %d, want %d", code, tc.wantCode)
			}
			for _, part := range tc.want {
				if !strings.Contains(output.String(), part) {
					t.Errorf("output lacks %q:\n%s", part, &output)
				}
			}
			if tc.without != "" && strings.Contains(output.String(), tc.without) {
				t.Errorf("output has %q:\n%s", tc.without, &output)
			}
		})
	}
}

// -o wide lists what the table counts, in comparisons too.
func TestWideComparison(t *testing.T) {
	dir := t.TempDir()
	args := []string{
		"diff", "--now", diffNow, "-f", expect.File(t, filepath.Join(dir, "new.yaml"), unchanged),
		"--hub", expect.File(t, filepath.Join(dir, "hub.yaml"), diffedHub),
	}
	var wide, kept bytes.Buffer
	execute(t.Context(), append(slices.Clone(args), "-o", "wide"), &wide, &wide)
	execute(t.Context(), append(slices.Clone(args), "--show-kept"), &kept, &kept)
	if wide.String() != kept.String() || wide.Len() == 0 {
		t.Errorf("-o wide prints\n%s\n--show-kept prints\n%s", &wide, &kept)
	}
}
