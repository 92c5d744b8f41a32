// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/placement-hub/placement-hub/pkg/affinityclass"
)

func TestApplicationsThatAnEventConcerns(t *testing.T) {
	named, defaulted := application(postgres, "apps", "named", "dc1"), application(redis, "tenant-acme", "defaulted", "")
	other := application(redis, "tenant-acme-eu", "other", "dc2")
	charted := definition(postgres.Kind, "postgreses", true)
	charted.Annotations = map[string]string{affinityclass.ChartAnnotation: "{}"}

	labelled := release("x", application(postgres, "apps", "kept", ""))
	labels := labelled.GetLabels()
	labels[affinityclass.ClassLabel] = "dc1"
	labelled.SetLabels(labels)
	h := newHub(t, named, defaulted, other, labelled)
	h.given(t, charted)
	h.watch(t, charted.Name)
	unlabelled := release("postgres-main-db", named)
	unlabelled.SetLabels(nil)

	foreign := release("x", named)
	foreign.SetLabels(affinityclass.ReleaseLabels("example.com", "Postgres", "x"))
	r := h.applications
	for _, tc := range []struct {
		reason string
		got    []applicationKey
		want   []string
	}{
		{"a class", r.ofClass(t.Context(), class("dc1")), []string{"Postgres apps/kept", "Postgres apps/named", "Redis tenant-acme/defaulted"}},
		{"a Tenant", r.ofTenant(t.Context(), tenant("tenant-root", "acme", "")),
			[]string{"Redis tenant-acme-eu/other", "Redis tenant-acme/defaulted"}},
		{"the Tenant root", r.ofTenant(t.Context(), tenant("tenant-root", "root", "")),
			[]string{"Postgres apps/named", "Redis tenant-acme-eu/other", "Redis tenant-acme/defaulted"}},
		{"a namespace", r.ofNamespace(t.Context(), namespace("apps")), []string{"Postgres apps/named"}},
		{"a HelmRelease", r.ofRelease(t.Context(), labelled), []string{"Postgres apps/kept"}},
		{"a HelmRelease where the hub would create one", r.ofRelease(t.Context(), unlabelled), []string{"Postgres apps/main-db"}},
		{"a HelmRelease of another group", r.ofRelease(t.Context(), foreign), nil},
	} {
		var got []string
		for _, key := range tc.got {
			got = append(got, key.Kind+" "+key.String())
		}
		slices.Sort(got)
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s enqueues (-want +got):\n%s", tc.reason, diff)
		}
	}
}
