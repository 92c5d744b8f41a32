// SPDX-License-Identifier: Apache-2.0

package api

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/placement-hub/placement-hub/pkg/inventory"
)

// Adapter is an API of Placements.
type Adapter interface {
	// Kind returns the kind of its Placements. Their group is the name of the API.
	Kind() schema.GroupVersionKind
	// Name returns the name of the API group.
	Name() inventory.API
	// Codec returns the format of its decisions.
	Codec() Codec
	// Empty returns a new object to decode a Placement into.
	Empty() Object
	// EmptyList returns a new object to decode several into.
	EmptyList() runtime.Object
	// Read returns the Placement of an object of the API; nil for another type.
	Read(object runtime.Object) *Placement
	// Spec returns the spec fields of an object that all APIs have, to change them; the zero Spec for another type.
	Spec(object runtime.Object) Spec
	// Status returns the status in the type of the API.
	Status(status Status) any
	// WithoutStatus returns a copy of an object of the API without its status, and the empty status to decode one into; nil for another type. The
	// copy shares the metadata and the spec with the object.
	WithoutStatus(object Object) (copied Object, status any)
}

// Spec points to fields in the spec of a Placement.
type Spec struct {
	// ClusterSets are the names of ManagedClusterSets.
	ClusterSets *[]string
	// NumberOfClusters is the wanted number of clusters; nil means all feasible clusters.
	NumberOfClusters **int32
}

// Adapters returns the table of all APIs.
func Adapters() []Adapter { return []Adapter{V1beta1, V1alpha1} }

// Find returns the adapter of an API; false if there is none. The name is the API group, the version, "group/version" as in apiVersion, or
// "version.group".
func Find(name string) (Adapter, bool) {
	for _, adapter := range Adapters() {
		version := adapter.Kind().GroupVersion()
		if slices.Contains([]string{version.Group, version.Version, version.String(), version.Version + "." + version.Group}, name) {
			return adapter, true
		}
	}
	return nil, false
}

// Of returns the adapter of the Placement of a key. It panics for a key that is not of an API of the table.
func Of(key inventory.Key) Adapter {
	for _, adapter := range Adapters() {
		if adapter.Kind().Group == string(key.API()) {
			return adapter
		}
	}
	panic(fmt.Sprintf("%s is of no known API", key))
}

// GroupVersions lists the APIs as "group/version", with a separator between two of them.
func GroupVersions(separator string) string {
	names := make([]string, 0, len(Adapters()))
	for _, adapter := range Adapters() {
		names = append(names, adapter.Kind().GroupVersion().String())
	}
	return strings.Join(names, separator)
}

// Read returns the Placement of an object of any API; nil for another type.
func Read(object runtime.Object) *Placement {
	for _, adapter := range Adapters() {
		if placement := adapter.Read(object); placement != nil {
			return placement
		}
	}
	return nil
}

// SpecOf returns the Spec of an object of any API; the zero Spec for another type.
func SpecOf(object runtime.Object) Spec {
	for _, adapter := range Adapters() {
		if spec := adapter.Spec(object); spec != (Spec{}) {
			return spec
		}
	}
	return Spec{}
}
