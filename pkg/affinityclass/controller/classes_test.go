// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/placement-hub/placement-hub/pkg/affinityclass"
	cozystackv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/cozystack/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/hub/queue"
)

func (h *hub) classes() *classReconciler {
	return &classReconciler{h.state, queue.NewConflictBackoff[reconcile.Request]()}
}

func TestAClassGetsItsFinalizer(t *testing.T) {
	fresh := class("new")
	fresh.Finalizers = []string{"example.com/other"}
	h := newHub(t, fresh)
	reconciler := h.classes()
	for range 3 { // The later reconciles find nothing to write.
		if _, err := reconciler.Reconcile(t.Context(), named("new")); err != nil {
			t.Fatal(err)
		}
	}
	h.expectWrites(t, "patch AffinityClass/new")

	if err := h.Get(t.Context(), client.ObjectKeyFromObject(fresh), fresh); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"example.com/other", cozystackv1alpha1.InUseFinalizer}, fresh.Finalizers); diff != "" {
		t.Errorf("finalizers (-want +got):\n%s", diff)
	}
}

// docs/spec/affinity-class.md A28: users are counted, and block the deletion.
func TestUsersOfAClass(t *testing.T) {
	app := application(postgres, "tenant-acme", "main-db", "dc1")
	labelled := release("postgres-main-db", app)
	labels := labelled.GetLabels()
	labels[affinityclass.ClassLabel] = "dc1"
	labelled.SetLabels(labels)
	foreign := release("foreign", app)
	foreign.SetLabels(map[string]string{affinityclass.ClassLabel: "dc1"})
	h := newHub(t, app, labelled, foreign, application(redis, "apps", "cache", "dc1"), application(redis, "apps", "other", "dc2"))
	reconciler := h.classes()

	if err := h.Delete(t.Context(), class("dc1")); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := reconciler.Reconcile(t.Context(), named("dc1")); err != nil {
			t.Fatal(err)
		}
	}
	h.expectWrites(t, "patch status AffinityClass/dc1")

	read := &cozystackv1alpha1.AffinityClass{}
	if err := h.Get(t.Context(), types.NamespacedName{Name: "dc1"}, read); err != nil {
		t.Fatal(err)
	}
	condition := meta.FindStatusCondition(read.Status.Conditions, cozystackv1alpha1.ConditionDeletionBlocked)
	want := "used by HelmRelease tenant-acme/foreign, Postgres tenant-acme/main-db, Redis apps/cache, Tenant tenant-root/acme"
	if condition == nil || condition.Message != want || read.Status.Applications != 3 || read.Status.Tenants != 1 {
		t.Errorf("status %+v", read.Status)
	}
}

func TestAnUnusedClassGoes(t *testing.T) {
	for _, tc := range []struct {
		reason string
		change func(*hub)
		writes []string
		again  bool
		gone   bool
	}{
		{reason: "affinity-class 1.1: nobody uses it", change: func(*hub) {}, writes: []string{"patch AffinityClass/gpu"}, gone: true},
		{reason: "a kind is not in the cache: nothing is known of its users", change: unsynced, again: true},
		{reason: "a user that only the API server has yet", change: func(h *hub) {
			h.state.Live = ahead{h.Client, tenant("tenant-root", "beta", "gpu")}
		}, writes: []string{"patch status AffinityClass/gpu"}},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			h := newHub(t)
			if err := h.Delete(t.Context(), class("gpu")); err != nil {
				t.Fatal(err)
			}
			tc.change(h)
			result, err := h.classes().Reconcile(t.Context(), named("gpu"))
			if err != nil || (result.RequeueAfter > 0) != tc.again {
				t.Errorf("result %v, %v", result, err)
			}
			h.expectWrites(t, tc.writes...)

			if err := h.Get(t.Context(), types.NamespacedName{Name: "gpu"}, class("")); (err != nil) != tc.gone {
				t.Errorf("the class: %v", err)
			}
		})
	}
}

// A failed read keeps a class: docs/architecture.md law 6.
func TestAFailedReadKeepsAClass(t *testing.T) {
	h := newHub(t)
	if err := h.Delete(t.Context(), class("gpu")); err != nil {
		t.Fatal(err)
	}
	h.state.Live = interceptor.NewClient(h.Client.(client.WithWatch), interceptor.Funcs{
		List: failingList,
	})
	if _, err := h.classes().Reconcile(t.Context(), named("gpu")); !errors.Is(err, errBroken) {
		t.Errorf("error %v", err)
	}

	h.expectWrites(t)
}
