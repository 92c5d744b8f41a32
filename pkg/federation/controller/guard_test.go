// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"testing"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/federation"
)

// T8: works count as guarded only where both the policy and a binding that denies exist.
func TestGuardedWorks(t *testing.T) {
	named := metav1.ObjectMeta{Name: federation.WorksPolicy}
	policy := &admissionv1.ValidatingAdmissionPolicy{ObjectMeta: named}
	binding := func(actions ...admissionv1.ValidationAction) *admissionv1.ValidatingAdmissionPolicyBinding {
		return &admissionv1.ValidatingAdmissionPolicyBinding{ObjectMeta: named, Spec: admissionv1.ValidatingAdmissionPolicyBindingSpec{
			PolicyName: federation.WorksPolicy, ValidationActions: actions,
		}}
	}
	for _, c := range []struct {
		reason  string
		objects []client.Object
		guarded bool
	}{
		{"both exist", []client.Object{policy, binding(admissionv1.Deny)}, true},
		{"nothing exists", nil, false},
		{"the binding is missing", []client.Object{policy}, false},
		{"the policy is missing", []client.Object{binding(admissionv1.Deny)}, false},
		{"the binding only warns", []client.Object{policy, binding(admissionv1.Warn)}, false},
	} {
		w := newWorld(t, c.objects...)
		w.state.findGuard(t.Context(), w.handlers.live)
		if w.state.unguarded.Load() == c.guarded {
			t.Errorf("%s: guarded is not %v", c.reason, c.guarded)
		}
	}
}
