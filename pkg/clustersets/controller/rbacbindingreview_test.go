// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/placement-hub/placement-hub/pkg/hub/queue"

	"github.com/placement-hub/placement-hub/pkg/hub/consistency"
)

// TestCreationsThatFail checks that a deletion waits while a binding that may replace it can still be created (docs/architecture.md law 5),
// and no longer.
func TestCreationsThatFail(t *testing.T) {
	for _, tc := range []struct {
		reason string
		err    error
		after  time.Duration
	}{
		{"what is forbidden will not come", apierrors.NewForbidden(schema.GroupResource{}, "blue", nil), deletionGrace},
		{"what is invalid will not come", apierrors.NewInvalid(schema.GroupKind{}, "blue", nil), deletionGrace},
		{"what cannot be written now may come", apierrors.NewInternalError(errors.New("no")), extendedDeletionGrace},
		{"what was based on an old view may come", apierrors.NewConflict(schema.GroupResource{}, "blue", nil), extendedDeletionGrace},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			deleted := false
			r, clock := fixture(t, interceptor.Funcs{
				Create: func(context.Context, client.WithWatch, client.Object, ...client.CreateOption) error { return tc.err },
				Delete: func(context.Context, client.WithWatch, client.Object, ...client.DeleteOption) error {
					deleted = true
					return nil
				},
			})

			for waited := time.Duration(0); waited < tc.after; waited += deletionGrace {
				result, err := r.Reconcile(t.Context(), requestOfA)
				if err != nil || result.RequeueAfter == 0 || result.RequeueAfter > extendedDeletionGrace || deleted {
					t.Fatalf("after %v: %v, %v, deleted %v; want another look within %v", waited, result, err, deleted, extendedDeletionGrace)
				}
				clock.Step(deletionGrace)
			}
			if _, err := r.Reconcile(t.Context(), requestOfA); !queue.Outdated(tc.err) && !errors.Is(err, tc.err) || !deleted {
				t.Errorf("after %v: %v, deleted %v; want the deletion, and the failure told", tc.after, err, deleted)
			}
		})
	}
}

// docs/spec/scope.md S16: nothing is created that the API server denies, and docs/architecture.md law 6: nothing is deleted that it grants,
// whatever the cache shows.
func TestTheAPIServerHasTheLastWord(t *testing.T) {
	for _, tc := range []struct {
		reason string
		answer func(set string) (bool, error)
		want   []string
	}{
		{"it agrees", func(set string) (bool, error) { return set == "blue", nil }, []string{"blue"}},
		{"it denies and grants what the cache does not show", func(set string) (bool, error) { return set == "red", nil }, []string{"red"}},
		{"it does not answer", func(string) (bool, error) { return false, errors.New("no answer") }, []string{"red"}},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			r, clock := fixture(t, interceptor.Funcs{})
			r.review = func(_ context.Context, namespace, set string) (bool, error) {
				if namespace != "a" {
					t.Errorf("asked for namespace %q", namespace)
				}
				return tc.answer(set)
			}

			again := false
			for range 3 {
				result, err := r.Reconcile(t.Context(), requestOfA)
				again = err != nil || result.RequeueAfter > 0 && result.RequeueAfter <= extendedDeletionGrace
				clock.Step(extendedDeletionGrace)
			}
			if agreed := tc.want[0] == "blue"; again == agreed {
				t.Errorf("looks again: %v", again)
			}

			list := &clusterv1beta2.ManagedClusterSetBindingList{}
			if err := r.client.List(t.Context(), list); err != nil {
				t.Fatal(err)
			}
			var got []string
			for i := range list.Items {
				got = append(got, list.Items[i].Name)
			}

			if !slices.Equal(got, tc.want) {
				t.Errorf("bindings %v, want %v", got, tc.want)
			}
		})
	}
}

// Every set is reviewed by its name, once. A review of "" would not do: a rule with the resource name "" passes it, and an authorizer
// beside RBAC may deny a single set to a ServiceAccount that RBAC lets bind all sets.
func TestQuestions(t *testing.T) {
	var asked []string
	r := &rbacBindingReconciler{review: func(_ context.Context, _, set string) (bool, error) {
		asked = append(asked, set)
		return set == "" || set == "blue", nil
	}}
	q := r.newReviewCache("a")

	for set, want := range map[string]bool{"blue": true, "red": false} {
		for range 2 {
			if may, err := q.mayBind(t.Context(), set); may != want || err != nil {
				t.Errorf("%s: %v, %v", set, may, err)
			}
		}
	}
	slices.Sort(asked)

	if !slices.Equal(asked, []string{"blue", "red"}) {
		t.Errorf("asked %q, want each set once", asked)
	}
}

