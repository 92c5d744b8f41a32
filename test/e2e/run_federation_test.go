package e2e

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/placement-hub/placement-hub/deploy/samples"
	"github.com/placement-hub/placement-hub/manifests"
)

// memberLine tells where the kubeconfig of a member is.
var memberLine = regexp.MustCompile(`(?m)^member (\w+): kubectl --kubeconfig=(\S+)$`)

func TestRunFederationOnceShowsWhatTheSamplesPromise(t *testing.T) {
	p := run(t, "run", "--sample=federation", "--once")
	p.wantExit(t, 0)
	if summary := "3 clusters, 6 federated objects\n"; !strings.Contains(p.stdout.String(), summary) {
		t.Errorf("the output lacks %q; %s", summary, p)
	}
	_, table, _ := strings.Cut(p.stdout.String(), podsTitle)
	if diff := cmp.Diff(promisedDeliveries(t), tableDeliveries(t, table)); diff != "" {
		t.Errorf("clusters (-want +got):\n%s%s", diff, p)
	}
	if want := "\n  ClusterSelectorInvalid: annotation federation.alpha.kubernetes.io/cluster-selector: requirement[0]: operator: " +
		`Unsupported value: "IN"`; !strings.Contains(table, want) {
		t.Errorf("the table lacks %q; %s", want, p)
	}
	content, err := os.ReadFile("../../README.md")
	must(t, err)
	if !strings.Contains(string(content), podsTitle+table) {
		t.Errorf("README.md shows another table; %s", p)
	}
	p.wantNothingLeft(t)
}

// docs/spec/federated-selector.md F15, F16 and F20, as a newcomer sees them.
func TestRunFederationFollowsLabels(t *testing.T) {
	p := start(t, "run", "--sample=federation")
	kubeconfig := filepath.Join(p.directory, ".placement", "kubeconfig")
	p.waitFor(t, &p.stdout, "\nshop/deployment/web  eu1 applied (6)  eu2 applied (3)\n")
	p.waitFor(t, &p.stdout, "\nshop/configmap/experiment  us1 applied\n")
	members := map[string]string{}
	for _, found := range memberLine.FindAllStringSubmatch(p.stdout.String(), -1) {
		members[found[1]] = found[2]
	}
	if replicas := kubectlOutput(t, members["eu1"], "get", "deployment", "web", "-n", "shop", "-o", "jsonpath={.spec.replicas}"); replicas != "6" {
		t.Errorf("the Deployment of eu1 has %s replicas, want 6", replicas)
	}

	kubectl(t, kubeconfig, "label", "managedcluster", "us1", "location=europe", "--overwrite")
	p.waitFor(t, &p.stdout, "\nshop/configmap/settings  eu1 applied  us1 applied\n")
	p.waitFor(t, &p.stdout, "\nshop/configmap/experiment\n")
	if data := kubectlOutput(t, members["us1"], "get", "configmap", "settings", "-n", "shop", "-o", "jsonpath={.data.currency}"); data != "EUR" {
		t.Errorf("the ConfigMap of us1 has the currency %q, want EUR", data)
	}

	kubectl(t, kubeconfig, "delete", "-n", "shop", "service", "web")
	p.waitFor(t, &p.stdout, "\nshop/service/web  deleted\n")
	if services := kubectlOutput(t, members["eu2"], "get", "services", "-n", "shop", "-o", "name"); services != "" {
		t.Errorf("eu2 still has %s", services)
	}
	p.signal(t, syscall.SIGINT)
	p.wantExit(t, 0)
	p.wantNothingLeft(t)
}

// The members keep their objects, too: their agents find them as they left them.
func TestRunFederationKeepsData(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	first := run(t, "run", "--sample=federation", "--data-dir", data, "--once")
	first.wantExit(t, 0)
	second := run(t, "run", "--sample=federation", "--data-dir", data, "--once")
	second.wantExit(t, 0)
	_, table, _ := strings.Cut(second.stdout.String(), podsTitle)
	if diff := cmp.Diff(promisedDeliveries(t), tableDeliveries(t, table)); diff != "" {
		t.Errorf("clusters after a restart (-want +got):\n%s%s", diff, second)
	}
	if !strings.Contains(second.stderr.String(), "keeping the objects of the last run") {
		t.Errorf("the samples were applied again; %s", second)
	}
	second.wantNothingLeft(t)
}

// tableDeliveries reads the clusters of each object out of a table, as the samples write them.
func tableDeliveries(t *testing.T, table string) map[string]string {
	t.Helper()
	deliveries := map[string]string{}
	columns := regexp.MustCompile(` {2,}`)
	head, rows, _ := strings.Cut(table, "\n")
	clusters := strings.Fields(head)
	for line := range strings.Lines(rows) {
		if strings.HasPrefix(line, "  ") {
			continue
		}
		cells := columns.Split(strings.TrimSpace(line), -1)
		if len(cells) != len(clusters)+1 {
			t.Fatalf("the row %q has other columns than %q", line, clusters)
		}
		var reached []string
		for i, cell := range cells[1:] {
			if replicas, applied := strings.CutPrefix(cell, "applied"); applied {
				reached = append(reached, clusters[i]+strings.NewReplacer("(", "", ")", "").Replace(replicas))
			} else if cell != "-" {
				reached = append(reached, clusters[i]+": "+cell)
			}
		}
		deliveries[cells[0]] = strings.Join(reached, ", ")
	}
	return deliveries
}

// promisedDeliveries reads the lines "# Expected:" of the objects.
func promisedDeliveries(t *testing.T) map[string]string {
	t.Helper()
	content, err := fs.ReadFile(samples.Federation(), samples.FederationObjects)
	must(t, err)
	objects, err := manifests.Decode(strings.NewReader(string(content)), samples.FederationObjects)
	must(t, err)
	promised := map[string]string{}
	expected := regexp.MustCompile(`(?m)^# Expected: (.*)$`).FindAllStringSubmatch(string(content), -1)
	for i, object := range objects {
		title := object.GetNamespace() + "/" + strings.ToLower(object.GetKind()) + "/" + object.GetName()
		promised[title] = strings.TrimPrefix(expected[i][1], "none")
	}
	return promised
}
