// SPDX-License-Identifier: Apache-2.0

package hubstate

import (
	"context"
	"errors"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/placement-hub/placement-hub/pkg/apis/scheme"
	"github.com/placement-hub/placement-hub/pkg/placement/api"
)

// informers lists as the cache of controller-runtime does, whose lists have a continue token that it does not accept.
func informers(objects ...client.Object) client.Reader {
	return fake.NewClientBuilder().WithScheme(scheme.New()).WithObjects(objects...).WithInterceptorFuncs(interceptor.Funcs{
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
			var o client.ListOptions
			o.ApplyOptions(options)
			if o.Continue != "" || o.Limit != 0 || o.FieldSelector != nil {
				return errors.New("not supported by the cache")
			}
			err := c.List(ctx, list, options...)
			list.SetContinue("continue-not-supported")
			return err
		},
	}).Build()
}

func TestInformedListsFromInformersThatRun(t *testing.T) {
	placement := &clusterv1beta1.Placement{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "p"}}
	fromInformers := informers(&clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: "informed"}}, placement)
	live := fake.NewClientBuilder().WithScheme(scheme.New()).WithObjects(
		&clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: "live"}}, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "live"}},
	).Build()

	for _, tc := range []struct {
		reason string
		serves func(api.Adapter) bool
		want   string
	}{
		{"the controller of one API runs", func(adapter api.Adapter) bool { return adapter == api.V1beta1 }, "informed"},
		{"no controller of Placements runs", func(api.Adapter) bool { return false }, "live"},
	} {
		hub := NewInformed(live, fromInformers, tc.serves)
		state, err := FromCluster(t.Context(), hub, keys(api.V1beta1.Name(), "a"))
		if err != nil || len(state.Clusters) != 1 || state.Clusters[0].Name != tc.want {
			t.Errorf("%s: %v, %v; want the cluster %s", tc.reason, state, err, tc.want)
		}
		namespaces := &corev1.NamespaceList{}
		if err := hub.List(t.Context(), namespaces); err != nil || len(namespaces.Items) != 1 {
			t.Errorf("%s: Namespaces %v, %v", tc.reason, namespaces.Items, err)
		}
	}
}

func TestInformedFindsByName(t *testing.T) {
	placement := &clusterv1beta1.Placement{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "p"}}
	hub := NewInformed(fake.NewClientBuilder().WithScheme(scheme.New()).Build(), informers(placement), func(adapter api.Adapter) bool {
		return adapter == api.V1beta1
	})

	for name, want := range map[string]int{"p": 1, "other": 0} {
		list := &clusterv1beta1.PlacementList{}
		err := hub.List(t.Context(), list, client.InNamespace("a"), client.MatchingFields{nameField: name})
		if err != nil || len(list.Items) != want {
			t.Errorf("%s: %d Placements, %v; want %d", name, len(list.Items), err, want)
		}
	}
}
