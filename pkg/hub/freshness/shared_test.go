// SPDX-License-Identifier: Apache-2.0

package freshness_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/placement-hub/placement-hub/pkg/clusterinfo"
	"github.com/placement-hub/placement-hub/pkg/hub/freshness"
)

// inNamespace returns a removal of the first cluster from a Placement, which it makes with a binding of its namespace, and which the view shows.
func (s *server) inNamespace(namespace, name string) freshness.ProofRequest {
	if binding := object(freshness.Bindings, namespace, "a"); s.objects[binding].Name == "" {
		s.see(s.put(binding, 0))
	}
	of := s.put(object(placements, namespace, name), 1)
	s.see(of)
	return freshness.ProofRequest{Object: of, Meta: s.objects[of], Clusters: []string{cluster(0).Name}}
}

// bindingLists returns how often the bindings of a namespace were listed.
func (s *server) bindingLists(namespace string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	lists := 0
	for _, listed := range s.listed {
		if listed == freshness.Bindings.Resource+" "+namespace {
			lists++
		}
	}
	return lists
}

// sent returns how often a request was sent.
func (s *server) sent(request string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	sent := 0
	for _, of := range s.requests {
		if of == request {
			sent++
		}
	}
	return sent
}

// B11: 100 Placements in five namespaces lose a cluster at one event. The bindings of each namespace are listed once, and the cluster is read once.
func TestTheBindingsOfANamespaceAreListedOnceForAnEvent(t *testing.T) {
	const namespaces, each = 5, 20
	for _, together := range []bool{false, true} {
		t.Run(fmt.Sprintf("together=%v", together), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newServer()
				var removals []freshness.ProofRequest
				for i := range namespaces * each {
					removals = append(removals, s.inNamespace(fmt.Sprintf("ns-%d", i%namespaces), fmt.Sprintf("p-%d", i)))
				}
				s.see(s.put(cluster(0), 0)) // the event
				since := s.view.Now()
				results := make(chan string, len(removals))
				gate := make(chan struct{})
				if together {
					s.before = func() { <-gate }
				}

				for _, removal := range removals {
					removal.Since = since
					if together {
						go func() { results <- s.prove(t, removal) }()
						synctest.Wait()
					} else {
						results <- s.prove(t, removal)
					}
				}
				close(gate)
				for range removals {
					if got := <-results; got != "proved" {
						t.Errorf("got %q", got)
					}
				}

				for i := range namespaces {
					if got := s.bindingLists(fmt.Sprintf("ns-%d", i)); got != 1 {
						t.Errorf("namespace %d: %d lists of bindings, want 1", i, got)
					}
				}
				if got := s.sent("get managedclusters c00"); got != 1 {
					t.Errorf("the cluster was read %d times, want once", got)
				}
			})
		})
	}
}

