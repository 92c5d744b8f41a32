// SPDX-License-Identifier: Apache-2.0

package decoding

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// newTestServer serves lists of clusters and of placements with one undecodable object, and watches without events. Asked waits
// for a request, and returns the paths and queries of those since its last call.
func newTestServer(t *testing.T) (config *rest.Config, mapper meta.RESTMapper, asked func() []string) {
	t.Helper()

	paths := make(chan string, 100)
	stopped := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(answer http.ResponseWriter, request *http.Request) {
		answer.Header().Set("Content-Type", runtime.ContentTypeJSON)
		if request.URL.Query().Has("sendInitialEvents") { // As servers before Kubernetes 1.27 have it.
			answer.WriteHeader(http.StatusUnprocessableEntity)
			if _, err := answer.Write([]byte(`{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Invalid","code":422}`)); err != nil {
				t.Error(err)
			}
			return
		}
		paths <- request.URL.RequestURI()

		if request.URL.Query().Get("watch") != "" {
			answer.WriteHeader(http.StatusOK)
			if err := http.NewResponseController(answer).Flush(); err != nil {
				t.Error(err)
			}
			select {
			case <-request.Context().Done():
			case <-stopped:
			}
			return
		}

		version, kind, item := "v1", "ManagedCluster", `"status":{"capacity":{"cpu":"1e1.5"}}`
		if strings.HasSuffix(request.URL.Path, "placements") {
			version, kind, item = "v1beta1", "Placement", `"spec":{"numberOfClusters":4294967296}`
		}
		apiVersion := `"apiVersion":"cluster.open-cluster-management.io/` + version + `"`
		_, err := answer.Write([]byte(`{` + apiVersion + `,"kind":"` + kind + `List","metadata":{"resourceVersion":"9"},"items":[` +
			`{` + apiVersion + `,"kind":"` + kind + `","metadata":{"name":"bad","namespace":"ns","resourceVersion":"7"},` + item + `}]}`))
		if err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(server.Close)
	t.Cleanup(func() { close(stopped) })

	known := meta.NewDefaultRESTMapper(nil)
	known.Add(schema.GroupVersion(clusterv1.GroupVersion).WithKind("ManagedCluster"), meta.RESTScopeRoot)
	known.Add(schema.GroupVersion(clusterv1.GroupVersion).WithKind("ManagedClusterList"), meta.RESTScopeRoot)
	known.Add(schema.GroupVersion(clusterv1beta1.GroupVersion).WithKind("Placement"), meta.RESTScopeNamespace)
	return &rest.Config{Host: server.URL}, known, func() []string {
		all := []string{<-paths}
		for len(paths) > 0 {
			all = append(all, <-paths)
		}
		return all
	}
}

func newTestScheme(t *testing.T) *runtime.Scheme {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, install := range []func(*runtime.Scheme) error{clusterv1.Install, clusterv1beta1.Install} {
		if err := install(scheme); err != nil {
			t.Fatal(err)
		}
	}
	return scheme
}

func TestCachesHaveUnreadableObjects(t *testing.T) {
	config, mapper, asked := newTestServer(t)
	made := 0

	informers, err := NewCache(config, cache.Options{
		Scheme: newTestScheme(t), Mapper: mapper, HTTPClient: http.DefaultClient, DefaultNamespaces: map[string]cache.Config{"ns": {}},
		NewInformer: func(
			lw toolscache.ListerWatcher, object runtime.Object, resync time.Duration, indexers toolscache.Indexers,
		) toolscache.SharedIndexInformer {
			made++
			return toolscache.NewSharedIndexInformer(lw, object, resync, indexers)
		},
	})
	if err != nil {
		t.Fatal(err)
	}

	for _, object := range []client.Object{&clusterv1.ManagedCluster{}, &clusterv1beta1.Placement{}} {
		if _, err := informers.GetInformer(t.Context(), object, cache.BlockUntilSynced(false)); err != nil {
			t.Fatal(err)
		}
	}
	go func() {
		if err := informers.Start(t.Context()); err != nil {
			t.Error(err)
		}
	}()

	if !informers.WaitForCacheSync(t.Context()) {
		t.Fatal("the cache did not sync")
	}
	placement := &clusterv1beta1.Placement{}
	if err := informers.Get(t.Context(), client.ObjectKey{Namespace: "ns", Name: "bad"}, placement); err != nil {
		t.Fatal(err)
	}

	clusters := &clusterv1.ManagedClusterList{}
	if err := informers.List(t.Context(), clusters); err != nil || len(clusters.Items) != 1 {
		t.Fatalf("clusters are %v: %v", clusters.Items, err)
	}
	paths := strings.Join(asked(), " ")
	if made != 2 || !strings.Contains(paths, "/apis/cluster.open-cluster-management.io/v1beta1/namespaces/ns/placements") {
		t.Errorf("%d informers asked for %s", made, paths)
	}
}

// The selectors of a kind are in its lists and watches, and in those of no other kind.
func TestCachesAreLimitedBySelectors(t *testing.T) {
	config, mapper, asked := newTestServer(t)

	informers, err := NewCache(config, cache.Options{
		Scheme: newTestScheme(t), Mapper: mapper, HTTPClient: http.DefaultClient,
		ByObject: map[client.Object]cache.ByObject{&clusterv1.ManagedCluster{}: {
			Label: labels.SelectorFromSet(labels.Set{"a": "b"}), Field: fields.OneTermEqualSelector("metadata.name", "bad"),
		}},
	})
	if err != nil {
		t.Fatal(err)
	}

	for _, object := range []client.Object{&clusterv1.ManagedCluster{}, &clusterv1beta1.Placement{}} {
		if _, err := informers.GetInformer(t.Context(), object, cache.BlockUntilSynced(false)); err != nil {
			t.Fatal(err)
		}
	}
	go func() {
		if err := informers.Start(t.Context()); err != nil {
			t.Error(err)
		}
	}()

	requests := map[string]int{}
	for requests["managedclusters list"] == 0 || requests["managedclusters watch"] == 0 || requests["placements watch"] == 0 {
		for _, request := range asked() {
			path, query, _ := strings.Cut(request, "?")
			limited := strings.Contains(query, "labelSelector=a%3Db") && strings.Contains(query, "fieldSelector=metadata.name%3Dbad")
			resource, verb := path[strings.LastIndex(path, "/")+1:], "list"
			if strings.Contains(query, "watch=true") {
				verb = "watch"
			}
			requests[resource+" "+verb]++
			if limited != (resource == "managedclusters") {
				t.Errorf("asked for %s", request)
			}
		}
	}
}

func TestCachesCannotBeLimitedOtherwise(t *testing.T) {
	config, mapper, _ := newTestServer(t)
	some := fields.OneTermEqualSelector("metadata.name", "a")
	for reason, options := range map[string]cache.Options{
		"two namespaces":       {DefaultNamespaces: map[string]cache.Config{"a": {}, "b": {}}},
		"a namespace and more": {DefaultNamespaces: map[string]cache.Config{"a": {FieldSelector: some}}},
		"everything":           {DefaultFieldSelector: some},
		"one kind to namespaces": {ByObject: map[client.Object]cache.ByObject{
			&clusterv1beta1.Placement{}: {Namespaces: map[string]cache.Config{"a": {}}},
		}},
	} {
		options.Scheme, options.Mapper, options.HTTPClient = newTestScheme(t), mapper, http.DefaultClient
		if _, err := NewCache(config, options); err == nil {
			t.Errorf("%s: there is no error", reason)
		}
	}
}
