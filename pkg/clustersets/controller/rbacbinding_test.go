// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/tools/events"
	clocktesting "k8s.io/utils/clock/testing"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/placement-hub/placement-hub/pkg/clustersets"
	"github.com/placement-hub/placement-hub/pkg/hub/consistency"
)

func fromRBAC(set string, edits ...func(*clusterv1beta2.ManagedClusterSetBinding)) clusterv1beta2.ManagedClusterSetBinding {
	binding := clusterv1beta2.ManagedClusterSetBinding{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "a", Name: set, UID: types.UID(set), Labels: map[string]string{clustersets.ManagedByLabel: clustersets.Manager},
		},
		Spec: clusterv1beta2.ManagedClusterSetBindingSpec{ClusterSet: set},
	}
	for _, edit := range edits {
		edit(&binding)
	}
	return binding
}

func byHand(b *clusterv1beta2.ManagedClusterSetBinding) { b.Labels = nil }
func handedOver(b *clusterv1beta2.ManagedClusterSetBinding) {
	b.Labels[clustersets.UnmanagedKey] = "true"
}
func edited(b *clusterv1beta2.ManagedClusterSetBinding) { b.Spec.ClusterSet = "other" }
func deleting(b *clusterv1beta2.ManagedClusterSetBinding) {
	b.DeletionTimestamp = &metav1.Time{Time: time.Unix(1, 0)}
}

func TestPlanBindings(t *testing.T) {
	for _, tc := range []struct {
		reason                  string
		wanted                  []string
		existing                []clusterv1beta2.ManagedClusterSetBinding
		create, restore, revoke []string
	}{
		{reason: "what is missing is made, in order", wanted: []string{"red", "blue"}, create: []string{"blue", "red"}},
		{reason: "what is there is left", wanted: []string{"blue"}, existing: []clusterv1beta2.ManagedClusterSetBinding{fromRBAC("blue")}},
		{reason: "S11: revoked",
			existing: []clusterv1beta2.ManagedClusterSetBinding{fromRBAC("red"), fromRBAC("blue")}, revoke: []string{"blue", "red"}},
		{reason: "S14: spec edits are put back", wanted: []string{"blue"},
			existing: []clusterv1beta2.ManagedClusterSetBinding{fromRBAC("blue", edited)}, restore: []string{"blue"}},
		{reason: "what is edited and revoked goes",
			existing: []clusterv1beta2.ManagedClusterSetBinding{fromRBAC("blue", edited)}, revoke: []string{"blue"}},
		{reason: "S12: somebody else's, granted or not", wanted: []string{"blue"},
			existing: []clusterv1beta2.ManagedClusterSetBinding{fromRBAC("blue", byHand, edited), fromRBAC("red", byHand)}},
		{reason: "S13: handed over, granted or not", wanted: []string{"blue"},
			existing: []clusterv1beta2.ManagedClusterSetBinding{fromRBAC("blue", handedOver, edited), fromRBAC("red", handedOver)}},
		{reason: "what is being deleted is made when it is gone", wanted: []string{"blue"},
			existing: []clusterv1beta2.ManagedClusterSetBinding{fromRBAC("blue", deleting), fromRBAC("red", deleting)}},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			plan := planBindings(sets.New(tc.wanted...), tc.existing)
			for what, lists := range map[string][2][]string{
				"create": {tc.create, plan.create}, "restore": {tc.restore, names(plan.restore)}, "revoke": {tc.revoke, names(plan.revoke)},
			} {
				if !slices.Equal(lists[0], lists[1]) {
					t.Errorf("%s: got %v, want %v", what, lists[1], lists[0])
				}
			}
		})
	}
}

func names(bindings []*clusterv1beta2.ManagedClusterSetBinding) []string {
	var names []string
	for _, binding := range bindings {
		names = append(names, binding.Name)
	}
	return names
}

