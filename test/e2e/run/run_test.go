// SPDX-License-Identifier: Apache-2.0

package run

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/placement-hub/placement-hub/test/e2e/suite"
)

func TestRunOnceShowsWhatTheSamplesPromise(t *testing.T) {
	p := suite.Run(t, "run", "--once")
	p.WantExit(t, 0)
	suite.WantSampleDecisions(t, suite.TableDecisions(t, p.Stdout.String()))
	for _, part := range []string{
		"20 clusters, 5 sets, 10 placements, 3 of them of placement.open-cluster-management.io/v1alpha1\n",
		"\nteam-a/rollout                11/all    Satisfied                 " +
			"canary: stage-eu1 stage-eu2 | staging: stage-ap1 stage-us1 stage-us2 | ap1 eu1 eu2 eu3 | us1 us2\n",
		"\nteam-a/standby                1/2       NotAllDecisionsScheduled  ap1\n  1 cluster decisions unscheduled",
		"\nteam-a/ledger (v1alpha1)      2/3       NotAllDecisionsScheduled  eu1, us1\n  1 cluster decisions unscheduled",
		"\nteam-a/rehearsal (v1alpha1)   4/all     Satisfied                 stage-ap1, stage-eu1, stage-us1, stage-us2\n",
		"\nteam-b/typo                   0/all     Misconfigured             none\n  spec.tolerations[0].value: ",
	} {
		if !strings.Contains(p.Stdout.String(), part) {
			t.Errorf("the output lacks %q; %s", part, p)
		}
	}
	if strings.Contains(p.Stdout.String(), "\x1b") || strings.Contains(p.Stderr.String(), "\x1b") {
		t.Errorf("there is no terminal, but it is drawn on; %s", p)
	}
	p.WantNothingLeft(t)
}

// A run without a directory for its data; what it does otherwise is in TestRunKeepsData.
func TestRunHasAKubeconfig(t *testing.T) {
	p := suite.Start(t, "run")
	kubeconfig := filepath.Join(p.Directory, ".placement", "kubeconfig")
	p.WaitFor(t, &p.Stdout, "export KUBECONFIG="+kubeconfig+"\n")
	if running := suite.Processes(t, p.Directory); len(running) != 3 {
		t.Errorf("running: %q, want etcd, kube-apiserver and kube-controller-manager", running)
	}

	second := suite.Run(t, "run", "--write-kubeconfig", kubeconfig)
	second.WantExit(t, 1)
	if !strings.Contains(second.Stderr.String(), "belongs to a hub that runs") {
		t.Errorf("a second hub would take the kubeconfig away; %s", second)
	}
	p.Signal(t, syscall.SIGINT)
	p.WantExit(t, 0)
	p.WantNothingLeft(t)
}

func TestRunKeepsData(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	kubeconfig := filepath.Join(data, "kubeconfig")
	first := suite.Start(t, "run", "--data-dir", data)
	first.WaitFor(t, &first.Stdout, "\nteam-a/standby  1/2  NotAllDecisionsScheduled  ap1  (")
	first.WaitFor(t, &first.Stdout, "\nteam-b/typo  0/all  Misconfigured  none  (") // What was never shown is not shown to go.
	second := suite.Run(t, "run", "--data-dir", data)
	second.WantExit(t, 1)
	if !strings.Contains(second.Stderr.String(), data+" is in use") {
		t.Errorf("a second hub must be told that the directory is in use; %s", second)
	}

	suite.Kubectl(t, kubeconfig, "label", "managedcluster", "eu3", "region=ap-south", "--overwrite")
	suite.Kubectl(t, kubeconfig, "delete", "-n", "team-b", "placement", "typo")
	first.WaitFor(t, &first.Stdout, "\nteam-a/standby  2/2  Satisfied  ap1, eu3\n")
	first.WaitFor(t, &first.Stdout, "\nteam-b/typo  deleted\n")
	for line, times := range lineCounts(first.Stdout.String()) {
		if times > 1 {
			t.Errorf("%q is printed %d times; %s", line, times, first)
		}
	}
	first.Signal(t, syscall.SIGTERM)
	first.WantExit(t, 0)
	first.WantNothingLeft(t)
	if _, err := os.Stat(kubeconfig); err != nil {
		t.Errorf("the kubeconfig belongs to the data: %v", err)
	}

	third := suite.Run(t, "run", "--data-dir", data, "--once")
	third.WantExit(t, 0)
	got := suite.TableDecisions(t, third.Stdout.String())
	if want := []string{"ap1", "eu3"}; !slices.Equal(got["team-a/standby"], want) {
		t.Errorf("standby has %q after a restart, want %q: the edit is lost; %s", got["team-a/standby"], want, third)
	}
	if _, found := got["team-b/typo"]; found || !strings.Contains(third.Stderr.String(), "keeping the objects of the last run") {
		t.Errorf("the samples were applied over the user's edits; %s", third)
	}
	third.WantNothingLeft(t)
	if running := suite.Processes(t, data); len(running) > 0 {
		t.Errorf("still running: %q", running)
	}
}

func TestRunSaysWhatIsWrong(t *testing.T) {
	empty := t.TempDir()
	for _, tc := range []struct {
		reason string
		args   []string
		code   int
		want   []string
	}{
		{"no such kubeconfig", []string{"--kubeconfig", "/no/such/file"}, 2, []string{"/no/such/file", "--kubeconfig"}},
		{
			"nobody answers", []string{"--kubeconfig", unreachable(t)}, 1,
			[]string{"cannot reach the API server at https://127.0.0.1:1", "check that it runs"},
		},
		{"no directory", []string{"--data-dir", "/dev/null/data"}, 1, []string{"--data-dir", "choose a directory"}},
		{"the directory of somebody else", []string{"--data-dir", "/"}, 1, []string{"holds other things", "choose a new or an empty directory"}},
		{"contradictory flags", []string{"--kubeconfig=a", "--data-dir=b"}, 2, []string{"no effect with --kubeconfig", "placement run --help"}},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			p := suite.Run(t, append([]string{"run"}, tc.args...)...)
			p.WantExit(t, tc.code)
			p.WantStderr(t, tc.want...)
			p.WantNothingLeft(t)
		})
	}
	t.Run("no control plane", func(t *testing.T) {
		before := suite.Assets
		defer func() { suite.Assets = before }()
		suite.Assets = empty
		p := suite.Run(t, "run", "--once")
		p.WantExit(t, 1)
		p.WantStderr(t, "make assets", empty)
	})
}

func unreachable(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "kubeconfig")
	suite.Must(t, os.WriteFile(path, []byte(`{"apiVersion":"v1","kind":"Config","current-context":"c",
"clusters":[{"name":"c","cluster":{"server":"https://127.0.0.1:1"}}],"contexts":[{"name":"c","context":{"cluster":"c","user":"u"}}],
"users":[{"name":"u","user":{"token":"t"}}]}`), 0o600))
	return path
}

func lineCounts(text string) map[string]int {
	counts := map[string]int{}
	for line := range strings.Lines(text) {
		counts[line]++
	}
	return counts
}
