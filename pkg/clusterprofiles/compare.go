// SPDX-License-Identifier: Apache-2.0

package clusterprofiles

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterinventory "sigs.k8s.io/cluster-inventory-api/apis/v1alpha1"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// Write says what of a ClusterProfile is to be applied.
type Write struct {
	Object, Status bool
}

// Any reports whether there is anything to apply.
func (w Write) Any() bool { return w.Object || w.Status }

// Compare returns what has to be applied so that a ClusterProfile, which may be compact, says what the Profile does, and no more of what the hub has
// said before; nil is none. Fields of others are no reason to write. A field whose value is right and that the hub has not applied yet is one: from
// then on the hub owns it too.
func (p *Profile) Compare(present *clusterinventory.ClusterProfile) Write {
	if present == nil {
		present = &clusterinventory.ClusterProfile{}
	}
	wanted, is := p.digests(), digestsOf(present)
	return Write{Object: wanted.object != is.object, Status: wanted.status != is.status}
}

// applied returns what of a ClusterProfile the hub has applied, as a Profile whose lists are sorted.
func applied(present *clusterinventory.ClusterProfile) *Profile {
	by := owner{Owns(present.ManagedFields)}
	profile := &Profile{Name: present.Name, Labels: map[string]string{}}
	for key, value := range present.Labels {
		if by.owns("metadata", "labels", key) {
			profile.Labels[key] = value
		}
	}
	if by.owns("spec", "displayName") {
		profile.Spec.DisplayName = present.Spec.DisplayName
	}
	if by.owns("spec", "clusterManager") {
		profile.Spec.ClusterManager.Name = present.Spec.ClusterManager.Name
	}

	if by.owns("status", "version", "kubernetes") {
		profile.Status.Version = &Version{Kubernetes: present.Status.Version.Kubernetes}
	}
	for _, known := range present.Status.Properties {
		if by.owns("status", "properties", fieldpath.KeyByFields("name", known.Name)) {
			profile.Status.Properties = append(profile.Status.Properties, Property{Name: known.Name, Value: known.Value})
		}
	}
	for _, known := range present.Status.Conditions {
		if by.owns("status", "conditions", fieldpath.KeyByFields("type", known.Type)) {
			profile.Status.Conditions = append(profile.Status.Conditions, Condition{
				Type: known.Type, Status: known.Status, Reason: known.Reason, Message: known.Message, LastTransitionTime: known.LastTransitionTime,
			})
		}
	}
	slices.SortFunc(profile.Status.Properties, func(a, b Property) int { return strings.Compare(a.Name, b.Name) })
	slices.SortFunc(profile.Status.Conditions, func(a, b Condition) int { return strings.Compare(a.Type, b.Type) })
	return profile
}

// owner has the fields of an object that one field manager has applied.
type owner struct{ fields *fieldpath.Set }

// owns reports whether a field, or a field within it, is one of them.
func (o owner) owns(path ...any) bool {
	of := fieldpath.MakePathOrDie(path...)
	if o.fields.Has(of) {
		return true
	}
	within := o.fields
	for _, element := range of {
		within = within.WithPrefix(element)
	}
	return !within.Empty()
}

// AppliedByHub reports whether the hub has applied anything of a ClusterProfile, which may be compact.
func AppliedByHub(profile *clusterinventory.ClusterProfile) bool {
	return slices.ContainsFunc(profile.ManagedFields, isOwn)
}

// FieldManager is the field manager of the ClusterProfiles that the hub applies.
const FieldManager = "placement-hub-clusterprofiles"

// Owns returns the fields that the hub has applied, of the entries of an object about field managers. An entry that cannot be read counts as none,
// so that the hub applies its fields again.
func Owns(entries []metav1.ManagedFieldsEntry) *fieldpath.Set {
	owned := &fieldpath.Set{}
	for _, entry := range entries {
		if isOwn(entry) {
			owned = owned.Union(fieldsOf(entry))
		}
	}
	return owned
}
