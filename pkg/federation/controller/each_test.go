// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/federation"
	"github.com/placement-hub/placement-hub/pkg/hub/freshness"
)

// europe is the number of clusters that the ConfigMap of newEurope is delivered to.
const europe = 60

// newEurope returns a world in which the ConfigMap x is delivered to many clusters.
func newEurope(t *testing.T) *world {
	t.Helper()
	objects := []client.Object{selecting("europe")}
	for i := 3; i <= europe; i++ {
		objects = append(objects, member(fmt.Sprintf("eu%d", i), map[string]string{"location": "europe"}))
	}
	w := newWorld(t, objects...)
	w.settle()
	w.expectWorks("at first", europe)
	w.written()
	return w
}

// expectWorks compares the number of works that are not being deleted.
func (w *world) expectWorks(what string, want int) {
	w.t.Helper()
	left := 0
	for cluster := range strings.FieldsSeq(w.clusters()) {
		if !strings.HasSuffix(cluster, "-") {
			left++
		}
	}
	if left != want {
		w.t.Errorf("%s: got %d works, want %d", what, left, want)
	}
}

// atFirst has a function called with the first write of a verb, before that is done.
func (w *world) atFirst(verb string, do func() error) {
	var once sync.Once
	w.fail = func(of, _ string) (err error) {
		if of == verb {
			once.Do(func() { err = do() })
		}
		return err
	}
}

// edit changes the metadata of an object, as a user does while the hub writes.
func (w *world) edit(object client.Object, to func(client.Object)) error {
	if err := w.store.Get(w.t.Context(), client.ObjectKeyFromObject(object), object); err != nil {
		return err
	}
	to(object)
	return w.store.Update(w.t.Context(), object)
}

// annotate returns a function that sets an annotation of an object.
func annotate(name, value string) func(client.Object) {
	return func(object client.Object) {
		annotations := object.GetAnnotations()
		if annotations == nil {
			annotations = map[string]string{}
		}
		annotations[name] = value
		object.SetAnnotations(annotations)
	}
}

// B13: the clusters lose an object, and the user takes the change back after the first deletion. Nothing is deleted but the works whose deletion
// was on its way.
func TestB13AnOutdatedWithdrawalIsDropped(t *testing.T) {
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespaceName}}
	for _, c := range []struct {
		reason    string
		of        client.Object
		annotates string
	}{
		{"the object asks for other clusters again", selecting(""), federation.SelectorAnnotation},
		{"the Namespace asks for other clusters again", namespace, federation.SelectorAnnotation},
	} {
		t.Run(c.reason, func(t *testing.T) {
			w := newEurope(t)
			if c.of == client.Object(namespace) {
				change(w, namespace, func(n *corev1.Namespace) { annotate(c.annotates, selectorOf("europe"))(n) })
				change(w, selecting(""), func(cm *corev1.ConfigMap) { delete(cm.Annotations, c.annotates) })
				w.settle()
			}
			w.check(w.edit(c.of, annotate(c.annotates, federation.ControlPlaneOnly)))
			w.show()
			w.atFirst("delete", func() error { return w.edit(c.of, annotate(c.annotates, selectorOf("europe"))) })

			result, err := w.Reconcile(t.Context(), keyOfConfigMap("x"))
			if err != nil || result.RequeueAfter == 0 || result.RequeueAfter > time.Second {
				t.Errorf("got %v after %v, want an immediate retry", err, result.RequeueAfter)
			}
			if deleted := strings.Count(w.written(), "delete "); deleted < 1 || deleted > parallelWrites {
				t.Errorf("got %d deletions, want at most those that were on their way", deleted)
			}
			w.settle()
			w.expectWorks("in the end", europe)

			if written := w.written(); strings.Contains(written, "delete ") {
				t.Errorf("got %s", written)
			}
		})
	}
}

// B13: the copies of an object are deleted with it, until the user asks to keep them; and another object of the name has works of its own.
func TestB13AnOutdatedDeletionIsDropped(t *testing.T) {
	w := newEurope(t)
	w.withAgents()
	w.check(w.store.Delete(t.Context(), selecting("")))
	w.show()
	w.written()
	w.atFirst("delete", func() error { return w.edit(selecting(""), annotate(federation.OrphanAnnotation, "true")) })
	_, err := w.Reconcile(t.Context(), keyOfConfigMap("x"))
	w.check(err)
	deleted := strings.Count(w.written(), "delete ")
	w.settle()

	if orphaned := strings.Count(w.written(), "patch "); deleted > parallelWrites || orphaned != europe-deleted {
		t.Errorf("got %d deletions and %d works whose copies stay, want %d together", deleted, orphaned, europe)
	}

	w = newEurope(t)
	change(w, selecting(""), func(cm *corev1.ConfigMap) { cm.Finalizers = nil })
	w.check(w.store.Delete(t.Context(), selecting("")))
	w.show()
	w.written()
	w.atFirst("delete", func() error {
		again := selecting("europe")
		again.UID = "again"
		return w.store.Create(t.Context(), again)
	})

	_, err = w.Reconcile(t.Context(), keyOfConfigMap("x"))
	w.check(err)
	if deleted := strings.Count(w.written(), "delete "); deleted > parallelWrites {
		t.Errorf("got %d deletions of works of an object that is there again", deleted)
	}
}

// B13: works are withdrawn on a proof that is not older than five seconds, and the next ones on another proof.
func TestB13AnOldProofIsMadeAgain(t *testing.T) {
	w := newEurope(t)
	w.check(w.edit(selecting(""), annotate(federation.SelectorAnnotation, federation.ControlPlaneOnly)))
	w.show()
	var (
		mu                 sync.Mutex
		proofs, sinceProof int
	)

	w.proving = func() {
		mu.Lock()
		defer mu.Unlock()
		if sinceProof > 0 || proofs == 0 {
			proofs++
		}
		sinceProof = 0
	}
	w.fail = func(verb, _ string) error {
		mu.Lock()
		defer mu.Unlock()
		if verb != "delete" {
			return nil
		}
		w.time.SetTime(w.time.Now().Add(time.Second))
		sinceProof++
		if sinceProof > parallelWrites+int(freshness.Validity/time.Second) {
			t.Errorf("got %d deletions on one proof", sinceProof)
		}
		return nil
	}
	_, err := w.reconcileOnce(keyOfConfigMap("x"))
	w.check(err)
	w.expectWorks("in the end", 0)

	if proofs < europe/(parallelWrites+5) {
		t.Errorf("got %d proofs", proofs)
	}
}
