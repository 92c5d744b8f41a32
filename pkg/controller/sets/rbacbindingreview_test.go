package sets

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
	"k8s.io/apimachinery/pkg/util/sets"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/placement-hub/placement-hub/pkg/decision"
	"github.com/placement-hub/placement-hub/pkg/scope"
)

// TestCreationsThatFail holds back what is to be deleted as long as what may take its place can still come (law 5), and no longer.
func TestCreationsThatFail(t *testing.T) {
	for _, tc := range []struct {
		reason string
		err    error
		after  time.Duration
	}{
		{"what is forbidden will not come", apierrors.NewForbidden(schema.GroupResource{}, "blue", nil), secondLook},
		{"what is invalid will not come", apierrors.NewInvalid(schema.GroupKind{}, "blue", nil), secondLook},
		{"what cannot be written now may come", apierrors.NewInternalError(errors.New("no")), longLook},
		{"what was based on an old view may come", apierrors.NewConflict(schema.GroupResource{}, "blue", nil), longLook},
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

			for waited := time.Duration(0); waited < tc.after; waited += secondLook {
				result, err := r.Reconcile(t.Context(), requestOfA)
				if err != nil || result.RequeueAfter == 0 || result.RequeueAfter > longLook || deleted {
					t.Fatalf("after %v: %v, %v, deleted %v; want another look within %v", waited, result, err, deleted, longLook)
				}

				clock.Step(secondLook)
			}

			if _, err := r.Reconcile(t.Context(), requestOfA); !decision.Outdated(tc.err) && !errors.Is(err, tc.err) || !deleted {
				t.Errorf("after %v: %v, deleted %v; want the deletion, and the failure told", tc.after, err, deleted)
			}
		})
	}
}

// scope.md: nothing is made that the API server denies, and law 6: nothing is deleted that it grants, whatever the cache shows.
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
				again = err != nil || result.RequeueAfter > 0

				clock.Step(longLook)
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

// Who may bind every set is asked for once, and for each set when that is not so any more.
func TestQuestions(t *testing.T) {
	for _, tc := range []struct {
		reason string
		grant  scope.Grant
		every  bool // what the API server says of every set
		want   []string
	}{
		{"every set", scope.Grant{All: true}, true, []string{""}},
		{"every set, no more", scope.Grant{All: true}, false, []string{"", "blue", "red"}},
		{"by name", scope.Grant{Sets: sets.New("blue", "red")}, true, []string{"blue", "red"}},
	} {
		var asked []string

		r := &rbacBindingReconciler{review: func(_ context.Context, _, set string) (bool, error) {
			asked = append(asked, set)

			return set != "" || tc.every, nil
		}}
		q := r.questions("a", tc.grant)

		for _, set := range []string{"blue", "red", "blue"} {
			if may, err := q.mayBind(t.Context(), set); !may || err != nil {
				t.Errorf("%s: %s: %v, %v", tc.reason, set, may, err)
			}
		}

		if !slices.Equal(asked, tc.want) {
			t.Errorf("%s: asked %q, want %q", tc.reason, asked, tc.want)
		}
	}
}

// scope.md: a terminating namespace gets nothing.
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

		clock.Step(secondLook)
	}
}

// A namespace that began to go after the look refuses everything new: that is no error. And a write whose event gets lost is looked after.
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

		if result, err := r.Reconcile(t.Context(), requestOfA); err != nil || result.RequeueAfter != unseenFor {
			t.Errorf("%s: %v, %v; want another look after %v", reason, result, err, unseenFor)
		}
	}
}

// withoutRed has no bindings.
type withoutRed struct{ client.Client }

func (c withoutRed) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	if _, bindings := list.(*clusterv1beta2.ManagedClusterSetBindingList); bindings {
		return nil
	}

	return c.Client.List(ctx, list, options...)
}
