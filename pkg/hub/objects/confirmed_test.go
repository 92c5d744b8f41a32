// SPDX-License-Identifier: Apache-2.0

package objects

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/apis/scheme"
)

// connected is the part of a manager that NewConfirmed takes.
type connected struct {
	manager.Manager

	url string
}

func (c connected) GetConfig() *rest.Config   { return &rest.Config{Host: c.url} }
func (connected) GetHTTPClient() *http.Client { return http.DefaultClient }
func (connected) GetScheme() *runtime.Scheme  { return scheme.New() }
func (connected) GetRESTMapper() meta.RESTMapper {
	mapper := meta.NewDefaultRESTMapper([]schema.GroupVersion{openmcpv1alpha1.GroupVersion})
	mapper.Add(openmcpv1alpha1.GroupVersion.WithKind("Cluster"), meta.RESTScopeNamespace)
	return mapper
}

// docs/spec/differences.md B15 and docs/spec/trust.md T2: what a provider may write keeps no Cluster from being read, and a Cluster is absent only
// if the API server serves the kind.
func TestConfirmed(t *testing.T) {
	const path = "/apis/cluster.openmcp.cloud/v1alpha1/namespaces/n/clusters"
	for _, test := range []struct {
		reason      string
		served      map[string]string
		found, gone bool
	}{
		{"a time that cannot be read", map[string]string{path + "/c": `{"apiVersion":"cluster.openmcp.cloud/v1alpha1","kind":"Cluster",` +
			`"metadata":{"namespace":"n","name":"c"},"status":{"conditions":[{"type":"ClusterHealthy","status":"True","lastTransitionTime":"x"}]}}`},
			true, false},
		{"the kind is served, and there is no such Cluster", map[string]string{
			path: `{"apiVersion":"meta.k8s.io/v1","kind":"PartialObjectMetadataList","items":[]}`,
		}, false, true},
		{"the kind is not served", nil, false, false},
	} {
		t.Run(test.reason, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				body, found := test.served[r.URL.Path]
				if !found {
					w.WriteHeader(http.StatusNotFound)
					body = `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"NotFound","code":404}`
				}
				if _, err := fmt.Fprint(w, body); err != nil {
					t.Error(err)
				}
			}))
			t.Cleanup(server.Close)

			live, err := NewConfirmed(connected{url: server.URL})
			if err != nil {
				t.Fatal(err)
			}
			err = live.Get(t.Context(), client.ObjectKey{Namespace: "n", Name: "c"}, &openmcpv1alpha1.Cluster{})
			if (err == nil) != test.found || apierrors.IsNotFound(err) != test.gone {
				t.Errorf("%v", err)
			}
		})
	}
}
