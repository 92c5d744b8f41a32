package inventory

import (
	"k8s.io/apimachinery/pkg/types"
)

// API tells apart the APIs that placements and their decisions are written in; it is the name of the API group. Objects of two APIs
// may have one name.
type API string

// The APIs.
const (
	V1beta1  API = "cluster.open-cluster-management.io"
	V1alpha1 API = "placement.open-cluster-management.io"
)

// PlacementKey names a placement.
type PlacementKey struct {
	types.NamespacedName

	API API
}

// String is "namespace/name", followed by the API group if it is not that of v1beta1.
func (k PlacementKey) String() string {
	if k.API == V1beta1 {
		return k.NamespacedName.String()
	}

	return k.NamespacedName.String() + " (" + string(k.API) + ")"
}

// DecisionKey names a PlacementDecision.
type DecisionKey struct {
	types.NamespacedName

	API API
}

// NewPlacementKey names a placement of an API.
func NewPlacementKey(api API, namespace, name string) PlacementKey {
	return PlacementKey{API: api, NamespacedName: types.NamespacedName{Namespace: namespace, Name: name}}
}

// Decision names a PlacementDecision of the placement's API and namespace.
func (k PlacementKey) Decision(name string) DecisionKey {
	return DecisionKey{API: k.API, NamespacedName: types.NamespacedName{Namespace: k.Namespace, Name: name}}
}
