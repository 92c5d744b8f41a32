// SPDX-License-Identifier: Apache-2.0

package platform

import (
	"encoding/base64"
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

// clustersTitle begins the table of the sample of ClusterRequests.
const clustersTitle = "NAMESPACE/REQUEST"

func TestRunClustersOnceShowsWhatTheSamplesPromise(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	p := suite.Run(t, "run", "--sample=clusters", "--data-dir", data, "--once")
	p.WantExit(t, 0)
	if summary := "4 requests, 3 purposes, 2 providers, 2 clusters, 1 placement\n"; !strings.Contains(p.Stdout.String(), summary) {
		t.Errorf("the output lacks %q; %s", summary, p)
	}
	_, table, _ := strings.Cut(p.Stdout.String(), clustersTitle)
	if diff := cmp.Diff(promisedClusters(t), tableClusters(table)); diff != "" {
		t.Errorf("requests (-want +got):\n%s%s", diff, p)
	}
	content, err := os.ReadFile("../../../docs/samples.md")
	suite.Must(t, err)
	if !strings.Contains(string(content), clustersTitle+table) {
		t.Errorf("docs/samples.md shows another table; %s", p)
	}
	p.WantNothingLeft(t)
	keepsData(t, data, table)
}

// keepsData runs the sample again in the directory of an earlier run: the clusters keep their objects, and the requests what they were granted.
func keepsData(t *testing.T, data, before string) {
	t.Helper()
	p := suite.Run(t, "run", "--sample=clusters", "--data-dir", data, "--once")
	p.WantExit(t, 0)
	_, after, _ := strings.Cut(p.Stdout.String(), clustersTitle)
	if diff := cmp.Diff(before, after); diff != "" {
		t.Errorf("the table after a restart (-want +got):\n%s%s", diff, p)
	}
	if !strings.Contains(p.Stderr.String(), "keeping the objects of the last run") {
		t.Errorf("the samples were applied again; %s", p)
	}
	p.WantNothingLeft(t)
}

// docs/spec/cluster-request.md C13, C29, X1, X2 and X3, as a newcomer sees them, with the commands of docs/one-product.md.
func TestRunClustersFollowsRequests(t *testing.T) {
	p := suite.Start(t, "run", "--sample=clusters")
	hub := filepath.Join(p.Directory, ".placement", "kubeconfig")
	const managed = "clusters-workload-s43vmrvr-"
	p.WaitFor(t, &p.Stdout, "\nshop/web  Granted  clusters/workload-s43vmrvr  Succeeded  loopback/local 1.37.0  "+managed)
	p.WaitFor(t, &p.Stdout, "  shop/workload  (AccessRequest shop/web-settings: Granted, Secret web-settings.kubeconfig)\n")
	p.WaitFor(t, &p.Stdout, "\nlab/training  Denied  -  -  -  -  -  (NoMatchingProfile: ")

	member := accessKubeconfig(t, hub, "shop", "web-settings.kubeconfig")
	suite.Kubectl(t, member, "create", "configmap", "settings", "-n", "shop", "--from-literal=currency=EUR")
	may := suite.KubectlOutput(t, member, "auth", "can-i", "--list", "-n", "shop", "--no-headers")
	if !strings.Contains(may, "configmaps") || strings.Contains(may, "secrets") || strings.Contains(may, "*.*") {
		t.Errorf("the kubeconfig may do:\n%s", may)
	}

	// An object follows the purpose of the cluster.
	object := filepath.Join(t.TempDir(), "object.yaml")
	suite.Must(t, os.WriteFile(object, []byte(`
apiVersion: v1
kind: ConfigMap
metadata:
  name: delivered
  namespace: shop
  annotations:
    federation.alpha.kubernetes.io/cluster-selector: |
      [{"key":"purpose.cluster.openmcp.cloud/workload","operator":"exists"}]
data:
  currency: EUR
`), 0o600))
	suite.Kubectl(t, hub, "apply", "-f", object)
	suite.Kubectl(t, member, "wait", "configmap/delivered", "-n", "shop", "--for=create", "--timeout=60s")

	// A provider that offers nodes makes a denied request possible, as simulate says before.
	promised := filepath.Join(t.TempDir(), "provider.yaml")
	suite.Must(t, os.WriteFile(promised, []byte(`
apiVersion: cluster.openmcp.cloud/v1alpha1
kind: ClusterProvider
metadata:
  name: loopback
status:
  ready: true
  profiles:
  - name: local
    supportedVersions:
    - version: 1.37.0
    supportedTraits:
    - trait: kubernetes.io/apis/compute
`), 0o600))
	simulated := suite.Run(t, "simulate", "--kubeconfig", hub, "--add", "-f", promised)
	simulated.WantExit(t, 0)
	simulated.WantStdout(t, "\n  ~ lab/training: Denied, NoMatchingProfile -> Granted new Cluster cluster-openmcp-shared/training\n")
	suite.Run(t, "__complete", "explain", "--kubeconfig", hub, "-n", "lab", "clusterrequest/t").WantStdout(t, "clusterrequest/training\n")
	suite.Run(t, "__complete", "explain", "--kubeconfig", hub, "-n", "lab", "clusterr").WantStdout(t, "clusterrequest/\n")
	suite.Kubectl(t, hub, "patch", "providerconfig", "loopback", "--type=json", "-p",
		`[{"op":"add","path":"/spec/profiles/0/traits/-","value":{"trait":"kubernetes.io/apis/compute"}}]`)
	p.WaitFor(t, &p.Stdout, "\nlab/training  Granted  cluster-openmcp-shared/training  Succeeded  loopback/local 1.37.0  "+
		"cluster-openmcp-shared-training-")

	// The cluster goes with its last request, after the object and the decision.
	suite.Kubectl(t, hub, "delete", "clusterrequest", "-n", "shop", "web", "checkout")
	p.WaitFor(t, &p.Stdout, "\nshop/web  deleted\n")
	suite.Kubectl(t, hub, "wait", "clusters.cluster.openmcp.cloud/workload-s43vmrvr", "-n", "clusters", "--for=delete", "--timeout=80s")
	if decided := suite.KubectlOutput(t, hub, "get", "placementdecisions", "-n", "shop", "-o", "jsonpath={..clusterName}"); decided != "" {
		t.Errorf("still decided: %s", decided)
	}
	if left := suite.KubectlOutput(t, hub, "get", "managedclusters", "-o", "name"); strings.Contains(left, managed) {
		t.Errorf("still there: %s", left)
	}
	p.Signal(t, syscall.SIGINT)
	p.WantExit(t, 0)
	p.WantNothingLeft(t)
}

// accessKubeconfig writes the kubeconfig that an AccessRequest was granted.
func accessKubeconfig(t *testing.T, hub, namespace, secret string) string {
	t.Helper()
	encoded := suite.KubectlOutput(t, hub, "get", "secret", "-n", namespace, secret, "-o", "jsonpath={.data.kubeconfig}")
	content, err := base64.StdEncoding.DecodeString(encoded)
	suite.Must(t, err)
	path := filepath.Join(t.TempDir(), "kubeconfig")
	suite.Must(t, os.WriteFile(path, content, 0o600))
	return path
}

// tableClusters reads the status of each request, and its Cluster, out of a table.
func tableClusters(table string) map[string]string {
	found := map[string]string{}
	_, rows, _ := strings.Cut(table, "\n")
	for line := range strings.Lines(rows) {
		if cells := strings.Fields(line); !strings.HasPrefix(line, " ") && len(cells) > 2 {
			found[cells[0]] = cells[1] + " " + cells[2]
		}
	}
	return found
}

// promisedClusters reads the lines "# Expected:" of the requests.
func promisedClusters(t *testing.T) map[string]string {
	t.Helper()
	content, err := samples.Others().Open(samples.ClustersRequests)
	suite.Must(t, err)
	objects, err := manifests.Decode(content, samples.ClustersRequests)
	suite.Must(t, err)
	suite.Must(t, content.Close())
	text, err := os.ReadFile("../../../deploy/samples/" + samples.ClustersRequests)
	suite.Must(t, err)
	promised := map[string]string{}
	expected := regexp.MustCompile(`(?m)^# Expected: (\w+)(?:.* Cluster (\S+))?`).FindAllStringSubmatch(string(text), -1)
	for i, object := range objects {
		cluster := expected[i][2]
		if cluster == "" {
			cluster = "-"
		}
		promised[object.GetNamespace()+"/"+object.GetName()] = expected[i][1] + " " + cluster
	}
	return promised
}
