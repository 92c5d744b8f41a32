// SPDX-License-Identifier: Apache-2.0

package freshness_test

import (
	"slices"
	"strconv"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	toolscache "k8s.io/client-go/tools/cache"

	"github.com/placement-hub/placement-hub/pkg/hub/freshness"
)

// namespace and page decide about a removal by their names; the view has no page at first, and neither has the server.
var (
	namespace = object(schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}, "", "ns")
	page      = object(placements.GroupVersion().WithResource("placementdecisions"), "ns", "p-decision-1")
)

// decidedByOthers returns a server with the namespace, and a removal that the namespace and the page decide about.
func decidedByOthers(clusters int) (*server, freshness.ProofRequest) {
	s := newServer()
	s.see(s.put(namespace, 0))
	removal := s.removal(clusters)
	removal.Others = []freshness.Object{namespace, page}
	return s, removal
}

func TestOthersAreProved(t *testing.T) {
	for _, tc := range []struct {
		reason  string
		happens func(*server)
		want    string
	}{
		{"the page does not exist and was never seen", func(*server) {}, "proved"},
		{"the namespace has changed", func(s *server) { s.put(namespace, 0) }, "the watch has not shown the latest version of namespaces ns"},
		{"its change was seen", func(s *server) { s.see(s.put(namespace, 0)) }, "proved"},
		{"the namespace is gone", func(s *server) { delete(s.objects, namespace) }, "the watch has not shown the latest version of namespaces ns"},
		{"its end was seen", func(s *server) {
			delete(s.objects, namespace)
			s.see(namespace)
		}, "proved"},
		{"the page was created", func(s *server) { s.put(page, 0) },
			"the watch has not shown the latest version of placementdecisions ns/p-decision-1"},
		{"its creation was seen", func(s *server) { s.see(s.put(page, 0)) }, "proved"},
		{"another page does not matter", func(s *server) { s.put(object(page.Resource, "ns", "other"), 0) }, "proved"},
	} {
		for _, clusters := range []int{1, 20} {
			t.Run(tc.reason, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					s, removal := decidedByOthers(clusters)
					tc.happens(s)
					if diff := cmp.Diff(tc.want, s.prove(t, removal)); diff != "" {
						t.Errorf("%d clusters: %s", clusters, diff)
					}
				})
			})
		}
	}
}

// A proof lasts one round trip: no request waits for the response to another one, unless the view lacks a binding.
func TestTheRequestsOfAProofAreSentTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, removal := decidedByOthers(1)
		removal.Scores = true
		var sent atomic.Int32
		gate, result := make(chan struct{}), make(chan string, 1)
		s.before = func() {
			sent.Add(1)
			<-gate
		}
		go func() { result <- s.prove(t, removal) }()
		synctest.Wait()

		together := int(sent.Load())
		close(gate)
		if got := <-result; got != "proved" || together != len(s.requests) || together == 0 {
			t.Errorf("%s: %d requests were sent together, want %v", got, together, s.requests)
		}
	})
}

// A change of the others since the snapshot was taken counts, even if it was undone.
func TestChangesOfTheOthersSinceTheSnapshot(t *testing.T) {
	const changed = "what decides about the clusters has changed since the object was evaluated"
	for _, tc := range []struct {
		reason string
		change func(*server)
		want   string
	}{
		{"nothing", func(*server) {}, "proved"},
		{"another namespace", func(s *server) { s.see(s.put(object(namespace.Resource, "", "other"), 0)) }, "proved"},
		{"the namespace has changed", func(s *server) { s.see(s.put(namespace, 0)) }, changed},
		{"the page was created", func(s *server) { s.see(s.put(page, 0)) }, changed},
		{"the page came and went", func(s *server) {
			s.see(s.put(page, 0))
			delete(s.objects, page)
			s.see(page)
		}, changed},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, removal := decidedByOthers(1)
				removal.Since = s.view.Now()
				tc.change(s)
				if got := s.prove(t, removal); got != tc.want {
					t.Errorf("got %q, want %q", got, tc.want)
				}
			})
		})
	}
}

// A list of all clusters proves nothing about a moment at which the view had not processed the others yet.
func TestAListIsNoOlderThanTheOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, removal := decidedByOthers(20)
		lists := 0
		expect := func(reason string, want int) {
			t.Helper()
			got := s.prove(t, removal)
			for _, request := range s.requests {
				if request == "list managedclusters" {
					lists++
				}
			}
			s.requests = nil

			if got != "proved" || lists != want {
				t.Errorf("%s: got %q and %d lists, want %d", reason, got, lists, want)
			}
		}

		expect("the first proof", 1)
		expect("nothing has changed", 1)
		s.see(s.put(namespace, 0))
		expect("the namespace has changed", 2)
		s.see(s.put(page, 0))
		expect("a page has come", 3)
		delete(s.objects, page)
		s.see(page)
		expect("the page has gone", 4)
		s.see(s.put(object(page.Resource, "other", "p"), 0))
		expect("a page of another namespace has come", 4)
	})
}

