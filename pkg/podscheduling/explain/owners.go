// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/placement-hub/placement-hub/pkg/affinityclass"
)

// owner identifies an object that others may refer to.
type owner struct {
	kind            schema.GroupKind
	namespace, name string
}

// ownersOf returns the objects that Pods may belong to.
func ownersOf(objects *Objects) map[owner]*unstructured.Unstructured {
	owners := map[owner]*unstructured.Unstructured{}
	for _, list := range [][]*unstructured.Unstructured{objects.Workloads, objects.Releases, objects.Applications} {
		for _, object := range list {
			owners[owner{object.GroupVersionKind().GroupKind(), object.GetNamespace(), object.GetName()}] = object
		}
	}
	return owners
}

// lookup returns the lookup of a walk from the Pod of a workload: the workload itself, the object between the two, the objects, and what
// Objects.Owner reads.
func (e *Evaluator) lookup(ev *evaluation) affinityclass.Lookup {
	return func(target affinityclass.Target) (*affinityclass.Object, error) {
		kind := target.Kind.GroupKind()
		if between := ev.pod.between; between != nil && between.Kind == kind && between.Name == target.Name {
			return between, nil
		}
		if !ev.kind.isPod() && ev.kind.GroupKind() == kind && ev.object.GetName() == target.Name {
			return walked(kind, ev.object), nil
		}
		if found := e.owners[owner{kind, target.Namespace, target.Name}]; found != nil {
			return walked(kind, found), nil
		}

		if e.objects.Owner == nil {
			return nil, nil
		}
		return e.objects.Owner(target)
	}
}