// B10, B11: a list of bindings that was requested for another removal serves if nothing that decides about this one has changed since.
func TestWhenAListOfBindingsServesAnotherRemoval(t *testing.T) {
	binding := func(name string) freshness.Object { return object(freshness.Bindings, "ns", name) }
	const behind = "the watch has not shown the latest version of managedclustersetbindings ns/b"
	for _, tc := range []struct {
		reason string
		// happens between the two proofs.
		happens func(*server)
		lists   int
		want    string
	}{
		{"nothing has changed", func(*server) {}, 1, "proved"},
		{"the cluster that leaves has changed", func(s *server) { s.see(s.put(cluster(0), 0)) }, 2, "proved"},
		{"another cluster has changed", func(s *server) { s.see(s.put(cluster(1), 0)) }, 1, "proved"},
		{"a heartbeat of the cluster", func(s *server) { s.see(s.beat(cluster(0), 0)) }, 1, "proved"},
		{"a binding has come, and was seen", func(s *server) { s.see(s.put(binding("b"), 0)) }, 2, "proved"},
		{"a binding has come with the change of the cluster, and was not seen", func(s *server) {
			s.put(binding("b"), 0)
			s.see(s.put(cluster(0), 0))
		}, 2, behind},
		{"a binding has gone, and was seen to go", func(s *server) {
			delete(s.objects, binding("a"))
			s.see(binding("a"))
		}, 2, "proved"},
		{"a binding was recreated, and was seen", func(s *server) {
			delete(s.objects, binding("a"))
			s.see(binding("a"))
			s.see(s.put(binding("a"), 0))
		}, 2, "proved"},
		{"a binding of another namespace", func(s *server) { s.see(s.put(object(freshness.Bindings, "other", "b"), 0)) }, 1, "proved"},
		{"the set", func(s *server) { s.see(s.put(object(freshness.ClusterSets, "", "a"), 0)) }, 2, "proved"},
		{"a set whose binding the list may lack", func(s *server) { s.see(s.put(object(freshness.ClusterSets, "", "z"), 0)) }, 2, "proved"},
		{"the Placement, and was seen", func(s *server) { s.see(s.put(object(placements, "ns", "p"), 1)) }, 2, "proved"},
		{"the spec of the Placement, which was not seen", func(s *server) { s.put(object(placements, "ns", "p"), 2) }, 1,
			"the watch has not shown the latest version of placements ns/p"},
		{"time has passed", func(*server) { <-time.After(time.Second + time.Millisecond) }, 2, "proved"},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newServer()
				other, removal := s.inNamespace("ns", "q"), s.removal(1)
				if got := s.prove(t, other); got != "proved" {
					t.Fatalf("the other removal: got %q", got)
				}
				tc.happens(s)
				if diff := cmp.Diff(tc.want, s.prove(t, removal)); diff != "" {
					t.Error(diff)
				}
				if got := s.bindingLists("ns"); got != tc.lists {
					t.Errorf("%d lists of bindings, want %d", got, tc.lists)
				}
			})
		})
	}
}

// B10, B11: the set, the binding and the cluster that were read for another removal serve by the rule of lists, and the further objects that decide
// are read again. The removal is that of the latest state of the Placement, which a cache can have before the view.
func TestWhenASingleReadServesAnotherRemoval(t *testing.T) {
	set, other := object(freshness.ClusterSets, "", "a"), object(freshness.ClusterSets, "", "z")
	for _, tc := range []struct {
		reason string
		// happens between the two proofs.
		happens func(*server)
		reads   int
		want    string
	}{
		{"nothing has changed", func(*server) {}, 1, "proved"},
		{"the set", func(s *server) { s.see(s.put(set, 0)) }, 2, "proved"},
		{"the set, which was not seen", func(s *server) { s.put(set, 0) }, 1, "proved"},
		{"the set, which was not seen, and then the cluster", func(s *server) {
			s.put(set, 0)
			s.see(s.put(cluster(0), 0))
		}, 2, "the watch has not shown the latest version of managedclustersets a"},
		{"a set that is not bound", func(s *server) { s.see(s.put(other, 0)) }, 2, "proved"},
		{"the status of the set", func(s *server) { s.see(s.beat(set, 0)) }, 1, "proved"},
		{"the cluster", func(s *server) { s.see(s.put(cluster(0), 0)) }, 2, "proved"},
		{"a heartbeat of the cluster", func(s *server) { s.see(s.beat(cluster(0), 0)) }, 1, "proved"},
		{"another cluster", func(s *server) { s.see(s.put(cluster(1), 0)) }, 1, "proved"},
		{"a further object that decides", func(s *server) { s.see(s.put(namespace, 0)) }, 2, "proved"},
		{"the binding", func(s *server) { s.see(s.put(object(freshness.Bindings, "ns", "a"), 0)) }, 2, "proved"},
		{"a further object that decides, which was not seen, and the cluster, which was not either", func(s *server) {
			s.put(cluster(0), 0)
			s.put(namespace, 0)
		}, 1, "the watch has not shown the latest version of namespaces ns"},
		{"the Placement", func(s *server) { s.see(s.put(object(placements, "ns", "p"), 1)) }, 2, "proved"},
		{"the Placement, which was not seen", func(s *server) { s.put(object(placements, "ns", "p"), 2) }, 2, "proved"},
		{"the cluster, and then the Placement, which were not seen", func(s *server) {
			s.put(cluster(0), 0)
			s.put(object(placements, "ns", "p"), 2)
		}, 2, "the watch has not shown the latest version of managedclusters c00"},
		{"time has passed", func(*server) { <-time.After(time.Second + time.Millisecond) }, 2, "proved"},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, removal := decidedByOthers(1)
				another := s.inNamespace("ns", "q")
				another.Others, another.KnownBindings, removal.KnownBindings = removal.Others, true, true
				if got := s.prove(t, another); got != "proved" {
					t.Fatalf("the other removal: got %q", got)
				}
				tc.happens(s)
				removal.Meta = s.objects[removal.Object]
				if diff := cmp.Diff(tc.want, s.prove(t, removal)); diff != "" {
					t.Error(diff)
				}
				for request, want := range map[string]int{
					"get managedclustersets a": tc.reads, "get managedclustersetbindings a": tc.reads, "get managedclusters c00": tc.reads,
					"get namespaces ns": 2,
				} {
					if got := s.sent(request); got != want {
						t.Errorf("%s was sent %d times, want %d", request, got, want)
					}
				}
			})
		})
	}
}

