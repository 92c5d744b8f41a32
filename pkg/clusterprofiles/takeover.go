// SPDX-License-Identifier: Apache-2.0

package clusterprofiles

import (
	"errors"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// maxFieldManagerLength is the number of bytes that the API server allows in the name of a field manager.
const maxFieldManagerLength = 128

// ValidateFieldManagers returns what is wrong with the names of field managers to take ClusterProfiles over from.
func ValidateFieldManagers(managers []string) error {
	for i, manager := range managers {
		switch {
		case manager == "":
			return errors.New("a name of a field manager is empty; leave it out")
		case manager == FieldManager:
			return fmt.Errorf("%q is the field manager of the hub itself; name that of the former writer", manager)
		case len(manager) > maxFieldManagerLength:
			return fmt.Errorf("the name of a field manager has at most %d bytes, and %.20q... has %d; see metadata.managedFields of a ClusterProfile",
				maxFieldManagerLength, manager, len(manager))
		case slices.Contains(managers[:i], manager):
			return fmt.Errorf("%q is named twice; name it once", manager)
		}
	}
	return nil
}

// TakeOver returns the entries of a ClusterProfile about field managers after the fields that the hub says in ClusterProfiles, and that the named
// managers own, have become the hub's. It returns false if they own none. Other fields keep their owners, such as the ways to access a cluster.
// It changes nothing of the given entries.
func TakeOver(entries []metav1.ManagedFieldsEntry, managers []string) ([]metav1.ManagedFieldsEntry, bool) {
	var rest []metav1.ManagedFieldsEntry
	taken := map[string]*metav1.ManagedFieldsEntry{} // By subresource.
	for _, entry := range entries {
		said, others := &fieldpath.Set{}, &fieldpath.Set{}
		if slices.Contains(managers, entry.Manager) {
			said, others = split(entry)
		}
		if said.Empty() {
			rest = append(rest, entry)
			continue
		}
		own := taken[entry.Subresource]
		if own == nil {
			own = ownEntry(entries, entry)
			taken[entry.Subresource] = own
		}
		own.FieldsV1 = fields(fieldsOf(*own).Union(said))
		if !others.Empty() {
			entry.FieldsV1 = fields(others)
			rest = append(rest, entry)
		}
	}
	if len(taken) == 0 {
		return nil, false
	}

	rest = slices.DeleteFunc(rest, func(entry metav1.ManagedFieldsEntry) bool {
		return IsOwn(entry) && taken[entry.Subresource] != nil
	})
	for _, subresource := range []string{"", "status"} {
		if own := taken[subresource]; own != nil {
			rest = append(rest, *own)
		}
	}
	return rest, true
}

// ownEntry returns a copy of the entry of the hub for the subresource of another entry. If there is none, it is one without fields.
func ownEntry(entries []metav1.ManagedFieldsEntry, of metav1.ManagedFieldsEntry) *metav1.ManagedFieldsEntry {
	for _, entry := range entries {
		if IsOwn(entry) && entry.Subresource == of.Subresource {
			return entry.DeepCopy()
		}
	}
	own := of.DeepCopy()
	own.Manager, own.Operation, own.FieldsV1 = FieldManager, metav1.ManagedFieldsOperationApply, nil
	return own
}

// split returns the fields of an entry that the hub says in ClusterProfiles, and the others. An entry that cannot be read has none that the hub says.
func split(entry metav1.ManagedFieldsEntry) (said, others *fieldpath.Set) {
	said, others = &fieldpath.Set{}, &fieldpath.Set{}
	fieldsOf(entry).Iterate(func(path fieldpath.Path) {
		if isSaid(path) {
			said.Insert(path.Copy())
		} else {
			others.Insert(path.Copy())
		}
	})
	return said, others
}

// isSaid reports whether the hub says a field in ClusterProfiles. The lists and maps themselves may have items of others, and are not said.
func isSaid(path fieldpath.Path) bool {
	if len(path) < 2 || path[0].FieldName == nil || path[1].FieldName == nil {
		return false
	}
	switch *path[0].FieldName + "." + *path[1].FieldName {
	case "spec.displayName", "spec.clusterManager", "status.version":
		return true
	case "metadata.labels":
		return len(path) > 2 && path[2].FieldName != nil && slices.Contains(ownLabels, *path[2].FieldName)
	case "status.properties":
		return len(path) > 2
	case "status.conditions":
		return len(path) > 2 && slices.ContainsFunc(ownConditions, func(condition string) bool {
			return path[2].Equals(fieldpath.KeyElementByFields("type", condition))
		})
	}
	return false
}

// fieldsOf returns the fields of an entry; none if it cannot be read.
func fieldsOf(entry metav1.ManagedFieldsEntry) *fieldpath.Set {
	set := &fieldpath.Set{}
	if entry.FieldsV1 == nil || set.FromJSON(entry.FieldsV1.GetRawReader()) != nil {
		return &fieldpath.Set{}
	}
	return set
}

// fields returns a set as an entry has it.
func fields(set *fieldpath.Set) *metav1.FieldsV1 {
	content, err := set.ToJSON()
	if err != nil {
		panic(err) // A set that was read from JSON has a JSON.
	}
	return metav1.NewFieldsV1(string(content))
}
