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

// Shown are the objects that the answer to a question may show.
type Shown struct {
	Namespace string
	Named     map[inventory.Key]bool
	Kinds     map[schema.GroupKind]bool
	// Delivered reports that objects of a delivered kind are among them.
	Delivered bool
}

// ShownIn returns the objects that the answer to a question may show: those that it names, and those of its kinds in the namespace.
func (h *Hub) ShownIn(question *endpoint.Question) *Shown {
	shown := &Shown{Namespace: question.Namespace, Named: map[inventory.Key]bool{}, Kinds: map[schema.GroupKind]bool{}}
	for _, object := range question.Objects {
		shown.Named[KeyOf(object, question.Namespace)] = true
		shown.Delivered = shown.Delivered || h.delivers(object.GroupKind())
	}
	for _, kind := range question.Kinds {
		shown.Kinds[kind.GroupKind()] = true
		shown.Delivered = shown.Delivered || h.delivers(kind.GroupKind())
	}
	return shown
}

func (h *Hub) delivers(kind schema.GroupKind) bool {
	return slices.ContainsFunc(h.Delivered, func(delivered federation.FederatedKind) bool { return kind == delivered.GroupKind() })
}

// Has reports whether a Placement or an object that is delivered may be shown.
func (s *Shown) Has(key inventory.Key) bool {
	return s.Named[key] || key.Namespace == s.Namespace && s.Kinds[schema.ParseGroupKind(string(key.GroupKind))]
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
