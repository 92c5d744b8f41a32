// SPDX-License-Identifier: Apache-2.0

package uninstall

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/placement-hub/placement-hub/pkg/hub/systems"
	"github.com/placement-hub/placement-hub/test/expect"
)

// answer is what the API server answers to a request.
type answer struct {
	code int
	body any
}

// fakeHub answers requests by method and path: each answer once, the last one again and again. It fails the test for others, and counts requests in
// each of the maps.
func fakeHub(t *testing.T, answers map[string][]answer, counts ...map[string]int) (hub *Hub, patches *[]string) {
	t.Helper()
	patches = &[]string{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		key := request.Method + " " + request.URL.Path
		for _, requests := range counts {
			requests[key]++
		}
		if request.Method == http.MethodPatch {
			patch, err := io.ReadAll(request.Body)
			expect.NoError(t, err)
			*patches = append(*patches, string(patch))
		}
		left := answers[key]
		if len(left) == 0 {
			t.Errorf("unexpected request %s", key)
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		if len(left) > 1 {
			answers[key] = left[1:]
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(left[0].code)
		expect.NoError(t, json.NewEncoder(w).Encode(left[0].body))
	}))
	t.Cleanup(server.Close)
	hub, err := New(&rest.Config{Host: server.URL})
	expect.NoError(t, err)
	return hub, patches
}

// status returns a failure of the API server.
func status(code int, reason metav1.StatusReason) answer {
	failure := metav1.Status{Status: metav1.StatusFailure, Reason: reason, Message: string(reason)}
	failure.Code = int32(code)
	failure.APIVersion, failure.Kind = "v1", "Status"
	return answer{code, failure}
}

// metadataOf returns an object of metadata with finalizers.
func metadataOf(name, version string, finalizers ...string) metav1.PartialObjectMetadata {
	object := metav1.PartialObjectMetadata{}
	object.APIVersion, object.Kind = metav1.SchemeGroupVersion.String(), "PartialObjectMetadata"
	object.Namespace, object.Name, object.UID, object.ResourceVersion = "shop", name, types.UID(name), version
	object.Finalizers = finalizers
	return object
}

func listOf(continued string, objects ...metav1.PartialObjectMetadata) answer {
	list := metav1.PartialObjectMetadataList{Items: objects}
	list.APIVersion, list.Kind, list.Continue = metav1.SchemeGroupVersion.String(), "PartialObjectMetadataList", continued
	return answer{http.StatusOK, list}
}

var ours = systems.Finalizer{Name: "hub.io/keep"}

// What can be read is found, and the error names the rest: a resource without the right to list it, a group whose API server does not respond.
func TestFindGoesOnWithoutWhatItCannotRead(t *testing.T) {
	verbs := metav1.Verbs{"list", "patch"}
	hub, _ := fakeHub(t, map[string][]answer{
		"GET /api": {{http.StatusOK, metav1.APIVersions{TypeMeta: metav1.TypeMeta{Kind: "APIVersions"}, Versions: []string{"v1"}}}},
		"GET /apis": {{http.StatusOK, metav1.APIGroupList{
			TypeMeta: metav1.TypeMeta{Kind: "APIGroupList", APIVersion: "v1"}, Groups: []metav1.APIGroup{{
				Name: "broken.io", Versions: []metav1.GroupVersionForDiscovery{{GroupVersion: "broken.io/v1", Version: "v1"}},
				PreferredVersion: metav1.GroupVersionForDiscovery{GroupVersion: "broken.io/v1", Version: "v1"},
			}},
		}}},
		"GET /apis/broken.io/v1": {status(http.StatusServiceUnavailable, metav1.StatusReasonServiceUnavailable)},
		"GET /api/v1": {{http.StatusOK, metav1.APIResourceList{
			TypeMeta: metav1.TypeMeta{Kind: "APIResourceList", APIVersion: "v1"}, GroupVersion: "v1", APIResources: []metav1.APIResource{
				{Name: "configmaps", Namespaced: true, Kind: "ConfigMap", Verbs: verbs},
				{Name: "secrets", Namespaced: true, Kind: "Secret", Verbs: verbs},
				{Name: "bindings", Namespaced: true, Kind: "Binding", Verbs: metav1.Verbs{"create"}},
			},
		}}},
		"GET /api/v1/configmaps": {
			listOf("more", metadataOf("b", "1", ours.Name)), listOf("", metadataOf("c", "1", "other"), metadataOf("a", "1", "other", ours.Name)),
		},
		"GET /api/v1/secrets": {status(http.StatusForbidden, metav1.StatusReasonForbidden)},
	})
	found, err := hub.Find(t.Context(), []systems.Entry{{Name: "toy", Finalizers: []systems.Finalizer{ours}}})
	expect.Error(t, err, []string{"listing secrets", "broken.io/v1"})
	var names []string
	for _, held := range found {
		names = append(names, held.System+" "+held.String()+" "+strings.Join(held.Names, " "))
	}
	if diff := cmp.Diff([]string{"toy configmaps shop/a hub.io/keep", "toy configmaps shop/b hub.io/keep"}, names); diff != "" {
		t.Errorf("found (-want +got):\n%s", diff)
	}
}

