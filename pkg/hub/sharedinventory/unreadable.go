// SPDX-License-Identifier: Apache-2.0

package sharedinventory

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/decoding/unreadable"
	"github.com/placement-hub/placement-hub/pkg/hub/objects"
	"github.com/placement-hub/placement-hub/pkg/hub/problems"
	"github.com/placement-hub/placement-hub/pkg/metrics"
)

const (
	// unreadableReason and readAction are the reason and action of events about unreadable fields.
	unreadableReason = "UnreadableFields"
	readAction       = "Read"
	// longestFields is the maximum length of the list of fields in such an event, in bytes: the API server accepts notes of up to 1024.
	longestFields = 700
)

// unreadables has the objects with fields that the hub cannot decode. It counts them in a metric, and sends an event about each once a
// recorder is set. It is safe for concurrent use.
type unreadables struct {
	mu       sync.Mutex
	recorder events.EventRecorder
	// problems has those of which events were sent; nil before the election.
	problems *problems.Memory[corev1.ObjectReference]
	known    map[schema.GroupVersionKind]map[types.NamespacedName]unreadableObject
}

type unreadableObject struct {
	reference           corev1.ObjectReference
	fields, consequence string
	// since is when this process has seen the fields first, and for an object of the initial list when it was created.
	since time.Time
}

func newUnreadables() *unreadables {
	return &unreadables{known: map[schema.GroupVersionKind]map[types.NamespacedName]unreadableObject{}}
}

// handler returns the event handler for a kind. The consequence is a sentence about what the hub does without the fields.
func (u *unreadables) handler(kind schema.GroupVersionKind, consequence string) toolscache.ResourceEventHandler {
	return objects.On(func(_, after client.Object, initial bool) {
		since := time.Now()
		if initial {
			since = after.GetCreationTimestamp().Time
		}
		u.note(kind, after, consequence, since)
	},
		func(last client.Object) { u.drop(kind, client.ObjectKeyFromObject(last)) })
}

// warn sends events about the known objects that the former leader cannot have seen, and from now on about new ones.
func (u *unreadables) warn(recorder events.EventRecorder, formerRenewal func() time.Time) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.recorder, u.problems = recorder, problems.New[corev1.ObjectReference](clock.RealClock{}, formerRenewal)
	for _, objects := range u.known {
		for _, key := range slices.SortedFunc(maps.Keys(objects), func(a, b types.NamespacedName) int {
			return strings.Compare(a.String(), b.String())
		}) {
			u.send(objects[key])
		}
	}
}

func (u *unreadables) note(kind schema.GroupVersionKind, object client.Object, consequence string, since time.Time) {
	fields := unreadable.Of(object)
	if len(fields) == 0 {
		u.drop(kind, client.ObjectKeyFromObject(object))
		return
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.known[kind] == nil {
		u.known[kind] = map[types.NamespacedName]unreadableObject{}
	}

	noted := unreadableObject{since: since, fields: fields.String(), consequence: consequence, reference: corev1.ObjectReference{
		APIVersion: kind.GroupVersion().String(), Kind: kind.Kind, Namespace: object.GetNamespace(), Name: object.GetName(), UID: object.GetUID(),
	}}
	if before, again := u.known[kind][client.ObjectKeyFromObject(object)]; again && before.fields == noted.fields {
		noted.since = before.since
	}
	u.known[kind][client.ObjectKeyFromObject(object)] = noted
	u.count(kind)
	u.send(noted)
}

func (u *unreadables) drop(kind schema.GroupVersionKind, key types.NamespacedName) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if object, known := u.known[kind][key]; known {
		if u.problems != nil {
			u.problems.Forget(object.reference)
		}
		delete(u.known[kind], key)
		u.count(kind)
	}
}

func (u *unreadables) count(kind schema.GroupVersionKind) {
	metrics.Unreadable.WithLabelValues(kind.Group, kind.Kind).Set(float64(len(u.known[kind])))
}

// send sends an event about an object after the election, unless one was sent: a heartbeat that changes nothing of it is no reason to warn again.
func (u *unreadables) send(object unreadableObject) {
	if u.recorder == nil {
		return
	}
	fresh, err := u.problems.New(object.reference, problems.Look{
		Notes:   map[string]string{unreadableReason: object.fields},
		Changed: func() (time.Time, error) { return object.since, nil },
	})
	if err != nil || len(fresh) == 0 { // There is no error: the time is known.
		return
	}

	fields := object.fields
	if len(fields) > longestFields {
		fields = strings.ToValidUTF8(fields[:longestFields-len("...")], "") + "..."
	}
	u.recorder.Eventf(&object.reference, nil, corev1.EventTypeWarning, unreadableReason, readAction, "%s",
		fmt.Sprintf("%s. %s Clients written in Go cannot read this object, nor lists that it is in: correct the fields.",
			fields, object.consequence))
}
