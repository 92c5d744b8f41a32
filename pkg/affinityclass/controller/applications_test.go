// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/affinityclass"
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
	object := newObject(affinityclass.ReleaseKind)
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

	if release.GetLabels()[affinityclass.ClassLabel] != class {
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
				!strings.HasPrefix(written.GetAnnotations()[affinityclass.ResolvedAnnotation], tc.class+"@") {
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
	system.Labels = map[string]string{affinityclass.SystemLabel: "true"}

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

// T16: a restart repeats no Warning of a kind without a status subresource, unless the application was changed after the last renewal of the
// former leader.
func TestARestartRepeatsNoRefusal(t *testing.T) {
	renewed := time.Unix(1_700_000_000, 0)
	for created, want := range map[time.Time]int{renewed.Add(-time.Hour): 0, renewed.Add(time.Hour): 1} {
		app := application(redis, "tenant-acme", "cache", "gpu")
		app.SetCreationTimestamp(metav1.NewTime(created))
		h := newHub(t, app)
		h.formerRenewal = renewed
		h.resolve(t, app)
		if events := h.events(); len(events) != want {
			t.Errorf("created %v: events %q, want %d", created, events, want)
		}
		h.given(t, release("cache", app))
		h.resolve(t, app)

		if events := h.events(); len(events) != 1 || !strings.Contains(events[0], `AffinityClass "gpu" is not allowed`) {
			t.Errorf("a later refusal: events %q", events)
		}
	}
}
