// SPDX-License-Identifier: Apache-2.0

package federation

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
	"github.com/placement-hub/placement-hub/test/e2e/suite"
)

// tableTitle begins the table of the sample.
const tableTitle = "NAMESPACE/KIND/NAME"

// memberLine tells where the kubeconfig of a member is.
var memberLine = regexp.MustCompile(`(?m)^member (\w+): kubectl --kubeconfig=(\S+)$`)

// Hub and members keep their objects from the first run to the second: the agents find them as they left them.
func TestRunFederation(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	showsWhatTheSamplesPromise(t, data)
	followsLabels(t, data)
}

func showsWhatTheSamplesPromise(t *testing.T, data string) {
	t.Helper()
	p := suite.Run(t, "run", "--sample=federation", "--data-dir", data, "--once")
	p.WantExit(t, 0)
	if summary := "3 clusters, 6 federated objects\n"; !strings.Contains(p.Stdout.String(), summary) {
		t.Errorf("the output lacks %q; %s", summary, p)
	}
	_, table, _ := strings.Cut(p.Stdout.String(), tableTitle)
	if diff := cmp.Diff(promisedDeliveries(t), tableDeliveries(t, table)); diff != "" {
		t.Errorf("clusters (-want +got):\n%s%s", diff, p)
	}
	if want := "\n  ClusterSelectorInvalid: annotation federation.alpha.kubernetes.io/cluster-selector: requirement[0]: operator: " +
		`Unsupported value: "IN"`; !strings.Contains(table, want) {
		t.Errorf("the table lacks %q; %s", want, p)
	}
	content, err := os.ReadFile("../../../docs/samples.md")
	suite.Must(t, err)
	if !strings.Contains(string(content), tableTitle+table) {
		t.Errorf("docs/samples.md shows another table; %s", p)
	}
	p.WantNothingLeft(t)
}

// docs/spec/federated-selector.md F15, F16 and F20, as a newcomer sees them.
func followsLabels(t *testing.T, data string) {
	t.Helper()
	p := suite.Start(t, "run", "--sample=federation", "--data-dir", data)
	kubeconfig := filepath.Join(data, "kubeconfig")
	for title, clusters := range promisedDeliveries(t) {
		p.WaitFor(t, &p.Stdout, "\n"+liveLine(title, clusters))
	}
	if !strings.Contains(p.Stderr.String(), "keeping the objects of the last run") {
		t.Errorf("the samples were applied again; %s", p)
	}
	members := map[string]string{}
	for _, found := range memberLine.FindAllStringSubmatch(p.Stdout.String(), -1) {
		members[found[1]] = found[2]
	}
	replicas := suite.KubectlOutput(t, members["eu1"], "get", "deployment", "web", "-n", "shop", "-o", "jsonpath={.spec.replicas}")
	if replicas != "6" {
		t.Errorf("the Deployment of eu1 has %s replicas, want 6", replicas)
	}

	suite.Kubectl(t, kubeconfig, "label", "managedcluster", "us1", "location=europe", "--overwrite")
	p.WaitFor(t, &p.Stdout, "\nshop/configmap/settings  eu1 applied  us1 applied\n")
	p.WaitFor(t, &p.Stdout, "\nshop/configmap/experiment\n")
	currency := suite.KubectlOutput(t, members["us1"], "get", "configmap", "settings", "-n", "shop", "-o", "jsonpath={.data.currency}")
	if currency != "EUR" {
		t.Errorf("the ConfigMap of us1 has the currency %q, want EUR", currency)
	}

	suite.Kubectl(t, kubeconfig, "delete", "-n", "shop", "service", "web")
	p.WaitFor(t, &p.Stdout, "\nshop/service/web  deleted\n")
	if services := suite.KubectlOutput(t, members["eu2"], "get", "services", "-n", "shop", "-o", "name"); services != "" {
		t.Errorf("eu2 still has %s", services)
	}
	p.Signal(t, syscall.SIGINT)
	p.WantExit(t, 0)
	p.WantNothingLeft(t)
}

// liveLine returns the line that a run without --once prints for an object and the clusters that promisedDeliveries has for it. Without clusters
// it is the begin of the line, which goes on with the reason.
func liveLine(title, clusters string) string {
	if clusters == "" {
		return title + "  ("
	}
	var line strings.Builder
	line.WriteString(title)
	for part := range strings.SplitSeq(clusters, ", ") {
		cluster, replicas, scaled := strings.Cut(part, " ")
		line.WriteString("  " + cluster + " applied")
		if scaled {
			line.WriteString(" (" + replicas + ")")
		}
	}
	return line.String() + "\n"
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
	content, err := fs.ReadFile(samples.Others(), samples.FederationObjects)
	suite.Must(t, err)
	objects, err := manifests.Decode(strings.NewReader(string(content)), samples.FederationObjects)
	suite.Must(t, err)
	promised := map[string]string{}
	expected := regexp.MustCompile(`(?m)^# Expected: (.*)$`).FindAllStringSubmatch(string(content), -1)
	for i, object := range objects {
		title := object.GetNamespace() + "/" + strings.ToLower(object.GetKind()) + "/" + object.GetName()
		promised[title] = strings.TrimPrefix(expected[i][1], "none")
	}
	return promised
}
