// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr/funcr"
	"github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/placement-hub/placement-hub/pkg/hub/queue"
)

func testSet() *clusterv1beta2.ManagedClusterSet {
	return &clusterv1beta2.ManagedClusterSet{ObjectMeta: metav1.ObjectMeta{Name: "blue.eu", UID: "1"}}
}

// docs/spec/consumers.md U17.
func TestRolesOfASet(t *testing.T) {
	const group = "cluster.open-cluster-management.io"

	blue := []string{"blue.eu"}
	get := rbacv1.PolicyRule{Verbs: []string{"get"}, APIGroups: []string{group}, Resources: []string{"managedclustersets"}, ResourceNames: blue}
	want := map[string][]rbacv1.PolicyRule{
		"open-cluster-management:managedclusterset:admin:blue.eu": {
			{Verbs: []string{"get", "update"}, APIGroups: []string{group}, Resources: []string{"managedclustersets"}, ResourceNames: blue},
			{
				Verbs: []string{"create"}, APIGroups: []string{group}, ResourceNames: blue,
				Resources: []string{"managedclustersets/join", "managedclustersets/bind"},
			},
			{Verbs: []string{"create"}, APIGroups: []string{group}, Resources: []string{"managedclusters"}},
			{
				Verbs: []string{"update"}, APIGroups: []string{"register.open-cluster-management.io"},
				Resources: []string{"managedclusters/accept"},
			},
		},
		"open-cluster-management:managedclusterset:bind:blue.eu": {
			get, {Verbs: []string{"create"}, APIGroups: []string{group}, Resources: []string{"managedclustersets/bind"}, ResourceNames: blue},
		},
		"open-cluster-management:managedclusterset:view:blue.eu": {get},
	}
	got := map[string][]rbacv1.PolicyRule{}

	for _, role := range rolesOf(testSet()) {
		got[role.Name] = role.Rules
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("rules (-want +got):\n%s", diff)
	}
}

func TestRoleStrays(t *testing.T) {
	for _, tc := range []struct {
		reason string
		change func(*rbacv1.ClusterRole)
		want   bool
	}{
		{reason: "as it was written, it wakes nobody", change: func(*rbacv1.ClusterRole) {}},
		{reason: "what others note is theirs", change: func(r *rbacv1.ClusterRole) { r.Labels["a"], r.Finalizers = "b", []string{"a/b"} }},
		{reason: "another rule", change: func(r *rbacv1.ClusterRole) { r.Rules[0].Verbs = append(r.Rules[0].Verbs, "delete") }, want: true},
		{reason: "a rule less", change: func(r *rbacv1.ClusterRole) { r.Rules = nil }, want: true},
		{reason: "no owner", change: func(r *rbacv1.ClusterRole) { r.OwnerReferences = nil }, want: true},
		{reason: "a second owner", want: true, change: func(r *rbacv1.ClusterRole) {
			r.OwnerReferences = append(r.OwnerReferences, metav1.OwnerReference{Kind: "Other"})
		}},
		{reason: "another kind of owner", change: func(r *rbacv1.ClusterRole) { r.OwnerReferences[0].Kind = "Other" }, want: true},
		{reason: "another owner", change: func(r *rbacv1.ClusterRole) { r.OwnerReferences[0].Name = "other" }, want: true},
		{reason: "no label of ours", change: func(r *rbacv1.ClusterRole) { delete(r.Labels, managedByLabel) }, want: true},
		{reason: "collected rules", want: true, change: func(r *rbacv1.ClusterRole) { r.AggregationRule = &rbacv1.AggregationRule{} }},
		{reason: "an unknown purpose", change: func(r *rbacv1.ClusterRole) { r.Name = rolePrefix + "edit:blue.eu" }, want: true},
		{reason: "any other role", change: func(r *rbacv1.ClusterRole) { r.Name = "cluster-admin" }, want: true},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			role := rolesOf(testSet())[0]
			tc.change(role)
			if got := roleDiffers().Create(event.CreateEvent{Object: role}); got != tc.want {
				t.Errorf("a create event counts: %t, want %t", got, tc.want)
			}
			before := rolesOf(testSet())[0]
			if got := roleDiffers().Update(event.UpdateEvent{ObjectOld: before, ObjectNew: role}); got != tc.want {
				t.Errorf("an update event counts: %t, want %t", got, tc.want)
			}

			if got := roleDiffers().Update(event.UpdateEvent{ObjectOld: role, ObjectNew: before}); got {
				t.Error("the event of putting it back counts")
			}
			if !roleDiffers().Delete(event.DeleteEvent{Object: role}) {
				t.Error("a delete event does not count")
			}
		})
	}
}