// B10: a result that depends on objects which the view does not have is proved by later requests alone, except for lists of all clusters.
func TestNoEarlierRequestServesWhatIsNotObserved(t *testing.T) {
	for clusters, lists := range map[int]int{1: 3, 20: 1} {
		synctest.Test(t, func(t *testing.T) {
			s := newServer()
			removal := s.removal(clusters)
			removal.Unobserved = true
			for range 3 {
				if got := s.prove(t, removal); got != "proved" {
					t.Errorf("%d clusters: got %q", clusters, got)
				}
			}
			if got := s.bindingLists("ns"); got != lists {
				t.Errorf("%d clusters: %d lists of bindings, want %d", clusters, got, lists)
			}
		})
	}
}

// B10: a snapshot can have a change that is not recorded yet. Nothing that was read before that change serves a removal which it may concern.
func TestAChangeThatIsBeingShown(t *testing.T) {
	for _, clusters := range []int{1, 20} {
		for _, end := range []bool{false, true} {
			t.Run(fmt.Sprintf("clusters=%d,deleted=%v", clusters, end), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					s := newServer()
					if got := s.prove(t, s.removal(clusters)); got != "proved" {
						t.Fatalf("the first removal: got %q", got)
					}
					since := s.view.Now()
					s.view.Changing(cluster(0)) // From here on a snapshot may have the change.
					s.put(cluster(0), 0)
					if end {
						delete(s.objects, cluster(0))
					}
					time.AfterFunc(time.Millisecond, func() { s.see(cluster(0)) })
					removal := s.removal(clusters)
					removal.Since = since
					if got := s.prove(t, removal); got != freshness.ErrViewChanged.Error() {
						t.Errorf("got %q while the change is being shown", got)
					}
					if got := s.prove(t, s.removal(clusters)); got != "proved" {
						t.Errorf("afterwards: got %q", got)
					}
				})
			})
		}
	}
}

// A request that fails is sent again for a proof that has joined it later.
func TestARequestThatFailsIsSentAgainForOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		gate, results := make(chan struct{}), make(chan string, 2)
		s.before = func() { <-gate }
		s.failing = 1
		for range 2 {
			go func() { results <- s.prove(t, s.removal(1)) }()
			synctest.Wait()
		}
		close(gate)
		got := []string{<-results, <-results}
		slices.Sort(got)
		if diff := cmp.Diff([]string{"listing the metadata of managedclustersetbindings: the list has failed", "proved"}, got); diff != "" {
			t.Error(diff)
		}
	})
}

