// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	clusterinventory "sigs.k8s.io/cluster-inventory-api/apis/v1alpha1"

	"github.com/placement-hub/placement-hub/pkg/clusterprofiles"
	"github.com/placement-hub/placement-hub/pkg/hub/consistency"
)

// errOwned is the answer to an apply of fields with other values of another field manager.
var errOwned = &apierrors.StatusError{ErrStatus: metav1.Status{
	Status: metav1.StatusFailure, Reason: metav1.StatusReasonConflict, Code: 409, Message: `conflict with "registration"`,
	Details: &metav1.StatusDetails{Causes: []metav1.StatusCause{{Type: metav1.CauseTypeFieldManagerConflict, Field: ".spec.displayName"}}},
}}

// CP7: a ClusterProfile of another writer is tried once in ten minutes, however many reasons there are to reconcile it, with one Event.
func TestYielding(t *testing.T) {
	w := newWorld(t)
	w.failing("apply", errOwned)
	for minute := range 30 {
		result, err := w.reconcile()
		if err != nil || result.RequeueAfter != time.Duration(10-minute%10)*time.Minute {
			t.Fatalf("after %d minutes: %v, %v", minute, result, err)
		}
		w.now.SetTime(w.now.Now().Add(time.Minute))
	}
	if diff := cmp.Diff([]string{"object", "object", "object"}, w.applied); diff != "" {
		t.Errorf("requests within 30 minutes: %s", diff)
	}
	reported := w.recorder.(*events.FakeRecorder).Events
	if len(reported) != 1 {
		t.Fatalf("%d Events", len(reported))
	}
	if event := <-reported; !strings.Contains(event, ReasonOwnedByAnother) || !strings.Contains(event, `conflict with "registration"`) {
		t.Errorf("the Event is %q", event)
	}

	w.refuse = func(string) error { return nil }
	w.applied = nil
	if result, err := w.reconcile(); err != nil || result.RequeueAfter != 0 {
		t.Errorf("once the other writer is off: %v, %v", result, err)
	}
	if diff := cmp.Diff([]string{"object"}, w.applied); diff != "" {
		t.Errorf("once the other writer is off: %s", diff)
	}
}

// CP7: the name of the cluster manager cannot be changed, so that nothing is sent.
func TestAnotherClusterManager(t *testing.T) {
	w := newWorld(t)
	change(w, &clusterinventory.ClusterProfile{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}}, ofAnother)
	if result, err := w.reconcile(); err != nil || result.RequeueAfter != yieldPeriod || len(w.applied) > 0 {
		t.Errorf("got %v, %v, applied %v", result, err, w.applied)
	}
	if reported := w.recorder.(*events.FakeRecorder).Events; len(reported) != 1 {
		t.Errorf("%d Events", len(reported))
	}
}

// CP6: while the cache does not show an own write, nothing is written again, whatever is reconciled; a write that is never shown is not waited for
// without an end.
func TestOwnWritesAreAwaited(t *testing.T) {
	profile := &clusterinventory.ClusterProfile{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}}
	label := func(value string) func(*clusterinventory.ClusterProfile) {
		return func(of *clusterinventory.ClusterProfile) { of.Annotations = map[string]string{"changed": value} }
	}
	w := newWorld(t)
	check := func(reason string, after time.Duration, applies int) {
		t.Helper()
		result, err := w.reconcile()
		if err != nil || result.RequeueAfter != after || len(w.applied) != applies {
			t.Errorf("%s: %v, %v, applied %v; want %s and %d applies", reason, result, err, w.applied, after, applies)
		}
	}

	w.responds = "1001"
	check("the first look", 0, 1)
	check("the cache has the version before", consistency.Timeout, 1)
	change(w, profile, label("a"))
	check("the cache has a version between", consistency.Timeout, 1)
	change(w, profile, label("b"))
	check("the cache has the version, without the fields", 0, 2)
	w.now.SetTime(w.now.Now().Add(consistency.Timeout))
	check("the event never comes", 0, 3)

	w.check(w.store.Delete(t.Context(), profile))
	w.responds = "5"
	check("another one deletes it", 0, 4)
	check("the cache has no new one yet", consistency.Timeout, 4)
	w.create(&clusterinventory.ClusterProfile{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}})
	check("the cache has it without its status", consistency.Timeout, 4)
}

// CP9: a ClusterProfile is looked at until the look succeeds, and taken over once.
func TestTakingOver(t *testing.T) {
	w := newWorld(t)
	w.formerWriters = []string{"registration"}
	former := managedBy("registration")
	former.Operation = metav1.ManagedFieldsOperationUpdate
	others := managedBy("someone")
	w.managers = []metav1.ManagedFieldsEntry{former, others}

	for _, read := range []string{"*v1alpha1.ClusterProfileList", "patch"} {
		w.failing(read, errUnread)
		if _, err := w.reconcile(); !errors.Is(err, errUnread) || len(w.applied) > 0 {
			t.Errorf("when %s fails: %v, applied %v", read, err, w.applied)
		}
	}
	w.refuse = func(string) error { return nil }
	w.patched = nil
	for range 3 { // The cache still has the former writer.
		_, err := w.reconcile()
		w.check(err)
	}
	if len(w.patched) != 1 {
		t.Fatalf("%d patches: %v", len(w.patched), w.patched)
	}
	for _, part := range []string{
		`"path":"/metadata/managedFields"`, `"manager":"someone"`, `"manager":"` + clusterprofiles.FieldManager + `"`, `/metadata/resourceVersion`,
	} {
		if !strings.Contains(w.patched[0], part) {
			t.Errorf("the patch %s has no %s", w.patched[0], part)
		}
	}
	if strings.Contains(w.patched[0], `"manager":"registration"`) {
		t.Errorf("the patch leaves the former writer: %s", w.patched[0])
	}
	if len(w.applied) == 0 {
		t.Error("nothing is applied after that")
	}

	without := newWorld(t)
	without.managers = w.managers
	_, err := without.reconcile()
	without.check(err)
	if len(without.patched) > 0 {
		t.Errorf("without the flag: %v", without.patched)
	}
}
