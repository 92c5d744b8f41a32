package controller

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/placement-hub/placement-hub/pkg/decision"
	"github.com/placement-hub/placement-hub/pkg/decision/record"
)

// ours.md B4: what is ours is put back, what is somebody else's is left alone.
func TestForeignSlices(t *testing.T) {
	placement := record.V1beta1.Read(&clusterv1beta1.Placement{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "p", UID: "1"}})
	owned := []metav1.OwnerReference{{APIVersion: "cluster.open-cluster-management.io/v1beta1", Kind: "Placement", Name: "p", UID: "1"}}

	for _, tc := range []struct {
		reason, scheduler string
		owners            []metav1.OwnerReference
		want              bool
	}{
		{"ours", SchedulerName, owned, false},
		{"ours, without its owner", SchedulerName, nil, false},
		{"ours, without the name of the scheduler", "", owned, false},
		{"of a scheduler without a name", "", nil, true},
		{"of another scheduler", "other", nil, true},
		{"of another scheduler, whatever its owner", "other", owned, true},
	} {
		page := &record.Page{ObjectMeta: metav1.ObjectMeta{
			Namespace: "ns", Name: "p-decision-1", OwnerReferences: tc.owners, Labels: multicluster{}.Labels("p", record.Group{}),
		}, Scheduler: tc.scheduler}
		if got := !decision.Owns(multicluster{}, placement, page); got != tc.want {
			t.Errorf("%s: foreign is %v, want %v", tc.reason, got, tc.want)
		}
	}
}