// What an event handler is busy with is not shown yet, and what it has handled is.
func TestObserveRecordsWhatWasHandled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, removal := decidedByOthers(1)
		handled := func() string { return s.prove(t, removal) }
		written := s.put(page, 0)
		handler := freshness.Observe(s.view, page.Resource, handlers{
			add:    func() { expectBehind(t, "while it is added", handled()) },
			update: func() { expectBehind(t, "while it is updated", handled()) },
		})
		expectBehind(t, "before its event", handled())
		handler.OnAdd(s.metadata(written), false)

		if got := handled(); got != "proved" {
			t.Errorf("after its event: got %q", got)
		}
		before := s.metadata(written)
		handler.OnUpdate(before, s.metadata(s.put(page, 0)))
		if got := handled(); got != "proved" {
			t.Errorf("after its update: got %q", got)
		}

		last := s.metadata(written)
		delete(s.objects, page)
		<-time.After(time.Second + time.Millisecond) // until no earlier response serves
		expectBehind(t, "before its end", handled())
		handler.OnDelete(toolscache.DeletedFinalStateUnknown{Obj: last})
		if got := handled(); got != "proved" {
			t.Errorf("after its end: got %q", got)
		}
	})
}

func expectBehind(t *testing.T, when, got string) {
	t.Helper()
	if want := "the watch has not shown the latest version of placementdecisions ns/p-decision-1"; got != want {
		t.Errorf("%s: got %q, want %q", when, got, want)
	}
}

// metadata returns the current state of an object.
func (s *server) metadata(of freshness.Object) *metav1.PartialObjectMetadata {
	return &metav1.PartialObjectMetadata{ObjectMeta: s.objects[of]}
}

// handlers is an event handler of functions without arguments.
type handlers struct{ add, update func() }

func (h handlers) OnAdd(any, bool)   { h.add() }
func (h handlers) OnUpdate(any, any) { h.update() }
func (h handlers) OnDelete(any)      {}

// A removal that would be the same in any scope is proved by the object and the clusters alone. No list is requested for it, which can wait for
// 100 ms in the API server.
func TestARemovalInAnyScopeReadsNoBindings(t *testing.T) {
	for _, tc := range []struct {
		reason  string
		happens func(*server)
		want    string
	}{
		{"the view is as the server", func(*server) {}, "proved"},
		{"a binding that was not seen", func(s *server) { s.put(object(freshness.Bindings, "ns", "b"), 0) }, "proved"},
		{"a set that was not seen", func(s *server) { s.put(object(freshness.ClusterSets, "", "a"), 0) }, "proved"},
		{"a cluster that was not seen", func(s *server) { s.put(cluster(0), 0) },
			"the watch has not shown the latest version of managedclusters c00"},
		{"another spec", func(s *server) { s.see(s.put(object(placements, "ns", "p"), 2)) }, freshness.ErrObjectChanged.Error()},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newServer()
				removal := s.removal(1)
				removal.AnyScope = true
				tc.happens(s)
				if diff := cmp.Diff(tc.want, s.prove(t, removal)); diff != "" {
					t.Error(diff)
				}
				if len(s.requests) != 2 {
					t.Errorf("requests: %v, want one for the placement and one for the cluster", s.requests)
				}
			})
		})
	}
}

// A removal that a further binding would not prevent is proved with the bindings that the view shows, each read for itself, while they are few.
func TestKnownBindingsAreReadOneByOne(t *testing.T) {
	const behind = "the watch has not shown the latest version of "
	bound, set := object(freshness.Bindings, "ns", "b"), object(freshness.ClusterSets, "", "b")
	for _, tc := range []struct {
		reason   string
		bindings int // beside b
		happens  func(*server)
		want     string
		lists    bool
	}{
		{"the view is as the server", 0, func(*server) {}, "proved", false},
		{"a binding that was not seen", 0, func(s *server) { s.put(object(freshness.Bindings, "ns", "new"), 0) }, "proved", false},
		{"a binding that is gone", 0, func(s *server) { delete(s.objects, bound) }, behind + "managedclustersetbindings ns/b", false},
		{"a binding that was made again", 0, func(s *server) { s.put(bound, 0) }, behind + "managedclustersetbindings ns/b", false},
		{"a set that has changed", 0, func(s *server) { s.put(set, 2) }, behind + "managedclustersets b", false},
		{"many bindings", 8, func(*server) {}, "proved", true},
		{
			"many bindings and one that is gone", 8, func(s *server) { delete(s.objects, bound) },
			behind + "managedclustersetbindings ns/b", true,
		},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newServer()
				s.see(s.put(bound, 0))
				s.see(s.put(set, 1))
				for i := range tc.bindings {
					s.see(s.put(object(freshness.Bindings, "ns", strconv.Itoa(i)), 0))
				}
				removal := s.removal(1)
				removal.KnownBindings = true
				tc.happens(s)
				if diff := cmp.Diff(tc.want, s.prove(t, removal)); diff != "" {
					t.Error(diff)
				}
				if lists := slices.Contains(s.requests, "list managedclustersetbindings"); lists != tc.lists {
					t.Errorf("requests: %v", s.requests)
				}
			})
		})
	}
}
