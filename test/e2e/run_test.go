package e2e

import (
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/placement-hub/placement-hub/deploy/samples"
	"github.com/placement-hub/placement-hub/manifests"
)

func TestRunOnceShowsWhatTheSamplesPromise(t *testing.T) {
	p := run(t, "run", "--once")
	p.wantExit(t, 0)
	wantDecisions(t, tableDecisions(t, p.stdout.String()))
	for _, part := range []string{
		"20 clusters, 5 sets, 10 placements, 3 of them of placement.open-cluster-management.io/v1alpha1\n",
		"\nteam-a/rollout                11/all    Satisfied                 " +
			"canary: stage-eu1 stage-eu2 | staging: stage-ap1 stage-us1 stage-us2 | ap1 eu1 eu2 eu3 | us1 us2\n",
		"\nteam-a/standby                1/2       NotAllDecisionsScheduled  ap1\n  1 cluster decisions unscheduled",
		"\nteam-a/ledger (v1alpha1)      2/3       NotAllDecisionsScheduled  eu1, us1\n  1 cluster decisions unscheduled",
		"\nteam-a/rehearsal (v1alpha1)   4/all     Satisfied                 stage-ap1, stage-eu1, stage-us1, stage-us2\n",
		"\nteam-b/typo                   0/all     Misconfigured             none\n  spec.tolerations[0].value: ",
	} {
		if !strings.Contains(p.stdout.String(), part) {
			t.Errorf("the output lacks %q; %s", part, p)
		}
	}
	if strings.Contains(p.stdout.String(), "\x1b") || strings.Contains(p.stderr.String(), "\x1b") {
		t.Errorf("there is no terminal, but it is drawn on; %s", p)
	}
	p.wantNothingLeft(t)
}

func TestRunFollowsEdits(t *testing.T) {
	p := start(t, "run")
	kubeconfig := filepath.Join(p.directory, ".placement", "kubeconfig")
	p.waitFor(t, &p.stdout, "\nteam-a/standby  1/2  NotAllDecisionsScheduled  ap1  (")
	p.waitFor(t, &p.stdout, "\nteam-b/typo  0/all  Misconfigured  none  (")
	p.waitFor(t, &p.stdout, "export KUBECONFIG="+kubeconfig+"\n")
	if running := processes(t, p.directory); len(running) != 3 {
		t.Errorf("running: %q, want etcd, kube-apiserver and kube-controller-manager", running)
	}

	second := run(t, "run", "--write-kubeconfig", kubeconfig)
	second.wantExit(t, 1)
	if !strings.Contains(second.stderr.String(), "belongs to a hub that runs") {
		t.Errorf("a second hub would take the kubeconfig away; %s", second)
	}

	kubectl(t, kubeconfig, "label", "managedcluster", "eu3", "region=ap-south", "--overwrite")
	p.waitFor(t, &p.stdout, "\nteam-a/standby  2/2  Satisfied  ap1, eu3\n")
	kubectl(t, kubeconfig, "delete", "-n", "team-b", "placement", "typo")
	p.waitFor(t, &p.stdout, "\nteam-b/typo  deleted\n")
	for line, times := range lineCounts(p.stdout.String()) {
		if times > 1 {
			t.Errorf("%q is printed %d times; %s", line, times, p)
		}
	}
	p.signal(t, syscall.SIGINT)
	p.wantExit(t, 0)
	p.wantNothingLeft(t)
}

func TestRunKeepsData(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	kubeconfig := filepath.Join(data, "kubeconfig")
	first := start(t, "run", "--data-dir", data)
	first.waitFor(t, &first.stdout, "\nteam-a/standby  1/2  NotAllDecisionsScheduled  ap1  (")
	first.waitFor(t, &first.stdout, "\nteam-b/typo  0/all  Misconfigured  none  (") // What was never shown is not shown to go.

	second := run(t, "run", "--data-dir", data)
	second.wantExit(t, 1)
	if !strings.Contains(second.stderr.String(), data+" is in use") {
		t.Errorf("a second hub must be told that the directory is in use; %s", second)
	}

	kubectl(t, kubeconfig, "label", "managedcluster", "eu3", "region=ap-south", "--overwrite")
	kubectl(t, kubeconfig, "delete", "-n", "team-b", "placement", "typo")
	first.waitFor(t, &first.stdout, "\nteam-a/standby  2/2  Satisfied  ap1, eu3\n")
	first.waitFor(t, &first.stdout, "\nteam-b/typo  deleted\n")
	first.signal(t, syscall.SIGTERM)
	first.wantExit(t, 0)
	first.wantNothingLeft(t)
	if _, err := os.Stat(kubeconfig); err != nil {
		t.Errorf("the kubeconfig belongs to the data: %v", err)
	}

	third := run(t, "run", "--data-dir", data, "--once")
	third.wantExit(t, 0)
	got := tableDecisions(t, third.stdout.String())
	if want := []string{"ap1", "eu3"}; !slices.Equal(got["team-a/standby"], want) {
		t.Errorf("standby has %q after a restart, want %q: the edit is lost; %s", got["team-a/standby"], want, third)
	}
	if _, found := got["team-b/typo"]; found || !strings.Contains(third.stderr.String(), "keeping the objects of the last run") {
		t.Errorf("the samples were applied over the user's edits; %s", third)
	}
	third.wantNothingLeft(t)
	if running := processes(t, data); len(running) > 0 {
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
		{"no such kubeconfig", []string{"--kubeconfig", "/no/such/file"}, 1, []string{"/no/such/file", "--kubeconfig"}},
		{
			"nobody answers", []string{"--kubeconfig", unreachable(t)}, 1,
			[]string{"cannot reach the API server at https://127.0.0.1:1", "check that it runs"},
		},
		{"no directory", []string{"--data-dir", "/dev/null/data"}, 1, []string{"--data-dir", "choose a directory"}},
		{"the directory of somebody else", []string{"--data-dir", "/"}, 1, []string{"holds other things", "choose a new or an empty directory"}},
		{"contradictory flags", []string{"--kubeconfig=a", "--data-dir=b"}, 2, []string{"no effect with --kubeconfig", "placement run --help"}},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			p := run(t, append([]string{"run"}, tc.args...)...)
			p.wantExit(t, tc.code)
			p.wantStderr(t, tc.want...)
			p.wantNothingLeft(t)
		})
	}
	t.Run("no control plane", func(t *testing.T) {
		before := assets
		defer func() { assets = before }()
		assets = empty
		p := run(t, "run", "--once")
		p.wantExit(t, 1)
		p.wantStderr(t, "make assets", empty)
	})
}

