// SPDX-License-Identifier: Apache-2.0

package managedcluster

import (
	"context"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/placement-hub/placement-hub/pkg/hub/queue"
)

// The patch replaces the whole list of taints, so it must not be applied to a list to which another client has added a taint.
func TestTaintsAreWrittenOverWhatWasLookedAt(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := clusterv1.Install(scheme); err != nil {
		t.Fatal(err)
	}
	var sent []string

	cluster := &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: "c1", ResourceVersion: "7"}}
	api := fake.NewClientBuilder().WithScheme(scheme).WithObjects(cluster).WithInterceptorFuncs(interceptor.Funcs{
		Patch: func(ctx context.Context, c client.WithWatch, object client.Object, patch client.Patch, options ...client.PatchOption) error {
			body, err := patch.Data(object)
			if err != nil {
				t.Fatal(err)
			}
			sent = append(sent, string(body))
			return c.Patch(ctx, object, patch, options...)
		},
	}).Build()
	passive := clocktesting.NewFakePassiveClock(time.Unix(1, 0))
	r := &managedClusterTaintsReconciler{
		client: api, clock: passive, grace: newGracePeriod(time.Hour, passive), conflicts: queue.NewConflictBackoff[reconcile.Request](),
	}

	for range 2 {
		if _, err := r.Reconcile(t.Context(), reconcile.Request{NamespacedName: types.NamespacedName{Name: "c1"}}); err != nil {
			t.Fatal(err)
		}
	}
	if len(sent) != 1 || !strings.Contains(sent[0], `"resourceVersion":"7"`) || strings.Count(sent[0], unreachable) != 1 {
		t.Errorf("sent %q, want one patch of the taints over version 7", sent)
	}
}
