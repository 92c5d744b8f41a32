// SPDX-License-Identifier: Apache-2.0

package recorder

import (
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/placement-hub/placement-hub/pkg/history"
	"github.com/placement-hub/placement-hub/pkg/history/changes"
)

// fields has the managedFields of objects between the watch and the event handlers, and the times of the latest entries that were seen. It is safe
// for concurrent use.
type fields struct {
	mu sync.Mutex
	// waiting are in the order of arrival in order; what the event handlers have not taken in time goes.
	waiting     map[version][]metav1.ManagedFieldsEntry
	order       []waiting
	bytes, most int
	// latest has the time of the latest entry of each object, of at most mostObjects.
	latest      map[types.UID]time.Time
	mostObjects int
}

// version is a state of an object.
type version struct {
	uid     types.UID
	version string
}

type waiting struct {
	version version
	size    int
}

const (
	// waitingSize and latestSize are what an entry of waiting and of latest take beside texts.
	waitingSize = 200
	latestSize  = 160
)

// newFields returns fields of at most a number of bytes: three quarters for those that wait, and the rest for the times.
func newFields(bytes int) *fields {
	return &fields{
		waiting: map[version][]metav1.ManagedFieldsEntry{}, most: bytes * 3 / 4,
		latest: map[types.UID]time.Time{}, mostObjects: bytes / 4 / latestSize,
	}
}

// put keeps the entries of an object until they are taken.
func (f *fields) put(object metav1.Object) {
	entries := object.GetManagedFields()
	size := waitingSize
	for i := range entries {
		size += 100
		if entries[i].FieldsV1 != nil {
			size += len(entries[i].FieldsV1.GetRawBytes())
		}
	}
	key := version{object.GetUID(), object.GetResourceVersion()}
	f.mu.Lock()
	defer f.mu.Unlock()
	if size > f.most {
		return
	}
	if _, twice := f.waiting[key]; twice {
		return
	}
	f.waiting[key] = entries
	f.order = append(f.order, waiting{key, size})
	f.bytes += size
	for f.bytes > f.most {
		f.dropFirst()
	}
}

// dropFirst drops what has waited longest.
func (f *fields) dropFirst() {
	delete(f.waiting, f.order[0].version)
	f.bytes -= f.order[0].size
	f.order = f.order[1:]
}

// take returns the entries of an object, which is nil if they are not known, and the time of the latest entry of its state before; zero if that is
// not known.
func (f *fields) take(object metav1.Object) (entries []metav1.ManagedFieldsEntry, last time.Time) {
	key := version{object.GetUID(), object.GetResourceVersion()}
	f.mu.Lock()
	defer f.mu.Unlock()
	entries, known := f.waiting[key]
	if !known {
		delete(f.latest, key.uid) // The next state has an unknown one before it.
		return nil, time.Time{}
	}
	delete(f.waiting, key)
	for len(f.order) > 0 { // Events of one kind come in their order, so that the first is mostly the one that was taken.
		if _, waits := f.waiting[f.order[0].version]; waits {
			break
		}
		f.dropFirst()
	}
	last = f.latest[key.uid]
	if _, known := f.latest[key.uid]; known || len(f.latest) < f.mostObjects {
		f.latest[key.uid] = changes.LatestTime(entries)
	}
	return entries, last
}

// forget forgets a deleted object.
func (f *fields) forget(uid types.UID) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.latest, uid)
}

// shareOf divides the bytes of a history: three quarters are for rows, an eighth for changes, and an eighth for managedFields.
func shareOf(bytes int) (rows *history.Ring, log *changes.Log, managed *fields) {
	return history.NewRing(bytes * 3 / 4), changes.NewLog(bytes / 8), newFields(bytes / 8)
}
