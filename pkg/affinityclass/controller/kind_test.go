// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"

	"github.com/placement-hub/placement-hub/pkg/affinityclass"
)

func TestApplicationKinds(t *testing.T) {
	for _, tc := range []struct {
		reason string
		change func(*apiextensionsv1.CustomResourceDefinition)
		want   bool
		// version and conditions of the kind
		version    string
		conditions bool
	}{
		{reason: "affinity-class 1.1: a kind of applications", change: func(*apiextensionsv1.CustomResourceDefinition) {}, want: true,
			version: "v1alpha1", conditions: true},
		{reason: "affinity-class 1.1: Tenants are none", change: func(d *apiextensionsv1.CustomResourceDefinition) { d.Spec.Names.Kind = "Tenant" }},
		{reason: "another group", change: func(d *apiextensionsv1.CustomResourceDefinition) { d.Spec.Group = "apps.example.com" }},
		{reason: "objects of the cluster", change: func(d *apiextensionsv1.CustomResourceDefinition) { d.Spec.Scope = "Cluster" }},
		{reason: "not established yet", change: func(d *apiextensionsv1.CustomResourceDefinition) { d.Status.Conditions = nil }},
		{reason: "the name is taken", change: func(d *apiextensionsv1.CustomResourceDefinition) { d.Status.Conditions[0].Status = "False" }},
		{reason: "no version is served", change: func(d *apiextensionsv1.CustomResourceDefinition) { d.Spec.Versions[0].Served = false }},
		{reason: "the stored version goes first", change: func(d *apiextensionsv1.CustomResourceDefinition) {
			old := apiextensionsv1.CustomResourceDefinitionVersion{Name: "v1", Served: true}
			d.Spec.Versions = []apiextensionsv1.CustomResourceDefinitionVersion{old, d.Spec.Versions[0], old}
		}, want: true, version: "v1alpha1", conditions: true},
		{reason: "a stored version that is not served", change: func(d *apiextensionsv1.CustomResourceDefinition) {
			d.Spec.Versions[0].Served = false
			d.Spec.Versions = append(d.Spec.Versions, apiextensionsv1.CustomResourceDefinitionVersion{Name: "v2", Served: true})
		}, want: true, version: "v2"},
		{reason: "a schema that prunes conditions", change: func(d *apiextensionsv1.CustomResourceDefinition) {
			d.Spec.Versions[0].Schema.OpenAPIV3Schema = &apiextensionsv1.JSONSchemaProps{
				Properties: map[string]apiextensionsv1.JSONSchemaProps{"status": {}},
			}
		}, want: true, version: "v1alpha1"},
		{reason: "a schema with conditions", change: func(d *apiextensionsv1.CustomResourceDefinition) {
			d.Spec.Versions[0].Schema.OpenAPIV3Schema = &apiextensionsv1.JSONSchemaProps{Properties: map[string]apiextensionsv1.JSONSchemaProps{
				"status": {Properties: map[string]apiextensionsv1.JSONSchemaProps{"conditions": {Type: "array"}}},
			}}
		}, want: true, version: "v1alpha1", conditions: true},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			d := definition("Postgres", "postgreses", true)
			tc.change(d)
			got, found := kindOf(d)
			if found != tc.want || got.Version != tc.version || got.conditions != tc.conditions {
				t.Errorf("kind %+v, %t", got, found)
			}
		})
	}
}

func TestKindsComeAndGo(t *testing.T) {
	h := newHub(t, application(postgres, "tenant-acme", "main-db", "dc1"))
	q := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[string]())
	t.Cleanup(q.ShutDown)
	var told []string

	note := func(event string) func(any) {
		return func(object any) {
			application, _ := object.(*unstructured.Unstructured)
			told = append(told, event+" "+application.GetName())
		}
	}
	h.state.kinds.handlers = []toolscache.ResourceEventHandler{toolscache.ResourceEventHandlerFuncs{
		UpdateFunc: func(_, after any) { note("update")(after) }, DeleteFunc: note("delete"),
	}}
	known := func() []string {
		var names []string
		for _, kind := range h.state.kinds.synced() {
			names = append(names, kind.Kind)
		}
		slices.Sort(names)
		return names
	}
	complete := func() bool {
		complete, err := h.state.kinds.complete(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return complete
	}
	if diff := cmp.Diff([]string{"Postgres", "Redis"}, known()); diff != "" || !complete() {
		t.Fatalf("kinds (-want +got):\n%s", diff)
	}

	// Another chart: its applications are enqueued again.
	changed := definition("Postgres", "postgreses", true)
	changed.Annotations = map[string]string{affinityclass.ChartAnnotation: "{}"}
	h.given(t, changed)
	h.watch(t, changed.Name)
	if kind, _, _ := h.state.kinds.of("Postgres"); kind.chart != "{}" {
		t.Errorf("kind %+v", kind)
	}

	// Gone: its applications are gone too.
	if err := h.Delete(t.Context(), changed); err != nil {
		t.Fatal(err)
	}
	h.watch(t, changed.Name)
	if diff := cmp.Diff([]string{"Redis"}, known()); diff != "" {
		t.Errorf("kinds (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"update main-db", "delete main-db"}, told); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}

	// There again, and not watched yet.
	h.given(t, changed)
	if complete() {
		t.Error("complete without the informer of a kind")
	}
	h.watch(t, changed.Name)
	if !complete() {
		t.Error("not complete with all informers")
	}
	h.state.kinds.watched[changed.Name] = watchedKind{h.state.kinds.watched[changed.Name].kind, syncedInformer{}}

	if _, synced, _ := h.state.kinds.of("Postgres"); synced || complete() {
		t.Error("a kind whose informer has not synced counts")
	}
}

func TestCompact(t *testing.T) {
	app := release("main-db", application(postgres, "tenant-acme", "main-db", "dc1"))
	app.Object["status"] = map[string]any{"history": []any{"long"}}
	Compact(app)
	want := map[string]any{"values": map[string]any{"kept": "yes"}}
	if diff := cmp.Diff(want, app.Object["spec"]); diff != "" || app.Object["status"] != nil || app.GetLabels()["platform"] != "keeps" {
		t.Errorf("a HelmRelease has (-want +got):\n%s", diff)
	}

	ours, foreign := definition("Postgres", "postgreses", true), definition("Postgres", "postgreses", true)
	foreign.Spec.Group = "example.com"
	Compact(ours)
	Compact(foreign)
	if len(ours.Spec.Versions) != 1 || foreign.Spec.Versions != nil {
		t.Errorf("definitions have %v and %v", ours.Spec.Versions, foreign.Spec.Versions)
	}
	for _, object := range []any{nil, "text", application(postgres, "a", "b", "c")} {
		Compact(object)
	}
}