func TestSecondLook(t *testing.T) {
	clock := clocktesting.NewFakeClock(time.Unix(1, 0))
	d := newGraceTracker(clock)
	blue, red := fromRBAC("blue"), fromRBAC("red")
	again := fromRBAC("blue", func(b *clusterv1beta2.ManagedClusterSetBinding) { b.UID = "another" })
	expect := func(reason string, wait time.Duration, want []string, unwanted ...*clusterv1beta2.ManagedClusterSetBinding) {
		t.Helper()
		due, got := d.expired("a", unwanted, deletionGrace)
		if diff := cmp.Diff(want, names(due)); diff != "" || got != wait {
			t.Errorf("%s: wait %v, want %v; due (-want +got):\n%s", reason, got, wait, diff)
		}
	}

	expect("the first look deletes nothing", deletionGrace, nil, &blue)
	clock.Step(deletionGrace / 2)
	expect("each waits for itself", deletionGrace/2, nil, &blue, &red)
	clock.Step(deletionGrace / 2)
	expect("the second one does", deletionGrace/2, []string{"blue"}, &blue, &red)
	expect("it is about this very object", deletionGrace/2, nil, &again, &red)
	expect("what was wanted in between", 0, nil)
	expect("begins again", deletionGrace, nil, &red)
	clock.Step(time.Hour)
	d.forget("a")
	expect("and so does a namespace that was gone", deletionGrace, nil, &red)
	clock.Step(deletionGrace)

	due, wait := d.expired("a", []*clusterv1beta2.ManagedClusterSetBinding{&red}, extendedDeletionGrace)
	if want := extendedDeletionGrace - deletionGrace; len(due) > 0 || wait != want {
		t.Errorf("the extended grace: %v, wait %v; want none before %v", names(due), wait, want)
	}
}

func TestUnseenWrites(t *testing.T) {
	clock := clocktesting.NewFakeClock(time.Unix(1, 0))
	live := ""
	u := newSentWrites(clock, func(context.Context, types.NamespacedName) (string, error) { return live, nil })
	key := types.NamespacedName{Namespace: "a", Name: "blue"}
	refused := errors.New("refused")
	expect := func(reason, base string, sent bool, answer error) {
		t.Helper()
		got := false
		err := u.write(t.Context(), key, base, func() error {
			got = true
			return answer
		})
		if got != sent || sent && !errors.Is(err, answer) {
			t.Errorf("%s: sent %v, want %v; error %v", reason, got, sent, err)
		}
	}

	expect("a failed write is sent again", "", true, refused)
	expect("one that succeeded", "", true, nil)
	expect("is not, while the cache shows the old state", "", false, nil)
	u.Pending(key, "5")
	expect("another state is another matter", "5", true, nil)
	u.Pending(key, "5")
	expect("a late event of the old state ends nothing", "5", false, nil)
	u.Clear(key)
	expect("a deletion ends it", "", true, nil)
	conflict := apierrors.NewConflict(clusterv1beta2.Resource("managedclustersetbindings"), key.Name, refused)

	clock.Step(consistency.Timeout)
	expect("the API server shows the old state, too: it was undone", "", true, nil)
	live = "7"

	clock.Step(consistency.Timeout)
	expect("the API server shows another state: the cache is behind", "", false, nil)
	u.Clear(key)
	expect("a conflict where the cache is behind", "", true, conflict)
	expect("is not tried again on that state", "", false, nil)
	clock.Step(consistency.Timeout)
	expect("nor later", "", false, nil)
	u.Pending(key, "7")
	expect("but on the state that the API server shows", "7", true, conflict)
	expect("a conflict for another reason is tried again", "7", true, nil)
	u.Clear(key)

	if _, pending := u.Pending(key, "7"); pending {
		t.Error("the write is remembered")
	}
}

