// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/placement-hub/placement-hub/cmd/placement/internal/exit"
	"github.com/placement-hub/placement-hub/cmd/placement/internal/objectnames"
	"github.com/placement-hub/placement-hub/test/expect"
)

const explainedPlacements = `apiVersion: cluster.open-cluster-management.io/v1beta1
kind: Placement
metadata: {name: all, namespace: team-a}
spec: {}
---
apiVersion: placement.open-cluster-management.io/v1alpha1
kind: Placement
metadata: {name: all, namespace: team-a}
spec: {numberOfClusters: 2, predicates: [{clusterName: c1}]}
---
apiVersion: cluster.open-cluster-management.io/v1beta1
kind: Placement
metadata: {name: typo, namespace: team-b, uid: older-than-the-policies}
spec: {prioritizerPolicy: {mode: Sometimes}}
`

func runExplain(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = executeWithInput(t, "", append([]string{"explain"}, args...), &out, &errs)
	return code, out.String(), errs.String()
}

func TestExplain(t *testing.T) {
	directory := t.TempDir()
	expect.File(t, filepath.Join(directory, "clusters.yaml"), simulatedClusters)
	expect.File(t, filepath.Join(directory, "placements.yaml"), explainedPlacements)
	const newerTable = "team-a/all: the only feasible cluster selected\n" +
		"  CLUSTER  VERDICT   RANK  SCORE  BALANCE x1  STEADY x1  REASON\n" +
		"  c1       Selected  1     100    100         0          score 100, rank 1 of 1\n" +
		"  out of scope: 1 cluster, not in a bound set (-o wide lists them)\n"
	for _, tc := range []struct {
		reason     string
		args       []string
		wantCode   int
		wantStdout string
		wantParts  []string
		wantStderr []string
	}{
		{reason: "a placement of one API", args: []string{"team-a/all", "--api", "v1beta1"}, wantStdout: newerTable},
		{reason: "the group behind the name", args: []string{"all@cluster.open-cluster-management.io", "-n", "team-a"}, wantStdout: newerTable},
		{reason: "the group as kubectl has it", args: []string{"placements.cluster.open-cluster-management.io/all"}, wantStdout: newerTable},
		{
			reason: "both when none is said", args: []string{"placement", "all", "-o", "name"},
			wantStdout: "team-a/all c1\nteam-a/all@placement.open-cluster-management.io c1\n",
		},
		{
			reason: "the story of a cluster", args: []string{"team-a/all@v1beta1", "--cluster", "c2"},
			wantParts: []string{"\nc2: OutOfScope, not in a bound set\n", "  needs set global bound to namespace team-a\n"},
		},
		{
			reason: "wide lists what is out of scope", args: []string{"team-a/all", "-o", "wide"},
			wantParts: []string{"  c2       OutOfScope  -     -      -           -          no       -      not in a bound set\n"},
		},
		{
			reason: "JSON, at a time", args: []string{"team-a/all", "-o", "json", "--now", "2026-01-31T12:00:00Z", "-c", "c1"},
			wantParts: []string{`"now": "2026-01-31T12:00:00Z"`, `"explanations": [`, `"api": "placement.open-cluster-management.io"`},
		},
		{
			reason: "the unsatisfied, those without an answer first", args: []string{"-A"},
			wantParts: []string{
				"2 of 3 placements unsatisfied\n", "  team-b/typo ", "1/2       NotAllDecisionsScheduled", "1 cluster decisions unscheduled",
			},
		},
		{reason: "the unsatisfied of one namespace", args: []string{"--all", "-n", "team-b", "-o", "name"}, wantStdout: "team-b/typo\n"},
		{
			reason: "no placements", args: []string{"--all", "-n", "team-c"},
			wantStdout: "no placements in namespace team-c; --all-namespaces lists those of all\n",
		},
		{
			reason: "a name of another namespace", args: []string{"typo", "-n", "team-a"}, wantCode: exit.Failure,
			wantStderr: []string{"there is no Placement team-a/typo in the files; there is team-b/typo"},
		},
		{
			reason: "a cluster that does not exist", args: []string{"team-a/all", "-c", "c9"}, wantCode: exit.Failure,
			wantStderr: []string{"--cluster: there is no ManagedCluster c9; correct the name"},
		},
		{reason: "no name", wantCode: exit.Usage, wantStderr: []string{"name a placement as NAMESPACE/NAME", "explain --help"}},
		{reason: "too many parts", args: []string{"a/b/c"}, wantCode: exit.Usage, wantStderr: []string{`"a/b/c" does not name a placement`}},
		{
			reason: "two namespaces", args: []string{"a/b", "-n", "c"},
			wantCode: exit.Usage, wantStderr: []string{"is in namespace a, and --namespace is c"},
		},
		{
			reason: "an unknown API", args: []string{"a/b", "--api", "v2"},
			wantCode: exit.Usage, wantStderr: []string{`--api: "v2" is no API of placements`},
		},
		{reason: "a format", args: []string{"a/b", "-o", "xml"}, wantCode: exit.Usage, wantStderr: []string{`unknown format "xml"`}},
		{
			reason: "a name and --all", args: []string{"a/b", "--all"},
			wantCode: exit.Usage, wantStderr: []string{`naming "a/b" means nothing`},
		},
		{
			reason: "a cluster and --all", args: []string{"--all", "-c", "c1"},
			wantCode: exit.Usage, wantStderr: []string{"--cluster explains one cluster"},
		},
		{reason: "one namespace and all", args: []string{"-A", "-n", "a"}, wantCode: exit.Usage, wantStderr: []string{"contradict"}},
		{reason: "files do not change", args: []string{"a/b", "-w"}, wantCode: exit.Usage, wantStderr: []string{"--watch follows a hub"}},
		{
			reason: "two hubs", args: []string{"a/b", "--context", "x"},
			wantCode: exit.Usage, wantStderr: []string{"--context means nothing"},
		},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			code, stdout, stderr := runExplain(t, append(tc.args, "-f", directory)...)
			if code != tc.wantCode {
				t.Errorf("exit code %d, want %d; stderr: %s", code, tc.wantCode, stderr)
			}
			if diff := cmp.Diff(tc.wantStdout, stdout); tc.wantParts == nil && diff != "" {
				t.Errorf("stdout (-want +got):\n%s", diff)
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
		})
	}
}

