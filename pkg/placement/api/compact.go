// SPDX-License-Identifier: Apache-2.0

package api

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// CompactList returns the list without spare capacity. Nil stays nil, and an empty list empty.
func CompactList[T any](list []T) []T {
	if len(list) == cap(list) {
		return list
	}
	return append(make([]T, 0, len(list)), list...)
}

// CompactMeta shares the strings that the metadata of pages have in common.
func CompactMeta(meta *metav1.ObjectMeta, intern func(...*string)) {
	intern(&meta.Namespace)
	labels := make(map[string]string, len(meta.Labels))
	for key, value := range meta.Labels {
		intern(&key, &value)
		labels[key] = value
	}
	if meta.Labels != nil {
		meta.Labels = labels
	}

	for i := range meta.OwnerReferences {
		intern(&meta.OwnerReferences[i].APIVersion, &meta.OwnerReferences[i].Kind, &meta.OwnerReferences[i].Name)
	}
}
