// SPDX-License-Identifier: Apache-2.0

package clusterprofiles

import (
	"crypto/sha256"
	"encoding/json"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// Write says what of a ClusterProfile is to be applied.
type Write struct {
	Object, Status bool
}

// Any reports whether there is anything to apply.
func (w Write) Any() bool { return w.Object || w.Status }

// Existing is what a ClusterProfile in the API server says.
type Existing struct {
	Labels map[string]string
	Spec   Spec
	Status Status
	// Owned are the fields of the object and of its status that the field manager of the hub has applied; nil for none.
	Owned *fieldpath.Set
}

// Digests are hashes of what the hub has applied of a ClusterProfile. Equal contents have equal Digests.
type Digests struct {
	Object, Status [sha256.Size]byte
}

// Compare returns what has to be applied so that a ClusterProfile with these digests says what the Profile does, and no more of what the hub has said
// before. Fields of others are no reason to write. A field whose value is right and that the hub has not applied yet is one: from then on the hub
// owns it too.
func (p *Profile) Compare(existing Digests) Write {
	wanted := p.digests()
	return Write{Object: wanted.Object != existing.Object, Status: wanted.Status != existing.Status}
}

// digests returns those of a ClusterProfile that says what the Profile does, whose lists are sorted.
func (p *Profile) digests() Digests {
	object := struct {
		Labels map[string]string
		Spec   Spec
	}{p.Labels, p.Spec}
	return Digests{Object: digest(object), Status: digest(p.Status)}
}

func digest(value any) [sha256.Size]byte {
	content, err := json.Marshal(value)
	if err != nil {
		panic(err) // Strings and times always have a JSON.
	}
	return sha256.Sum256(content)
}

// Digests returns those of what the hub has applied.
func (e *Existing) Digests() Digests {
	applied := &Profile{Labels: map[string]string{}}
	for key, value := range e.Labels {
		if e.owns("metadata", "labels", key) {
			applied.Labels[key] = value
		}
	}
	if e.owns("spec", "displayName") {
		applied.Spec.DisplayName = e.Spec.DisplayName
	}
	if e.owns("spec", "clusterManager") {
		applied.Spec.ClusterManager = e.Spec.ClusterManager
	}

	if e.owns("status", "version", "kubernetes") {
		applied.Status.Version = e.Status.Version
	}
	for _, property := range e.Status.Properties {
		if e.owns("status", "properties", fieldpath.KeyByFields("name", property.Name)) {
			applied.Status.Properties = append(applied.Status.Properties, property)
		}
	}
	for _, condition := range e.Status.Conditions {
		if e.owns("status", "conditions", fieldpath.KeyByFields("type", condition.Type)) {
			applied.Status.Conditions = append(applied.Status.Conditions, condition)
		}
	}
	slices.SortFunc(applied.Status.Properties, func(a, b Property) int { return strings.Compare(a.Name, b.Name) })
	slices.SortFunc(applied.Status.Conditions, func(a, b Condition) int { return strings.Compare(a.Type, b.Type) })
	return applied.digests()
}

// owns reports whether the hub has applied a field, or a field within it.
func (e *Existing) owns(path ...any) bool {
	if e.Owned == nil {
		return false
	}
	of := fieldpath.MakePathOrDie(path...)
	if e.Owned.Has(of) {
		return true
	}
	within := e.Owned
	for _, element := range of {
		within = within.WithPrefix(element)
	}
	return !within.Empty()
}

// FieldManager is the field manager of the ClusterProfiles that the hub applies.
const FieldManager = "placement-hub-clusterprofiles"

// Owns returns the fields that the hub has applied, of the entries of an object about field managers. An entry that cannot be read counts as none,
// so that the hub applies its fields again.
func Owns(entries []metav1.ManagedFieldsEntry) *fieldpath.Set {
	owned := &fieldpath.Set{}
	for _, entry := range entries {
		if IsOwn(entry) {
			owned = owned.Union(fieldsOf(entry))
		}
	}
	return owned
}

// IsOwn reports whether an entry is of what the hub has applied.
func IsOwn(entry metav1.ManagedFieldsEntry) bool {
	return entry.Manager == FieldManager && entry.Operation == metav1.ManagedFieldsOperationApply
}
