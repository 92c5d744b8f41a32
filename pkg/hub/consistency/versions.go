// SPDX-License-Identifier: Apache-2.0

package consistency

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/resourceversion"
)

// Compare compares two resourceVersions. The order is positive if a is the later one; ordered is false if one of them is no version.
func Compare(a, b string) (order int, ordered bool) {
	order, err := resourceversion.CompareResourceVersion(a, b)
	return order, err == nil
}

// Later reports whether a is a later state of an object than b; unordered if their versions cannot be compared.
func Later(a, b metav1.Object, unordered bool) bool {
	order, ordered := Compare(a.GetResourceVersion(), b.GetResourceVersion())
	if !ordered {
		return unordered
	}
	return order > 0
}
