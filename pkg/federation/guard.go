// SPDX-License-Identifier: Apache-2.0

package federation

import (
	"slices"

	admissionv1 "k8s.io/api/admissionregistration/v1"
)

// WorksPolicy is the name of the ValidatingAdmissionPolicy, and of its binding, that permits only the hub to change its works.
const WorksPolicy = "open-cluster-management-placement-hub-federation-works"

// WorkNamePrefix begins the names of the ManifestWorks of the hub.
const WorkNamePrefix = "fed-"

// Guards reports whether a binding makes API servers deny what WorksPolicy refuses.
func Guards(binding *admissionv1.ValidatingAdmissionPolicyBinding) bool {
	return binding.Spec.PolicyName == WorksPolicy && slices.Contains(binding.Spec.ValidationActions, admissionv1.Deny)
}
