// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/placement-hub/placement-hub/pkg/affinityclass"
)

// docs/spec/affinity-class.md A30: an edit is put back, and nothing else changes.
func TestEditedReleasesArePutBack(t *testing.T) {
	for _, tc := range []struct {
		reason string
		edit   func(*unstructured.Unstructured)
	}{
		{"another label", func(r *unstructured.Unstructured) {
			r.SetLabels(map[string]string{affinityclass.ClassLabel: "dc2"})
		}},
		{"no label", func(r *unstructured.Unstructured) {
			labels := r.GetLabels()
			delete(labels, affinityclass.ClassLabel)
			r.SetLabels(labels)
		}},
		{"another key", func(r *unstructured.Unstructured) {
			valuesOf(r)["_scheduling"].(map[string]any)["nodeSelector"].(map[string]any)["disk"] = "ssd"
		}},
		{"a text", func(r *unstructured.Unstructured) { valuesOf(r)["_scheduling"] = "none" }},
		{"nothing", func(r *unstructured.Unstructured) { delete(valuesOf(r), "_scheduling") }},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			app := application(postgres, "tenant-acme", "main-db", "dc1")
			h := newHub(t, app, release("main-db", app))
			h.resolve(t, app)
			edited := h.read(t, "tenant-acme", "main-db")
			tc.edit(edited)
			for key, value := range affinityclass.ReleaseLabels(postgres.Group, postgres.Kind, "main-db") {
				labels := edited.GetLabels()
				labels[key] = value
				edited.SetLabels(labels)
			}

			if err := h.Update(t.Context(), edited); err != nil {
				t.Fatal(err)
			}
			h.resolve(t, app)
			restored := h.read(t, "tenant-acme", "main-db")
			expectScheduling(t, restored, "dc1")
			interval, _, err := unstructured.NestedString(restored.Object, "spec", "interval")
			if err != nil || interval != "1m" || valuesOf(restored)["kept"] != "yes" {
				t.Errorf("HelmRelease %v", restored.Object)
			}
		})
	}
}

// docs/spec/affinity-class.md A39: HelmReleases that the hub creates.
func TestCreatedReleases(t *testing.T) {
	charted := definition(postgres.Kind, "postgreses", true)
	charted.Annotations = map[string]string{affinityclass.ChartAnnotation: `{"kind":"OCIRepository","name":"postgres"}`}

	app := application(postgres, "tenant-acme", "main-db", "dc1")
	h := newHub(t, app)
	h.given(t, charted)
	h.watch(t, charted.Name)
	h.resolve(t, app)
	h.expectWrites(t, "patch Namespace/tenant-acme", "create HelmRelease/postgres-main-db", "patch status Postgres/main-db")
	expectScheduling(t, h.read(t, "tenant-acme", "postgres-main-db"), "dc1")

	// Its values follow the spec; what is gone from the spec goes.
	app.Object["spec"] = map[string]any{"affinityClass": "dc1", "nested": map[string]any{"a": "b"}}
	h.given(t, app)
	h.resolve(t, app)
	want := map[string]any{
		"nested":      map[string]any{"a": "b"},
		"_scheduling": map[string]any{"affinityClass": "dc1", "nodeSelector": map[string]any{zone: "dc1"}},
	}
	if diff := cmp.Diff(want, valuesOf(h.read(t, "tenant-acme", "postgres-main-db"))); diff != "" {
		t.Errorf("values (-want +got):\n%s", diff)
	}
}

func TestReleasesThatCannotBeCreated(t *testing.T) {
	for _, tc := range []struct {
		reason, chart, condition string
		taken                    bool
	}{
		{reason: "affinity-class A39: no annotation", condition: "False ReleaseNotFound no HelmRelease in the namespace has the labels"},
		{reason: "an annotation that is no JSON", chart: "{", condition: "False ReleaseNotFound annotation apps.cozystack.io/chart-ref"},
		{reason: "the name is taken", chart: "{}", taken: true,
			condition: "False ReleaseNotFound HelmRelease postgres-main-db exists without the labels"},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			charted := definition(postgres.Kind, "postgreses", true)
			charted.Annotations = map[string]string{affinityclass.ChartAnnotation: tc.chart}

			app := application(postgres, "tenant-acme", "main-db", "dc1")
			h := newHub(t, app)
			h.given(t, charted)
			h.watch(t, charted.Name)
			if tc.taken {
				foreign := release("postgres-main-db", app)
				foreign.SetLabels(nil)
				h.given(t, foreign)
			}
			h.resolve(t, app)

			if got := h.condition(t, app); !strings.HasPrefix(got, tc.condition) {
				t.Errorf("condition %s", got)
			}
		})
	}
}
