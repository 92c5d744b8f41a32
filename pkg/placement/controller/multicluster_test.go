// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterinventory "sigs.k8s.io/cluster-inventory-api/apis/v1alpha1"

	"github.com/placement-hub/placement-hub/pkg/placement"
	"github.com/placement-hub/placement-hub/pkg/placement/api"
)

// docs/spec/differences.md B4: what is ours is put back, what is somebody else's is left alone.
func TestForeignSlices(t *testing.T) {
	p := api.V1beta1.Read(&clusterv1beta1.Placement{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "p", UID: "1"}})
	owned := []metav1.OwnerReference{{APIVersion: "cluster.open-cluster-management.io/v1beta1", Kind: "Placement", Name: "p", UID: "1"}}
	others := []metav1.OwnerReference{{APIVersion: "cluster.open-cluster-management.io/v1beta1", Kind: "Placement", Name: "q", UID: "2"}}
	for _, tc := range []struct {
		reason, scheduler string
		owners            []metav1.OwnerReference
		key               string // label placement-key
		mirrored          bool   // label cluster-manager
		want              bool
	}{
		{"ours", SchedulerName, owned, "p", false, false},
		{"ours, without its owner", SchedulerName, nil, "p", false, false},
		{"ours, without its label", SchedulerName, owned, "", false, false},
		{"ours, without the name of the scheduler", "", owned, "p", false, false},
		{"ours, without the name of the scheduler and its label", "", owned, "", false, false},
		{"ours, whose scheduler somebody renamed", "other", owned, "p", false, false},
		{"of a scheduler without a name", "", nil, "p", false, true},
		{"of another scheduler", "other", nil, "p", false, true},
		{"of another scheduler, with its own label", "other", owned, "q", false, true},
		{"of another scheduler, for another placement", "other", others, "p", false, true},
		{"a mirror of Open Cluster Management, which the placement owns", "ocm", owned, "p", true, true},
		{"a mirror of Open Cluster Management, without the name of a scheduler", "", owned, "p", true, true},
		{"ours, which somebody labelled as a mirror", SchedulerName, owned, "p", true, false},
	} {
		page := &api.Page{ObjectMeta: metav1.ObjectMeta{
			Namespace: "ns", Name: "p-decision-1", OwnerReferences: tc.owners, Labels: Multicluster.Labels(tc.key, api.Group{}),
		}, Scheduler: tc.scheduler}
		if tc.mirrored {
			page.Labels[clusterinventory.LabelClusterManagerKey] = clusterManager
		}
		if got := !placement.Owns(Multicluster, p, page); got != tc.want {
			t.Errorf("%s: foreign is %v, want %v", tc.reason, got, tc.want)
		}
	}
}

// docs/spec/trust.md T18: a ClusterProfile is believed whose manager, labels and name agree about the ManagedCluster.
func TestClaimsOfClusterProfiles(t *testing.T) {
	const (
		name    = clusterv1.ClusterNameLabelKey
		manager = clusterinventory.LabelClusterManagerKey
		set     = clusterinventory.LabelClusterSetKey
	)

	for _, tc := range []struct {
		reason, profile, manager string
		labels, want             map[string]string
	}{
		{"of the producer", "c1", clusterManager, map[string]string{name: "c1", manager: clusterManager, set: "s"}, map[string]string{"c1": ""}},
		{"without labels", "c1", clusterManager, nil, map[string]string{"c1": ""}},
		{"of another cluster manager", "c1", "elsewhere", map[string]string{name: "c1"}, nil},
		{"labelled as another cluster", "fake", clusterManager, map[string]string{name: "c1"}, map[string]string{
			"c1":   `its label open-cluster-management.io/cluster-name is "c1", and its name, which is that of the ManagedCluster, "fake"`,
			"fake": `its label open-cluster-management.io/cluster-name is "c1", and its name, which is that of the ManagedCluster, "fake"`,
		}},
		{"labelled as of another cluster manager", "c1", clusterManager, map[string]string{name: "c1", manager: "elsewhere"}, map[string]string{
			"c1": `its label x-k8s.io/cluster-manager is "elsewhere", and its spec.clusterManager.name "open-cluster-management"`,
		}},
	} {
		profile := &clusterinventory.ClusterProfile{ObjectMeta: metav1.ObjectMeta{Name: tc.profile, Labels: tc.labels}}
		profile.Spec.ClusterManager.Name = tc.manager
		if diff := cmp.Diff(tc.want, claimsOf(profile)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
		}
	}
}
