package inventory

import (
	"k8s.io/apimachinery/pkg/types"
)

// API is the name of the API group of a placement and its decisions. Objects of two APIs may have the same name.
type API string

// The APIs of placements.
const (
	V1beta1  API = "cluster.open-cluster-management.io"
	V1alpha1 API = "placement.open-cluster-management.io"
)

// PlacementKey identifies a placement.
type PlacementKey struct {
	types.NamespacedName

	API API
}

// String returns "namespace/name", followed by the API group if it is not V1beta1.
func (k PlacementKey) String() string {
	if k.API == V1beta1 {
		return k.NamespacedName.String()
	}

	return k.NamespacedName.String() + " (" + string(k.API) + ")"
}

// DecisionKey identifies a PlacementDecision.
type DecisionKey struct {
	types.NamespacedName

	API API
}

// NewPlacementKey returns the key of a placement.
func NewPlacementKey(api API, namespace, name string) PlacementKey {
	return PlacementKey{API: api, NamespacedName: types.NamespacedName{Namespace: namespace, Name: name}}
}

// Decision returns the key of a PlacementDecision of the placement's API and namespace.
func (k PlacementKey) Decision(name string) DecisionKey {
	return DecisionKey{API: k.API, NamespacedName: types.NamespacedName{Namespace: k.Namespace, Name: name}}
}
