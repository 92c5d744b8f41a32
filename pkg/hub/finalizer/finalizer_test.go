package finalizer

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/placement-hub/placement-hub/pkg/apis/scheme"
)

const (
	ours   = "example.com/ours"
	others = "example.com/others"
)

func TestAddAndRemove(t *testing.T) {
	for _, tc := range []struct {
		reason string
		before []string
		change func(t *testing.T, store client.Client, read *corev1.ConfigMap) error
		after  []string
	}{
		{"a finalizer is added to those of others", []string{others}, add, []string{others, ours}},
		{"a finalizer is there already", []string{ours, others}, add, []string{ours, others}},
		{"a finalizer is removed alone", []string{ours, others}, remove, []string{others}},
		{"there is none to remove", []string{others}, remove, []string{others}},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			store := fake.NewClientBuilder().WithScheme(scheme.New()).WithObjects(stored(tc.before...)).Build()
			read := latest(t, store)
			version := read.ResourceVersion

			if err := tc.change(t, store, read); err != nil {
				t.Fatal(err)
			}

			now := latest(t, store)
			if !slices.Equal(now.Finalizers, tc.after) {
				t.Errorf("got %q, want %q", now.Finalizers, tc.after)
			}

			if written := now.ResourceVersion != version; written == slices.Equal(tc.before, tc.after) {
				t.Errorf("the object was written: %t", written)
			}
		})
	}
}

// Add and Remove keep what another client has changed since the object was read, also in the list of finalizers.
func TestConflict(t *testing.T) {
	for name, change := range map[string]func(*testing.T, client.Client, *corev1.ConfigMap) error{"add": add, "remove": remove} {
		before := map[string][]string{"add": nil, "remove": {ours}}[name]
		store := fake.NewClientBuilder().WithScheme(scheme.New()).WithObjects(stored(before...)).Build()
		read := latest(t, store)

		edited := read.DeepCopy()
		edited.Finalizers = append(edited.Finalizers, others)

		if err := store.Update(t.Context(), edited); err != nil {
			t.Fatal(err)
		}

		err := change(t, store, read)
		if !apierrors.IsConflict(err) || !strings.Contains(err.Error(), "ConfigMap default/x") {
			t.Errorf("%s: got %v, want a conflict that names the object", name, err)
		}

		if now := latest(t, store).Finalizers; !slices.Equal(now, append(before, others)) {
			t.Errorf("%s: got %q", name, now)
		}
	}
}

// An object that has gone has no finalizer, and can get none.
func TestObjectThatIsGone(t *testing.T) {
	store := fake.NewClientBuilder().WithScheme(scheme.New()).Build()

	if err := remove(t, store, stored(ours)); err != nil {
		t.Error(err)
	}

	if err := add(t, store, stored()); !apierrors.IsNotFound(err) {
		t.Errorf("got %v, want that it is not found", err)
	}
}

func add(t *testing.T, store client.Client, read *corev1.ConfigMap) error {
	t.Helper()

	return Add(t.Context(), store, read, ours)
}

func remove(t *testing.T, store client.Client, read *corev1.ConfigMap) error {
	t.Helper()

	return Remove(t.Context(), store, read, ours)
}

func stored(finalizers ...string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceDefault, Name: "x", Finalizers: finalizers}}
}

func latest(t *testing.T, store client.Client) *corev1.ConfigMap {
	t.Helper()

	object := stored()
	if err := store.Get(t.Context(), client.ObjectKeyFromObject(object), object); err != nil {
		t.Fatal(err)
	}

	return object
}
