// SPDX-License-Identifier: Apache-2.0

package commands

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/placement-hub/placement-hub/test/e2e/suite"
)

// systemCases are about each system in docs/examples, and hold there.
const systemCases = `apiVersion: placement-hub.open-cluster-management.io/v1alpha1
kind: PlacementTest
metadata: {name: europe-has-the-settings}
spec:
  objects: {federated: ConfigMap/team-a/settings}
  expect: {selected: {exactly: [eu1, eu2]}, because: [{cluster: us1, stage: Predicate}]}
---
apiVersion: placement-hub.open-cluster-management.io/v1alpha1
kind: PlacementTest
metadata: {name: no-replica-moves-when-a-cluster-is-lost}
spec:
  objects: {federated: Deployment.apps/team-a/web}
  when: {lost: {any: 1}}
  expect: {moves: {exactly: 0}, replicas: {eu1: {exactly: 3}}}
---
apiVersion: placement-hub.open-cluster-management.io/v1alpha1
kind: PlacementTest
metadata: {name: the-front-runs-on-web-nodes}
spec:
  objects: {workload: Deployment.apps/tenant-acme/web}
  expect: {nodes: {every: {matchLabels: {pool: web}}, atLeast: 1}, policies: [PodSchedulingPolicy tenant-acme/web]}
---
apiVersion: placement-hub.open-cluster-management.io/v1alpha1
kind: PlacementTest
metadata: {name: the-database-has-a-class}
spec:
  objects: {workload: StatefulSet.apps/tenant-acme/main-db}
  expect: {class: dc1}
---
apiVersion: placement-hub.open-cluster-management.io/v1alpha1
kind: PlacementTest
metadata: {name: builds-share-a-cluster}
spec:
  objects: {clusterRequest: team-a/builds}
  expect: {grant: {cluster: team-a/workload-1, new: false, provider: gardener}}
`

// PT14, PT15, PT16: the objects of all systems and the cases about them are in one file.
func TestCasesOfAllSystems(t *testing.T) {
	var file strings.Builder
	file.WriteString(systemCases)
	for _, example := range []string{"federated.yaml", "federated-works.yaml", "pods.yaml", "cluster-requests.yaml"} {
		content, err := os.ReadFile("../../../docs/examples/" + example)
		suite.Must(t, err)
		file.WriteString("---\n" + string(content))
	}
	path := filepath.Join(t.TempDir(), "all.yaml")
	suite.Must(t, os.WriteFile(path, []byte(file.String()), 0o600))
	p := suite.Run(t, "test", "-f", path, "--verbose")
	p.WantExit(t, 0)
	p.WantStdout(t, "5 cases: 5 hold", "tried 3 of 3 combinations")

	suite.Must(t, os.WriteFile(path, []byte(strings.ReplaceAll(file.String(), "new: false", "new: true")), 0o600))
	p = suite.Run(t, "test", "-f", path)
	p.WantExit(t, 1)
	p.WantStdout(t, "FAIL        builds-share-a-cluster", "spec.expect.grant.new: it is false for Cluster team-a/workload-1", "4 hold, 1 fail")
}

// PT19: checkTenantCases tests a case as a user who may read all that decides, and as one whom the hub answers.
func checkTenantCases(t *testing.T, viewer, tenant string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "cases.yaml")
	test := func(kubeconfig, cases string) *suite.Program {
		suite.Must(t, os.WriteFile(path, []byte(cases), 0o600))
		return suite.Run(t, "test", "--kubeconfig", kubeconfig, "-f", path, "--verbose")
	}
	holds, _, _ := strings.Cut(standbyCases, "---")
	own, byHub := test(viewer, holds), test(tenant, holds)
	own.WantExit(t, 0)
	byHub.WantExit(t, 0)
	if own.Stdout.String() != byHub.Stdout.String() {
		t.Errorf("the hub tests\n%s\nwant\n%s", byHub.Stdout.String(), own.Stdout.String())
	}
	test(tenant, strings.Replace(holds, "[ap1]", "[]", 1)).WantExit(t, 1)
	for message, cases := range map[string]string{
		"a change of a cluster concerns all namespaces":         standbyCases,
		"the explanation of the hub does not have the clusters": strings.Replace(holds, "[ap1]", "[ap1, edge-ams]", 1),
	} {
		p := test(tenant, cases)
		p.WantExit(t, 2)
		p.WantStdout(t, message)
	}
	p := test(tenant, strings.ReplaceAll(holds, "team-a/", "team-b/"))
	p.WantExit(t, 2)
	p.WantStderr(t, "the hub does not explain it instead", "may not get placements.cluster.open-cluster-management.io standby in namespace team-b")
}

// PT17: on a live hub a change is written to the object as the API server has it. Fields of another manager that have the values of the file are no
// conflict, also empty ones, which the Go types of the hub leave out or fill in.
func TestCasesWriteToLiveObjects(t *testing.T) {
	h := suite.StartHub(t)
	suite.Run(t, "run", "--kubeconfig", h.AdminKubeconfig, "--once", "--samples").WantExit(t, 0)
	const shared = "predicates: [{requiredClusterSelector: {labelSelector: {}}}], tolerations: [{key: gpu, operator: Equal, value: ''}]"
	for _, spec := range []string{"numberOfClusters: 0", shared} {
		object := &unstructured.Unstructured{}
		suite.Must(t, yaml.Unmarshal([]byte(fullPlacement(spec)), &object.Object))
		manager := client.FieldOwner("kubectl")
		if spec == shared {
			manager = "ci"
		}
		suite.Must(t, h.Client.Apply(t.Context(), client.ApplyConfigurationFromUnstructured(object), manager))
	}
	directory := t.TempDir()
	file := func(name, content string) string {
		path := filepath.Join(directory, name)
		suite.Must(t, os.WriteFile(path, []byte(content), 0o600))
		return path
	}
	file("full.yaml", fullPlacement(shared+", numberOfClusters: 1"))
	cases := file("cases.yaml", "apiVersion: placement-hub.open-cluster-management.io/v1alpha1\nkind: PlacementTest\n"+
		"metadata: {name: one}\nspec: {objects: {placement: team-a/full}, when: {changed: [{apply: full.yaml}]}, "+
		"expect: {selected: {atLeast: 1, atMost: 1}}}\n")
	p := suite.Run(t, "test", "--kubeconfig", h.AdminKubeconfig, "-f", cases)
	p.WantExit(t, 0)
	p.WantStdout(t, "1 case: 1 hold")
}

// fullPlacement returns a Placement with fields of its spec.
func fullPlacement(spec string) string {
	return "apiVersion: cluster.open-cluster-management.io/v1beta1\nkind: Placement\n" +
		"metadata: {name: full, namespace: team-a}\nspec: {" + spec + "}\n"
}