// fixture is a namespace whose ServiceAccount may bind the set blue, and which has a binding of the set red without the right.
func fixture(t *testing.T, intercepted interceptor.Funcs) (*rbacBindingReconciler, *clocktesting.FakeClock) {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, rbacv1.AddToScheme, clusterv1beta2.Install} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}

	stale := fromRBAC("red")
	clock := clocktesting.NewFakeClock(time.Unix(1, 0))
	builder := fake.NewClientBuilder().WithScheme(scheme).WithInterceptorFuncs(intercepted).WithObjects(
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "a"}},
		&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: clustersets.Account}},
		&clusterv1beta2.ManagedClusterSet{ObjectMeta: metav1.ObjectMeta{Name: "blue"}},
		&clusterv1beta2.ManagedClusterSet{ObjectMeta: metav1.ObjectMeta{Name: "red"}},
		&rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "role"}, Rules: []rbacv1.PolicyRule{{
			Verbs: []string{"create"}, APIGroups: []string{"*"}, Resources: []string{"*/bind"}, ResourceNames: []string{"blue"},
		}}},
		&rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: "binding"}, RoleRef: rbacv1.RoleRef{Kind: "ClusterRole", Name: "role"},
			Subjects: []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: "a", Name: clustersets.Account}},
		},
		&stale,
	)

	for field, values := range clusterRoleBindingIndexes {
		builder.WithIndex(&rbacv1.ClusterRoleBinding{}, field, func(object client.Object) []string {
			return values(object.(*rbacv1.ClusterRoleBinding))
		})
	}
	builder.WithIndex(&clusterv1beta2.ManagedClusterSetBinding{}, metav1.ObjectNameField, func(object client.Object) []string {
		return []string{object.GetName()}
	})

	api := builder.Build()
	r := newRBACBindingReconciler(api, api, events.NewFakeRecorder(10), clock)
	r.review = func(_ context.Context, _, set string) (bool, error) { return set == "blue", nil }
	return r, clock
}

var requestOfA = reconcile.Request{NamespacedName: types.NamespacedName{Name: "a"}}

func TestReconcileBindsAndRevokes(t *testing.T) {
	var deletions []client.DeleteOptions
	r, clock := fixture(t, interceptor.Funcs{
		Delete: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.DeleteOption) error {
			asked := client.DeleteOptions{}
			deletions = append(deletions, *asked.ApplyOptions(options))
			return c.Delete(ctx, object, options...)
		},
	})
	expect := func(want ...string) {
		t.Helper()
		if _, err := r.Reconcile(t.Context(), requestOfA); err != nil {
			t.Fatal(err)
		}
		list := &clusterv1beta2.ManagedClusterSetBindingList{}
		if err := r.client.List(t.Context(), list); err != nil {
			t.Fatal(err)
		}

		var got []string
		for i := range list.Items {
			got = append(got, list.Items[i].Name)
		}
		if !slices.Equal(got, want) {
			t.Errorf("bindings %v, want %v", got, want)
		}
	}

	expect("blue", "red")
	clock.Step(deletionGrace)
	expect("blue")
	if len(deletions) != 1 || deletions[0].Preconditions == nil ||
		*deletions[0].Preconditions.UID != "red" || deletions[0].Preconditions.ResourceVersion == nil {
		t.Errorf("deletions %+v, want one of the very state that was looked at", deletions)
	}
}

// The cache may show a write between the list of the bindings and the next write; then the write is not sent again.
func TestReconcileGoesByTheLatestState(t *testing.T) {
	var created int
	r, _ := fixture(t, interceptor.Funcs{
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
			if _, old := list.(*clusterv1beta2.ManagedClusterSetBindingList); old {
				return nil
			}
			return c.List(ctx, list, options...)
		},
		Create: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.CreateOption) error {
			created++
			return c.Create(ctx, object, options...)
		},
	})

	for range 2 {
		if _, err := r.Reconcile(t.Context(), requestOfA); err != nil {
			t.Fatal(err)
		}
		r.sent.Pending(types.NamespacedName{Namespace: "a", Name: "blue"}, "1")
	}
	if created != 1 {
		t.Errorf("%d creations, want 1", created)
	}
}

