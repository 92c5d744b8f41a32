// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/placement-hub/placement-hub/pkg/affinityclass"
	"github.com/placement-hub/placement-hub/pkg/hub/queue"
)

func TestVerifiedNamespaces(t *testing.T) {
	labelled := func(name, key, value string) *corev1.Namespace {
		n := namespace(name)
		n.Labels = map[string]string{"other": "kept", key: value}
		if name == "tenant-acme" {
			n.Annotations = map[string]string{affinityclass.AllowedAnnotation: `["dc1","dc2"]`}
		}
		return n
	}
	classy := release("main-db", application(postgres, "apps", "main-db", ""))
	classy.SetLabels(map[string]string{affinityclass.ClassLabel: "dc1"})

	for _, tc := range []struct {
		reason    string
		namespace *corev1.Namespace
		objects   []client.Object
		change    func(*hub)
		// want is the value of the label afterwards; empty for no label.
		want   string
		writes int
		again  bool
	}{
		{reason: "affinity-class 1.5: a Tenant's namespace", namespace: labelled("tenant-acme", "a", "b"), want: "true", writes: 1},
		{reason: "it has the label", namespace: labelled("tenant-acme", affinityclass.VerifyLabel, "true"), want: "true"},
		{reason: "it has another value", namespace: labelled("tenant-acme", affinityclass.VerifyLabel, "yes"), want: "true", writes: 1},
		{reason: "affinity-class 1.5: the label of a system has no effect there",
			namespace: labelled("tenant-acme", affinityclass.SystemLabel, "true"), want: "true", writes: 1},
		{reason: "nothing is there", namespace: labelled("apps", "a", "b")},
		{reason: "nothing is there any more", namespace: labelled("apps", affinityclass.VerifyLabel, "true"), writes: 1},
		{reason: "affinity-class 1.5: an application", namespace: labelled("apps", "a", "b"),
			objects: []client.Object{application(redis, "apps", "cache", "")},
			want:    "true", writes: 1},
		{reason: "affinity-class 1.5: a HelmRelease with a class", namespace: labelled("apps", "a", "b"),
			objects: []client.Object{classy}, want: "true", writes: 1},
		{reason: "affinity-class 1.5: a HelmRelease without", namespace: labelled("apps", "a", "b"),
			objects: []client.Object{release("x", application(postgres, "apps", "x", ""))}},
		{reason: "affinity-class 1.5: a system namespace", namespace: labelled("apps", affinityclass.SystemLabel, "true"),
			objects: []client.Object{application(redis, "apps", "cache", "")}},
		{reason: "affinity-class 1.5: that of the hub", namespace: labelled(hubNamespace, "a", "b"),
			objects: []client.Object{application(redis, hubNamespace, "cache", "")}},
		{reason: "a kind is not in the cache: the label stays", namespace: labelled("apps", affinityclass.VerifyLabel, "true"),
			change: unsynced, want: "true", again: true},
		{reason: "a kind is not in the cache: the label may be wanted", namespace: labelled("apps", "a", "b"),
			change: unsynced, again: true},
		{reason: "a Tenant that only the API server has yet: the label stays",
			namespace: labelled("tenant-beta", affinityclass.VerifyLabel, "true"),
			change:    func(h *hub) { h.state.Live = ahead{h.Client, tenant("tenant-root", "beta", "")} }, want: "true"},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			h := newHub(t)
			h.given(t, append(tc.objects, tc.namespace)...)
			if tc.change != nil {
				tc.change(h)
			}
			reconciler := &namespaceReconciler{h.state, queue.NewConflictBackoff[reconcile.Request]()}

			for range 2 {
				result, err := reconciler.Reconcile(t.Context(), named(tc.namespace.Name))
				if err != nil || (result.RequeueAfter > 0) != tc.again {
					t.Fatalf("result %v, %v", result, err)
				}
			}
			if len(h.writes) != tc.writes {
				t.Errorf("writes %q, want %d", h.writes, tc.writes)
			}

			read := &corev1.Namespace{}
			if err := h.Get(t.Context(), client.ObjectKeyFromObject(tc.namespace), read); err != nil {
				t.Fatal(err)
			}
			if read.Labels[affinityclass.VerifyLabel] != tc.want || read.Labels["other"] != "kept" {
				t.Errorf("labels %v", read.Labels)
			}
		})
	}
}

func TestClassesOfNamespacesAreRecorded(t *testing.T) {
	for _, tc := range []struct {
		reason, namespace, recorded, want string
	}{
		{"T13: the list of the Tenant is recorded", "tenant-acme", "", `["dc1","dc2"]`},
		{"T13: another record is replaced", "tenant-acme", `["gpu"]`, `["dc1","dc2"]`},
		{"T13: a namespace without a Tenant keeps its record", "tenant-acme-us", `["gpu"]`, `["gpu"]`},
		{"T13: and gets none", "tenant-acme-us", "", ""},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			h := newHub(t)

			given := namespace(tc.namespace)
			if tc.recorded != "" {
				given.Annotations = map[string]string{affinityclass.AllowedAnnotation: tc.recorded}
			}
			h.given(t, given)
			reconciler := &namespaceReconciler{h.state, queue.NewConflictBackoff[reconcile.Request]()}

			for range 3 {
				if _, err := reconciler.Reconcile(t.Context(), named(tc.namespace)); err != nil {
					t.Fatal(err)
				}
			}
			read := &corev1.Namespace{}
			if err := h.Get(t.Context(), client.ObjectKeyFromObject(given), read); err != nil {
				t.Fatal(err)
			}

			if got := read.Annotations[affinityclass.AllowedAnnotation]; got != tc.want {
				t.Errorf("recorded is %q, want %q", got, tc.want)
			}
		})
	}
}
