// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

const head = `"apiVersion":"cluster.open-cluster-management.io/v1","kind":"ManagedCluster"`

// review sends a review of a cluster named c; old is empty on creation.
func review(t *testing.T, reader client.Reader, path, object, old string) *admissionv1.AdmissionResponse {
	t.Helper()
	handlers, err := NewHandlers(clocktesting.NewFakePassiveClock(now), reader)
	if err != nil {
		t.Fatal(err)
	}
	handler, err := admission.StandaloneWebhook(&admission.Webhook{Handler: handlers[path]}, admission.StandaloneOptions{})
	if err != nil {
		t.Fatal(err)
	}
	review := &admissionv1.AdmissionReview{
		TypeMeta: metav1.TypeMeta{APIVersion: "admission.k8s.io/v1", Kind: "AdmissionReview"},
		Request: &admissionv1.AdmissionRequest{
			UID: "1", Operation: admissionv1.Create, Object: runtime.RawExtension{Raw: []byte(object)},
		},
	}
	if path == MutatePath { // A name that the API server makes up is in the object alone.
		review.Request.Name = "c"
	}
	if old != "" {
		review.Request.Operation, review.Request.OldObject = admissionv1.Update, runtime.RawExtension{Raw: []byte(old)}
	}
	content, err := json.Marshal(review)
	if err != nil {
		t.Fatal(err)
	}
	request := httptest.NewRequestWithContext(t.Context(), http.MethodPost, path, bytes.NewReader(content))
	request.Header.Set("Content-Type", "application/json")
	recorder := httptest.NewRecorder()
	handler.ServeHTTP(recorder, request)
	answer := &admissionv1.AdmissionReview{}
	if err := json.Unmarshal(recorder.Body.Bytes(), answer); err != nil {
		t.Fatalf("%d: %v: %s", recorder.Code, err, recorder.Body)
	}
	return answer.Response
}

func TestHandler(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := corev1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "c"}}
	terminating := namespace.DeepCopy()
	terminating.Finalizers, terminating.DeletionTimestamp = []string{"example.com/f"}, &before
	having := func(objects ...client.Object) client.Reader {
		return fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).Build()
	}
	mute := interceptor.NewClient(fake.NewClientBuilder().WithScheme(scheme).Build(), interceptor.Funcs{
		Get: func(context.Context, client.WithWatch, client.ObjectKey, client.Object, ...client.GetOption) error {
			return errors.New("no answer")
		},
	})
	accepted, waiting := `{`+head+`,"metadata":{"name":"c"},"spec":{"hubAcceptsClient":true}}`, `{`+head+`,"spec":{"hubAcceptsClient":false}}`
	for _, tc := range []struct {
		reason            string
		reader            client.Reader
		path, object, old string
		code              int32
		message           []string
		patch             string
	}{
		{reason: "defaults are a patch", path: MutatePath, code: 200,
			object: `{` + head + `,"metadata":{"labels":{}},"spec":{"taints":[{"key":"a"}]}}`,
			patch: `[{"op":"add","path":"/metadata/labels/cluster.open-cluster-management.io~1clusterset","value":"default"},` +
				`{"op":"add","path":"/spec/taints/0/timeAdded","value":"` + nowUTC + `"}]`},
		{reason: "timeAdded may be null", path: MutatePath, code: 200, old: `{` + head + `,"spec":{"taints":[{"key":"a","timeAdded":null}]}}`,
			object: `{` + head + `,"metadata":{"labels":{"cluster.open-cluster-management.io/clusterset":"blue"}},"spec":{"taints":[{"key":"a"}]}}`},
		{reason: "a taint may be null, which the API server refuses", path: MutatePath, code: 200,
			object: `{` + head + `,"metadata":{"labels":{"cluster.open-cluster-management.io/clusterset":"blue"}},"spec":{"taints":[null]}}`},
		{reason: "a time that somebody sets is a bad request", path: MutatePath, old: waiting, code: 400,
			object:  `{` + head + `,"spec":{"taints":[{"key":"a","timeAdded":"2026-01-01T00:00:00Z"}]}}`,
			message: []string{"It is not allowed to set TimeAdded of Taint \"a\"", "leave timeAdded out"}},
		{reason: "what cannot be read is one, too", path: MutatePath, object: `{` + head + `,"spec":{"taints":"none"}}`, code: 400,
			message: []string{"ManagedCluster c cannot be read", "taints"}},
		{reason: "nobody is accepted into a namespace that goes away", path: ValidatePath, reader: having(terminating), object: accepted, code: 403,
			message: []string{`cluster namespace "c" is terminating`, "wait until"}},
		{reason: "nor later", path: ValidatePath, reader: having(terminating), object: accepted, old: waiting, code: 403,
			message: []string{"wait until"}},
		{reason: "who was accepted before stays so", path: ValidatePath, reader: mute, object: accepted, old: accepted, code: 200},
		{reason: "a namespace that is there does", path: ValidatePath, reader: having(namespace), object: accepted, code: 200},
		{reason: "and so does none", path: ValidatePath, reader: having(), object: accepted, old: waiting, code: 200},
		{reason: "nobody is accepted on a guess", path: ValidatePath, reader: mute, object: accepted, code: 500,
			message: []string{"looking whether namespace c is terminating", "no answer"}},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			got := review(t, tc.reader, tc.path, tc.object, tc.old)
			if got.Result.Code != tc.code || got.Allowed != (tc.code == 200) {
				t.Fatalf("answer %+v, want code %d", got.Result, tc.code)
			}
			for _, part := range tc.message {
				if !strings.Contains(got.Result.Message, part) {
					t.Errorf("message %q lacks %q", got.Result.Message, part)
				}
			}
			if diff := cmp.Diff(tc.patch, string(got.Patch)); diff != "" {
				t.Errorf("patch (-want +got):\n%s", diff)
			}
		})
	}
}