func unreachable(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "kubeconfig")
	must(t, os.WriteFile(path, []byte(`{"apiVersion":"v1","kind":"Config","current-context":"c",
"clusters":[{"name":"c","cluster":{"server":"https://127.0.0.1:1"}}],"contexts":[{"name":"c","context":{"cluster":"c","user":"u"}}],
"users":[{"name":"u","user":{"token":"t"}}]}`), 0o600))
	return path
}

func kubectl(t *testing.T, kubeconfig string, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), filepath.Join(assets, "kubectl"), append([]string{"--kubeconfig", kubeconfig}, args...)...)
	if output, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("kubectl %v: %v\n%s", args, err, output)
	}
}

func lineCounts(text string) map[string]int {
	counts := map[string]int{}
	for line := range strings.Lines(text) {
		counts[line]++
	}
	return counts
}

// tableDecisions reads the clusters of each placement, sorted, out of a table.
func tableDecisions(t *testing.T, text string) map[string][]string {
	t.Helper()
	_, rows, found := strings.Cut(text, "NAMESPACE/NAME")
	if !found {
		t.Fatalf("there is no table in:\n%s", text)
	}
	decisions := map[string][]string{}
	for line := range strings.Lines(rows) {
		fields := strings.Fields(strings.Replace(line, " (v1alpha1)", "", 1))
		if len(fields) < 4 || strings.HasPrefix(line, " ") {
			continue // the rest of the head, or a message
		}
		clusters := slices.DeleteFunc(fields[3:], func(word string) bool { return word == "|" || word == "none" || strings.HasSuffix(word, ":") })
		for i := range clusters {
			clusters[i] = strings.TrimSuffix(clusters[i], ",")
		}
		decisions[fields[0]] = slices.Sorted(slices.Values(clusters))
	}
	return decisions
}

// wantDecisions compares with what the comments of the samples promise.
func wantDecisions(t *testing.T, got map[string][]string) {
	t.Helper()
	for _, name := range slices.Sorted(maps.Keys(got)) {
		got[name] = slices.Sorted(slices.Values(got[name])) // nil when there are none
	}
	if diff := cmp.Diff(expectedDecisions(t), got); diff != "" {
		t.Errorf("decisions (-want +got):\n%s", diff)
	}
}

// expectedDecisions reads the lines "# Expected:" of the samples.
func expectedDecisions(t *testing.T) map[string][]string {
	t.Helper()
	files, err := fs.Glob(samples.Files(), "*-placements*.yaml")
	must(t, err)
	expected := map[string][]string{}
	for _, file := range files {
		content, err := fs.ReadFile(samples.Files(), file)
		must(t, err)
		maps.Copy(expected, expectedOf(t, file, string(content)))
	}
	return expected
}

func expectedOf(t *testing.T, file, content string) map[string][]string {
	t.Helper()
	expected := map[string][]string{}
	for document := range strings.SplitSeq(content, "\n---\n") {
		objects, err := manifests.Decode(strings.NewReader(document), file)
		must(t, err)
		_, list, found := strings.Cut(document, "# Expected: ")
		if !found && len(objects) == 0 {
			continue
		}
		if !found || len(objects) != 1 {
			t.Fatalf("a document of %s holds %d objects, and an expectation: %t", file, len(objects), found)
		}
		list, _, _ = strings.Cut(list, "\n")
		var clusters []string
		if list != "none" {
			clusters = strings.Split(list, ", ")
		}
		expected[objects[0].GetNamespace()+"/"+objects[0].GetName()] = clusters
	}
	return expected
}
