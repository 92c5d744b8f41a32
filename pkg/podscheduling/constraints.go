// SPDX-License-Identifier: Apache-2.0

package podscheduling

import (
	corev1 "k8s.io/api/core/v1"

	kupidv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/kupid/v1alpha1"
)

// Constraints say on which nodes Pods may run, in the form of the fields of a pod spec. The zero value constrains nothing.
type Constraints struct {
	NodeSelector  map[string]string
	NodeName      string
	Affinity      *corev1.Affinity
	SchedulerName string
	Tolerations   []corev1.Toleration
}

// constraintsOf shares its maps and slices with the spec.
func constraintsOf(spec *kupidv1alpha1.PodSchedulingPolicyConstraints) Constraints {
	return Constraints{
		NodeSelector:  spec.NodeSelector,
		NodeName:      spec.NodeName,
		Affinity:      spec.Affinity,
		SchedulerName: spec.SchedulerName,
		Tolerations:   spec.Tolerations,
	}
}

// empty reports whether no field is set. An affinity without any term counts as set.
func (c *Constraints) empty() bool {
	return len(c.NodeSelector) == 0 && c.NodeName == "" && c.Affinity == nil && c.SchedulerName == "" && len(c.Tolerations) == 0
}

// requiredTerms returns the required terms of the node affinity.
func (c *Constraints) requiredTerms() []corev1.NodeSelectorTerm {
	if c.Affinity == nil || c.Affinity.NodeAffinity == nil {
		return nil
	}
	if required := c.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution; required != nil {
		return required.NodeSelectorTerms
	}
	return nil
}

// emptyTerm reports whether a term has neither expressions nor fields. Kubernetes accepts such a term and lets it match no node.
func emptyTerm(term corev1.NodeSelectorTerm) bool {
	return len(term.MatchExpressions) == 0 && len(term.MatchFields) == 0
}
