// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	workv1 "open-cluster-management.io/api/work/v1"

	"github.com/placement-hub/placement-hub/pkg/federation"
)

// federated-selector 3.1.5: an Event names the clusters and finalizers that have kept works for a minute, whether the object is being deleted or a
// cluster alone has lost it. In a Namespace that is being deleted the Event is about the Namespace.
func TestFinalizersThatKeepWorks(t *testing.T) {
	for name, c := range map[string]struct {
		lose    func(*world)
		during  string
		want    string
		message string
	}{
		"the object is deleted": {
			lose:   func(w *world) { w.check(w.store.Delete(w.t.Context(), selecting(""))) },
			during: "waiting for clusters eu1, eu2 to remove team-a/x",
			want:   "Warning DeletionWaiting: waiting for clusters eu1, eu2 to remove team-a/x; finalizers keep the ManifestWork ",
		},
		"its Namespace is deleted": {
			lose: func(w *world) {
				change(w, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespaceName}}, func(n *corev1.Namespace) {
					n.Finalizers = []string{"example.com/namespace"}
				})
				w.check(w.store.Delete(w.t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespaceName}}))
				w.check(w.store.Delete(w.t.Context(), selecting("")))
			},
			during: "waiting for clusters eu1, eu2 to remove team-a/x",
			want: "Warning DeletionWaiting: ConfigMap/team-a/x: waiting for clusters eu1, eu2 to remove team-a/x; " +
				"finalizers keep the ManifestWork ",
		},
		"no cluster is selected any more": {
			lose: func(w *world) { w.selectLocation("usa") },
			want: "Warning DeletionWaiting: finalizers keep the ManifestWork ",
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, selecting("europe"))
			w.settle()
			w.withAgents()
			change(w, w.work("eu2"), func(work *workv1.ManifestWork) { work.Finalizers = append(work.Finalizers, "example.com/hold") })

			c.lose(w)
			w.settle()
			first, last := w.work("eu1").DeletionTimestamp, w.work("eu2").DeletionTimestamp
			if last.Before(first) {
				first, last = last, first
			}
			w.time.SetTime(first.Add(federation.FinalizerTimeout - time.Second))
			wait, err := w.reconcileOnce(keyOfConfigMap("x"))
			w.check(err)
			if wait == 0 || wait > deletionRetry {
				t.Errorf("the next look is after %v, want the time that is left", wait)
			}
			if told := w.told(); slices.ContainsFunc(told, func(event string) bool { return strings.Contains(event, "finalizers") }) {
				t.Errorf("before a minute is over, the Events are %q", told)
			} else if c.during != "" && !slices.ContainsFunc(told, func(event string) bool { return strings.Contains(event, c.during) }) {
				t.Errorf("before a minute is over, the Events are %q, want one with %q", told, c.during)
			}

			w.time.SetTime(last.Add(federation.FinalizerTimeout + time.Second))
			for range 3 {
				_, err = w.reconcileOnce(keyOfConfigMap("x"))
				w.check(err)
			}
			const names = "in clusters eu1 (cluster.open-cluster-management.io/manifest-work-cleanup), " +
				"eu2 (cluster.open-cluster-management.io/manifest-work-cleanup, example.com/hold); " +
				"ask an administrator of the hub if the agents do not remove them"
			told := w.told()
			if len(told) != 1 || !strings.HasPrefix(told[0], c.want) || !strings.Contains(told[0], names) {
				t.Errorf("after a minute, the Events are %q, want one that begins with %q and has %q", told, c.want, names)
			}
		})
	}
}