// An authorizer beside RBAC may change its decision, and no event reports that.
func TestBindingsAreReviewedAgain(t *testing.T) {
	r, clock := fixture(t, interceptor.Funcs{})
	var (
		asked int
		may   = true
		fails error
	)

	r.review = func(_ context.Context, _, set string) (bool, error) {
		asked++
		return may && set == "blue", fails
	}
	look := func(reason string, wantBlue bool) time.Duration {
		t.Helper()
		result, err := r.Reconcile(t.Context(), requestOfA)
		if !errors.Is(err, fails) {
			t.Fatalf("%s: %v", reason, err)
		}
		list := &clusterv1beta2.ManagedClusterSetBindingList{}
		if err := r.client.List(t.Context(), list); err != nil {
			t.Fatal(err)
		}

		bound := slices.ContainsFunc(list.Items, func(b clusterv1beta2.ManagedClusterSetBinding) bool { return b.Name == "blue" })
		if bound != wantBlue {
			t.Errorf("%s: bound is %t, want %t", reason, bound, wantBlue)
		}
		return result.RequeueAfter
	}

	look("at first", true)
	clock.Step(extendedDeletionGrace)
	look("red goes", true)
	r.sent.Clear(types.NamespacedName{Namespace: "a", Name: "blue"})
	clock.Step(consistency.Timeout)

	asked = 0
	if again := look("nothing is due", true); again <= 0 || again > reviewEvery {
		t.Errorf("looks again after %v, want it within %v", again, reviewEvery)
	} else {
		clock.Step(again)
	}
	if asked != 0 {
		t.Errorf("%d questions before the time", asked)
	}

	if again := look("it is asked again, and granted", true); asked != 1 || again != reviewEvery {
		t.Errorf("%d questions and the next look after %v, want one and %v", asked, again, reviewEvery)
	}
	look("somebody else has it look", true)
	if asked != 1 {
		t.Errorf("%d questions, want none before the time", asked-1)
	}
	clock.Step(reviewEvery)
	fails = errors.New("no answer")
	look("nobody answers", true)

	fails = nil
	clock.Step(time.Second)
	look("granted", true)
	clock.Step(reviewEvery)
	may = false
	if again := look("denied once", true); again <= 0 || again > deletionGrace {
		t.Errorf("looks again after %v, want the second look", again)
	}
	clock.Step(deletionGrace)
	look("denied twice", false)

	may = true
	clock.Step(consistency.Timeout)
	look("granted again", true)
}

// docs/spec/scope.md S17: a terminating namespace gets nothing.
func TestTerminatingNamespaceGetsNothing(t *testing.T) {
	r, clock := fixture(t, interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
			err := c.Get(ctx, key, object, options...)
			if namespace, ok := object.(*corev1.Namespace); ok {
				namespace.DeletionTimestamp = &metav1.Time{Time: time.Unix(1, 0)}
			}
			return err
		},
		Create: func(_ context.Context, _ client.WithWatch, object client.Object, _ ...client.CreateOption) error {
			t.Errorf("%s is created", object.GetName())
			return nil
		},
		Delete: func(_ context.Context, _ client.WithWatch, object client.Object, _ ...client.DeleteOption) error {
			t.Errorf("%s is deleted, which the namespace does", object.GetName())
			return nil
		},
	})

	for range 2 {
		if _, err := r.Reconcile(t.Context(), requestOfA); err != nil {
			t.Error(err)
		}
		clock.Step(deletionGrace)
	}
}

// A namespace that began to terminate after the read rejects new objects, which is no error. A write whose event is lost is checked later.
func TestWritesAreLookedAfter(t *testing.T) {
	for reason, err := range map[string]error{
		"written": nil,
		"terminating": &apierrors.StatusError{ErrStatus: metav1.Status{
			Status: metav1.StatusFailure, Code: 403, Reason: metav1.StatusReasonForbidden,
			Details: &metav1.StatusDetails{Causes: []metav1.StatusCause{{Type: corev1.NamespaceTerminatingCause}}},
		}},
	} {
		r, _ := fixture(t, interceptor.Funcs{
			Create: func(context.Context, client.WithWatch, client.Object, ...client.CreateOption) error { return err },
		})
		r.client = withoutRed{r.client}
		if result, err := r.Reconcile(t.Context(), requestOfA); err != nil || result.RequeueAfter != consistency.Timeout {
			t.Errorf("%s: %v, %v; want another look after %v", reason, result, err, consistency.Timeout)
		}
	}
}

// withoutRed returns a namespace without bindings.
type withoutRed struct{ client.Client }

func (w withoutRed) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	if _, bindings := list.(*clusterv1beta2.ManagedClusterSetBindingList); bindings {
		return nil
	}
	return w.Client.List(ctx, list, options...)
}
