// SPDX-License-Identifier: Apache-2.0

package freshness_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/metadata"

	"github.com/placement-hub/placement-hub/pkg/clusterinfo"
	"github.com/placement-hub/placement-hub/pkg/hub/freshness"
)

var placements = schema.GroupVersionResource{Group: "cluster.open-cluster-management.io", Version: "v1beta1", Resource: "placements"}

func object(resource schema.GroupVersionResource, namespace, name string) freshness.Object {
	return freshness.Object{Resource: resource, NamespacedName: types.NamespacedName{Namespace: namespace, Name: name}}
}

// server is an API server that serves metadata, and a view of it.
type server struct {
	metadata.Interface

	mu       sync.Mutex // for what requests read and write
	objects  map[freshness.Object]metav1.ObjectMeta
	version  int
	requests []string
	// listed has the resource and namespace of each LIST in requests.
	listed []string
	// said and shown have the version with which the content of each object last changed, in the server and in the view.
	said, shown map[freshness.Object]int
	broken      error
	// continued has what is left of lists, by what the request for it says.
	continued map[string]*metav1.PartialObjectMetadataList
	// failing is the number of lists that fail next.
	failing int
	// before is called before a response, and beforeList before that to a LIST in a namespace, if it is not nil.
	before     func()
	beforeList func(namespace string)

	view    *freshness.Observed
	checker *freshness.Checker
}

func newServer() *server {
	s := &server{
		objects: map[freshness.Object]metav1.ObjectMeta{}, view: freshness.NewObserved(), before: func() {},
		said: map[freshness.Object]int{}, shown: map[freshness.Object]int{}, continued: map[string]*metav1.PartialObjectMetadataList{},
	}
	s.checker = freshness.New(s, s.view, nil)
	s.see(s.put(object(freshness.ClusterSets, "", "a"), 0))
	s.see(s.put(object(freshness.Bindings, "ns", "a"), 0))
	s.see(s.put(object(placements, "ns", "p"), 1))

	for i := range 20 {
		s.see(s.put(cluster(i), 0))
	}
	return s
}

func cluster(i int) freshness.Object { return object(freshness.Clusters, "", fmt.Sprintf("c%02d", i)) }

// put writes an object, whose content changes.
func (s *server) put(of freshness.Object, generation int64) freshness.Object {
	s.said[of] = s.version + 1
	return s.beat(of, generation)
}

// beat writes an object, whose content stays as it is.
func (s *server) beat(of freshness.Object, generation int64) freshness.Object {
	s.version++
	s.objects[of] = metav1.ObjectMeta{
		Namespace: of.Namespace, Name: of.Name, UID: types.UID(of.String()), ResourceVersion: strconv.Itoa(s.version), Generation: generation,
	}
	return of
}

// see makes the view observe the current state of an object.
func (s *server) see(of freshness.Object) {
	is, exists := s.objects[of]
	if !exists {
		s.view.Delete(of)
		return
	}
	var changed []clusterinfo.Property
	if s.said[of] != s.shown[of] {
		changed = []clusterinfo.Property{{Kind: clusterinfo.Label, Name: "region"}}
	}

	s.shown[of] = s.said[of]
	s.view.Set(of, is.ResourceVersion, changed)
}

// Resource implements the client.
func (s *server) Resource(of schema.GroupVersionResource) metadata.Getter {
	return getter{server: s, of: of}
}

type getter struct {
	metadata.Getter

	server    *server
	of        schema.GroupVersionResource
	namespace string
}

func (g getter) Namespace(name string) metadata.ResourceInterface {
	g.namespace = name
	return g
}

func (g getter) Get(_ context.Context, name string, o metav1.GetOptions, _ ...string) (*metav1.PartialObjectMetadata, error) {
	g.server.before()
	g.server.mu.Lock()
	defer g.server.mu.Unlock()
	g.server.requests = append(g.server.requests, "get "+g.of.Resource+" "+name)
	if g.server.broken != nil || o.ResourceVersion != "" {
		return nil, g.server.broken
	}

	is, exists := g.server.objects[object(g.of, g.namespace, name)]
	if !exists {
		return nil, apierrors.NewNotFound(g.of.GroupResource(), name)
	}
	return &metav1.PartialObjectMetadata{ObjectMeta: is}, nil
}

