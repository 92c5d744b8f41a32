// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

// serve returns a server of the handlers, as the hub mounts them, that does not recover from panics.
func serve(tb testing.TB, all map[string]admission.Handler) *httptest.Server {
	tb.Helper()
	mux := http.NewServeMux()
	for path, handler := range all {
		hook, err := admission.StandaloneWebhook(&admission.Webhook{Handler: handler, RecoverPanic: ptr.To(false)}, admission.StandaloneOptions{})
		if err != nil {
			tb.Fatal(err)
		}
		mux.Handle(path, hook)
	}

	server := httptest.NewServer(mux)
	tb.Cleanup(server.Close)
	return server
}

// post sends a body, and returns the response to the review.
func post(tb testing.TB, url, contentType, body string) *admissionv1.AdmissionResponse {
	tb.Helper()
	request, err := http.NewRequestWithContext(tb.Context(), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		tb.Fatal(err)
	}
	request.Header.Set("Content-Type", contentType)

	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		tb.Fatal(err)
	}
	defer answer.Body.Close() //nolint:errcheck // It was read to its end.
	content, err := io.ReadAll(answer.Body)
	if err != nil {
		tb.Fatal(err)
	}

	review := admissionv1.AdmissionReview{}
	if err := json.Unmarshal(content, &review); err != nil || review.Response == nil {
		tb.Fatalf("%s: %v, response %s", answer.Status, err, content)
	}
	return review.Response
}

func TestBodiesThatAreNoReviews(t *testing.T) {
	server := serve(t, handlers(newWorld(t).readers(t), hub))
	review := `{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"u","operation":"CREATE",` +
		`"kind":{"group":"%s","version":"v1","kind":"%s"},"namespace":"tenant-acme","object":%s}}`
	objects := []string{
		"null", "[]", `"text"`, `{"metadata":[]}`, `{"metadata":{"name":7}}`, `{"metadata":{},"spec":[]}`,
		`{"metadata":{"ownerReferences":[null]},"spec":null}`, `{"spec":{"nodeSelector":[1]}}`,
		`{"spec":{"nodeSelector":{"a":1}},"metadata":{"labels":{"a":[]}}}`, `{"spec":{"affinityClass":{"a":1}}}`,
	}
	kinds := map[string][2]string{
		PodPath: {"", "Pod"}, TenantPath: {"apps.cozystack.io", "Tenant"}, ApplicationPath: {"apps.cozystack.io", "Postgres"},
	}
	for path, kind := range kinds {
		for reason, tc := range map[string]struct{ contentType, body string }{
			"nothing":              {"application/json", ""},
			"no JSON":              {"application/json", "{"},
			"null":                 {"application/json", "null"},
			"no review":            {"application/json", `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"}}`},
			"no request":           {"application/json", `{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview"}`},
			"another content type": {"text/plain", fmt.Sprintf(review, kind[0], kind[1], "{}")},
			"a kind nobody knows":  {"application/json", fmt.Sprintf(review, "example.com", "Thing", "{}")},
			"no object":            {"application/json", strings.Replace(fmt.Sprintf(review, kind[0], kind[1], "{}"), `,"object":{}`, "", 1)},
			"a number":             {"application/json", fmt.Sprintf(review, kind[0], kind[1], "7")},
			"too much":             {"application/json", fmt.Sprintf(review, kind[0], kind[1], `"`+strings.Repeat("x", 8<<20)+`"`)},
		} {
			response := post(t, server.URL+path, tc.contentType, tc.body)
			if response.Allowed || response.Result == nil || response.Result.Code != http.StatusBadRequest && response.Result.Code != 413 {
				t.Errorf("%s, %s: %+v, want a bad request", path, reason, response)
			}
		}

		for _, object := range objects { // Whatever the answer is, there is one.
			post(t, server.URL+path, "application/json", fmt.Sprintf(review, kind[0], kind[1], object))
		}
	}
}

// Objects of 3 MB, the greatest that an API server takes, are reviewed as all others.
func TestGreatObjects(t *testing.T) {
	great := strings.Repeat("x", 3<<20)
	w := newWorld(t)
	pod := podRequest(t, nil, map[string]string{fluxLabel: "main-db"})
	pod.Object.Raw = bytes.Replace(pod.Object.Raw, []byte(`"metadata":{`), []byte(`"metadata":{"annotations":{"a":"`+great+`"},`), 1)
	expectResponse(t, w.handle(t, PodPath, pod), 403, denial)
	expectReview(t, w.handle(t, ApplicationPath, appRequest(t, "tenant-acme", nil, map[string]any{"affinityClass": "gpu", "a": great})),
		"is not allowed")
}

func FuzzHandlers(f *testing.F) {
	for _, seed := range []string{`{"metadata":{"ownerReferences":[{"kind":"A"}]},"spec":{"nodeSelector":{"a":"b"}}}`, `null`, `{"spec":{"_a":1}}`} {
		f.Add([]byte(seed), []byte(`{}`), true)
	}
	w := &world{}
	kinds := map[string]metav1.GroupVersionKind{
		PodPath:         {Version: "v1", Kind: "Pod"},
		TenantPath:      {Group: "apps.cozystack.io", Version: "v1alpha1", Kind: "Tenant"},
		ApplicationPath: {Group: "apps.cozystack.io", Version: "v1alpha1", Kind: "Postgres"},
	}

	f.Fuzz(func(t *testing.T, object, old []byte, update bool) {
		if w.server == nil {
			*w = *newWorld(t)
		}
		for path, handler := range handlers(w.readers(t), hub) {
			request := admission.Request{AdmissionRequest: admissionv1.AdmissionRequest{
				Kind: kinds[path], Namespace: "tenant-acme", Operation: admissionv1.Create, Object: runtime.RawExtension{Raw: object},
			}}
			if update {
				request.Operation, request.OldObject.Raw = admissionv1.Update, old
			}
			if response := handler.Handle(canceled(t), request); !response.Allowed && response.Result.Message == "" {
				t.Errorf("%s: %+v", path, response)
			}
		}
	})
}
