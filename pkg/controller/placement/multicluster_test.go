package placement

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/placement-hub/placement-hub/pkg/decision"
	"github.com/placement-hub/placement-hub/pkg/decision/api"
)

// docs/spec/differences.md B4: what is ours is put back, what is somebody else's is left alone.
func TestForeignSlices(t *testing.T) {
	placement := api.V1beta1.Read(&clusterv1beta1.Placement{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "p", UID: "1"}})
	owned := []metav1.OwnerReference{{APIVersion: "cluster.open-cluster-management.io/v1beta1", Kind: "Placement", Name: "p", UID: "1"}}
	others := []metav1.OwnerReference{{APIVersion: "cluster.open-cluster-management.io/v1beta1", Kind: "Placement", Name: "q", UID: "2"}}

	for _, tc := range []struct {
		reason, scheduler string
		owners            []metav1.OwnerReference
		key               string // label placement-key
		want              bool
	}{
		{"ours", SchedulerName, owned, "p", false},
		{"ours, without its owner", SchedulerName, nil, "p", false},
		{"ours, without its label", SchedulerName, owned, "", false},
		{"ours, without the name of the scheduler", "", owned, "p", false},
		{"ours, without the name of the scheduler and its label", "", owned, "", false},
		{"ours, whose scheduler somebody renamed", "other", owned, "p", false},
		{"of a scheduler without a name", "", nil, "p", true},
		{"of another scheduler", "other", nil, "p", true},
		{"of another scheduler, with its own label", "other", owned, "q", true},
		{"of another scheduler, for another placement", "other", others, "p", true},
	} {
		page := &api.Page{ObjectMeta: metav1.ObjectMeta{
			Namespace: "ns", Name: "p-decision-1", OwnerReferences: tc.owners, Labels: Multicluster.Labels(tc.key, api.Group{}),
		}, Scheduler: tc.scheduler}
		if got := !decision.Owns(Multicluster, placement, page); got != tc.want {
			t.Errorf("%s: foreign is %v, want %v", tc.reason, got, tc.want)
		}
	}
}