func (g getter) List(ctx context.Context, o metav1.ListOptions) (*metav1.PartialObjectMetadataList, error) {
	g.server.before()
	if g.server.beforeList != nil {
		g.server.beforeList(g.namespace)
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	g.server.mu.Lock()
	defer g.server.mu.Unlock()
	g.server.requests = append(g.server.requests, "list "+g.of.Resource)
	g.server.listed = append(g.server.listed, g.of.Resource+" "+g.namespace)
	if g.server.failing > 0 {
		g.server.failing--
		return nil, errors.New("the list has failed")
	}
	if g.server.broken != nil || o.ResourceVersion != "" {
		return nil, g.server.broken
	}
	rest, continues := g.server.continued[o.Continue]
	if !continues {
		rest = &metav1.PartialObjectMetadataList{ListMeta: metav1.ListMeta{ResourceVersion: strconv.Itoa(g.server.version)}}
		for of, is := range g.server.objects {
			if of.Resource == g.of && (g.namespace == "" || g.namespace == of.Namespace) {
				rest.Items = append(rest.Items, metav1.PartialObjectMetadata{ObjectMeta: is})
			}
		}
	}
	return g.server.page(rest, o.Limit), nil
}

// page returns the first objects of a list, and keeps the others for the next request.
func (s *server) page(list *metav1.PartialObjectMetadataList, limit int64) *metav1.PartialObjectMetadataList {
	if limit == 0 || len(list.Items) <= int(limit) {
		return &metav1.PartialObjectMetadataList{ListMeta: metav1.ListMeta{ResourceVersion: list.ResourceVersion}, Items: list.Items}
	}
	page, rest := *list, *list
	page.Continue = fmt.Sprintf("page-%d", len(s.requests))
	page.Items, rest.Items = list.Items[:limit], list.Items[limit:]
	s.continued[page.Continue] = &rest
	return &page
}

// removal removes the first clusters from the placement as the server has it.
func (s *server) removal(clusters int) freshness.ProofRequest {
	r := freshness.ProofRequest{Object: object(placements, "ns", "p"), Meta: s.objects[object(placements, "ns", "p")]}
	for i := range clusters {
		r.Clusters = append(r.Clusters, cluster(i).Name)
	}
	return r
}

// prove proves a removal, and returns the result in a few words. Unless the removal says since when, its snapshot is taken now.
func (s *server) prove(t *testing.T, removal freshness.ProofRequest) string {
	t.Helper()
	if removal.Since == 0 {
		removal.Since = s.view.Now()
	}
	err := s.checker.Prove(t.Context(), removal)
	switch {
	case s.broken != nil && errors.Is(err, s.broken):
		return s.broken.Error()
	case err != nil:
		return err.Error()
	default:
		return "proved"
	}
}

func TestProve(t *testing.T) {
	for _, tc := range []struct {
		reason   string
		happens  func(*server)
		clusters int
		scores   bool
		want     string
	}{
		{"the view is as the server", func(*server) {}, 1, false, "proved"},
		{"the view is as the server, and many leave", func(*server) {}, 20, false, "proved"},
		{"a cluster that leaves is not as it was seen", func(s *server) { s.put(cluster(0), 0) }, 1, false,
			"the watch has not shown the latest version of managedclusters c00"},
		{"another cluster does not matter", func(s *server) { s.put(cluster(1), 0) }, 1, false, "proved"},
		{"one of many that leave", func(s *server) { s.put(cluster(15), 0) }, 20, false,
			"the watch has not shown the latest version of managedclusters c15"},
		{"a cluster is gone, and was not seen to go", func(s *server) { delete(s.objects, cluster(0)) }, 1, false,
			"the watch has not shown the latest version of managedclusters c00"},
		{"a cluster is gone, and was seen to go", func(s *server) {
			delete(s.objects, cluster(0))
			s.see(cluster(0))
		}, 1, false, "proved"},
		{"a binding that was not seen", func(s *server) { s.put(object(freshness.Bindings, "ns", "b"), 0) }, 1, false,
			"the watch has not shown the latest version of managedclustersetbindings ns/b"},
		{"a binding of another namespace", func(s *server) { s.put(object(freshness.Bindings, "other", "b"), 0) }, 1, false, "proved"},
		{"a binding that is gone", func(s *server) { delete(s.objects, object(freshness.Bindings, "ns", "a")) }, 1, false,
			"the watch has not shown the latest version of managedclustersetbindings ns/a"},
		{"the set", func(s *server) { s.put(object(freshness.ClusterSets, "", "a"), 0) }, 1, false,
			"the watch has not shown the latest version of managedclustersets a"},
		{"a set that is bound by nobody", func(s *server) { s.put(object(freshness.ClusterSets, "", "z"), 0) }, 1, false, "proved"},
		{"a score that nobody reads", func(s *server) { s.put(object(freshness.Scores, "c00", "s"), 0) }, 1, false, "proved"},
		{"a score", func(s *server) { s.put(object(freshness.Scores, "c00", "s"), 0) }, 1, true,
			"the watch has not shown the latest version of addonplacementscores c00/s"},
		{"the score of one of many", func(s *server) { s.put(object(freshness.Scores, "c15", "s"), 0) }, 20, true,
			"the watch has not shown the latest version of addonplacementscores c15/s"},
		{"the score of another cluster", func(s *server) { s.put(object(freshness.Scores, "c15", "s"), 0) }, 1, true, "proved"},
		{"the server cannot be asked", func(s *server) { s.broken = errors.New("it is gone") }, 1, false, "it is gone"},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newServer()
				tc.happens(s)
				removal := s.removal(tc.clusters)
				removal.Scores = tc.scores
				if diff := cmp.Diff(tc.want, s.prove(t, removal)); diff != "" {
					t.Error(diff)
				}
			})
		})
	}
}

