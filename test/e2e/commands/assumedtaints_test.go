// SPDX-License-Identifier: Apache-2.0

package commands

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/explain/endpoint"
	"github.com/placement-hub/placement-hub/test/e2e/suite"
)

// taintedFleet is a Placement and a cluster that is available.
const taintedFleet = `apiVersion: v1
kind: Namespace
metadata: {name: taints}
---
apiVersion: cluster.open-cluster-management.io/v1beta2
kind: ManagedClusterSet
metadata: {name: taints}
---
apiVersion: cluster.open-cluster-management.io/v1beta2
kind: ManagedClusterSetBinding
metadata: {name: taints, namespace: taints}
spec: {clusterSet: taints}
---
apiVersion: cluster.open-cluster-management.io/v1beta1
kind: Placement
metadata: {name: p, namespace: taints}
spec: {}
---
apiVersion: cluster.open-cluster-management.io/v1
kind: ManagedCluster
metadata: {name: taints-old, labels: {cluster.open-cluster-management.io/clusterset: taints}}
`

const (
	silentCluster = `apiVersion: cluster.open-cluster-management.io/v1
kind: ManagedCluster
metadata: {name: taints-new, labels: {cluster.open-cluster-management.io/clusterset: taints}}
`
	availableStatus = `{"status":{"conditions":[{"type":"ManagedClusterConditionAvailable","status":"True","reason":"Test","message":"",` +
		`"lastTransitionTime":"2026-01-02T03:04:05Z"}]}}`
	notTolerated = "taint cluster.open-cluster-management.io/unreachable:NoSelect not tolerated"
)

// docs/spec/differences.md B20: the tools learn from the hub that it runs managedcluster-taints, and take a cluster that it has not tainted yet as
// it will be.
func TestB20ToolsAssumeTaints(t *testing.T) {
	h := suite.StartHub(t)
	directory := t.TempDir()
	file := func(name, content string) string {
		path := filepath.Join(directory, name)
		suite.Must(t, os.WriteFile(path, []byte(content), 0o600))
		return path
	}
	suite.Kubectl(t, h.AdminKubeconfig, "apply", "-f", file("fleet.yaml", taintedFleet))
	suite.Kubectl(t, h.AdminKubeconfig, "patch", "managedcluster", "taints-old", "--subresource=status", "--type=merge", "-p", availableStatus)
	replica := h.StartReplica(t)
	h.WantDecisions(t, types.NamespacedName{Namespace: "taints", Name: "p"}, "taints-old")
	suite.Eventually(t, "waiting for the names of the controllers", func() error {
		published := &corev1.ConfigMap{}
		return h.Client.Get(t.Context(), client.ObjectKey{Namespace: "open-cluster-management-hub", Name: endpoint.ConfigMap}, published)
	})

	silent := file("silent.yaml", silentCluster)
	for _, tc := range []struct {
		reason, file, want string
	}{
		{"a cluster that reports nothing is not gained", silent, "no placement gains or loses a cluster"},
		{"a cluster that is available is gained", file("available.yaml", strings.TrimSuffix(silentCluster, "\n")+`
status: {conditions: [{type: ManagedClusterConditionAvailable, status: "True", reason: Test, message: "", lastTransitionTime: 2026-01-02T03:04:05Z}]}
`), "+ taints-new"},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			p := suite.Run(t, "simulate", "--kubeconfig", h.AdminKubeconfig, "--add", "-f", tc.file)
			p.WantExit(t, 0)
			p.WantStdout(t, tc.want)
		})
	}

	// No controller runs that could taint the cluster before the tools look at it.
	h.Stop(t, replica)
	suite.Kubectl(t, h.AdminKubeconfig, "apply", "-f", silent)
	for _, tc := range []struct {
		reason string
		args   []string
		want   string
	}{
		{"explain", []string{"explain", "taints/p"}, notTolerated},
		{"explain a cluster", []string{"explain", "taints/p", "--cluster", "taints-new"}, notTolerated},
		{"simulate", []string{"simulate", "-n", "taints"}, notTolerated},
		{"diff", []string{"diff", "-f", file("placement.yaml", "apiVersion: cluster.open-cluster-management.io/v1beta1\nkind: Placement\n"+
			"metadata: {name: p, namespace: taints, labels: {a: b}}\nspec: {}\n"), "--show-kept"}, "= taints-old"},
		{"explain of a hub elsewhere", []string{"explain", "taints/p", "--hub-namespace", "default"}, "taints-new"},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			p := suite.Run(t, append(tc.args, "--kubeconfig", h.AdminKubeconfig)...)
			p.WantExit(t, 0)
			p.WantStdout(t, tc.want)
			if tc.reason == "diff" && strings.Contains(p.Stdout.String(), "taints-new") {
				t.Errorf("the new cluster would be gained; %s", p)
			}
		})
	}

	t.Run("the debug endpoint", func(t *testing.T) {
		aside := h.StartServer(t, "debug", "--kubeconfig", h.Kubeconfig, "--listen=127.0.0.1:0", "--controllers=*")
		suite.Kubectl(t, h.AdminKubeconfig, "create", "clusterrolebinding", "taints-admin", "--clusterrole=cluster-admin",
			"--serviceaccount=default:taints-admin")
		h.AwaitRoles(t)
		status, body := aside.Get(t, "/debug/placements/taints/p", h.Token(t, "taints-admin"))
		if status != http.StatusOK || !strings.Contains(body, notTolerated) {
			t.Errorf("%d %s", status, body)
		}
	})
}
