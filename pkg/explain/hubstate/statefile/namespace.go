// SPDX-License-Identifier: Apache-2.0

package statefile

import (
	"fmt"

	"github.com/placement-hub/placement-hub/pkg/explain"
)

// Namespace is the default namespace of objects.
type Namespace struct {
	// Name is empty when every object must name its namespace.
	Name string
	// Enforced rejects objects of other namespaces.
	Enforced bool
}

// In sets the namespace of the objects in the following files that name none. By default every object must name its namespace.
func (r *Reader) In(namespace Namespace) { r.namespace = namespace }

// set gives an object without a namespace the default one.
func (n Namespace) set(kind *explain.Kind, object map[string]any) {
	metadata, isObject := object[metadataKey].(map[string]any)
	if !isObject || n.Name == "" || !kind.Namespaced {
		return
	}
	if named, isThere := metadata["namespace"]; !isThere || named == "" || named == nil {
		metadata["namespace"] = n.Name
	}
}

// check reports an object of another namespace than the one that is enforced.
func (n Namespace) check(object map[string]any) []finding {
	metadata, _ := object[metadataKey].(map[string]any)
	named, hasNamespace := text(metadata, "namespace")
	if !n.Enforced || !hasNamespace || named == n.Name {
		return nil
	}
	return []finding{{"metadata.namespace", fmt.Sprintf("is %s, and --namespace says %s: change one of the two, or leave --namespace out",
		named, n.Name)}}
}
