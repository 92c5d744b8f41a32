// SPDX-License-Identifier: Apache-2.0

package objects

import (
	"maps"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/placement-hub/placement-hub/pkg/hub/extracache"
)

// MetadataCache returns a cache of the metadata of objects that CompactMetadata has compacted, and adds it to the manager. Errors say what the
// cache has. The options may select objects.
func MetadataCache(
	mgr manager.Manager, what string, keep func(annotations map[string]string) map[string]string, options cache.Options,
) (cache.Cache, error) {
	options.DefaultTransform = CompactMetadata(keep)
	return extracache.Add(mgr, what, options)
}

// CompactMetadata returns a transform that drops managed fields, labels and those annotations that keep does not return before an object is
// cached. A nil function is for objects of which only the names are read: then owners are dropped too.
func CompactMetadata(keep func(annotations map[string]string) map[string]string) func(any) (any, error) {
	return func(in any) (any, error) {
		if object, is := in.(metav1.Object); is {
			object.SetManagedFields(nil)
			object.SetLabels(nil)
			if keep == nil {
				object.SetAnnotations(nil)
				object.SetOwnerReferences(nil)
			} else {
				object.SetAnnotations(keep(object.GetAnnotations()))
			}
		}
		return in, nil
	}
}

// Annotation returns a function for MetadataCache that keeps the annotation of a key.
func Annotation(key string) func(annotations map[string]string) map[string]string {
	return func(annotations map[string]string) map[string]string {
		kept := maps.Clone(annotations)
		maps.DeleteFunc(kept, func(other, _ string) bool { return other != key })
		return kept
	}
}
