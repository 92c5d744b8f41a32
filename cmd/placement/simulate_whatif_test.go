// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/placement-hub/placement-hub/cmd/placement/internal/exit"
	"github.com/placement-hub/placement-hub/deploy/samples"
	"github.com/placement-hub/placement-hub/test/expect"
)

// addedClusters is what a user adds to the samples.
const addedClusters = `apiVersion: cluster.open-cluster-management.io/v1
kind: ManagedCluster
metadata: {name: us4, labels: {cluster.open-cluster-management.io/clusterset: prod, env: prod, region: us-east, tier: core}}
---
apiVersion: cluster.open-cluster-management.io/v1
kind: ManagedCluster
metadata: {name: astray, labels: {env: prod}}
---
apiVersion: cluster.open-cluster-management.io/v1alpha1
kind: AddOnPlacementScore
metadata: {name: resource-usage, namespace: us4}
status: {scores: [{name: memAvailable, value: 90}]}
`

func samplesIn(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "samples")
	if err := os.CopyFS(dir, samples.Files()); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestWhatIfOfTheSamplesIsGolden(t *testing.T) {
	state := samplesIn(t)
	added := expect.File(t, filepath.Join(t.TempDir(), "clusters.yaml"), addedClusters)
	fromFiles := []string{"-f", state, "--now", diffNow}
	stderrs := map[string]string{
		"add": "not evaluated: the rights for which admission policies ask: open-cluster-management-placement-hub-clusters\n",
	}
	for _, tc := range []struct {
		golden string
		args   []string
	}{
		{"drain", append(fromFiles, "--drain", "eu1")},
		{"remove", append(fromFiles, "--remove", "eu1", "--remove", "us1", "--show-kept")},
		{"label", append(fromFiles, "--label", "stage-eu1:env=prod", "--label", "eu2:cluster.open-cluster-management.io/clusterset-")},
		{"taint", append(fromFiles, "--taint", "gpu2:gpu-", "--taint", "eu1:upgrade=true:PreferNoSelect", "--claim", "us2:zone=b")},
		{"without-binding", append(fromFiles, "--without-binding", "team-c/staging", "--without-binding", "edge")},
		{"add", []string{"--hub", state, "--now", diffNow, "--add", "-f", added}},
		{"json", append(fromFiles, "--drain", "eu1", "-o", "json", "--placement", "team-a/payments", "--placement", "team-b/typo")},
		{"name", append(fromFiles, "--drain", "eu1", "-o", "name")},
		{"nothing", append(fromFiles, "--drain", "gpu2", "--only-namespace", "team-c")},
	} {
		t.Run(tc.golden, func(t *testing.T) {
			code, stdout, stderr := simulate(t, "", tc.args...)
			if code != exit.OK || stderr != stderrs[tc.golden] {
				t.Fatalf("exit code %d: %s", code, stderr)
			}
			golden := filepath.Join("testdata", "whatif-"+tc.golden+".golden")
			expect.Golden(t, golden, stdout)
		})
	}
}

func TestWhatIfExitCodes(t *testing.T) {
	state := samplesIn(t)
	for _, tc := range []struct {
		reason string
		args   []string
		want   int
	}{
		{"an answer is no failure", []string{"--drain", "eu1"}, exit.OK},
		{"a difference, when asked for", []string{"--drain", "eu1", "--exit-code"}, exit.Differs},
		{"no difference", []string{"--label", "eu1:a=b", "--exit-code"}, exit.OK},
		{"a difference elsewhere", []string{"--drain", "eu1", "--placement", "team-c/nightly", "--exit-code"}, exit.OK},
		{"a mistake", []string{"--drain", "nosuch"}, exit.Failure},
		{"a mistake is no difference", []string{"--drain", "nosuch", "--exit-code"}, exit.NotCompared},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			code, stdout, stderr := simulate(t, "", append([]string{"-f", state}, tc.args...)...)
			if code != tc.want {
				t.Errorf("exit code %d, want %d; stdout:\n%sstderr:\n%s", code, tc.want, stdout, stderr)
			}
		})
	}
}

