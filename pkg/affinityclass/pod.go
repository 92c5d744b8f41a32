// SPDX-License-Identifier: Apache-2.0

package affinityclass

import (
	"fmt"

	"k8s.io/apimachinery/pkg/types"

	cozystackv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/cozystack/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/podscheduling"
)

// The HTTP status codes of refusals.
const (
	statusForbidden     = 403
	statusInternalError = 500
)

// Verdict is the answer of admission about a Pod.
type Verdict struct {
	// Status is 0 if the Pod is admitted, 403 if it violates its class, and 500 if that could not be found out.
	Status int32
	// Message says why the Pod is refused.
	Message string
	// Warnings go to the caller.
	Warnings []string
	// Through is that of the Ancestry.
	Through []types.UID
}

// ambiguousAncestry is the warning about a Pod that belongs to several HelmReleases.
const ambiguousAncestry = "object ancestry ambiguous, using first ancestor found"

// CheckPod reviews a Pod that is created: docs/spec/affinity-class.md 1.4. What cannot be read refuses the Pod.
func CheckPod(pod *Object, nodeSelector map[string]string, lookup Lookup, classes Classes) Verdict {
	ancestry, err := Walk(pod, lookup)
	if err != nil {
		return Verdict{Status: statusInternalError, Message: err.Error()}
	}
	verdict := Verdict{Through: ancestry.Through}
	if ancestry.Ambiguous {
		verdict.Warnings = append(verdict.Warnings, ambiguousAncestry)
	}
	if ancestry.Release == nil || ancestry.Release.Labels[ClassLabel] == "" {
		return verdict
	}
	name := ancestry.Release.Labels[ClassLabel]
	class, err := classes(name)
	switch {
	case err != nil:
		verdict.Status, verdict.Message = statusInternalError, fmt.Sprintf("reading AffinityClass %q: %v", name, err)
		return verdict
	case class == nil:
		verdict.Status, verdict.Message = statusForbidden, notFound(name)
		return verdict
	}
	constraints := constraintsOf(class)
	missing := constraints.Verify(nodeSelector)
	if len(missing) == 0 {
		return verdict
	}
	text := missing[0].Denial(pod.Namespace, pod.Name, class.Name)
	if class.Spec.Enforcement == cozystackv1alpha1.EnforcementWarn {
		verdict.Warnings = append(verdict.Warnings, text)
	} else {
		verdict.Status, verdict.Message = statusForbidden, text
	}

	return verdict
}

func constraintsOf(class *cozystackv1alpha1.AffinityClass) podscheduling.Constraints {
	selector := make(map[string]string, len(class.Spec.NodeSelector))
	for key, value := range class.Spec.NodeSelector {
		selector[key] = string(value)
	}
	return podscheduling.Constraints{NodeSelector: selector}
}