// The placement may get a new status or new labels; with another spec, other annotations or a deletion it must be scheduled again.
func TestThePlacementHasChanged(t *testing.T) {
	for _, tc := range []struct {
		reason string
		change func(*metav1.ObjectMeta)
		want   string
	}{
		{"status or labels", func(m *metav1.ObjectMeta) { m.Labels = map[string]string{"a": "b"} }, "proved"},
		{"spec", func(m *metav1.ObjectMeta) { m.Generation++ }, freshness.ErrObjectChanged.Error()},
		{"annotations", func(m *metav1.ObjectMeta) { m.Annotations = map[string]string{"a": "b"} }, freshness.ErrObjectChanged.Error()},
		{"deletion", func(m *metav1.ObjectMeta) { m.DeletionTimestamp = &metav1.Time{} }, freshness.ErrObjectChanged.Error()},
		{"another one of the name", func(m *metav1.ObjectMeta) { m.UID = "other" }, freshness.ErrObjectChanged.Error()},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newServer()
				removal := s.removal(1)
				p := s.put(removal.Object, 1)
				meta := s.objects[p]
				tc.change(&meta)
				s.objects[p] = meta

				if tc.want != "proved" {
					want := "the watch has not shown the latest version of placements ns/p"
					if got := s.prove(t, removal); got != want {
						t.Errorf("before it was seen: got %q, want %q", got, want)
					}
				}
				s.see(p)
				if got := s.prove(t, removal); got != tc.want {
					t.Errorf("got %q, want %q", got, tc.want)
				}
			})
		})
	}
}

// Prove waits for a view that is behind, but only once while it is behind.
func TestWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		s.beat(cluster(0), 0)

		time.AfterFunc(time.Second, func() { s.see(cluster(0)) })
		begin := time.Now()
		if got := s.prove(t, s.removal(1)); got != "proved" || time.Since(begin) != time.Second {
			t.Errorf("got %q after %v, want the proof after a second", got, time.Since(begin))
		}
		s.put(cluster(0), 0)

		for _, want := range []time.Duration{2 * time.Second, 0, 0} {
			begin := time.Now()
			if got := s.prove(t, s.removal(1)); got == "proved" || time.Since(begin) != want {
				t.Errorf("got %q after %v, want an error after %v", got, time.Since(begin), want)
			}
		}
		s.see(cluster(0))
		if got := s.prove(t, s.removal(1)); got != "proved" {
			t.Errorf("once it has caught up: got %q", got)
		}
	})
}

