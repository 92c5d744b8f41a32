// SPDX-License-Identifier: Apache-2.0

package hubstate

import (
	"context"
	"errors"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/placement-hub/placement-hub/pkg/apis/scheme"
	"github.com/placement-hub/placement-hub/pkg/placement/api"
)

// What an inventory knows is not listed, but a user who may not list it gets the error of a list.
func TestDecidedListsNoClusters(t *testing.T) {
	for _, tc := range []struct {
		reason  string
		refused client.ObjectList
	}{
		{reason: "a user who may list everything"},
		{"a user who may list no clusters", &clusterv1.ManagedClusterList{}},
		{"a user who may list no decisions", &clusterv1beta1.PlacementDecisionList{}},
		{"a user who may list no bindings", &clusterv1beta2.ManagedClusterSetBindingList{}},
	} {
		hub := fake.NewClientBuilder().WithScheme(scheme.New()).WithObjects(
			&clusterv1beta1.Placement{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "p"}},
			&clusterv1beta2.ManagedClusterSet{ObjectMeta: metav1.ObjectMeta{Name: "prod"}},
			&clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: "eu1"}},
			&clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: "eu2"}},
		).WithInterceptorFuncs(interceptor.Funcs{
			List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
				var given client.ListOptions
				given.ApplyOptions(options)
				if _, clusters := list.(*clusterv1.ManagedClusterList); clusters && given.Limit != 1 {
					t.Errorf("%s: %d clusters are listed", tc.reason, given.Limit)
				}
				if tc.refused != nil && sameType(list, tc.refused) {
					return apierrors.NewForbidden(schema.GroupResource{}, "", errors.New("refused"))
				}
				return c.List(ctx, list, options...)
			},
		}).Build()
		state, err := Decided(t.Context(), hub, keys(api.V1beta1.Name(), "a"))
		if tc.refused != nil {
			if !apierrors.IsForbidden(err) {
				t.Errorf("%s: got the error %v", tc.reason, err)
			}
			continue
		}
		if err != nil || len(state.Placements) != 1 || len(state.ClusterSets) != 1 || len(state.Clusters) != 0 {
			t.Errorf("%s: %v, %v; want one Placement and one set", tc.reason, state, err)
		}
	}
}
