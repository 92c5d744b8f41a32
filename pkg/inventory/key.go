// SPDX-License-Identifier: Apache-2.0

package inventory

import (
	"cmp"
	"strings"

	"k8s.io/apimachinery/pkg/types"
)

// API is the name of the API group of a placement and its decisions. Objects of two APIs may have the same name.
type API string

// The APIs of placements.
const (
	V1beta1  API = "cluster.open-cluster-management.io"
	V1alpha1 API = "placement.open-cluster-management.io"
)

// GroupKind is a kind with its API group, in the form of schema.GroupKind.String. It is a single string to keep a Key small, because there
// are several for each placement.
type GroupKind string

// The kinds of placements are this prefix and an API.
const (
	placementPrefix             = "Placement."
	placementV1beta1  GroupKind = placementPrefix + GroupKind(V1beta1)
	placementV1alpha1 GroupKind = placementPrefix + GroupKind(V1alpha1)
)

// Key identifies an object that subscribes. Only placements own decisions.
type Key struct {
	types.NamespacedName

	GroupKind GroupKind
}

// NewPlacementKey returns the key of a placement.
func NewPlacementKey(api API, namespace, name string) Key {
	key := Key{NamespacedName: types.NamespacedName{Namespace: namespace, Name: name}}
	switch api {
	case V1beta1:
		key.GroupKind = placementV1beta1
	case V1alpha1:
		key.GroupKind = placementV1alpha1
	default:
		key.GroupKind = placementPrefix + GroupKind(api)
	}
	return key
}

// API returns the API of a placement; empty for any other object.
func (k Key) API() API {
	group, isPlacement := strings.CutPrefix(string(k.GroupKind), placementPrefix)
	if !isPlacement {
		return ""
	}
	return API(group)
}

// QueueNamespace returns the namespace, so that the keys of one namespace do not delay those of another in a queue.
func (k Key) QueueNamespace() string { return k.Namespace }

// String returns "namespace/name", followed by the API group of a placement that is not of V1beta1, or by the kind of any other object.
func (k Key) String() string {
	switch api := k.API(); api {
	case V1beta1:
		return k.NamespacedName.String()
	case "":
		return k.NamespacedName.String() + " (" + string(k.GroupKind) + ")"
	default:
		return k.NamespacedName.String() + " (" + string(api) + ")"
	}
}

// Decision returns the key of a PlacementDecision of the placement's API and namespace.
func (k Key) Decision(name string) DecisionKey {
	return DecisionKey{API: k.API(), NamespacedName: types.NamespacedName{Namespace: k.Namespace, Name: name}}
}

// Compare orders keys by namespace, name and kind.
func (k Key) Compare(other Key) int {
	return cmp.Or(cmp.Compare(k.Namespace, other.Namespace), cmp.Compare(k.Name, other.Name), cmp.Compare(k.GroupKind, other.GroupKind))
}

// DecisionKey identifies a PlacementDecision.
type DecisionKey struct {
	types.NamespacedName

	API API
}
