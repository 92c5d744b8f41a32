package tenancy

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/tenancy"
)

// resolve reconciles an application several times, because a settled one must be left alone.
func (h *hub) resolve(t *testing.T, app *unstructured.Unstructured) {
	t.Helper()

	for range 2 {
		if _, err := h.applications.Reconcile(t.Context(), keyOf(app)[0]); err != nil {
			t.Fatal(err)
		}
	}
}

// read returns a HelmRelease.
func (h *hub) read(t *testing.T, namespace, name string) *unstructured.Unstructured {
	t.Helper()

	object := newObject(tenancy.ReleaseKind)
	if err := h.Get(t.Context(), types.NamespacedName{Namespace: namespace, Name: name}, object); err != nil {
		t.Fatal(err)
	}

	return object
}

// condition returns status, reason and message of the condition of an application, joined; empty for none.
func (h *hub) condition(t *testing.T, app *unstructured.Unstructured) string {
	t.Helper()

	read := newObject(app.GroupVersionKind())
	if err := h.Get(t.Context(), client.ObjectKeyFromObject(app), read); err != nil {
		t.Fatal(err)
	}

	conditions, _, err := unstructured.NestedSlice(read.Object, "status", "conditions")
	if err != nil {
		t.Fatal(err)
	}

	for _, entry := range conditions {
		if fields, _ := entry.(map[string]any); fields["type"] == ConditionAffinityClassResolved {
			return fmt.Sprintf("%s %s %s", fields["status"], fields["reason"], fields["message"])
		}
	}

	return ""
}

// events returns the events so far.
func (h *hub) events() []string {
	var all []string

	for {
		select {
		case event := <-h.recorder.Events:
			all = append(all, event)
		default:
			return all
		}
	}
}

func expectScheduling(t *testing.T, release *unstructured.Unstructured, class string) {
	t.Helper()

	var want any
	if class != "" {
		want = map[string]any{"affinityClass": class, "nodeSelector": map[string]any{zone: class}}
	}

	if diff := cmp.Diff(want, valuesOf(release)["_scheduling"]); diff != "" {
		t.Errorf("_scheduling (-want +got):\n%s", diff)
	}

	if release.GetLabels()[tenancy.ClassLabel] != class {
		t.Errorf("labels %v", release.GetLabels())
	}
}

func TestClassesOfApplications(t *testing.T) {
	for _, tc := range []struct {
		reason string
		app    *unstructured.Unstructured
		class  string
		writes []string
	}{
		{reason: "affinity-class A1: a class that it names; its namespace is labelled first",
			app: application(postgres, "tenant-acme", "main-db", "dc2"), class: "dc2",
			writes: []string{"patch Namespace/tenant-acme", "apply HelmRelease/main-db", "patch status Postgres/main-db"}},
		{reason: "affinity-class A2: the default", app: application(redis, "tenant-acme", "cache", ""), class: "dc1",
			writes: []string{"patch Namespace/tenant-acme", "apply HelmRelease/cache"}},
		{reason: "affinity-class A29: a class outside of Tenants", app: application(redis, "apps", "cache", "dc1"), class: "dc1",
			writes: []string{"patch Namespace/apps", "apply HelmRelease/cache"}},
		{reason: "affinity-class A29: none outside of Tenants: the record only", app: application(redis, "apps", "cache", ""),
			writes: []string{"apply HelmRelease/cache"}},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			h := newHub(t, namespace("apps"), tc.app, release(tc.app.GetName(), tc.app))
			h.resolve(t, tc.app)
			h.expectWrites(t, tc.writes...)

			written := h.read(t, tc.app.GetNamespace(), tc.app.GetName())
			expectScheduling(t, written, tc.class)

			if written.GetLabels()["platform"] != "keeps" || valuesOf(written)["kept"] != "yes" ||
				!strings.HasPrefix(written.GetAnnotations()[tenancy.ResolvedAnnotation], tc.class+"@") {
				t.Errorf("HelmRelease %v", written.Object)
			}

			if events := h.events(); events != nil {
				t.Errorf("events %q", events)
			}
		})
	}
}

func TestRefusedApplications(t *testing.T) {
	unguarded := class("new")
	unguarded.Finalizers = nil
	system := namespace("platform")
	system.Labels = map[string]string{tenancy.SystemLabel: "true"}

	for _, tc := range []struct {
		reason    string
		app       *unstructured.Unstructured
		condition string
	}{
		{reason: "affinity-class A3: not allowed", app: application(postgres, "tenant-acme", "main-db", "gpu"),
			condition: `False Refused spec.affinityClass: Invalid value: "gpu": AffinityClass "gpu" is not allowed in ` +
				`tenant namespace "tenant-acme" (allowed: dc1, dc2)`},
		{reason: "affinity-class A4: not found", app: application(postgres, "apps", "main-db", "nosuch"),
			condition: `False Refused spec.affinityClass: Invalid value: "nosuch": AffinityClass "nosuch" not found`},
		{reason: "affinity-class A42: a system namespace", app: application(postgres, "platform", "main-db", "dc1"),
			condition: `False Refused spec.affinityClass: Invalid value: "dc1": AffinityClass is not supported in system namespace "platform"`},
		{reason: "affinity-class 1.1: a class without the finalizer is waited for", app: application(postgres, "apps", "main-db", "new")},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			kept := release("main-db", tc.app)
			h := newHub(t, namespace("apps"), system, unguarded, tc.app, kept)
			h.resolve(t, tc.app)

			if got := h.condition(t, tc.app); got != tc.condition {
				t.Errorf("condition %s, want %s", got, tc.condition)
			}

			if slices.ContainsFunc(h.writes, func(write string) bool { return !strings.HasPrefix(write, "patch status Postgres/") }) {
				t.Errorf("writes %q", h.writes)
			}

			if events := h.events(); (len(events) == 1) != (tc.condition != "") {
				t.Errorf("events %q", events)
			}
		})
	}
}

