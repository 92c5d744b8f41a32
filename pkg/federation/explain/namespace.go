// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/placement-hub/placement-hub/pkg/federation"
)

// SaysDelivery reports whether a Namespace has the label by which it takes part, or a default of its objects.
func SaysDelivery(namespace *corev1.Namespace) bool {
	_, labelled := namespace.Labels[federation.FederatedLabel]
	return labelled || slices.ContainsFunc(deliveryDefaults, func(name string) bool { _, annotated := namespace.Annotations[name]; return annotated })
}

// deliveryDefaults are the annotations of a Namespace that are defaults of its objects.
var deliveryDefaults = []string{federation.SelectorAnnotation, federation.PlacementAnnotation, federation.PropagateDependenciesAnnotation}

// SameDelivery reports whether delivery reads the same of two states of a Namespace.
func SameDelivery(before, after *corev1.Namespace) bool {
	for _, name := range deliveryDefaults {
		one, was := before.Annotations[name]
		if other, is := after.Annotations[name]; was != is || one != other {
			return false
		}
	}
	return before.Labels[federation.FederatedLabel] == after.Labels[federation.FederatedLabel]
}
