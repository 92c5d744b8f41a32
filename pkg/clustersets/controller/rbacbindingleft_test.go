// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/placement-hub/placement-hub/pkg/clustersets"
)

// docs/spec/trust.md T24: a binding that was taken over stays when its right is revoked, and an Event names it, once.
func TestUnmanagedBindingsAreNamed(t *testing.T) {
	errAway := errors.New("the API server is away")
	for _, tc := range []struct {
		reason  string
		set     string // of the unmanaged binding
		revoke  bool
		first   bool // the look after the revocation is the first one of the process
		answers bool
		err     error
		events  int
		left    int
	}{
		{"T24: the right is revoked", "blue", true, false, false, nil, 1, 1},
		{"law 4: the right is there", "blue", false, false, true, nil, 0, 0},
		{"T16: the first look of a process", "blue", true, true, false, nil, 0, 1},
		{"the API server knows a right that the cache does not show", "blue", true, false, true, nil, 0, 0},
		{"law 6: a review that fails names nothing", "blue", true, false, false, errAway, 0, 0},
		{"a set that does not exist is not a revocation", "gone", true, false, false, nil, 0, 0},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			r, _ := fixture(t, interceptor.Funcs{})
			recorder := events.NewFakeRecorder(10)
			r.left.recorder = recorder
			binding := fromRBAC(tc.set, handedOver)
			binding.UID = ""
			role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "role"}}
			if tc.set == "gone" {
				if err := r.client.Get(t.Context(), client.ObjectKey{Name: "role"}, role); err != nil {
					t.Fatal(err)
				}
				role.Rules[0].ResourceNames = []string{"blue", "gone"}
				if err := r.client.Update(t.Context(), role); err != nil {
					t.Fatal(err)
				}
			}
			if err := r.client.Create(t.Context(), &binding); err != nil {
				t.Fatal(err)
			}
			r.review = func(_ context.Context, _, _ string) (bool, error) { return true, nil }
			if !tc.first {
				if _, err := r.Reconcile(t.Context(), requestOfA); err != nil {
					t.Fatal(err)
				}
			}

			if tc.revoke && tc.set != "gone" {
				granted := &rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: "binding"}}
				if err := r.client.Delete(t.Context(), granted); err != nil {
					t.Fatal(err)
				}
			}
			r.review = func(_ context.Context, _, set string) (bool, error) { return tc.answers && set == tc.set, tc.err }
			for range 2 {
				if result, err := r.Reconcile(t.Context(), requestOfA); tc.err != nil && err == nil && result.RequeueAfter == 0 {
					t.Error("the review that failed is not sent again")
				}
			}

			if got := len(recorder.Events); got != tc.events {
				t.Errorf("%d Events, want %d", got, tc.events)
			}
			if tc.events > 0 {
				if got := <-recorder.Events; !strings.Contains(got, "UnmanagedBindingLeft "+string(noRight)) {
					t.Errorf("Event %q", got)
				}
			}
			if got := r.left.known["a"].Len(); got != tc.left {
				t.Errorf("%d bindings are left, want %d", got, tc.left)
			}
			kept := &clusterv1beta2.ManagedClusterSetBinding{}
			if err := r.client.Get(t.Context(), client.ObjectKey{Namespace: "a", Name: tc.set}, kept); err != nil || !clustersets.Unmanaged(kept) {
				t.Errorf("docs/spec/scope.md S13: the binding is %v, %v", kept.Labels, err)
			}
		})
	}
}