func TestWhatIfSaysWhatIsWrong(t *testing.T) {
	dir := t.TempDir()
	file := func(name, content string) string { return expect.File(t, filepath.Join(dir, name), content) }
	state, added := file("world.yaml", simulatedClusters+"---\n"+simulatedPlacements), file("clusters.yaml", addedClusters)
	unreachable := file("unreachable", expect.Kubeconfig("https://127.0.0.1:1"))
	for _, tc := range []struct {
		reason   string
		args     []string
		wantCode int
		want     string
	}{
		{
			"a label without a value", []string{"--label", "c1:region"}, exit.Usage,
			`"c1:region" for "--label" flag: is not of the form c7:region=eu`,
		},
		{"a label of nobody", []string{"--label", ":a=b"}, exit.Usage, "is not of the form c7:region=eu or c7:region-"},
		{"a label without a key", []string{"--label", "c1:=b"}, exit.Usage, "is not of the form c7:region=eu"},
		{"a claim without a value", []string{"--claim", "c1:a"}, exit.Usage, "is not of the form c7:version=1.30 or c7:version-"},
		{
			"a taint without an effect", []string{"--taint", "c1:gpu=a100"}, exit.Usage,
			"is not of the form c7:gpu=a100:NoSelect, c7:gpu:NoSelect or c7:gpu-",
		},
		{"a taint without a key", []string{"--taint", "c1:=a:NoSelect"}, exit.Usage, "is not of the form"},
		{"a taint of no cluster", []string{"--taint", "gpu"}, exit.Usage, "is not of the form"},
		{"no cluster to drain", []string{"--drain", ""}, exit.Usage, "name a cluster"},
		{"no cluster to remove", []string{"--remove", ""}, exit.Usage, "name a cluster"},
		{"a binding of too many parts", []string{"--without-binding", "a/b/c"}, exit.Usage, "is not of the form SET or NAMESPACE/SET"},
		{"a binding of nothing", []string{"--without-binding", "a/"}, exit.Usage, "is not of the form SET or NAMESPACE/SET"},
		{"an effect of nodes", []string{"--taint", "c1:gpu:NoSchedule"}, exit.Failure, `taint c1 gpu:NoSchedule: a taint has no effect "NoSchedule"`},
		{
			"a cluster that is not there", []string{"--drain", "c3"}, exit.Failure,
			"drain c3: there is no ManagedCluster c3: correct the name; there is c1, c2",
		},
		{"clusters out of scope", []string{"--drain", "c1", "--all"}, exit.Usage, "--all: a difference has no clusters out of scope"},
		{"the exit code of nothing", []string{"--exit-code"}, exit.Usage, "say what would change"},
		{"a namespace that is empty", []string{"--drain", "c1", "-n", "team-z"}, exit.Failure, "no Placement in the files in namespace team-z"},
		{"two worlds", []string{"--hub", state}, exit.Usage, "both name what the hub holds"},
		{"a context of files", []string{"--context", "prod"}, exit.Usage, "--context means nothing"},
	} {
		t.Run(tc.reason, func(t *testing.T) { wantMistake(t, tc.wantCode, tc.want, append([]string{"-f", state}, tc.args...)...) })
	}
	for _, tc := range []struct {
		reason   string
		args     []string
		wantCode int
		want     string
	}{
		{"nothing to add", []string{"--hub", state, "--add"}, exit.Usage, "--add: name the files"},
		{"add twice", []string{"--hub", state, "--add", "--add", "-f", added}, exit.Usage, "repeat -f"},
		{"add nothing", []string{"--hub", state, "--add=false"}, exit.Usage, "means yes by itself"},
		{
			"something else to add", []string{"--hub", state, "--add", "-f", state}, exit.Usage,
			"--add: " + state + ":9: ManagedClusterSetBinding team-a/default cannot be added: leave it out, only ManagedClusters",
		},
		{
			"what is there to add",
			[]string{"--hub", state, "--add", "-f", file("c1.yaml", strings.Split(simulatedClusters, "---")[0])}, exit.Failure,
			"ManagedCluster c1 exists already",
		},
		{"a mistake in what is added", []string{"--hub", state, "--add", "-f", file("typo", "kind: X\n")}, exit.Usage, "apiVersion: is required"},
		{
			"the order is that of the flags", []string{"--hub", state, "--drain", "us4", "--add", "-f", added}, exit.Failure,
			"there is no ManagedCluster us4",
		},
		{"standard input twice", []string{"--hub", "-", "--add", "-f", "-"}, exit.Usage, "can be read only once"},
		{"a hub that does not answer", []string{"--kubeconfig", unreachable, "--drain", "c1"}, exit.Failure, "127.0.0.1:1"},
		{"without changes too", []string{"--kubeconfig", unreachable}, exit.Failure, "127.0.0.1:1"},
		{"added to a hub that does not answer", []string{"--kubeconfig", unreachable, "--add", "-f", added}, exit.Failure, "127.0.0.1:1"},
	} {
		t.Run(tc.reason, func(t *testing.T) { wantMistake(t, tc.wantCode, tc.want, tc.args...) })
	}
}

func wantMistake(t *testing.T, wantCode int, want string, args ...string) {
	t.Helper()
	code, stdout, stderr := simulate(t, "", args...)
	if code != wantCode || stdout != "" || !strings.Contains(stderr, want) {
		t.Errorf("exit code %d, want %d; stdout %q; stderr %q, want a part %q", code, wantCode, stdout, stderr, want)
	}
}

// The page for users shows what the command prints.
func TestWhatIfPageShowsRealOutput(t *testing.T) {
	wantRealOutput(t, "../../docs/whatif.md", "simulate", exit.OK)
}