// Many proofs within a second share one list of the clusters, as long as no other object that decides has changed since it was sent.
func TestListsAreShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		lists := func() int {
			return len(slices.DeleteFunc(slices.Clone(s.requests), func(r string) bool { return r != "list managedclusters" }))
		}

		expect := func(reason string, want int) {
			t.Helper()
			if got := s.prove(t, s.removal(20)); got != "proved" || lists() != want {
				t.Errorf("%s: got %q and %d lists, want %d", reason, got, lists(), want)
			}
		}

		expect("the first question", 1)
		expect("another one", 1)
		s.see(s.put(cluster(3), 0))
		expect("a cluster has changed", 2)
		expect("another one", 2)
		s.see(s.put(object(freshness.Bindings, "ns", "a"), 0))
		expect("a binding has changed", 3)
		s.see(s.put(object(freshness.Bindings, "other", "a"), 0))
		expect("a binding of another namespace has changed", 3)
		s.see(s.put(object(placements, "ns", "p"), 1))
		expect("the placement has changed", 4)
		time.Sleep(time.Second + time.Millisecond)
		expect("a second later", 5)
		// An unbound set does not count: the list is older than its unbinding.
		s.see(s.put(object(freshness.Bindings, "ns", "b"), 0))
		s.see(s.put(object(freshness.ClusterSets, "", "b"), 0))
		expect("another binding", 6)
		delete(s.objects, object(freshness.Bindings, "ns", "b"))
		s.see(object(freshness.Bindings, "ns", "b"))
		expect("the end of a binding", 7)
	})
}

// A request that waits for its response serves a proof that begins later unless the view has shown a change that concerns the removal since it was
// sent. The object of a removal is read after each question.
func TestWhenARunningRequestServesALaterQuestion(t *testing.T) {
	for _, tc := range []struct {
		reason  string
		happens func(*server)
		want    map[string]int
	}{
		{"nothing has changed", func(*server) {}, map[string]int{
			"get placements p": 2, "list managedclustersetbindings": 1, "get managedclusters c00": 1,
		}},
		{"another cluster has changed", func(s *server) { s.see(s.put(cluster(1), 0)) }, map[string]int{
			"get placements p": 2, "list managedclustersetbindings": 1, "get managedclusters c00": 1,
		}},
		{"the set of a binding has changed", func(s *server) { s.see(s.put(object(freshness.ClusterSets, "", "a"), 0)) }, map[string]int{
			"get placements p": 2, "list managedclustersetbindings": 2, "get managedclusters c00": 2,
		}},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newServer()
				gate := make(chan struct{})
				s.before = func() { <-gate }
				results := make(chan string, 3)
				ask := func() {
					go func() { results <- s.prove(t, s.removal(1)) }()
					synctest.Wait()
				}
				ask()
				tc.happens(s)
				ask()
				ask()
				close(gate)

				proved := 0
				for range 3 {
					if <-results == "proved" {
						proved++
					}
				}
				if proved < 2 {
					t.Errorf("%d of the three questions were proved, want those after the change", proved)
				}
				for request, want := range tc.want {
					if got := s.sent(request); got != want {
						t.Errorf("%s: %d requests, want %d", request, got, want)
					}
				}
			})
		})
	}
}

func TestErrorsNameObjectsAndResources(t *testing.T) {
	err := &freshness.BehindError{}
	for i := range 5 {
		err.Objects = append(err.Objects, cluster(i))
	}
	err.Objects = append(err.Objects, object(freshness.Bindings, "ns", "a"))
	want := "the watch has not shown the latest version of managedclusters c00, managedclusters c01, managedclusters c02, 3 more"
	if diff := cmp.Diff(want, err.Error()); diff != "" {
		t.Error(diff)
	}

	if diff := cmp.Diff([]string{"managedclusters", "managedclustersetbindings"}, err.Resources()); diff != "" {
		t.Error(diff)
	}
}
