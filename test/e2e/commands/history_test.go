// SPDX-License-Identifier: Apache-2.0

package commands

import (
	"fmt"
	"strings"
	"testing"

	clusterv1 "open-cluster-management.io/api/cluster/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/test/e2e/suite"
)

// checkHistory taints a cluster, and asks the hub what happened, as users with different roles.
func checkHistory(t *testing.T, h *suite.Hub, editor string) {
	t.Helper()
	cluster := &clusterv1.ManagedCluster{}
	suite.Must(t, h.Client.Get(t.Context(), client.ObjectKey{Name: "eu1"}, cluster))
	before := cluster.DeepCopy()
	cluster.Spec.Taints = append(cluster.Spec.Taints, clusterv1.Taint{Key: "maintenance", Effect: clusterv1.TaintEffectNoSelect})
	suite.Must(t, h.Client.Patch(t.Context(), cluster, client.MergeFrom(before), client.FieldOwner("kubectl-edit")))

	viewer := withRoles(t, h, "history-viewer", shippedView, shippedFleetView)
	asked := func(kubeconfig string, args ...string) *suite.Program {
		return suite.Run(t, append([]string{"history", "--kubeconfig", kubeconfig, "-n", "team-a"}, args...)...)
	}
	const cause = ": ManagedCluster eu1 taint maintenance:NoSelect added"
	suite.Eventually(t, "waiting for the row", func() error {
		p := asked(viewer, "--cluster", "eu1", "--since", "1h")
		p.WantExit(t, 0)
		if text := p.Stdout.String(); !strings.Contains(text, "lost eu1") || !strings.Contains(text, cause+" by kubectl-edit\n") {
			return fmt.Errorf("the history is\n%s%s", text, p.Stderr.String())
		}
		return nil
	})
	limited := asked(editor)
	limited.WantExit(t, 0)
	limited.WantStdout(t, "lost eu1", cause+"\n")
	if text := limited.Stdout.String(); strings.Contains(text, "kubectl-edit") {
		t.Errorf("a user who may not read clusters sees the field manager:\n%s", text)
	}
	asked(editor, "--cluster", "nosuch").WantStdout(t, "no clusters were gained or lost")
	asked(editor, "-o", "json").WantStdout(t, `"moves": [`, `"lost": [`)

	refused := suite.Run(t, "history", "--kubeconfig", editor, "team-b/training")
	refused.WantExit(t, 1)
	refused.WantStderr(t, "may not get placements.cluster.open-cluster-management.io training in namespace team-b")
	if text := refused.Stdout.String(); text != "" {
		t.Errorf("shown: %s", text)
	}
	everywhere := suite.Run(t, "history", "--kubeconfig", editor, "-A")
	everywhere.WantExit(t, 1)
	everywhere.WantStderr(t, "this user may list neither Placements, delivered objects nor ClusterRequests in all namespaces")
	suite.Run(t, "history", "--kubeconfig", viewer, "-A").WantStdout(t, "team-a/", "lost eu1")
}
