// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/placement-hub/placement-hub/pkg/affinityclass"
	"github.com/placement-hub/placement-hub/pkg/affinityclass/reader"
	cozystackv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/cozystack/v1alpha1"
	appsv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/cozystackapps/v1alpha1"
)

const (
	zone      = "topology.kubernetes.io/zone"
	hub       = "open-cluster-management-hub"
	fluxLabel = "helm.toolkit.fluxcd.io/name"
)

// world is what the handlers read: an informer cache, an API server that has more than the cache, and one with the owners of Pods.
type world struct {
	cached, live []client.Object
	server       *apiServer
	clock        *clocktesting.FakePassiveClock
}

func newWorld(t *testing.T) *world {
	t.Helper()
	return &world{
		cached: []client.Object{
			class("dc1"), class("dc2"), class("gpu"), tenant("tenant-root", "acme", "dc1", "dc1", "dc2"), release("dc1"),
		},
		server: newAPIServer(t), clock: clocktesting.NewFakePassiveClock(time.Unix(1_800_000_000, 0)),
	}
}

// readers returns the readers of the world as it is now.
func (w *world) readers(t *testing.T) *readers {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, install := range []func(*runtime.Scheme) error{corev1.AddToScheme, cozystackv1alpha1.Install, appsv1alpha1.Install} {
		if err := install(scheme); err != nil {
			t.Fatal(err)
		}
	}
	builder := func() *fake.ClientBuilder { return fake.NewClientBuilder().WithScheme(scheme) }
	cached := builder().WithObjects(w.cached...).Build()
	live := builder().WithObjects(w.live...).Build()

	owners, err := newOwners(w.server.config(), http.DefaultClient, w.clock)
	if err != nil {
		t.Fatal(err)
	}
	return &readers{Reader: reader.New(cached, live), owners: owners}
}

func (w *world) handle(t *testing.T, path string, request admission.Request) admission.Response {
	t.Helper()
	return handlers(w.readers(t), hub)[path].Handle(t.Context(), request)
}

func class(name string) *cozystackv1alpha1.AffinityClass {
	class := &cozystackv1alpha1.AffinityClass{}
	class.Name, class.Finalizers = name, []string{cozystackv1alpha1.InUseFinalizer}
	class.Spec.NodeSelector = map[string]cozystackv1alpha1.NodeLabelValue{zone: cozystackv1alpha1.NodeLabelValue(name)}
	return class
}

func deleted(class *cozystackv1alpha1.AffinityClass) *cozystackv1alpha1.AffinityClass {
	class.DeletionTimestamp = &metav1.Time{Time: time.Unix(1, 0)}
	return class
}

func tenant(namespace, name, defaultClass string, allowed ...string) *appsv1alpha1.Tenant {
	tenant := &appsv1alpha1.Tenant{}
	tenant.Namespace, tenant.Name = namespace, name
	tenant.Spec = appsv1alpha1.TenantSpec{DefaultAffinityClass: defaultClass, AllowedAffinityClasses: allowed}
	return tenant
}

// release returns the HelmRelease of the Postgres main-db, with a class if there is one. Its UID is its name.
func release(class string) *unstructured.Unstructured {
	const name = "main-db"
	release := &unstructured.Unstructured{}
	release.SetGroupVersionKind(affinityclass.ReleaseKind)
	release.SetNamespace("tenant-acme")
	release.SetName(name)
	release.SetUID(types.UID(name))
	labels := affinityclass.ReleaseLabels(appsv1alpha1.GroupName, "Postgres", name)
	if class != "" {
		labels[affinityclass.ClassLabel] = class
	}

	release.SetLabels(labels)
	return release
}

// owner returns a reference to an object whose UID is its name.
func owner(apiVersion, kind, name string) metav1.OwnerReference {
	return metav1.OwnerReference{APIVersion: apiVersion, Kind: kind, Name: name, UID: types.UID(name)}
}

// podRequest returns the review of the Pod main-db-0 in tenant-acme that is created.
func podRequest(t *testing.T, selector, labels map[string]string, owners ...metav1.OwnerReference) admission.Request {
	t.Helper()
	created := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		GenerateName: "main-db-", Name: "main-db-0", Namespace: "tenant-acme", Labels: labels, OwnerReferences: owners,
	}}
	created.Spec.NodeSelector = selector
	return request(t, admissionv1.Create, metav1.GroupVersionKind{Version: "v1", Kind: "Pod"}, "tenant-acme", nil, created)
}

// request returns a review; old is nil for none.
func request(
	t *testing.T, operation admissionv1.Operation, kind metav1.GroupVersionKind, namespace string, old, object any,
) admission.Request {
	t.Helper()
	raw := func(object any) runtime.RawExtension {
		content, err := json.Marshal(object)
		if err != nil {
			t.Fatal(err)
		}
		return runtime.RawExtension{Raw: content}
	}
	r := admission.Request{AdmissionRequest: admissionv1.AdmissionRequest{
		UID: "u", Kind: kind, Operation: operation, Namespace: namespace, Object: raw(object),
	}}

	if old != nil {
		r.OldObject = raw(old)
	}
	return r
}

