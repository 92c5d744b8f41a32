// SPDX-License-Identifier: Apache-2.0

package hubstate

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	toolscache "k8s.io/client-go/tools/cache"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/placement-hub/placement-hub/pkg/inventory"
)

// A Placement is touched by its own events and by those of its decisions, also if the last state of these is all that is known.
func TestPlacementsThatEventsTouch(t *testing.T) {
	placement := &clusterv1beta1.Placement{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "p"}}
	page := &clusterv1beta1.PlacementDecision{ObjectMeta: metav1.ObjectMeta{
		Namespace: "a", Name: "p-decision-1", Labels: map[string]string{clusterv1beta1.PlacementLabel: "p"},
	}}
	own := []inventory.Key{inventory.NewPlacementKey(inventory.V1beta1, "a", "p")}
	for _, tc := range []struct {
		reason string
		object any
		want   []inventory.Key
	}{
		{"the Placement", placement, own},
		{"a page of its decisions", page, own},
		{"a page that was deleted while there was no watch", toolscache.DeletedFinalStateUnknown{Key: "a/p-decision-1", Obj: page}, own},
		{"a page of no Placement", &clusterv1beta1.PlacementDecision{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "other"}}, nil},
		{"a cluster", &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: "p"}}, nil},
	} {
		var got []inventory.Key
		placementsOf(tc.object, func(key inventory.Key) { got = append(got, key) })
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
		}
	}
}
