// SPDX-License-Identifier: Apache-2.0

package preflight

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"

	"github.com/placement-hub/placement-hub/cmd/placement/internal/expect"
	"github.com/placement-hub/placement-hub/manifests"
	"github.com/placement-hub/placement-hub/pkg/hub/systems"
	"github.com/placement-hub/placement-hub/pkg/system"
)

// Of a system that is off, an object counts once, whatever number of finalizers of the system it has, and only what may be listed is.
func TestLeftFinalizers(t *testing.T) {
	object := func(uid string, finalizers ...string) metav1.PartialObjectMetadata {
		return metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: uid, UID: types.UID(uid), Finalizers: finalizers}}
	}
	for _, tc := range []struct {
		reason     string
		allowed    []string
		code       int
		clusters   []metav1.PartialObjectMetadata
		objects    int
		finalizers []string
		err        []string
	}{
		{
			reason: "without the right nothing is listed", code: http.StatusOK,
			clusters: []metav1.PartialObjectMetadata{object("1", "cluster.openmcp.cloud/provider")},
		},
		{
			reason: "no object has one", allowed: []string{"clusters"}, code: http.StatusOK,
			clusters: []metav1.PartialObjectMetadata{object("1", "other.io/x")},
		},
		{
			reason: "objects are counted once", allowed: []string{"clusters", "accessrequests"}, code: http.StatusOK,
			clusters: []metav1.PartialObjectMetadata{
				object("1", "cluster.openmcp.cloud/provider", "request.cluster.openmcp.cloud/7", "request.cluster.openmcp.cloud/8"),
				object("2", "cluster.openmcp.cloud/provider"), object("3"),
			},
			objects: 2, finalizers: []string{"cluster.openmcp.cloud/provider", "request.cluster.openmcp.cloud/<uid>"},
		},
		{reason: "the resource is not served", allowed: []string{"clusters"}, code: http.StatusNotFound},
		{
			reason: "the API server fails", allowed: []string{"clusters"}, code: http.StatusInternalServerError,
			err: []string{"listing clusters.cluster.openmcp.cloud"},
		},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			lists := 0
			server := httptest.NewServer(http.HandlerFunc(func(answer http.ResponseWriter, request *http.Request) {
				answer.Header().Set("Content-Type", "application/json")
				if request.Method == http.MethodPost {
					body, err := io.ReadAll(request.Body)
					expect.NoError(t, err)
					review := &authorizationv1.SelfSubjectAccessReview{}
					_, _, err = scheme.Codecs.UniversalDeserializer().Decode(body, nil, review)
					expect.NoError(t, err)
					review.APIVersion, review.Kind = authorizationv1.SchemeGroupVersion.String(), "SelfSubjectAccessReview"
					review.Status.Allowed = slices.Contains(tc.allowed, review.Spec.ResourceAttributes.Resource)
					answer.WriteHeader(http.StatusCreated)
					expect.NoError(t, json.NewEncoder(answer).Encode(review))
					return
				}
				list := &metav1.PartialObjectMetadataList{}
				list.APIVersion, list.Kind = metav1.SchemeGroupVersion.String(), "PartialObjectMetadataList"
				if request.URL.Path == "/apis/cluster.openmcp.cloud/v1alpha1/clusters" {
					lists++
					if lists > 1 {
						t.Error("clusters are listed again, want the first page alone, however many there are")
					}
					answer.WriteHeader(tc.code)
					list.Items, list.Continue = tc.clusters, "more"
				}
				expect.NoError(t, json.NewEncoder(answer).Encode(list))
			}))
			defer server.Close()
			config := &rest.Config{Host: server.URL}
			client, err := newClient(config, RequestTimeout)
			expect.NoError(t, err)
			all := (&system.Options{}).Systems()
			i := slices.IndexFunc(all, func(entry systems.Entry) bool { return entry.Name == manifests.ClusterRequest })
			objects, finalizers, err := leftFinalizers(t.Context(), config, client, all[i])
			expect.Error(t, err, tc.err)
			if diff := cmp.Diff(tc.finalizers, finalizers); objects != tc.objects || diff != "" {
				t.Errorf("%d objects, want %d; finalizers (-want +got):\n%s", objects, tc.objects, diff)
			}
		})
	}
}