func TestSetOfRole(t *testing.T) {
	for name, want := range map[string]string{
		"open-cluster-management:managedclusterset:view:blue.eu": "blue.eu",
		"open-cluster-management:managedclusterset:admin:a":      "a",
		"open-cluster-management:managedclusterset:admin":        "",
		"open-cluster-management:placement-hub:placement":        "",
		"cluster-admin": "",
	} {
		var wanted []reconcile.Request
		if want != "" {
			wanted = append(wanted, reconcile.Request{NamespacedName: types.NamespacedName{Name: want}})
		}
		got := setOfRole(t.Context(), &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: name}})
		if diff := cmp.Diff(wanted, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// cached is a client that reads from a map and rejects every write.
type cached struct {
	client.Client
	t     *testing.T
	roles map[string]*rbacv1.ClusterRole
}

func (c cached) Get(_ context.Context, key types.NamespacedName, into client.Object, _ ...client.GetOption) error {
	role, ok := into.(*rbacv1.ClusterRole)
	if !ok {
		c.t.Fatalf("%T %s was asked for", into, key)
	}
	c.roles[key.Name].DeepCopyInto(role)
	return nil
}

func (c cached) Create(_ context.Context, object client.Object, _ ...client.CreateOption) error {
	c.t.Errorf("%s was created", object.GetName())
	return nil
}

func (c cached) Update(_ context.Context, object client.Object, _ ...client.UpdateOption) error {
	c.t.Errorf("%s was updated", object.GetName())
	return nil
}

func TestForeignRoleIsLeftAloneAndNamed(t *testing.T) {
	roles := map[string]*rbacv1.ClusterRole{}
	for _, role := range rolesOf(testSet()) {
		roles[role.Name] = role
	}
	foreign := roles[rolePrefix+"bind:blue.eu"]
	foreign.Labels, foreign.Rules = nil, nil

	for verbosity, want := range map[int]int{1: 0, 2: 1} {
		var logged []string
		logger := funcr.New(func(_, args string) { logged = append(logged, args) }, funcr.Options{Verbosity: verbosity})
		r := &clusterSetRolesReconciler{client: cached{t: t, roles: roles}}
		for _, role := range rolesOf(testSet()) {
			if err := r.apply(klog.NewContext(t.Context(), logger), role); err != nil {
				t.Fatal(err)
			}
		}

		if len(logged) != want || slices.ContainsFunc(logged, func(line string) bool { return !strings.Contains(line, foreign.Name) }) {
			t.Errorf("at verbosity %d: logged %q, want %d lines that name %s", verbosity, logged, want, foreign.Name)
		}
	}
}

// A role that is created while its set is being deleted could outlive the set. A role that is being deleted is created again after its
// deletion.
func TestWhatIsBeingDeletedGetsNoRoles(t *testing.T) {
	leaving := &metav1.Time{Time: time.Unix(1, 0)}
	set := testSet()
	roles := map[string]*rbacv1.ClusterRole{}
	for _, role := range rolesOf(set) {
		role.Rules, role.DeletionTimestamp = nil, leaving
		roles[role.Name] = role
	}
	r := &clusterSetRolesReconciler{client: cached{t: t, roles: roles}}

	for _, role := range rolesOf(set) {
		if err := r.apply(t.Context(), role); err != nil {
			t.Fatal(err)
		}
	}
	set.DeletionTimestamp, set.Finalizers = leaving, []string{"example.com/hold"}
	r = &clusterSetRolesReconciler{client: refusing(t, set), conflicts: queue.NewConflictBackoff[reconcile.Request]()}
	if _, err := r.Reconcile(t.Context(), reconcile.Request{NamespacedName: types.NamespacedName{Name: set.Name}}); err != nil {
		t.Fatal(err)
	}
}

// refusing is a client with a set and no roles that rejects the creation of roles.
func refusing(t *testing.T, set *clusterv1beta2.ManagedClusterSet) client.Client {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{rbacv1.AddToScheme, clusterv1beta2.Install} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	return fake.NewClientBuilder().WithScheme(scheme).WithObjects(set).WithInterceptorFuncs(interceptor.Funcs{
		Create: func(_ context.Context, _ client.WithWatch, object client.Object, _ ...client.CreateOption) error {
			t.Errorf("%s was created", object.GetName())
			return nil
		},
	}).Build()
}
