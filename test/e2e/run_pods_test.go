package e2e

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
)

// podsTitle begins the table of the sample of Pods.
const podsTitle = "NAMESPACE/KIND/NAME"

func TestRunPodsOnceShowsWhatTheSamplesPromise(t *testing.T) {
	p := run(t, "run", "--sample=pods", "--once")
	p.wantExit(t, 0)
	summary := "6 nodes, 1 tenant, 2 policies, 3 classes, 2 applications, 5 workloads\n"
	if !strings.Contains(p.stdout.String(), summary) {
		t.Errorf("the output lacks %q; %s", summary, p)
	}
	_, table, _ := strings.Cut(p.stdout.String(), podsTitle)
	if diff := cmp.Diff(promisedPods(t), tableNodes(table)); diff != "" {
		t.Errorf("nodes (-want +got):\n%s%s", diff, p)
	}
	if diff := cmp.Diff(readmeTable(t), podsTitle+table); diff != "" {
		t.Errorf("README.md shows another table (-README +got):\n%s", diff)
	}
	_, refused, _ := strings.Cut(table, "\nREFUSED\n")
	for _, answer := range promises(t, samples.PodsRefused) {
		if !strings.Contains(refused, answer) {
			t.Errorf("nothing is refused with %q; %s", answer, p)
		}
	}
	p.wantNothingLeft(t)
}

func TestRunPodsFollowsEdits(t *testing.T) {
	const exporter = "\ntenant-acme/deployment/postgres-main-db-exporter  "
	p := start(t, "run", "--sample=pods")
	kubeconfig := filepath.Join(p.directory, ".placement", "kubeconfig")
	p.waitFor(t, &p.stdout, exporter+"0/1  none  dc1  (AffinityClass dc1: spec.affinityClass of Postgres main-db; refused: ")
	if running := processes(t, p.directory); len(running) != 4 {
		t.Errorf("running: %q, want etcd, kube-apiserver, kube-controller-manager and kube-scheduler", running)
	}
	served := kubectlOutput(t, kubeconfig, "get", "customresourcedefinitions", "-o", "name")
	if strings.Contains(served, "open-cluster-management.io") {
		t.Errorf("the kinds of placements are installed:\n%s", served)
	}

	kubectl(t, kubeconfig, "patch", "-n", "tenant-acme", "deployment", "postgres-main-db-exporter", "--type=merge", "-p",
		`{"spec":{"template":{"spec":{"nodeSelector":{"topology.kubernetes.io/zone":"dc1"}}}}}`)
	p.waitFor(t, &p.stdout, exporter+"1/1  dc1-web1  dc1  (AffinityClass dc1: spec.affinityClass of Postgres main-db; verified)\n")
	events := kubectlOutput(t, kubeconfig, "get", "events", "-n", "tenant-acme", "--field-selector=reason=FailedCreate", "-o", "jsonpath={..message}")
	const want = `belongs to application with AffinityClass "dc1" but missing required nodeSelector topology.kubernetes.io/zone=dc1`
	if !strings.Contains(events, want) {
		t.Errorf("the ReplicaSet was told %q, want that its Pod %s", events, want)
	}
	kubectl(t, kubeconfig, "delete", "-n", "shop", "deployment", "web")
	p.waitFor(t, &p.stdout, "\nshop/deployment/web  deleted\n")
	p.signal(t, syscall.SIGINT)
	p.wantExit(t, 0)
	p.wantNothingLeft(t)
}

func TestRunPodsKeepsData(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	first := run(t, "run", "--sample=pods", "--data-dir", data, "--once")
	first.wantExit(t, 0)
	second := run(t, "run", "--sample=pods", "--data-dir", data, "--once")
	second.wantExit(t, 0)
	_, table, _ := strings.Cut(second.stdout.String(), podsTitle)
	if diff := cmp.Diff(promisedPods(t), tableNodes(table)); diff != "" {
		t.Errorf("nodes after a restart (-want +got):\n%s%s", diff, second)
	}
	if !strings.Contains(second.stderr.String(), "keeping the objects of the last run") {
		t.Errorf("the samples were applied again; %s", second)
	}
	other := run(t, "run", "--data-dir", data, "--once")
	other.wantExit(t, 1)
	other.wantStderr(t, "the sample pods", "--sample=pods")
	second.wantNothingLeft(t)
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
	content, err := fs.ReadFile(samples.Pods(), samples.PodsWorkloads)
	must(t, err)
	objects, err := manifests.Decode(strings.NewReader(string(content)), samples.PodsWorkloads)
	must(t, err)
	expected := map[string]string{}
	for i, promise := range promises(t, samples.PodsWorkloads) {
		expected[objects[i].GetNamespace()+"/"+strings.ToLower(objects[i].GetKind())+"/"+objects[i].GetName()] = promise
	}
	return expected
}

// promises returns what follows "# Expected: " in a file of the sample of Pods.
func promises(t *testing.T, file string) []string {
	t.Helper()
	content, err := fs.ReadFile(samples.Pods(), file)
	must(t, err)
	var found []string
	for line := range strings.Lines(string(content)) {
		if promise, is := strings.CutPrefix(line, "# Expected: "); is {
			found = append(found, strings.TrimSpace(promise))
		}
	}
	return found
}

// readmeTable returns the table of the sample of Pods as README.md shows it.
func readmeTable(t *testing.T) string {
	t.Helper()
	content, err := os.ReadFile("../../README.md")
	must(t, err)
	_, table, found := strings.Cut(string(content), podsTitle)
	table, _, ends := strings.Cut(table, "stopping the control plane")
	if !found || !ends {
		t.Fatalf("README.md shows no table that begins with %q", podsTitle)
	}
	return podsTitle + table
}
