// SPDX-License-Identifier: Apache-2.0

package objectnames

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/placement-hub/placement-hub/cmd/placement/internal/hubflags"
	"github.com/placement-hub/placement-hub/cmd/placement/internal/suggest"
	"github.com/placement-hub/placement-hub/pkg/explain"
	"github.com/placement-hub/placement-hub/pkg/explain/endpoint"
	federated "github.com/placement-hub/placement-hub/pkg/federation/explain"
	"github.com/placement-hub/placement-hub/pkg/inventory"
)

// DeliveredKeys returns the keys of the named objects, and an error about those that there are not; without a namespace there must be one object
// of the name.
func DeliveredKeys(state *explain.State, names []hubflags.DeliveredName, namespace string) (keys []inventory.Key, missing error) {
	for _, named := range names {
		var namespaces, names []string
		for _, object := range state.Federated.Objects {
			if object.GroupVersionKind() == named.Kind.GroupVersionKind && (namespace == "" || namespace == object.GetNamespace()) {
				names = append(names, object.GetName())
			}
			if object.GroupVersionKind() == named.Kind.GroupVersionKind && object.GetName() == named.Name &&
				(namespace == "" || namespace == object.GetNamespace()) {
				namespaces = append(namespaces, object.GetNamespace())
			}
		}
		slices.Sort(namespaces)
		switch {
		case len(namespaces) == 1:
			keys = append(keys, federated.Key(named.Kind, namespaces[0], named.Name))
		case len(namespaces) > 1:
			missing = errors.Join(missing, fmt.Errorf("there is a %s %s in each of the namespaces %s: choose one with -n",
				named.Kind.Kind, named.Name, strings.Join(namespaces, ", ")))
		case slices.Contains(state.Federated.KindsUnread, named.Kind.Kind):
			missing = errors.Join(missing, fmt.Errorf("this user may not list the %s of namespace %s; ask for the verb list on them",
				named.Kind.Resource, namespace))
		default:
			missing = errors.Join(missing, fmt.Errorf("there is no %s %s; correct the name or the namespace%s", named.Kind.Kind, named.Name,
				suggest.DidYouMean(named.Name, strings.ToLower(named.Kind.Kind)+"/", names)))
		}
	}
	return keys, missing
}

// DeliveredObjects returns delivered objects as a question names them.
func DeliveredObjects(names []hubflags.DeliveredName) []endpoint.Object {
	objects := make([]endpoint.Object, 0, len(names))
	for _, named := range names {
		objects = append(objects, endpoint.Object{Group: named.Kind.Group, Kind: named.Kind.Kind, Name: named.Name})
	}
	return objects
}
