// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	workv1 "open-cluster-management.io/api/work/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/apis/scheme"
	"github.com/placement-hub/placement-hub/pkg/federation"
)

// workServer serves the patches of works of a world over HTTP. In the status of each work it returns a number where the API has a list, as an API
// server does whose CRD is of another version.
type workServer struct {
	*world

	// patches counts the requests, and whole those whose response has all of the work.
	patches, whole atomic.Int32
}

func (s *workServer) ServeHTTP(response http.ResponseWriter, request *http.Request) {
	body, err := io.ReadAll(request.Body)
	if err != nil {
		s.t.Error(err)
	}

	// The path is /apis/GROUP/VERSION/namespaces/NAMESPACE/manifestworks/NAME.
	parts := strings.Split(request.URL.Path, "/")
	answer := answerOf(parts[5], parts[7])
	options := []client.PatchOption{client.FieldOwner(request.URL.Query().Get("fieldManager"))}
	if request.URL.Query().Get("force") == "true" {
		options = append(options, client.ForceOwnership)
	}
	patch := client.RawPatch(types.PatchType(request.Header.Get("Content-Type")), body)
	if err := s.store.Patch(request.Context(), answer, patch, options...); err != nil {
		s.t.Error(err)
	}

	s.patches.Add(1)
	var content any = answer
	if strings.Contains(request.Header.Get("Accept"), "as=PartialObjectMetadata") {
		answer.SetGroupVersionKind(metav1.SchemeGroupVersion.WithKind("PartialObjectMetadata"))
	} else {
		s.whole.Add(1)
		work := &unstructured.Unstructured{Object: map[string]any{"status": map[string]any{"conditions": 1}}}
		work.SetGroupVersionKind(workKind)
		work.SetNamespace(answer.Namespace)
		work.SetName(answer.Name)
		content = work
	}

	response.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(response).Encode(content); err != nil {
		s.t.Error(err)
	}
}

// overHTTP is a client that patches works over HTTP, and does everything else in memory.
type overHTTP struct {
	client.Client

	works client.Client
}

func (o overHTTP) Patch(ctx context.Context, object client.Object, patch client.Patch, options ...client.PatchOption) error {
	_, typed := object.(*workv1.ManifestWork)
	if typed || object.GetObjectKind().GroupVersionKind() == workKind {
		return o.works.Patch(ctx, object, patch, options...)
	}
	return o.Client.Patch(ctx, object, patch, options...)
}

// A write of a work is one request, whose response has only the metadata: neither the payload is transferred back, nor does a status that cannot
// be decoded make a write fail that was done.
func TestAWriteSucceedsWhateverTheStatusIs(t *testing.T) {
	w := newWorld(t, selecting("europe"))
	server := &workServer{world: w}

	listener := httptest.NewServer(server)
	t.Cleanup(listener.Close)
	mapper := meta.NewDefaultRESTMapper(nil)
	mapper.Add(workKind, meta.RESTScopeNamespace)
	works, err := client.New(&rest.Config{Host: listener.URL}, client.Options{Scheme: scheme.New(), Mapper: mapper})
	if err != nil {
		t.Fatal(err)
	}
	w.client = overHTTP{Client: w.store, works: works}

	w.settle()
	same(t, "applied", w.written(), "finalizers x, create eu1, create eu2")
	same(t, "events", strings.Join(w.told(), "; "),
		"Normal Delivered: Written for clusters eu1 (matches location in (europe)), eu2 (matches location in (europe))")

	change(w, selecting(""), func(c *corev1.ConfigMap) { c.Annotations[federation.OrphanAnnotation] = "true" })
	w.check(w.store.Delete(t.Context(), selecting("")))
	w.written()
	w.settle()
	same(t, "orphaned", w.written(), "patch eu1, patch eu2")
	if patches, whole := server.patches.Load(), server.whole.Load(); patches != 4 || whole != 0 {
		t.Errorf("%d patches of works, and %d with the whole work in their response; want 4 and 0", patches, whole)
	}
}