// A kind without a status subresource has Warnings, one for each new outcome.
func TestRefusalsWithoutConditions(t *testing.T) {
	app := application(redis, "tenant-acme", "cache", "gpu")
	h := newHub(t, app)
	h.resolve(t, app)

	if events := h.events(); len(events) != 1 || !strings.HasPrefix(events[0], "Warning ReleaseNotFound ") {
		t.Errorf("events %q", events)
	}

	h.given(t, release("cache", app))
	h.resolve(t, app)

	if events := h.events(); len(events) != 1 || !strings.Contains(events[0], `AffinityClass "gpu" is not allowed`) {
		t.Errorf("events %q", events)
	}

	h.expectWrites(t)
}

// docs/spec/affinity-class.md A30: an edit is put back, and nothing else changes.
func TestEditedReleasesArePutBack(t *testing.T) {
	for _, tc := range []struct {
		reason string
		edit   func(*unstructured.Unstructured)
	}{
		{"another label", func(r *unstructured.Unstructured) {
			r.SetLabels(map[string]string{tenancy.ClassLabel: "dc2"})
		}},
		{"no label", func(r *unstructured.Unstructured) {
			labels := r.GetLabels()
			delete(labels, tenancy.ClassLabel)
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

			for key, value := range tenancy.ReleaseLabels(postgres.Group, postgres.Kind, "main-db") {
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

// docs/spec/affinity-class.md A40: the default of the Tenant moves an application when its spec changes, not before.
func TestAClassIsResolvedOncePerSpec(t *testing.T) {
	app := application(redis, "tenant-acme", "cache", "")
	h := newHub(t, app, release("cache", app))
	h.resolve(t, app)
	h.given(t, tenant("tenant-root", "acme", "dc2", "dc2"))
	h.resolve(t, app)
	expectScheduling(t, h.read(t, "tenant-acme", "cache"), "dc1")

	app = application(redis, "tenant-acme", "cache", "")
	app.Object["spec"] = map[string]any{"replicas": int64(2)}
	h.given(t, app)
	h.resolve(t, app)
	expectScheduling(t, h.read(t, "tenant-acme", "cache"), "dc2")
}

// docs/spec/affinity-class.md A39: HelmReleases that the hub creates.
func TestCreatedReleases(t *testing.T) {
	charted := definition(postgres.Kind, "postgreses", true)
	charted.Annotations = map[string]string{tenancy.ChartAnnotation: `{"kind":"OCIRepository","name":"postgres"}`}

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
			charted.Annotations = map[string]string{tenancy.ChartAnnotation: tc.chart}

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

// A write that was decided by an old state is retried quietly, and any other error is returned.
func TestWriteErrors(t *testing.T) {
	app := application(postgres, "tenant-acme", "main-db", "dc1")

	for _, tc := range []struct {
		reason string
		err    error
		quiet  bool
	}{
		{"a conflict", apierrors.NewConflict(corev1.Resource("helmreleases"), "main-db", errBroken), true},
		{"an error of the server", apierrors.NewInternalError(errBroken), false},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			h := newHub(t, app.DeepCopy(), release("main-db", app))
			h.fails = func(verb string, _ client.Object) error {
				if verb == "apply" {
					return tc.err
				}

				return nil
			}

			result, err := h.applications.Reconcile(t.Context(), keyOf(app)[0])
			if (err == nil) != tc.quiet || (result.RequeueAfter > 0) != tc.quiet {
				t.Errorf("result %v, %v", result, err)
			}

			h.expectWrites(t, "patch Namespace/tenant-acme")
		})
	}
}

// The first events of an informer come before it has synced, and must not be lost.
func TestAnApplicationWaitsForItsKind(t *testing.T) {
	app := application(postgres, "tenant-acme", "main-db", "dc1")
	h := newHub(t, app, release("main-db", app))
	unsynced(h)

	if result, err := h.applications.Reconcile(t.Context(), keyOf(app)[0]); err != nil || result.RequeueAfter == 0 {
		t.Errorf("result %v, %v", result, err)
	}

	h.expectWrites(t)
}

func TestApplicationsThatAnEventConcerns(t *testing.T) {
	named, defaulted := application(postgres, "apps", "named", "dc1"), application(redis, "tenant-acme", "defaulted", "")
	other := application(redis, "tenant-acme-eu", "other", "dc2")
	charted := definition(postgres.Kind, "postgreses", true)
	charted.Annotations = map[string]string{tenancy.ChartAnnotation: "{}"}

	labelled := release("x", application(postgres, "apps", "kept", ""))
	labels := labelled.GetLabels()
	labels[tenancy.ClassLabel] = "dc1"
	labelled.SetLabels(labels)

	h := newHub(t, named, defaulted, other, labelled)
	h.given(t, charted)
	h.watch(t, charted.Name)

	unlabelled := release("postgres-main-db", named)
	unlabelled.SetLabels(nil)

	foreign := release("x", named)
	foreign.SetLabels(tenancy.ReleaseLabels("example.com", "Postgres", "x"))

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
