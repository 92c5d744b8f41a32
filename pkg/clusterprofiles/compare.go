// SPDX-License-Identifier: Apache-2.0

package clusterprofiles

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// Existing is what a ClusterProfile in the API server says.
type Existing struct {
	Labels map[string]string
	Spec   Spec
	Status Status
	// Owned are the fields of the object and of its status that the field manager of the hub has applied; nil for none.
	Owned *fieldpath.Set
}

// Write says what of a ClusterProfile is to be applied.
type Write struct {
	Object, Status bool
}

// Any reports whether there is anything to apply.
func (w Write) Any() bool { return w.Object || w.Status }

// Compare returns what has to be applied so that a ClusterProfile says what the Profile does, and no more of what the hub has said before. Fields of
// others are no reason to write. A field whose value is right and that the hub has not applied yet is one: from then on the hub owns it too.
func (p *Profile) Compare(existing *Existing) Write {
	return Write{Object: p.objectDiffers(existing), Status: p.statusDiffers(existing)}
}

func (p *Profile) objectDiffers(existing *Existing) bool {
	if existing.Spec != p.Spec || !existing.owns("spec", "displayName") || !existing.owns("spec", "clusterManager") {
		return true
	}
	for key, value := range p.Labels {
		if existing.Labels[key] != value || !existing.owns("metadata", "labels", key) {
			return true
		}
	}
	for key := range existing.Labels {
		if _, wanted := p.Labels[key]; !wanted && existing.owns("metadata", "labels", key) {
			return true
		}
	}
	return false
}

func (p *Profile) statusDiffers(existing *Existing) bool {
	version := existing.owns("status", "version", "kubernetes")
	switch wanted := p.Status.Version; {
	case wanted == nil && version:
		return true
	case wanted != nil && (existing.Status.Version == nil || *existing.Status.Version != *wanted || !version):
		return true
	}

	return differ(existing, "properties", "name", p.Status.Properties, existing.Status.Properties,
		func(p Property) string { return p.Name }, func(a, b Property) bool { return a == b }) ||
		differ(existing, "conditions", "type", p.Status.Conditions, existing.Status.Conditions,
			func(c Condition) string { return c.Type }, sameCondition)
}

// differ compares the items of a list of the status, which a field identifies.
func differ[T any](existing *Existing, list, field string, wanted, present []T, key func(T) string, same func(a, b T) bool) bool {
	owned := func(item T) bool {
		return existing.owns("status", list, fieldpath.KeyByFields(field, key(item)))
	}
	byKey := make(map[string]T, len(present))
	for _, item := range present {
		byKey[key(item)] = item
	}
	for _, item := range wanted {
		if found, exists := byKey[key(item)]; !exists || !same(item, found) || !owned(found) {
			return true
		}
		delete(byKey, key(item))
	}
	for _, rest := range byKey {
		if owned(rest) {
			return true
		}
	}
	return false
}

func sameCondition(a, b Condition) bool {
	return a.Status == b.Status && a.Reason == b.Reason && a.Message == b.Message && a.LastTransitionTime.Equal(&b.LastTransitionTime)
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
	for _, entry := range EntriesOf(entries) {
		owned = owned.Union(fieldsOf(entry))
	}
	return owned
}

// EntriesOf returns the entries of the hub, and of other field managers by their names.
func EntriesOf(entries []metav1.ManagedFieldsEntry, others ...string) []metav1.ManagedFieldsEntry {
	return slices.DeleteFunc(slices.Clone(entries), func(entry metav1.ManagedFieldsEntry) bool {
		return !isOwn(entry) && !slices.Contains(others, entry.Manager)
	})
}
