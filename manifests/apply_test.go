// SPDX-License-Identifier: Apache-2.0

package manifests

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
)

const world = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec: {group: example.com}
status: {storedVersions: []}
---
apiVersion: v1
kind: Namespace
metadata: {name: a}
---
apiVersion: example.com/v1
kind: Widget
metadata: {name: w, namespace: a, resourceVersion: "7"}
spec: {size: 3}
status: {ready: true}
`

func TestApply(t *testing.T) {
	server := newServer(t)
	server.listFailures = 2
	server.establishedAfter = 2
	if err := Apply(t.Context(), server.config(), decoded(t, world)); err != nil {
		t.Fatal(err)
	}
	want := []string{
		`/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.example.com ` +
			`{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"widgets.example.com"},` +
			`"spec":{"group":"example.com"}}`,
		`/api/v1/namespaces/a {"apiVersion":"v1","kind":"Namespace","metadata":{"name":"a"}}`,
		`/apis/example.com/v1/namespaces/a/widgets/w ` +
			`{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"w","namespace":"a"},"spec":{"size":3}}`,
		`/apis/example.com/v1/namespaces/a/widgets/w/status ` +
			`{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"w","namespace":"a"},"status":{"ready":true}}`,
	}
	if diff := cmp.Diff(want, server.applied); diff != "" {
		t.Errorf("applied objects (-want +got):\n%s", diff)
	}
	if server.listFailures != 0 || server.establishedAfter != 0 {
		t.Errorf("Apply went on although the definition was not served: %d failures, %d polls left",
			server.listFailures, server.establishedAfter)
	}
}

func TestApplyErrors(t *testing.T) {
	cases := []struct {
		name, reason, in string
		conflict         bool
		want             string
	}{
		{
			name:   "unknown kind",
			reason: "a missing definition is the usual cause, so the message says what to do",
			in:     "{apiVersion: example.com/v1, kind: Gadget, metadata: {name: g, namespace: a}}",
			want:   "apply Gadget a/g: the API server does not serve kind Gadget of example.com/v1: install its CustomResourceDefinition first",
		},
		{
			name:   "unknown group",
			reason: "a group that is not there is the same to the reader as a kind that is not there",
			in:     "{apiVersion: nowhere.io/v1, kind: Gadget, metadata: {name: g}}",
			want:   "apply Gadget g: the API server does not serve kind Gadget of nowhere.io/v1",
		},
		{
			name:   "namespace missing",
			reason: "there is no default namespace",
			in:     "{apiVersion: example.com/v1, kind: Widget, metadata: {name: w}}",
			want:   "apply Widget w: metadata.namespace is missing",
		},
		{
			name:   "namespace superfluous",
			reason: "the API server would ignore it, the author would be deceived",
			in:     "{apiVersion: v1, kind: Namespace, metadata: {name: a, namespace: b}}",
			want:   `apply Namespace b/a: metadata.namespace is "b", but a Namespace lives in no namespace`,
		},
		{
			name:   "refused",
			reason: "the server's own words are kept",
			in:     "{apiVersion: v1, kind: Namespace, metadata: {name: refused}}",
			want:   "apply Namespace refused: server-side apply: not today",
		},
		{
			name:     "names taken",
			reason:   "waiting does not help",
			in:       world,
			conflict: true,
			want:     "wait for CustomResourceDefinition widgets.example.com: its names are taken (ShortNameConflict): w is in use",
		},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			server := newServer(t)
			server.namesConflict = tc.conflict
			err := Apply(t.Context(), server.config(), decoded(t, tc.in))
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("Apply() error = %v, want %q: %s", err, tc.want, tc.reason)
			}
		})
	}
}

// server implements the part of the Kubernetes API that an applier needs, and records applied objects. It serves Widgets of example.com
// after their definition was applied.
type server struct {
	*httptest.Server
	t *testing.T

	mu sync.Mutex
	// applied has the path and the body of every apply, in order.
	applied []string
	// establishedAfter is the number of further reads that find the definition not established; listFailures is the number of further lists
	// of widgets that fail.
	establishedAfter, listFailures int
	// namesConflict makes the names of the definition conflict.
	namesConflict bool
}

func newServer(t *testing.T) *server {
	t.Helper()
	s := &server{t: t}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

func (s *server) config() *rest.Config { return &rest.Config{Host: s.URL} }

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case r.Method == http.MethodPatch:
		s.apply(w, r)
	case strings.HasPrefix(r.URL.Path, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/"):
		s.respond(w, http.StatusOK, s.definition())
	case r.URL.Path == "/apis/example.com/v1/widgets":
		if s.listFailures > 0 {
			s.listFailures--
			s.respond(w, http.StatusNotFound, status(http.StatusNotFound, metav1.StatusReasonNotFound, "not served yet"))
			return
		}
		s.respond(w, http.StatusOK, map[string]any{"apiVersion": "example.com/v1", "kind": "WidgetList", "items": []any{}})
	default:
		s.discover(w, r)
	}
}

func (s *server) apply(w http.ResponseWriter, r *http.Request) {
	if got := r.Header.Get("Content-Type"); got != "application/apply-patch+yaml" {
		s.t.Errorf("%s: Content-Type = %q, want a server-side apply", r.URL.Path, got)
	}
	if query := r.URL.Query(); query.Get("fieldManager") != FieldManager || query.Get("force") != "true" {
		s.t.Errorf("%s: query = %v, want field manager %s by force", r.URL.Path, query, FieldManager)
	}
	var body map[string]any
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		s.t.Errorf("%s: %v", r.URL.Path, err)
	}
	if strings.HasSuffix(r.URL.Path, "/refused") {
		s.respond(w, http.StatusForbidden, status(http.StatusForbidden, metav1.StatusReasonForbidden, "not today"))
		return
	}
	sorted, err := json.Marshal(body)
	if err != nil {
		s.t.Errorf("%s: %v", r.URL.Path, err)
	}
	s.applied = append(s.applied, r.URL.Path+" "+string(sorted))
	s.respond(w, http.StatusOK, body)
}

func (s *server) definition() *apiextensionsv1.CustomResourceDefinition {
	crd := &apiextensionsv1.CustomResourceDefinition{
		TypeMeta:   metav1.TypeMeta{APIVersion: "apiextensions.k8s.io/v1", Kind: "CustomResourceDefinition"},
		ObjectMeta: metav1.ObjectMeta{Name: "widgets.example.com"},
	}
	crd.Spec.Group = "example.com"
	crd.Spec.Names = apiextensionsv1.CustomResourceDefinitionNames{Kind: "Widget", Plural: "widgets"}
	crd.Spec.Versions = []apiextensionsv1.CustomResourceDefinitionVersion{{Name: "v1", Served: true}, {Name: "v0"}}
	switch {
	case s.namesConflict:
		crd.Status.Conditions = []apiextensionsv1.CustomResourceDefinitionCondition{{
			Type: apiextensionsv1.NamesAccepted, Status: apiextensionsv1.ConditionFalse,
			Reason: "ShortNameConflict", Message: "w is in use",
		}}
	case s.establishedAfter > 0:
		s.establishedAfter--
	default:
		crd.Status.Conditions = []apiextensionsv1.CustomResourceDefinitionCondition{{
			Type: apiextensionsv1.Established, Status: apiextensionsv1.ConditionTrue,
		}}
	}
	return crd
}

func (s *server) discover(w http.ResponseWriter, r *http.Request) {
	lists := map[string][]metav1.APIResource{
		"/api/v1": {{Name: "namespaces", Kind: "Namespace"}, {Name: "namespaces/status", Kind: "Namespace"}},
		"/apis/apiextensions.k8s.io/v1": {
			{Name: "customresourcedefinitions", Kind: "CustomResourceDefinition"},
			{Name: "customresourcedefinitions/status", Kind: "CustomResourceDefinition"},
		},
		"/apis/example.com/v1": {
			{Name: "widgets/status", Kind: "Widget", Namespaced: true},
			{Name: "widgets", Kind: "Widget", Namespaced: true},
		},
	}
	resources, found := lists[r.URL.Path]
	if !found {
		s.respond(w, http.StatusNotFound, status(http.StatusNotFound, metav1.StatusReasonNotFound, fmt.Sprintf("no %s", r.URL.Path)))
		return
	}
	s.respond(w, http.StatusOK, metav1.APIResourceList{APIResources: resources})
}

func (s *server) respond(w http.ResponseWriter, code int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	if err := json.NewEncoder(w).Encode(body); err != nil {
		s.t.Errorf("answer: %v", err)
	}
}

func status(code int32, reason metav1.StatusReason, message string) metav1.Status {
	return metav1.Status{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"},
		Status:   metav1.StatusFailure, Code: code, Reason: reason, Message: message,
	}
}
