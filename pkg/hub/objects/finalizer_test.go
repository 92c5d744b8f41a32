// SPDX-License-Identifier: Apache-2.0

package objects

import (
	"errors"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	ours   = "example.com/ours"
	others = "example.com/others"
)

type change func(t *testing.T, store *recorder, read *corev1.ConfigMap, all ...Option) error

func add(t *testing.T, store *recorder, read *corev1.ConfigMap, all ...Option) error {
	t.Helper()
	return AddFinalizer(t.Context(), store, read, ours, all...)
}

func remove(t *testing.T, store *recorder, read *corev1.ConfigMap, all ...Option) error {
	t.Helper()
	return RemoveFinalizer(t.Context(), store, read, ours, all...)
}

func TestFinalizers(t *testing.T) {
	for _, tc := range []struct {
		reason string
		before []string
		change change
		after  []string
	}{
		{"a finalizer is added to those of others", []string{others}, add, []string{others, ours}},
		{"a finalizer is there already", []string{ours, others}, add, []string{ours, others}},
		{"a finalizer is removed alone", []string{ours, others}, remove, []string{others}},
		{"the last finalizer is removed", []string{ours}, remove, nil},
		{"there is none to remove", []string{others}, remove, []string{others}},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			store := newRecorder(t, configMap(tc.before...))
			copied := read(t, store, configMap())
			if err := tc.change(t, store, copied); err != nil {
				t.Fatal(err)
			}
			now := read(t, store, configMap())
			if !slices.Equal(now.Finalizers, tc.after) || !slices.Equal(copied.Finalizers, tc.after) {
				t.Errorf("got %q, and %q in the copy, want %q", now.Finalizers, copied.Finalizers, tc.after)
			}

			if now.ResourceVersion != copied.ResourceVersion {
				t.Errorf("the copy has version %s, want %s", copied.ResourceVersion, now.ResourceVersion)
			}
			if sent := len(store.patches) > 0; sent == slices.Equal(tc.before, tc.after) {
				t.Errorf("sent %q", store.patches)
			}
		})
	}
}

func TestFinalizersOfMetadata(t *testing.T) {
	store := newRecorder(t, configMap(others))
	metadata := Metadata(corev1.SchemeGroupVersion.WithKind("ConfigMap"))
	stored := read(t, store, configMap())
	metadata.ObjectMeta = metav1.ObjectMeta{
		Namespace: stored.Namespace, Name: stored.Name, ResourceVersion: stored.ResourceVersion, Finalizers: stored.Finalizers,
	}
	if err := AddFinalizer(t.Context(), store, metadata, ours); err != nil {
		t.Fatal(err)
	}

	if now := read(t, store, configMap()); !slices.Equal(now.Finalizers, []string{others, ours}) || metadata.ResourceVersion != now.ResourceVersion {
		t.Errorf("got %q at %s, and the metadata has %s", now.Finalizers, now.ResourceVersion, metadata.ResourceVersion)
	}
	if err := RemoveFinalizer(t.Context(), store, metadata, ours); err != nil {
		t.Fatal(err)
	}
	if now := read(t, store, configMap()); !slices.Equal(now.Finalizers, []string{others}) {
		t.Errorf("got %q", now.Finalizers)
	}
}

// Finalizers that another client has changed since the object was read stay as they are, unless the write has no lock.
func TestFinalizerConflict(t *testing.T) {
	for name, change := range map[string]change{"add": add, "remove": remove} {
		before := map[string][]string{"add": nil, "remove": {ours}}[name]
		store := newRecorder(t, configMap(before...))
		copied := read(t, store, configMap())

		edited := copied.DeepCopy()
		edited.Labels = map[string]string{"edited": "yes"}
		edited.Finalizers = append(edited.Finalizers, others)
		if err := store.Update(t.Context(), edited); err != nil {
			t.Fatal(err)
		}
		err := change(t, store, copied)
		if !apierrors.IsConflict(err) || !strings.Contains(err.Error(), "ConfigMap default/x") {
			t.Errorf("%s: got %v, want a conflict that names the object", name, err)
		}

		if !slices.Equal(copied.Finalizers, before) {
			t.Errorf("%s: the copy has %q, as if it was written", name, copied.Finalizers)
		}
		if now := read(t, store, configMap()).Finalizers; !slices.Equal(now, append(slices.Clone(before), others)) {
			t.Errorf("%s: got %q", name, now)
		}
		if err := change(t, store, copied, WithoutLock()); err != nil {
			t.Errorf("%s without a lock: %v", name, err)
		}
	}
}

func TestFinalizerOfObjectThatIsGone(t *testing.T) {
	store := newRecorder(t)
	var outcomes []error
	gone := configMap(ours)
	gone.ResourceVersion = "7"
	without := configMap()
	without.ResourceVersion = "7"
	observer := WithObserver(func(err error) { outcomes = append(outcomes, err) })
	if err := remove(t, store, gone, observer); err != nil {
		t.Error(err)
	}

	if err := add(t, store, without, observer); !apierrors.IsNotFound(err) {
		t.Errorf("got %v, want that it is not found", err)
	}
	if len(outcomes) != 2 || !apierrors.IsNotFound(outcomes[0]) || !apierrors.IsNotFound(outcomes[1]) {
		t.Errorf("the observer got %v", outcomes)
	}
}

func TestFinalizerIsRefused(t *testing.T) {
	refusal := errors.New("refused")
	for name, change := range map[string]change{"add": add, "remove": remove} {
		stored := map[string]*corev1.ConfigMap{"add": configMap(), "remove": configMap(ours)}[name]
		store := newRecorder(t, stored)
		store.refuse = refusal
		copied := read(t, store, configMap())
		var outcome error
		err := change(t, store, copied, WithObserver(func(err error) { outcome = err }))
		if !errors.Is(err, refusal) || !strings.HasPrefix(err.Error(), name+" the finalizer ") || !errors.Is(outcome, refusal) {
			t.Errorf("got %v, and the observer %v", err, outcome)
		}

		if !slices.Equal(copied.Finalizers, stored.Finalizers) {
			t.Errorf("%s: the copy has %q", name, copied.Finalizers)
		}
	}
}

func TestIdentityOfClusterScoped(t *testing.T) {
	store := newRecorder(t)
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "n"}}
	if got := identity(store, namespace); got != "Namespace n" {
		t.Errorf("got %q", got)
	}
	if got := identity(store, client.Object(configMap())); got != "ConfigMap default/x" {
		t.Errorf("got %q", got)
	}
}
