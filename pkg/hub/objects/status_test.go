// SPDX-License-Identifier: Apache-2.0

package objects

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
)

func ready(of *openmcpv1alpha1.Cluster) { of.Status.Phase = openmcpv1alpha1.ClusterSucceeded }

func TestPatchStatus(t *testing.T) {
	now := metav1.NewTime(time.Unix(1000, 0))
	stamp := func(of *openmcpv1alpha1.Cluster) { of.Status.LastReconcileTime = &now }
	store := newRecorder(t, cluster())
	before := read(t, store, cluster())

	written, err := PatchStatus(t.Context(), store, before, ready, stamp)
	if err != nil {
		t.Fatal(err)
	}
	if before.Status.Phase != "" {
		t.Error("the given state was modified")
	}

	if diff := cmp.Diff(read(t, store, cluster()), written); diff != "" || written.Status.Phase != openmcpv1alpha1.ClusterSucceeded ||
		!written.Status.LastReconcileTime.Equal(&now) {
		t.Errorf("got %+v, and a difference from the stored state: %s", written.Status, diff)
	}
	if len(store.patches) != 1 || !strings.Contains(store.patches[0], `"resourceVersion":"`+before.ResourceVersion+`"`) {
		t.Errorf("sent %q, want a resourceVersion", store.patches)
	}
	later := metav1.NewTime(now.Add(time.Hour))

	same, err := PatchStatus(t.Context(), store, written, ready, func(of *openmcpv1alpha1.Cluster) { of.Status.LastReconcileTime = &later })
	if err != nil || same != written || len(store.patches) != 1 {
		t.Errorf("the status is right: got %v, and sent %q", err, store.patches)
	}
}

func TestPatchStatusErrors(t *testing.T) {
	refusal := errors.New("refused")
	for _, tc := range []struct {
		reason string
		stored []client.Object
		refuse error
		// version is that of the state that was read; empty for the stored one.
		version string
		is      func(error) bool
	}{
		{"the object has changed", []client.Object{cluster()}, nil, "1", apierrors.IsConflict},
		{"the object is gone", nil, nil, "1", apierrors.IsNotFound},
		{"the request fails", []client.Object{cluster()}, refusal, "1", func(err error) bool { return errors.Is(err, refusal) }},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			store := newRecorder(t, tc.stored...)
			store.refuse = tc.refuse
			before := cluster()
			before.ResourceVersion = tc.version

			got, err := PatchStatus(t.Context(), store, before, ready)
			if !tc.is(err) || !strings.HasPrefix(err.Error(), "writing the status of Cluster default/c: ") {
				t.Errorf("got %v", err)
			}
			if got != before || before.Status.Phase != "" {
				t.Errorf("got %+v, want the given state", got)
			}
		})
	}
}

func TestApplyStatus(t *testing.T) {
	store := newRecorder(t, cluster())
	owned := client.WithFieldOwner(store, "ours")
	stored := read(t, store, cluster())
	own := openmcpv1alpha1.ClusterStatus{Phase: openmcpv1alpha1.ClusterSucceeded}
	if err := ApplyStatus(t.Context(), owned, stored, own); err != nil {
		t.Fatal(err)
	}
	if got := read(t, store, cluster()).Status.Phase; got != own.Phase {
		t.Errorf("got %q", got)
	}

	own.Phase = openmcpv1alpha1.ClusterFailed
	var outcome error
	observer := WithObserver(func(err error) { outcome = err })

	err := ApplyStatus(t.Context(), owned, stored, own, observer)
	if !apierrors.IsConflict(err) || !apierrors.IsConflict(outcome) || !strings.HasPrefix(err.Error(), "writing the status of Cluster default/c: ") {
		t.Errorf("got %v, want a conflict with the former write", err)
	}
	if err := ApplyStatus(t.Context(), owned, stored, own, observer, WithoutLock()); err != nil || outcome != nil {
		t.Errorf("got %v, and the observer %v", err, outcome)
	}
	if got := read(t, store, cluster()).Status.Phase; got != own.Phase {
		t.Errorf("got %q", got)
	}

	store.refuse = apierrors.NewNotFound(schema.GroupResource{Resource: "clusters"}, stored.Name) // The fake client creates it.
	if err := ApplyStatus(t.Context(), owned, stored, own, observer); !apierrors.IsNotFound(err) || !apierrors.IsNotFound(outcome) {
		t.Errorf("got %v, and the observer %v, want that it is not found", err, outcome)
	}
}

// A response whose object cannot be decoded does not make a write fail that was done, and its version is known.
func TestPatchWithMetadataOnly(t *testing.T) {
	store := newRecorder(t, cluster())
	before := read(t, store, cluster())
	after := before.DeepCopy()
	ready(after)
	var observed []error
	err := Patch(t.Context(), store, before, after, OfStatus(), MetadataOnly(), WithObserver(func(err error) { observed = append(observed, err) }))
	if err != nil {
		t.Fatal(err)
	}

	if now := read(t, store, cluster()); now.Status.Phase != after.Status.Phase || now.ResourceVersion != after.ResourceVersion {
		t.Errorf("got %+v at %s, want %s", now.Status, now.ResourceVersion, after.ResourceVersion)
	}
	if err := Patch(t.Context(), store, after, after.DeepCopy(), MetadataOnly()); err != nil || len(store.patches) != 1 || len(observed) != 1 {
		t.Errorf("nothing differs: got %v, sent %q, observed %v", err, store.patches, observed)
	}
	again := after.DeepCopy()
	again.Labels = map[string]string{"a": "b"}

	if err := Patch(t.Context(), store, before, again, MetadataOnly()); !apierrors.IsConflict(err) {
		t.Errorf("got %v, want a conflict", err)
	}
}
