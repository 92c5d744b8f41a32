// SPDX-License-Identifier: Apache-2.0

package federation

import (
	"testing"

	admissionv1 "k8s.io/api/admissionregistration/v1"
)

// docs/spec/trust.md T8: works are a record of what was planned only where API servers deny the changes of others.
func TestGuards(t *testing.T) {
	for _, tc := range []struct {
		reason, policy string
		actions        []admissionv1.ValidationAction
		want           bool
	}{
		{"the policy is enforced", WorksPolicy, []admissionv1.ValidationAction{admissionv1.Audit, admissionv1.Deny}, true},
		{"the policy only warns", WorksPolicy, []admissionv1.ValidationAction{admissionv1.Warn, admissionv1.Audit}, false},
		{"another policy is enforced", "other", []admissionv1.ValidationAction{admissionv1.Deny}, false},
	} {
		binding := &admissionv1.ValidatingAdmissionPolicyBinding{}
		binding.Spec.PolicyName, binding.Spec.ValidationActions = tc.policy, tc.actions
		if got := Guards(binding); got != tc.want {
			t.Errorf("%s: got %v", tc.reason, got)
		}
	}
}
