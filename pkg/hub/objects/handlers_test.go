// SPDX-License-Identifier: Apache-2.0

package objects

import (
	"context"
	"fmt"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

func versioned(version string) *corev1.ConfigMap {
	object := configMap()
	object.ResourceVersion = version
	return object
}

func versionOf(object *corev1.ConfigMap) string {
	if object == nil {
		return "none"
	}
	return object.ResourceVersion
}

func TestOn(t *testing.T) {
	var told string
	handler := On(func(before, after *corev1.ConfigMap, initial bool) {
		told = fmt.Sprintf("%s to %s, initial %t", versionOf(before), versionOf(after), initial)
	}, func(last *corev1.ConfigMap) { told = "gone at " + versionOf(last) })
	for _, tc := range []struct {
		reason string
		event  func()
		want   string
	}{
		{"an object of the initial list", func() { handler.OnAdd(versioned("1"), true) }, "none to 1, initial true"},
		{"a new object", func() { handler.OnAdd(versioned("1"), false) }, "none to 1, initial false"},
		{"a change", func() { handler.OnUpdate(versioned("1"), versioned("2")) }, "1 to 2, initial false"},
		{"a deletion", func() { handler.OnDelete(versioned("2")) }, "gone at 2"},
		{"a deletion that was missed", func() {
			handler.OnDelete(toolscache.DeletedFinalStateUnknown{Key: "default/x", Obj: versioned("2")})
		}, "gone at 2"},
		{"a deletion of an unknown state", func() { handler.OnDelete(toolscache.DeletedFinalStateUnknown{Key: "default/x"}) }, ""},
		{"an object of another kind", func() {
			handler.OnAdd(cluster(), false)
			handler.OnUpdate(cluster(), cluster())
			handler.OnUpdate(cluster(), versioned("1"))
			handler.OnDelete(cluster())
		}, ""},
	} {
		told = ""
		tc.event()
		if told != tc.want {
			t.Errorf("%s: got %q, want %q", tc.reason, told, tc.want)
		}
	}
}

// enqueued is a queue that records what is added to it.
type enqueued struct {
	workqueue.TypedRateLimitingInterface[reconcile.Request]

	names []string
}

func (e *enqueued) Add(request reconcile.Request) { e.names = append(e.names, request.Name) }

func TestHandler(t *testing.T) {
	request := func(format string, args ...any) []reconcile.Request {
		return []reconcile.Request{{NamespacedName: types.NamespacedName{Name: fmt.Sprintf(format, args...)}}, {}}
	}
	handler := Handler(func(_ context.Context, before, after *corev1.ConfigMap, initial bool) []reconcile.Request {
		return request("%s to %s, initial %t", versionOf(before), versionOf(after), initial)
	}, func(_ context.Context, last *corev1.ConfigMap) []reconcile.Request {
		return request("gone at %s", versionOf(last))
	})
	for _, tc := range []struct {
		reason string
		event  func(*enqueued)
		want   []string
	}{
		{"an object of the initial list", func(q *enqueued) {
			handler.Create(t.Context(), event.CreateEvent{Object: versioned("1"), IsInInitialList: true}, q)
		}, []string{"none to 1, initial true", ""}},
		{"a change", func(q *enqueued) {
			handler.Update(t.Context(), event.UpdateEvent{ObjectOld: versioned("1"), ObjectNew: versioned("2")}, q)
		}, []string{"1 to 2, initial false", ""}},
		{"a deletion", func(q *enqueued) {
			handler.Delete(t.Context(), event.DeleteEvent{Object: versioned("2"), DeleteStateUnknown: true}, q)
		}, []string{"gone at 2", ""}},
		{"an object of another kind", func(q *enqueued) {
			var other client.Object = cluster()
			handler.Create(t.Context(), event.CreateEvent{Object: other}, q)
			handler.Update(t.Context(), event.UpdateEvent{ObjectOld: other, ObjectNew: other}, q)
			handler.Delete(t.Context(), event.DeleteEvent{Object: other}, q)
		}, nil},
	} {
		q := &enqueued{}
		tc.event(q)
		if !slices.Equal(q.names, tc.want) {
			t.Errorf("%s: enqueued %q, want %q", tc.reason, q.names, tc.want)
		}
	}
}