// What a finalizer looks up is listed once, whatever the number of objects, and not at all without objects.
func TestFindListsWhatRemainsOnce(t *testing.T) {
	deliveries := schema.GroupVersionResource{Group: "toy.io", Version: "v1", Resource: "deliveries"}
	finalizers := func(resource string) []systems.Finalizer {
		return []systems.Finalizer{{
			Name: ours.Name, Resource: schema.GroupVersionResource{Version: "v1", Resource: resource},
			Remains: func(list systems.List) func(*unstructured.Unstructured) []string {
				listed := list(deliveries, "of=toy")
				return func(object *unstructured.Unstructured) []string {
					return []string{object.GetName() + " of " + listed[0].Name + " and " + listed[1].Name}
				}
			},
		}}
	}
	for _, c := range []struct {
		reason, resource string
		want             []string
		requests         map[string]int
	}{
		{
			"two objects", "configmaps", []string{"a of one and two", "b of one and two"},
			map[string]int{"GET /api/v1/configmaps": 1, "GET /apis/toy.io/v1/deliveries": 2},
		},
		{"none", "secrets", nil, map[string]int{"GET /api/v1/secrets": 1}},
	} {
		t.Run(c.reason, func(t *testing.T) {
			requests := map[string]int{}
			hub, _ := fakeHub(t, map[string][]answer{
				"GET /api/v1/configmaps":         {listOf("", metadataOf("a", "1", ours.Name), metadataOf("b", "1", ours.Name))},
				"GET /api/v1/secrets":            {listOf("", metadataOf("c", "1", "other"))},
				"GET /apis/toy.io/v1/deliveries": {listOf("more", metadataOf("one", "1")), listOf("", metadataOf("two", "1"))},
			}, requests)
			found, err := hub.Find(t.Context(), []systems.Entry{{Name: "toy", Finalizers: finalizers(c.resource)}})
			expect.NoError(t, err)
			var remains []string
			for _, held := range found {
				remains = append(remains, held.Remains...)
			}
			if diff := cmp.Diff(c.want, remains); diff != "" {
				t.Errorf("what remains (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(c.requests, requests); diff != "" {
				t.Errorf("requests (-want +got):\n%s", diff)
			}
		})
	}
}

// Only the finalizer of the hub goes, from the version that was read, and from the object that was found.
func TestReleaseRemovesNoOtherFinalizer(t *testing.T) {
	const path = "/api/v1/namespaces/shop/configmaps/a"
	gone := status(http.StatusNotFound, metav1.StatusReasonNotFound)
	conflict := status(http.StatusConflict, metav1.StatusReasonConflict)
	another := metadataOf("a", "9", ours.Name)
	another.UID = "another"
	present := func(version string, finalizers ...string) answer {
		return answer{http.StatusOK, metadataOf("a", version, finalizers...)}
	}
	for _, c := range []struct {
		reason  string
		answers map[string][]answer
		patches []string
		err     []string
	}{
		{
			"a conflict is tried again with the new version", map[string][]answer{
				"GET " + path:   {present("1", "first", ours.Name), present("2", ours.Name, "second")},
				"PATCH " + path: {conflict, present("3", "second")},
			}, []string{
				`{"metadata":{"finalizers":["first"],"resourceVersion":"1","uid":"a"}}`,
				`{"metadata":{"finalizers":["second"],"resourceVersion":"2","uid":"a"}}`,
			}, nil,
		},
		{"an object that is gone", map[string][]answer{"GET " + path: {gone}}, nil, nil},
		{"another object of the name", map[string][]answer{"GET " + path: {{http.StatusOK, another}}}, nil, nil},
		{"a finalizer that is gone", map[string][]answer{"GET " + path: {present("1", "first")}}, nil, nil},
		{
			"a refusal names the object", map[string][]answer{
				"GET " + path: {present("1", ours.Name)}, "PATCH " + path: {status(http.StatusForbidden, metav1.StatusReasonForbidden)},
			}, []string{`{"metadata":{"finalizers":[],"resourceVersion":"1","uid":"a"}}`}, []string{"releasing configmaps shop/a", "Forbidden"},
		},
	} {
		t.Run(c.reason, func(t *testing.T) {
			hub, patches := fakeHub(t, c.answers)
			object := metadataOf("a", "1", ours.Name)
			err := hub.Release(t.Context(), &Held{
				Resource: schema.GroupVersionResource{Version: "v1", Resource: "configmaps"},
				Object:   withKind(&object, schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}), Finalizer: ours, Names: []string{ours.Name},
			})
			expect.Error(t, err, c.err)
			if diff := cmp.Diff(c.patches, append([]string(nil), *patches...)); diff != "" {
				t.Errorf("patches (-want +got):\n%s", diff)
			}
		})
	}
}

func TestPrintGroupsByFinalizer(t *testing.T) {
	object := func(name string) *unstructured.Unstructured {
		o := &unstructured.Unstructured{}
		o.SetName(name)
		return o
	}
	deleted := object("b")
	now := metav1.Now()
	deleted.SetDeletionTimestamp(&now)
	first := systems.Finalizer{Name: "a.io/x", Waits: "until noon", Left: "All stays."}
	second := systems.Finalizer{Name: "a.io/", Prefix: true, Waits: "until night", Left: "Nothing stays."}
	resource := schema.GroupVersionResource{Group: "g.io", Resource: "things"}
	var out strings.Builder
	expect.NoError(t, Print(&out, []*Held{
		{Resource: resource, Object: object("a"), System: "toy", Finalizer: first, Remains: []string{"1", "2", "3", "4", "5", "6", "7"}},
		{Resource: resource, Object: deleted, System: "toy", Finalizer: first, Remains: []string{"1", "2"}},
		{Resource: resource, Object: deleted, System: "toy", Finalizer: second},
	}))
	want := `toy: finalizer a.io/x
  An object that is deleted waits until noon.
  Without the finalizer: All stays.
  - things.g.io a: 1, 2, 3, 4, 5 and 2 more
  - things.g.io b (is being deleted): 1, 2

toy: finalizer a.io/<uid>
  An object that is deleted waits until night.
  Without the finalizer: Nothing stays.
  - things.g.io b (is being deleted)
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("printed (-want +got):\n%s", diff)
	}
}
