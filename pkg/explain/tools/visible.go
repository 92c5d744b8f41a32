// SPDX-License-Identifier: Apache-2.0

package tools

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/placement-hub/placement-hub/pkg/explain/endpoint"
	"github.com/placement-hub/placement-hub/pkg/federation"
	"github.com/placement-hub/placement-hub/pkg/inventory"
)

// Visible are the objects that the answer to a question may show.
type Visible struct {
	Namespace string
	Objects   map[inventory.Key]bool
	Kinds     map[schema.GroupKind]bool
	// Delivered reports that objects of a delivered kind are among them.
	Delivered bool
}

// VisibleIn returns the objects that the answer to a question may show: those that it names, and those of its kinds in the namespace.
func (h *Hub) VisibleIn(question *endpoint.Question) *Visible {
	visible := &Visible{Namespace: question.Namespace, Objects: map[inventory.Key]bool{}, Kinds: map[schema.GroupKind]bool{}}
	for _, object := range question.Objects {
		visible.Objects[KeyOf(object, question.Namespace)] = true
		visible.Delivered = visible.Delivered || h.delivers(object.GroupKind())
	}
	for _, kind := range question.Kinds {
		visible.Kinds[kind.GroupKind()] = true
		visible.Delivered = visible.Delivered || h.delivers(kind.GroupKind())
	}
	return visible
}

func (h *Hub) delivers(kind schema.GroupKind) bool {
	return slices.ContainsFunc(h.Delivered, func(delivered federation.FederatedKind) bool { return kind == delivered.GroupKind() })
}

// Has reports whether a Placement or an object that is delivered may be visible.
func (v *Visible) Has(key inventory.Key) bool {
	return v.Objects[key] || key.Namespace == v.Namespace && v.Kinds[schema.ParseGroupKind(string(key.GroupKind))]
}

// KeyOf returns the key of an object of a question.
func KeyOf(object endpoint.Object, namespace string) inventory.Key {
	return inventory.Key{
		NamespacedName: types.NamespacedName{Namespace: namespace, Name: object.Name},
		GroupKind:      inventory.GroupKind(object.GroupKind().String()),
	}
}

// notInScope returns the error for a cluster that a namespace may not use, whether it exists or not.
func notInScope(cluster string) error {
	return fmt.Errorf("--cluster: there is no ManagedCluster %s in the sets that the namespace may use; correct the name", cluster)
}
