package e2e

import (
	"fmt"
	"slices"
	"syscall"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clusterinventory "sigs.k8s.io/cluster-inventory-api/apis/v1alpha1"

	"github.com/google/go-cmp/cmp"

	placementv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/placement/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/controller/placement"
)

const multiclusterFlag = "--sig-placement-decisions"

// TestProfileDecisions is one story on one control plane, which does not know multicluster.x-k8s.io at first.
func TestProfileDecisions(t *testing.T) {
	h := startHub(t)

	t.Run("controller says what the hub lacks and what to do", func(t *testing.T) {
		p := run(t, "controller", "--kubeconfig", h.kubeconfig, "--listen=127.0.0.1:0", multiclusterFlag)
		p.wantExit(t, 1)
		p.wantStderr(t, "the hub does not serve clusterprofiles.multicluster.x-k8s.io/v1alpha1", "placementdecisions.multicluster.x-k8s.io/v1alpha1",
			"apply the CustomResourceDefinitions in manifests/multicluster, or leave "+multiclusterFlag+" off")
		p.wantNothingLeft(t)
	})

	t.Run("controller refuses the flag without the controller placement", func(t *testing.T) {
		p := run(t, "controller", "--kubeconfig", h.kubeconfig, "--controllers=clusterset", multiclusterFlag)
		p.wantExit(t, 2)
		p.wantStderr(t, multiclusterFlag, "add placement to --controllers, or leave the flag out")
	})

	t.Run("run installs what it needs and writes a slice for every placement", func(t *testing.T) {
		p := run(t, "run", "--kubeconfig", h.adminKubeconfig, "--samples", "--once", multiclusterFlag)
		p.wantExit(t, 0)
		wantDecisions(t, tableDecisions(t, p.stdout.String()))
		for name := range expectedDecisions(t) {
			if h.isOlder(t, name) {
				continue // Placements of the older API have none.
			}
			if diff := cmp.Diff(map[string]bool{}, h.profileDecisions(t)[name]); diff != "" {
				t.Errorf("ClusterProfiles of %s while there are none (-want +got):\n%s", name, diff)
			}
		}
		p.wantNothingLeft(t)
	})
	if t.Failed() {
		return
	}

	t.Run("controller follows the ClusterProfiles with the rights that are installed with them", func(t *testing.T) {
		r := h.startReplica(t, multiclusterFlag)
		profile := &clusterinventory.ClusterProfile{
			ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceDefault, Name: "ap1"},
			Spec:       clusterinventory.ClusterProfileSpec{ClusterManager: clusterinventory.ClusterManager{Name: "open-cluster-management"}},
		}
		must(t, h.client.Create(t.Context(), profile))
		eventually(t, "waiting for the ClusterProfile to be in a slice", func() error {
			got := h.profileDecisions(t)["team-a/standby"]
			if diff := cmp.Diff(map[string]bool{"default/ap1": true}, got); diff != "" {
				return fmt.Errorf("-want +got:\n%s", diff)
			}
			return nil
		})
		r.signal(t, syscall.SIGTERM)
		r.wantExit(t, 0)
	})
}

// isOlder reports whether "namespace/name" is a placement of v1alpha1.
func (h *hub) isOlder(t *testing.T, name string) bool {
	t.Helper()
	var list placementv1alpha1.PlacementList
	must(t, h.client.List(t.Context(), &list))
	return slices.ContainsFunc(list.Items, func(p placementv1alpha1.Placement) bool { return p.Namespace+"/"+p.Name == name })
}

// profileDecisions are the ClusterProfiles in the slices of each placement; nil for a placement without any slice.
func (h *hub) profileDecisions(t *testing.T) map[string]map[string]bool {
	t.Helper()
	var list clusterinventory.PlacementDecisionList
	must(t, h.client.List(t.Context(), &list))
	decisions := map[string]map[string]bool{}
	for _, slice := range list.Items {
		name := types.NamespacedName{Namespace: slice.Namespace, Name: slice.Labels[clusterinventory.PlacementKeyLabel]}.String()
		if slice.SchedulerName != placement.SchedulerName {
			t.Errorf("%s: scheduler %q", name, slice.SchedulerName)
		}
		if decisions[name] == nil {
			decisions[name] = map[string]bool{}
		}
		for _, decision := range slice.Decisions {
			decisions[name][decision.ClusterProfileRef.Namespace+"/"+decision.ClusterProfileRef.Name] = true
		}
	}
	return decisions
}