// TestReadErrorsRevokeNothing fails each read in turn (docs/architecture.md law 6, docs/spec/scope.md S11).
func TestReadErrorsRevokeNothing(t *testing.T) {
	unreadable := errors.New("unreadable")
	for failing := 1; ; failing++ {
		reads := 0

		read := func() error {
			reads++
			if reads == failing {
				return unreadable
			}
			return nil
		}
		forbidden := func(what string, object client.Object) {
			t.Errorf("read %d fails, and %s %s is sent", failing, what, object.GetName())
		}
		r, clock := fixture(t, interceptor.Funcs{
			Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
				if _, before := object.(*clusterv1beta2.ManagedClusterSetBinding); before { // Before each write: see below.
					return c.Get(ctx, key, object, options...)
				}
				return errors.Join(read(), c.Get(ctx, key, object, options...))
			},
			List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
				return errors.Join(read(), c.List(ctx, list, options...))
			},
			Create: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.CreateOption) error {
				if reads >= failing {
					forbidden("create", object)
				}
				return c.Create(ctx, object, options...)
			},
			Delete: func(_ context.Context, _ client.WithWatch, object client.Object, _ ...client.DeleteOption) error {
				forbidden("delete", object)
				return nil
			},
		})

		_, err := r.Reconcile(t.Context(), requestOfA)
		if reads < failing {
			if failing < 6 {
				t.Errorf("only %d reads were seen to fail", failing-1)
			}
			return
		}
		if !errors.Is(err, unreadable) {
			t.Errorf("read %d fails: %v, want the error", failing, err)
		}

		clock.Step(time.Hour)
		reads = 0
		if _, err := r.Reconcile(t.Context(), requestOfA); !errors.Is(err, unreadable) {
			t.Errorf("read %d fails again: %v, want the error", failing, err)
		}
	}
}

// The object of a write is read once more before the write; if that fails, the write is not sent.
func TestReadErrorsWriteNothing(t *testing.T) {
	unreadable := errors.New("unreadable")
	r, clock := fixture(t, interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
			if _, before := object.(*clusterv1beta2.ManagedClusterSetBinding); before {
				return unreadable
			}
			return c.Get(ctx, key, object, options...)
		},
		Create: func(_ context.Context, _ client.WithWatch, object client.Object, _ ...client.CreateOption) error {
			t.Errorf("%s is created", object.GetName())
			return nil
		},
		Delete: func(_ context.Context, _ client.WithWatch, object client.Object, _ ...client.DeleteOption) error {
			t.Errorf("%s is deleted", object.GetName())
			return nil
		},
	})

	if result, err := r.Reconcile(t.Context(), requestOfA); err != nil || result.RequeueAfter != deletionGrace {
		t.Errorf("first look: %v, %v; want the second one", result, err)
	}
	clock.Step(extendedDeletionGrace)
	if _, err := r.Reconcile(t.Context(), requestOfA); !errors.Is(err, unreadable) {
		t.Errorf("later: %v, want the error", err)
	}
}

// TestOneRefusalHoldsUpNothing has an admission policy deny one of two bindings.
func TestOneRefusalHoldsUpNothing(t *testing.T) {
	denied := errors.New("denied")
	created := map[string]bool{}
	r, _ := fixture(t, interceptor.Funcs{
		Create: func(_ context.Context, _ client.WithWatch, object client.Object, _ ...client.CreateOption) error {
			created[object.GetName()] = true
			if object.GetName() == "blue" {
				return fmt.Errorf("set blue: %w", denied)
			}
			return nil
		},
	})
	planned := bindingPlan{create: []string{"blue", "green"}}

	r.review = func(context.Context, string, string) (bool, error) { return true, nil }
	if made := r.bind(t.Context(), "a", planned, r.newReviewCache("a")); len(made.failed) != 1 ||
		!errors.Is(made.failed[0], denied) || !created["green"] {
		t.Errorf("failed %v, tried %v; want the refusal, and the other one tried", made.failed, created)
	}
}

func TestWhyNot(t *testing.T) {
	for _, tc := range []struct {
		entitlement entitlement
		want        reason
	}{
		{entitlement{}, noAccount},
		{entitlement{account: true}, noRight},
		{entitlement{account: true, grant: clustersets.Grant{All: true}}, noSet},
	} {
		if got := tc.entitlement.reasonUnbound("blue"); got != tc.want {
			t.Errorf("whyNot = %q, want %q", got, tc.want)
		}
	}
}