// apiServer serves discovery, and metadata of objects by their paths. Requests are recorded.
type apiServer struct {
	*httptest.Server

	mu sync.Mutex
	// resources has the resources of a path such as /apis/apps/v1; without an entry the API server does not know the version.
	resources map[string][]metav1.APIResource
	groups    []metav1.APIGroup
	objects   map[string]*metav1.PartialObjectMetadata
	// broken has the status of paths that fail.
	broken   map[string]int
	requests []string
}

func newAPIServer(t *testing.T) *apiServer {
	t.Helper()
	s := &apiServer{
		resources: map[string][]metav1.APIResource{
			"/apis/apps/v1": {
				{Name: "statefulsets/status", Kind: "StatefulSet", Namespaced: true}, {Name: "statefulsets", Kind: "StatefulSet", Namespaced: true},
				{Name: "replicasets", Kind: "ReplicaSet", Namespaced: true},
			},
			"/apis/example.com/v1": {{Name: "plants", Kind: "Plant"}},
			"/apis/helm.toolkit.fluxcd.io/v2": {
				{Name: "helmreleases", Kind: "HelmRelease", Namespaced: true},
			},
		},
		groups:  []metav1.APIGroup{{Name: "apps", Versions: []metav1.GroupVersionForDiscovery{{GroupVersion: "apps/v1", Version: "v1"}}}},
		objects: map[string]*metav1.PartialObjectMetadata{}, broken: map[string]int{},
	}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)

	return s
}

func (s *apiServer) config() *rest.Config { return &rest.Config{Host: s.URL, QPS: -1} }

// add serves an object whose UID is the last part of its path.
func (s *apiServer) add(path string, labels map[string]string, owners ...metav1.OwnerReference) {
	s.mu.Lock()
	defer s.mu.Unlock()
	object := &metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{APIVersion: "meta.k8s.io/v1", Kind: "PartialObjectMetadata"}}
	object.Name = path[strings.LastIndex(path, "/")+1:]
	object.Namespace = "tenant-acme"
	object.UID, object.Labels, object.OwnerReferences = types.UID(object.Name), labels, owners
	s.objects[path] = object
}

// taken returns the requests since the last call.
func (s *apiServer) taken() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	taken := s.requests
	s.requests = nil
	return taken
}

func (s *apiServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, r.URL.Path)

	status, isBroken := s.broken[r.URL.Path]
	resources, isVersion := s.resources[r.URL.Path]
	object, exists := s.objects[r.URL.Path]
	switch {
	case status < 0: // The response never comes.
		<-r.Context().Done()
	case isBroken:
		respondJSON(w, status, metav1.Status{
			TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: metav1.StatusFailure, Code: int32(status),
			Reason: map[int]metav1.StatusReason{http.StatusForbidden: metav1.StatusReasonForbidden}[status], Message: "it is broken",
		})
	case isVersion:
		respondJSON(w, http.StatusOK, metav1.APIResourceList{
			TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "APIResourceList"}, APIResources: resources,
		})
	case r.URL.Path == "/api":
		respondJSON(w, http.StatusOK, metav1.APIVersions{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "APIVersions"}})
	case r.URL.Path == "/apis":
		respondJSON(w, http.StatusOK, metav1.APIGroupList{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "APIGroupList"}, Groups: s.groups})
	case exists:
		respondJSON(w, http.StatusOK, object)
	case s.serves(r.URL.Path):
		respondJSON(w, http.StatusNotFound, metav1.Status{
			TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: metav1.StatusFailure, Code: http.StatusNotFound,
			Reason: metav1.StatusReasonNotFound,
		})
	default:
		http.NotFound(w, r)
	}
}

// serves reports whether a path is that of an object whose resource is served.
func (s *apiServer) serves(path string) bool {
	for version, resources := range s.resources {
		for _, resource := range resources {
			if strings.HasPrefix(path, version+"/") && strings.Contains(path, "/"+resource.Name+"/") {
				return true
			}
		}
	}
	return false
}

// replaceVersion serves the resources and objects of a group in another version instead.
func (s *apiServer) replaceVersion(group, before, after string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	old, replaced := "/apis/"+group+"/"+before, "/apis/"+group+"/"+after
	s.resources[replaced] = s.resources[old]
	delete(s.resources, old)

	for path, object := range s.objects {
		if rest, found := strings.CutPrefix(path, old+"/"); found {
			delete(s.objects, path)
			s.objects[replaced+"/"+rest] = object
		}
	}
	s.groups = []metav1.APIGroup{{Name: group, Versions: []metav1.GroupVersionForDiscovery{{
		GroupVersion: group + "/" + after, Version: after,
	}}}}
}

func respondJSON(w http.ResponseWriter, status int, body any) {
	content, err := json.Marshal(body)
	if err != nil {
		status, content = http.StatusInternalServerError, []byte(err.Error())
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(content) // The client sees a body that is cut off.
}

// canceled returns a context that ends soon.
func canceled(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	t.Cleanup(cancel)
	return ctx
}