func TestExplainWithoutHub(t *testing.T) {
	code, _, stderr := runExplain(t, "team-a/all")
	if code != exit.Failure || !strings.Contains(stderr, "no hub to connect to") {
		t.Errorf("exit code %d, stderr: %s", code, stderr)
	}
}

func TestTargets(t *testing.T) {
	for _, tc := range []struct {
		args                 []string
		namespace, api, want string
	}{
		{args: []string{"a/b"}, want: "a/b"},
		{args: []string{"b"}, namespace: "a", want: "a/b"},
		{args: []string{"a/b", "c/d"}, want: "a/b c/d"},
		{args: []string{"placement/b"}, namespace: "a", want: "a/b"},
		{args: []string{"Placements/b", "c"}, namespace: "a", want: "a/b a/c"},
		{args: []string{"placements", "b", "c"}, namespace: "a", want: "a/b a/c"},
		{
			args: []string{"placement.v1alpha1.placement.open-cluster-management.io/b"}, namespace: "a",
			want: "a/b (placement.open-cluster-management.io)",
		},
		{args: []string{"placements.placement.open-cluster-management.io", "b"}, namespace: "a", want: "a/b (placement.open-cluster-management.io)"},
		{args: []string{"a/b@placement.open-cluster-management.io"}, want: "a/b (placement.open-cluster-management.io)"},
		{args: []string{"a/b"}, api: "placement.open-cluster-management.io/v1alpha1", want: "a/b (placement.open-cluster-management.io)"},
		{args: []string{"placements.example.com/b"}, want: "placements.example.com/b"},
	} {
		targets, err := objectnames.ParsePlacements(tc.args, tc.namespace, tc.api)
		expect.NoError(t, err)
		texts := make([]string, 0, len(targets))
		for _, target := range targets {
			texts = append(texts, target.String())
		}
		if got := strings.Join(texts, " "); got != tc.want {
			t.Errorf("%q in %q are %q, want %q", tc.args, tc.namespace, got, tc.want)
		}
	}
}

// The program is what it is called.
func TestProgramNames(t *testing.T) {
	for _, tc := range []struct {
		reason, name           string
		args                   []string
		wantStdout, wantStderr []string
	}{
		{
			reason: "as a plugin, it is called as kubectl is", name: "/usr/local/bin/kubectl-placement", args: []string{"explain", "--help"},
			wantStdout: []string{
				"  kubectl placement explain (NAMESPACE/NAME | TYPE/NAME) ... [flags]", "  kubectl placement explain --all -A\n",
				"as kubectl placement simulate does",
			},
		},
		{
			reason: "hints too", name: "kubectl-placement.exe", args: []string{"explain"},
			wantStderr: []string{"Run 'kubectl placement explain --help' for usage."},
		},
		{
			reason: "as itself", name: "bin/placement", args: []string{"explain", "--help"},
			wantStdout: []string{"  placement explain (NAMESPACE/NAME | TYPE/NAME) ... [flags]", "\n  placement explain --all -A\n"},
		},
		{
			reason: "kubectl asks the completer", name: "kubectl_complete-placement", args: []string{"explain", "-o", "w"},
			wantStdout: []string{"wide\n:4\n"},
		},
		{reason: "the completer completes commands", name: "kubectl_complete-placement", args: []string{"exp"}, wantStdout: []string{"explain\t"}},
		{reason: "shells", name: "placement", args: []string{"completion", "zsh"}, wantStdout: []string{"#compdef placement"}},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			executeAs(t.Context(), tc.name, tc.args, &stdout, &stderr)
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

// A hub that does not answer completes nothing, and quickly says nothing.
func TestCompletionIsSilentOnFailure(t *testing.T) {
	unreachable := expect.File(t, filepath.Join(t.TempDir(), "kubeconfig"), expect.Kubeconfig("https://127.0.0.1:1"))
	for _, args := range [][]string{{"team"}, {"a", "--cluster", ""}, {"-n", ""}} {
		var stdout, stderr bytes.Buffer
		code := execute(t.Context(), append([]string{"__complete", "explain", "--kubeconfig", unreachable}, args...), &stdout, &stderr)
		if code != exit.OK || stdout.String() != ":4\n" || strings.Contains(stderr.String(), "127.0.0.1") {
			t.Errorf("%v: exit code %d, stdout %q, stderr %q", args, code, &stdout, &stderr)
		}
	}
}
