// SPDX-License-Identifier: Apache-2.0

package changes

import (
	"encoding/json"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/placement-hub/placement-hub/pkg/history"
)

// SetManagers fills in who has written the changes of an object, by its managedFields after them. last is the time of its latest entry before them;
// zero if that is not known.
func SetManagers(changes []Change, entries []metav1.ManagedFieldsEntry, last time.Time) {
	for i := range changes {
		change := &changes[i]
		entry := writer(change, entries, last)
		if entry != nil {
			change.Manager, change.Operation = entry.Manager, string(entry.Operation)
		}
	}
}

// writer returns the entry of who has written a Change; nil if that is not known. Of a field that exists it is the newest entry that owns the field.
// What was removed has no owner, but the list that it was in may have one, which is newer than all entries were before. Otherwise it is the only
// entry that is newer.
func writer(change *Change, entries []metav1.ManagedFieldsEntry, last time.Time) *metav1.ManagedFieldsEntry {
	switch change.Action {
	case history.Deleted:
		return nil
	case history.Created:
		return newest(entries, func(entry *metav1.ManagedFieldsEntry) bool { return entry.Subresource == "" })
	default:
	}
	owner := newest(entries, func(entry *metav1.ManagedFieldsEntry) bool { return owns(entry, change.path) })
	if owner != nil && (change.Action != history.Removed || !last.IsZero() && owner.Time.After(last)) {
		return owner
	}
	return only(entries, last)
}

// newest returns the newest of the entries that are meant.
func newest(entries []metav1.ManagedFieldsEntry, meant func(*metav1.ManagedFieldsEntry) bool) *metav1.ManagedFieldsEntry {
	var found *metav1.ManagedFieldsEntry
	for i := range entries {
		entry := &entries[i]
		if entry.Time != nil && (found == nil || found.Time.Before(entry.Time)) && meant(entry) {
			found = entry
		}
	}
	return found
}

// only returns the entry that is newer than a time; nil if there are none or several, or the time is not known.
func only(entries []metav1.ManagedFieldsEntry, last time.Time) *metav1.ManagedFieldsEntry {
	if last.IsZero() {
		return nil
	}
	var found *metav1.ManagedFieldsEntry
	for i := range entries {
		if entries[i].Time == nil || !entries[i].Time.After(last) {
			continue
		}
		if found != nil {
			return nil
		}
		found = &entries[i]
	}
	return found
}

// owns reports whether an entry owns a field, or all of a list or map that the field is in.
func owns(entry *metav1.ManagedFieldsEntry, path []string) bool {
	if entry.FieldsV1 == nil || len(path) == 0 {
		return false
	}
	raw := json.RawMessage(entry.FieldsV1.GetRawBytes())
	for _, name := range path {
		var fields map[string]json.RawMessage
		if json.Unmarshal(raw, &fields) != nil {
			return false
		}
		next, there := fields["f:"+name]
		if !there {
			return false
		}
		if string(next) == "{}" {
			return true
		}
		raw = next
	}
	return true
}

// LatestTime returns the time of the latest entry; zero if there is none.
func LatestTime(entries []metav1.ManagedFieldsEntry) time.Time {
	if entry := newest(entries, func(*metav1.ManagedFieldsEntry) bool { return true }); entry != nil {
		return entry.Time.Time
	}
	return time.Time{}
}