// B11: a change that the view shows while the requests of a proof are open ends the proof if its list of bindings is older than the change.
func TestAChangeAfterAnEarlierList(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		if got := s.prove(t, s.inNamespace("ns", "q")); got != "proved" {
			t.Fatalf("the other removal: got %q", got)
		}
		s.before = func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			if b := object(freshness.Bindings, "ns", "b"); s.objects[b].Name == "" {
				s.see(s.put(b, 0))
			}
		}
		if got := s.prove(t, s.removal(1)); got != freshness.ErrViewChanged.Error() {
			t.Errorf("got %q", got)
		}
		if got := s.prove(t, s.removal(1)); got != "proved" || s.bindingLists("ns") != 2 {
			t.Errorf("the next proof: got %q and %d lists, want another list", got, s.bindingLists("ns"))
		}
	})
}

// A list that failed serves no other proof.
func TestAListThatFailedIsNotShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		s.broken = errors.New("it is gone")
		if got := s.prove(t, s.removal(1)); got != "it is gone" {
			t.Errorf("got %q", got)
		}
		synctest.Wait() // for requests that the first proof did not wait for
		s.broken = nil
		lists := s.bindingLists("ns")
		if got := s.prove(t, s.removal(1)); got != "proved" || s.bindingLists("ns") != lists+1 {
			t.Errorf("got %q after %d lists, want the proof after another list", got, s.bindingLists("ns"))
		}
	})
}

// B11: while the watch of the clusters is broken, they are compared by what they say, and only a list that is requested afterwards serves.
func TestContentsAreProvedWithoutEarlierLists(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		compared := 0
		s.checker = freshness.New(s, s.view, func(context.Context, string) ([]clusterinfo.Property, error) {
			compared = s.bindingLists("ns")
			return nil, nil
		})
		lagging := s.beat(cluster(0), 0)
		if got := s.prove(t, s.removal(1)); got != "proved" { // It waits, and knows then that the watch is behind.
			t.Fatalf("the first proof: got %q", got)
		}

		if got := s.prove(t, s.removal(1)); got != "proved" || s.bindingLists("ns") != compared+1 {
			t.Errorf("%s lags: got %q and %d lists, want one after the %d up to the comparison", lagging, got, s.bindingLists("ns"), compared)
		}
	})
}

// B10: contents that were compared while a change was being shown prove nothing until that change is recorded.
func TestContentsAreNotProvedWhileAChangeIsShown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		s.checker = freshness.New(s, s.view, func(context.Context, string) ([]clusterinfo.Property, error) {
			s.view.Changing(cluster(0))
			return nil, nil
		})
		s.beat(cluster(0), 0)
		if got := s.prove(t, s.removal(1)); got != freshness.ErrViewChanged.Error() {
			t.Errorf("got %q", got)
		}
	})
}

// trust: many objects of one namespace are read for its own proofs alone.
func TestManyBindingsOfANamespaceAreReadForItAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		hostile := s.inNamespace("hostile", "p")
		for i := range 2000 {
			b := object(freshness.Bindings, "hostile", fmt.Sprintf("b-%d", i))
			s.objects[b] = metav1.ObjectMeta{Namespace: b.Namespace, Name: b.Name, ResourceVersion: s.objects[hostile.Object].ResourceVersion}
			s.see(b)
		}
		gate := make(chan struct{})
		s.beforeList = func(namespace string) {
			if namespace == "hostile" {
				<-gate
			}
		}
		open := make(chan string, 1)
		go func() { open <- s.prove(t, hostile) }()
		synctest.Wait()
		if got := s.prove(t, s.removal(1)); got != "proved" {
			t.Errorf("another namespace: got %q while a proof of the hostile one is open", got)
		}
		if got := s.bindingLists("hostile"); got != 0 {
			t.Errorf("%d lists of the hostile namespace have been answered, want none", got)
		}
		close(gate)
		if got := <-open; got != "proved" {
			t.Errorf("the hostile namespace: got %q", got)
		}
	})
}
