// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/placement-hub/placement-hub/cmd/placement/internal/exit"
	"github.com/placement-hub/placement-hub/cmd/placement/internal/hubflags"
	"github.com/placement-hub/placement-hub/deploy/samples"
	"github.com/placement-hub/placement-hub/pkg/explain"
	"github.com/placement-hub/placement-hub/test/expect"
)

const (
	simulatedClusters = `apiVersion: cluster.open-cluster-management.io/v1
kind: ManagedCluster
metadata: {name: c1, labels: {cluster.open-cluster-management.io/clusterset: default}}
---
apiVersion: cluster.open-cluster-management.io/v1
kind: ManagedCluster
metadata: {name: c2}
---
apiVersion: cluster.open-cluster-management.io/v1beta2
kind: ManagedClusterSetBinding
metadata: {name: default, namespace: team-a}
spec: {clusterSet: default}
`
	simulatedPlacements = `apiVersion: cluster.open-cluster-management.io/v1beta1
kind: Placement
metadata: {name: all, namespace: team-a}
spec: {}
---
apiVersion: cluster.open-cluster-management.io/v1beta1
kind: Placement
metadata: {name: broken, namespace: team-a, uid: older-than-the-policies}
spec: {prioritizerPolicy: {mode: Sometimes}}
`
)

func simulate(t *testing.T, stdin string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = executeWithInput(t, stdin, append([]string{"simulate"}, args...), &out, &errs)
	return code, out.String(), errs.String()
}

// executeWithInput runs the command line as a process would whose standard input holds the text.
func executeWithInput(t *testing.T, stdin string, args []string, stdout, stderr *bytes.Buffer) int {
	t.Helper()
	file, err := os.Open(expect.File(t, filepath.Join(t.TempDir(), "stdin"), stdin))
	if err != nil {
		t.Fatal(err)
	}
	terminal := os.Stdin
	os.Stdin = file
	defer func() {
		os.Stdin = terminal
		if err := file.Close(); err != nil {
			t.Error(err)
		}
	}()
	return execute(t.Context(), args, stdout, stderr)
}

