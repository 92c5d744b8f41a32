// SPDX-License-Identifier: Apache-2.0

package systems

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
)

var errBroken = errors.New("it is broken")

// server is an API server with definitions by name, and the resources that it serves.
type server struct {
	mu          sync.Mutex
	definitions map[string]*metav1.PartialObjectMetadata
	served      map[string][]metav1.APIResource
	broken      error
}

// define adds a definition, or replaces it by another one of that name.
func (s *server) define(name, uid string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.definitions[name] = &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(uid)}}
}

// terminate begins the deletion of a definition.
func (s *server) terminate(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.definitions[name].DeletionTimestamp = &metav1.Time{}
}

func (s *server) serve(version string, resources ...metav1.APIResource) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.served[version] = resources
}

func (s *server) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.broken = err
}

// fakeDiscovery is the discovery of a server.
type fakeDiscovery struct {
	discovery.DiscoveryInterfaceWithContext

	*server
}

func (f *fakeDiscovery) ServerResourcesForGroupVersionWithContext(_ context.Context, version string) (*metav1.APIResourceList, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.broken != nil {
		return nil, f.broken
	}
	if resources, found := f.served[version]; found {
		return &metav1.APIResourceList{APIResources: resources}, nil
	}
	return nil, apierrors.NewNotFound(schema.GroupResource{}, version)
}

// fakeDefinitions is the cache of the definitions of a server.
type fakeDefinitions struct {
	cache.Cache

	*server
}

func (f *fakeDefinitions) Get(_ context.Context, key client.ObjectKey, object client.Object, _ ...client.GetOption) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	found := f.definitions[key.Name]
	into, is := object.(*metav1.PartialObjectMetadata)
	if found == nil || !is {
		return apierrors.NewNotFound(schema.GroupResource{}, key.Name)
	}
	found.DeepCopyInto(into)
	return nil
}

// newServer returns an empty API server, and the watch of its definitions.
func newServer() (*server, *definitions) {
	s := &server{definitions: map[string]*metav1.PartialObjectMetadata{}, served: map[string][]metav1.APIResource{}}
	return s, &definitions{cached: &fakeDefinitions{server: s}, discovery: &fakeDiscovery{server: s}}
}

// fakeHub is the manager of the hub.
type fakeHub struct {
	manager.Manager

	elected chan struct{}
	cache   cache.Cache
}

func (*fakeHub) GetConfig() *rest.Config      { return &rest.Config{Host: "https://127.0.0.1:1"} }
func (*fakeHub) GetHTTPClient() *http.Client  { return &http.Client{} }
func (*fakeHub) GetScheme() *runtime.Scheme   { return runtime.NewScheme() }
func (f *fakeHub) GetCache() cache.Cache      { return f.cache }
func (f *fakeHub) Elected() <-chan struct{}   { return f.elected }
func (*fakeHub) Add(r manager.Runnable) error { return fmt.Errorf("the hub got %T", r) }

// fakeInformer is an informer that counts its handlers.
type fakeInformer struct {
	cache.Informer

	handlers map[*registration]bool
	stuck    error
}

type registration struct{ number int }

func (*registration) HasSynced() bool { return true }

func (*registration) HasSyncedChecker() toolscache.DoneChecker { return nil }

func (f *fakeInformer) add() (toolscache.ResourceEventHandlerRegistration, error) {
	if f.stuck != nil {
		return nil, f.stuck
	}
	r := &registration{number: len(f.handlers)}
	f.handlers[r] = true
	return r, nil
}

func (f *fakeInformer) AddEventHandler(toolscache.ResourceEventHandler) (toolscache.ResourceEventHandlerRegistration, error) {
	return f.add()
}

func (f *fakeInformer) AddEventHandlerWithOptions(
	toolscache.ResourceEventHandler, toolscache.HandlerOptions,
) (toolscache.ResourceEventHandlerRegistration, error) {
	return f.add()
}

func (f *fakeInformer) RemoveEventHandler(of toolscache.ResourceEventHandlerRegistration) error {
	if f.stuck != nil {
		return f.stuck
	}
	if r, is := of.(*registration); is {
		delete(f.handlers, r)
	}
	return nil
}
