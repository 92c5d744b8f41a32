// SPDX-License-Identifier: Apache-2.0

package hub

import (
	"fmt"
	"slices"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterinventory "sigs.k8s.io/cluster-inventory-api/apis/v1alpha1"

	placementv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/placement/v1alpha1"
	"github.com/placement-hub/placement-hub/test/e2e/suite"
)

// TestProfileDecisions is one story on one control plane, which does not know multicluster.x-k8s.io at first.
func TestProfileDecisions(t *testing.T) {
	h := suite.StartHub(t)
	t.Run("controller says what the hub lacks and what to do", func(t *testing.T) {
		p := suite.Run(t, "controller", "--kubeconfig", h.Kubeconfig, "--listen=127.0.0.1:0", suite.MulticlusterFlag)
		p.WantExit(t, 1)
		p.WantStderr(t, "the hub does not serve clusterprofiles.multicluster.x-k8s.io/v1alpha1", "placementdecisions.multicluster.x-k8s.io/v1alpha1",
			"apply the CustomResourceDefinitions in manifests/multicluster, or leave "+suite.MulticlusterFlag+" off")
		p.WantNothingLeft(t)
	})

	t.Run("controller refuses the flag without the controller placement", func(t *testing.T) {
		p := suite.Run(t, "controller", "--kubeconfig", h.Kubeconfig, "--controllers=clusterset", suite.MulticlusterFlag)
		p.WantExit(t, 2)
		p.WantStderr(t, suite.MulticlusterFlag, "add placement to --controllers, or leave the flag out")
	})

	t.Run("run installs what it needs and writes a slice for every placement", func(t *testing.T) {
		p := suite.Run(t, "run", "--kubeconfig", h.AdminKubeconfig, "--samples", "--once", suite.MulticlusterFlag)
		p.WantExit(t, 0)
		suite.WantSampleDecisions(t, suite.TableDecisions(t, p.Stdout.String()))
		for name := range suite.SampleDecisions(t) {
			if isOlder(t, h, name) {
				continue // Placements of the older API have none.
			}
			if diff := cmp.Diff(map[string]bool{}, h.ProfileDecisions(t)[name]); diff != "" {
				t.Errorf("ClusterProfiles of %s while there are none (-want +got):\n%s", name, diff)
			}
		}
		p.WantNothingLeft(t)
	})
	if t.Failed() {
		return
	}

	t.Run("controller follows the ClusterProfiles with the rights that are installed with them", func(t *testing.T) {
		r := h.StartReplica(t, suite.MulticlusterFlag)
		profile := &clusterinventory.ClusterProfile{
			ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceDefault, Name: "ap1"},
			Spec:       clusterinventory.ClusterProfileSpec{ClusterManager: clusterinventory.ClusterManager{Name: "open-cluster-management"}},
		}
		suite.Must(t, h.Client.Create(t.Context(), profile))
		suite.Eventually(t, "waiting for the ClusterProfile to be in a slice", func() error {
			got := h.ProfileDecisions(t)["team-a/standby"]
			if diff := cmp.Diff(map[string]bool{"default/ap1": true}, got); diff != "" {
				return fmt.Errorf("-want +got:\n%s", diff)
			}
			return nil
		})
		r.Signal(t, syscall.SIGTERM)
		r.WantExit(t, 0)
	})
}

// isOlder reports whether "namespace/name" is a placement of v1alpha1.
func isOlder(t *testing.T, h *suite.Hub, name string) bool {
	t.Helper()
	var list placementv1alpha1.PlacementList
	suite.Must(t, h.Client.List(t.Context(), &list))
	return slices.ContainsFunc(list.Items, func(p placementv1alpha1.Placement) bool { return p.Namespace+"/"+p.Name == name })
}
