// SPDX-License-Identifier: Apache-2.0

package preflight

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/placement-hub/placement-hub/test/expect"
)

// A hub without the controller of delivered objects sends one list of one ManifestWork at its start, and none without the right to.
func TestLeftWork(t *testing.T) {
	work := metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: "eu1", Name: "fed-configmap-1"}}
	for _, tc := range []struct {
		reason  string
		allowed bool
		code    int
		works   []metav1.PartialObjectMetadata
		lists   int
		want    string
		err     []string
	}{
		{reason: "without the right nothing is listed", works: []metav1.PartialObjectMetadata{work}},
		{reason: "there are none", allowed: true, code: http.StatusOK, lists: 1},
		{reason: "one is named", allowed: true, code: http.StatusOK, works: []metav1.PartialObjectMetadata{work}, lists: 1,
			want: "eu1/fed-configmap-1"},
		{reason: "they are not served", allowed: true, code: http.StatusNotFound, lists: 1},
		{reason: "the API server does not answer", allowed: true, code: http.StatusInternalServerError, lists: 1,
			err: []string{"listing ManifestWorks"}},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			lists := 0
			server := httptest.NewServer(http.HandlerFunc(func(answer http.ResponseWriter, request *http.Request) {
				answer.Header().Set("Content-Type", "application/json")
				var content any
				if request.Method == http.MethodPost {
					review := &authorizationv1.SelfSubjectAccessReview{}
					review.APIVersion, review.Kind = authorizationv1.SchemeGroupVersion.String(), "SelfSubjectAccessReview"
					review.Status.Allowed = tc.allowed
					answer.WriteHeader(http.StatusCreated)
					content = review
				} else {
					lists++
					query := request.URL.Query()
					if request.URL.Path != "/apis/work.open-cluster-management.io/v1/manifestworks" || query.Get("limit") != "1" ||
						query.Get("labelSelector") != "federation.kubernetes.io/managed=true" {
						t.Errorf("got %s", request.URL)
					}
					answer.WriteHeader(tc.code)
					list := &metav1.PartialObjectMetadataList{Items: tc.works}
					list.APIVersion, list.Kind = metav1.SchemeGroupVersion.String(), "PartialObjectMetadataList"
					content = list
				}
				expect.NoError(t, json.NewEncoder(answer).Encode(content))
			}))
			defer server.Close()
			config := &rest.Config{Host: server.URL}
			client, err := newClient(config, RequestTimeout)
			expect.NoError(t, err)
			got, err := leftWork(t.Context(), config, client)
			expect.Error(t, err, tc.err)
			if got != tc.want || lists != tc.lists {
				t.Errorf("got %q after %d lists, want %q after %d", got, lists, tc.want, tc.lists)
			}
		})
	}
}
