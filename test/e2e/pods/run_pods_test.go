// SPDX-License-Identifier: Apache-2.0

package pods

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/placement-hub/placement-hub/deploy/samples"
	"github.com/placement-hub/placement-hub/manifests"
	"github.com/placement-hub/placement-hub/test/e2e/suite"
)

// podsTitle begins the table of the sample of Pods.
const podsTitle = "NAMESPACE/KIND/NAME"

func TestRunPodsOnceShowsWhatTheSamplesPromise(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	p := suite.Run(t, "run", "--sample=pods", "--data-dir", data, "--once")
	p.WantExit(t, 0)
	summary := "6 nodes, 1 tenant, 2 policies, 3 classes, 2 applications, 5 workloads\n"
	if !strings.Contains(p.Stdout.String(), summary) {
		t.Errorf("the output lacks %q; %s", summary, p)
	}
	_, table, _ := strings.Cut(p.Stdout.String(), podsTitle)
	if diff := cmp.Diff(promisedPods(t), tableNodes(table)); diff != "" {
		t.Errorf("nodes (-want +got):\n%s%s", diff, p)
	}
	if diff := cmp.Diff(pageTable(t), podsTitle+table); diff != "" {
		t.Errorf("docs/samples.md shows another table (-page +got):\n%s", diff)
	}
	_, refused, _ := strings.Cut(table, "\nREFUSED\n")
	for _, answer := range promises(t, samples.PodsRefused) {
		if !strings.Contains(refused, answer) {
			t.Errorf("nothing is refused with %q; %s", answer, p)
		}
	}
	p.WantNothingLeft(t)
	keepsData(t, data)
}

// keepsData runs the sample again in the directory of an earlier run.
func keepsData(t *testing.T, data string) {
	t.Helper()
	p := suite.Run(t, "run", "--sample=pods", "--data-dir", data, "--once")
	p.WantExit(t, 0)
	_, table, _ := strings.Cut(p.Stdout.String(), podsTitle)
	if diff := cmp.Diff(promisedPods(t), tableNodes(table)); diff != "" {
		t.Errorf("nodes after a restart (-want +got):\n%s%s", diff, p)
	}
	if !strings.Contains(p.Stderr.String(), "keeping the objects of the last run") {
		t.Errorf("the samples were applied again; %s", p)
	}
	other := suite.Run(t, "run", "--data-dir", data, "--once")
	other.WantExit(t, 1)
	other.WantStderr(t, "the sample pods", "--sample=pods")
	p.WantNothingLeft(t)
}

func TestRunPodsFollowsEdits(t *testing.T) {
	const exporter = "\ntenant-acme/deployment/postgres-main-db-exporter  "
	p := suite.Start(t, "run", "--sample=pods")
	kubeconfig := filepath.Join(p.Directory, ".placement", "kubeconfig")
	p.WaitFor(t, &p.Stdout, exporter+"0/1  none  dc1  (AffinityClass dc1: spec.affinityClass of Postgres main-db; refused: ")
	if running := suite.Processes(t, p.Directory); len(running) != 4 {
		t.Errorf("running: %q, want etcd, kube-apiserver, kube-controller-manager and kube-scheduler", running)
	}
	served := suite.KubectlOutput(t, kubeconfig, "get", "customresourcedefinitions", "-o", "name")
	if strings.Contains(served, "open-cluster-management.io") {
		t.Errorf("the kinds of placements are installed:\n%s", served)
	}

	suite.Kubectl(t, kubeconfig, "patch", "-n", "tenant-acme", "deployment", "postgres-main-db-exporter", "--type=merge", "-p",
		`{"spec":{"template":{"spec":{"nodeSelector":{"topology.kubernetes.io/zone":"dc1"}}}}}`)
	p.WaitFor(t, &p.Stdout, exporter+"1/1  dc1-web1  dc1  (AffinityClass dc1: spec.affinityClass of Postgres main-db; verified)\n")
	events := suite.KubectlOutput(t, kubeconfig,
		"get", "events", "-n", "tenant-acme", "--field-selector=reason=FailedCreate", "-o", "jsonpath={..message}")
	const want = `belongs to application with AffinityClass "dc1" but missing required nodeSelector topology.kubernetes.io/zone=dc1`
	if !strings.Contains(events, want) {
		t.Errorf("the ReplicaSet was told %q, want that its Pod %s", events, want)
	}
	suite.Kubectl(t, kubeconfig, "delete", "-n", "shop", "deployment", "web")
	p.WaitFor(t, &p.Stdout, "\nshop/deployment/web  deleted\n")
	p.Signal(t, syscall.SIGINT)
	p.WantExit(t, 0)
	p.WantNothingLeft(t)
}

// tableNodes reads the nodes of each workload out of a table, and "refused" for a workload without Pods.
func tableNodes(table string) map[string]string {
	nodes := map[string]string{}
	table, _, _ = strings.Cut(table, "\nREFUSED\n")
	title := ""
	for line := range strings.Lines(table) {
		fields := strings.Fields(line)
		switch {
		case strings.HasPrefix(line, "  ") && strings.Contains(line, "; refused: "):
			nodes[title] = "refused"
		case strings.HasPrefix(line, "  ") || len(fields) < 4 || fields[0] == "BOUND":
		default:
			title = fields[0]
			nodes[title] = strings.Join(fields[2:len(fields)-1], " ")
		}
	}
	return nodes
}

// promisedPods reads the lines "# Expected:" of the workloads.
func promisedPods(t *testing.T) map[string]string {
	t.Helper()
	content, err := fs.ReadFile(samples.Others(), samples.PodsWorkloads)
	suite.Must(t, err)
	objects, err := manifests.Decode(strings.NewReader(string(content)), samples.PodsWorkloads)
	suite.Must(t, err)
	expected := map[string]string{}
	for i, promise := range promises(t, samples.PodsWorkloads) {
		expected[objects[i].GetNamespace()+"/"+strings.ToLower(objects[i].GetKind())+"/"+objects[i].GetName()] = promise
	}
	return expected
}

// promises returns what follows "# Expected: " in a file of the sample of Pods.
func promises(t *testing.T, file string) []string {
	t.Helper()
	content, err := fs.ReadFile(samples.Others(), file)
	suite.Must(t, err)
	var found []string
	for line := range strings.Lines(string(content)) {
		if promise, is := strings.CutPrefix(line, "# Expected: "); is {
			found = append(found, strings.TrimSpace(promise))
		}
	}
	return found
}

// pageTable returns the table of the sample of Pods as docs/samples.md shows it.
func pageTable(t *testing.T) string {
	t.Helper()
	content, err := os.ReadFile("../../../docs/samples.md")
	suite.Must(t, err)
	_, table, found := strings.Cut(string(content), podsTitle)
	table, _, ends := strings.Cut(table, "stopping the control plane")
	if !found || !ends {
		t.Fatalf("docs/samples.md shows no table that begins with %q", podsTitle)
	}
	return podsTitle + table
}