func TestSimulate(t *testing.T) {
	dir := t.TempDir()
	clusters := expect.File(t, filepath.Join(dir, "clusters.yaml"), simulatedClusters)
	placements := expect.File(t, filepath.Join(dir, "placements.yml"), simulatedPlacements)
	expect.File(t, filepath.Join(dir, "README.md"), "no YAML: at all: here")
	if err := os.Mkdir(filepath.Join(dir, "more.yaml"), 0o755); err != nil {
		t.Fatal(err)
	}
	typo := expect.File(t, filepath.Join(t.TempDir(), "typo.yaml"), strings.Replace(simulatedPlacements, "mode:", "mod:", 1))
	for _, tc := range []struct {
		reason                string
		stdin                 string
		args                  []string
		wantCode              int
		wantStdout            string
		wantParts, wantStderr []string
	}{
		{
			reason: "a directory is read, but for what is in its subdirectories and what is no YAML; a misconfigured placement is an answer",
			args:   []string{"-f", dir, "-o", "name"}, wantStdout: "team-a/all c1\n",
		},
		{
			reason: "files and standard input make one world",
			args:   []string{"-f", clusters, "-f", "-", "-o", "name"}, stdin: simulatedPlacements, wantStdout: "team-a/all c1\n",
		},
		{
			reason: "one placement, as a table", args: []string{"-f", dir, "--placement", "team-a/all"},
			wantStdout: "team-a/all: the only feasible cluster selected\n" +
				"  CLUSTER  VERDICT   SCORE  REASON\n" +
				"  c1       Selected  100    score 100, rank 1 of 1\n" +
				"  out of scope: 1 cluster, not in a bound set (--all lists them)\n",
		},
		{
			reason: "clusters out of scope on demand", args: []string{"-f", dir, "--placement", "team-a/all", "--all"},
			wantParts: []string{"c2       OutOfScope  -      not in a bound set\n"},
		},
		{
			reason: "the time is that of the flag", args: []string{"-f", dir, "--now", "2026-01-31T12:00:00Z", "-o", "json"},
			wantParts: []string{`"now": "2026-01-31T12:00:00Z"`, `"lastTransitionTime": "2026-01-31T12:00:00Z"`},
		},
		{
			reason: "YAML", args: []string{"-f", dir, "-o", "yaml"}, wantParts: []string{"placement: team-a/broken\n", "stalled: true\n"},
		},
		{
			reason: "a mistake in a file is told with its line", args: []string{"-f", clusters, "-f", typo}, wantCode: exit.Usage,
			wantStderr: []string{"Error: " + typo + ":9: Placement team-a/broken: spec.prioritizerPolicy.mod: unknown field: remove it"},
		},
		{
			reason: "a file given twice", args: []string{"-f", clusters, "-f", placements, "-f", clusters}, wantCode: exit.Usage,
			wantStderr: []string{"the input has 3 mistakes", clusters + ":1: ManagedCluster c1: was given at " + clusters + ":1 already"},
		},
		{
			reason: "issue 26, P9: a misspelt placement", args: []string{"-f", dir, "--placement", "team-a/borken"},
			wantCode:   exit.Failure,
			wantStderr: []string{"there is no Placement team-a/borken in the files; correct the name; did you mean team-a/broken?"},
		},
		{
			reason: "a placement that is not there", args: []string{"-f", dir, "--placement", "team-a/nosuch", "--placement", "team-a/all"},
			wantCode: exit.Failure, wantStderr: []string{"there is no Placement team-a/nosuch in the files; correct the name"},
		},
		{
			reason: "no placement at all", args: []string{"-f", clusters}, wantCode: exit.Failure,
			wantStderr: []string{"there is no Placement, no workload, no ClusterRequest and no object that is delivered in the files"},
		},
		{
			reason: "a file that is not there", args: []string{"-f", filepath.Join(dir, "nosuch.yaml")}, wantCode: exit.Usage,
			wantStderr: []string{"--filename", "nosuch.yaml"},
		},
		{
			reason: "a directory without files", args: []string{"-f", filepath.Join(dir, "more.yaml")}, wantCode: exit.Usage,
			wantStderr: []string{"more.yaml has no file that ends in .yaml, .yml or .json"},
		},
		{
			reason: "standard input twice", args: []string{"-f", "-", "-f", "-"}, wantCode: exit.Usage,
			wantStderr: []string{"can be read only once"},
		},
		{
			reason: "a time that is none", args: []string{"-f", dir, "--now", "noon"}, wantCode: exit.Usage,
			wantStderr: []string{`--now: "noon" is no time such as`},
		},
		{
			reason: "a placement without a namespace", args: []string{"-f", dir, "--placement", "all"}, wantCode: exit.Usage,
			wantStderr: []string{`--placement: "all" is not of the form namespace/name`},
		},
		{
			reason: "an unknown format", args: []string{"-f", dir, "-o", "xml"}, wantCode: exit.Usage,
			wantStderr: []string{`--output: unknown format "xml"; use one of [table json yaml name wide]`},
		},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			code, stdout, stderr := simulate(t, tc.stdin, tc.args...)
			if code != tc.wantCode {
				t.Errorf("exit code %d, want %d", code, tc.wantCode)
			}
			if tc.wantStdout != "" {
				if diff := cmp.Diff(tc.wantStdout, stdout); diff != "" {
					t.Errorf("stdout (-want +got):\n%s", diff)
				}
			}
			for _, part := range tc.wantParts {
				if !strings.Contains(stdout, part) {
					t.Errorf("stdout does not contain %q:\n%s", part, stdout)
				}
			}
			for _, part := range tc.wantStderr {
				if !strings.Contains(stderr, part) {
					t.Errorf("stderr does not contain %q:\n%s", part, stderr)
				}
			}
			if (tc.wantCode == exit.OK) != (stderr == "") {
				t.Errorf("stderr is %q with exit code %d", stderr, code)
			}
		})
	}
}

func TestReadStateFilesReportsReadErrors(t *testing.T) {
	broken := errors.New("disk on fire")
	read := func(string, []byte) { t.Error("something was read") }
	err := hubflags.ReadPaths("--filename", []string{hubflags.StdinName}, iotest.ErrReader(broken), read)
	if !errors.Is(err, broken) || !strings.Contains(err.Error(), "standard input") {
		t.Errorf("error is %v, want one of standard input that wraps %v", err, broken)
	}
}

// The comment of every sample placement says what it selects.
func TestSimulateSamples(t *testing.T) {
	dir := t.TempDir()
	if err := os.CopyFS(dir, samples.Files()); err != nil {
		t.Fatal(err)
	}
	code, stdout, stderr := simulate(t, "", "-f", dir, "-o", "json", "--now", "2026-01-31T12:00:00Z")
	if code != exit.OK {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	var reports explain.Reports
	if err := json.Unmarshal([]byte(stdout), &reports); err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, report := range reports.Placements {
		got[report.Placement[strings.Index(report.Placement, "/")+1:]] = sampleNames(report)
	}
	if diff := cmp.Diff(expectedOfSamples(t), got); diff != "" {
		t.Errorf("selected clusters by sample placement (-want +got):\n%s", diff)
	}
}

// sampleNames are the selected clusters as the comments list them, by name.
func sampleNames(report explain.Report) string {
	if len(report.Selected) == 0 {
		return "none"
	}
	var names []string
	for _, group := range report.Groups {
		names = append(names, group.Clusters...)
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}

// expectedOfSamples reads "# Expected: <names>" and the name of the placement that follows it.
func expectedOfSamples(t *testing.T) map[string]string {
	t.Helper()
	files, err := fs.Glob(samples.Files(), "*-placements*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	expected, last := map[string]string{}, ""
	for _, file := range files {
		content, err := fs.ReadFile(samples.Files(), file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(content)) {
			line = strings.TrimRight(line, "\r\n")
			if names, found := strings.CutPrefix(line, "# Expected: "); found {
				last = names
			}
			if name, found := strings.CutPrefix(line, "  name: "); found && last != "" {
				expected[name], last = last, ""
			}
		}
	}
	if len(expected) == 0 {
		t.Fatal("no sample placement says what it selects")
	}
	return expected
}

// What was meant for a flag says so.
func TestFilesWithoutFlag(t *testing.T) {
	for _, args := range [][]string{{"simulate", "--add", "clusters.yaml"}, {"diff", "clusters.yaml"}} {
		var stdout, stderr bytes.Buffer
		code := execute(t.Context(), args, &stdout, &stderr)
		if code != exit.Usage || !strings.Contains(stderr.String(), `"clusters.yaml" is behind no flag: files are named with -f`) {
			t.Errorf("%q: exit code %d, stderr %q", args, code, &stderr)
		}
	}
}

// TestSimulateEndsWhenItIsInterrupted checks that a simulation whose context is cancelled, as by SIGTERM, ends with an error and no report.
func TestSimulateEndsWhenItIsInterrupted(t *testing.T) {
	dir := t.TempDir()
	expect.File(t, filepath.Join(dir, "clusters.yaml"), simulatedClusters)
	expect.File(t, filepath.Join(dir, "placements.yaml"), strings.Replace(simulatedPlacements, "spec: {}", "spec: {predicates: "+
		`[{requiredClusterSelector: {celSelector: {celExpressions: ["managedCluster.metadata.name != 'x'"]}}}]}`, 1))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var stdout, stderr bytes.Buffer
	code := execute(ctx, []string{"simulate", "-f", dir}, &stdout, &stderr)
	if code == exit.OK || stdout.Len() > 0 || !strings.Contains(stderr.String(), " was interrupted: context canceled") {
		t.Errorf("exit code %d, output %q, error %q: want an error that says so alone", code, &stdout, &stderr)
	}
}
