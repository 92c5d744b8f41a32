// SPDX-License-Identifier: Apache-2.0

package freshness_test

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/placement-hub/placement-hub/pkg/hub/freshness"
)

// newLargeServer returns a server with that many clusters, which the view shows.
func newLargeServer(clusters int) *server {
	s := newServer()
	for i := range clusters {
		s.see(s.put(cluster(i), 0))
	}
	return s
}

// ofAll returns a removal about which every cluster decides.
func (s *server) ofAll() freshness.ProofRequest {
	removal := s.removal(1)
	removal.Ranked, removal.AllClusters = true, true
	return removal
}

// B11: a list of all clusters is read in pages, all of which show the moment of the first one.
func TestAListIsReadInPages(t *testing.T) {
	const clusters, pages = 4002, 3
	for _, tc := range []struct {
		reason string
		// before happens before the proof, and between before the second page.
		before, between func(*server)
		lists           int
		want            string
	}{
		{"nothing has changed", func(*server) {}, func(*server) {}, pages, "proved"},
		{
			"a cluster that the view is behind with", func(s *server) { s.put(cluster(4000), 0) }, func(*server) {}, pages,
			"the watch has not shown the latest version of managedclusters c4000",
		},
		{
			"a cluster that is gone, which the view has not shown", func(s *server) { delete(s.objects, cluster(0)) }, func(*server) {}, pages,
			"the watch has not shown the latest version of managedclusters c00",
		},
		{"a change that comes later and is not seen", func(*server) {}, func(s *server) { s.put(cluster(4000), 0) }, pages, "proved"},
		{
			"a change that comes later and is seen", func(*server) {}, func(s *server) { s.see(s.put(cluster(4000), 0)) }, pages,
			freshness.ErrViewChanged.Error(),
		},
		{"a page fails", func(*server) {}, func(s *server) { s.broken = errors.New("the page has failed") }, pages - 1, "the page has failed"},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newLargeServer(clusters)
				tc.before(s)
				requested := 0
				s.beforeList = func(namespace string) {
					if namespace != "" {
						return
					}
					requested++
					if requested == 2 {
						synctest.Wait() // for the other requests of the proof
						s.mu.Lock()
						defer s.mu.Unlock()
						tc.between(s)
					}
				}
				if got := s.prove(t, s.ofAll()); got != tc.want {
					t.Errorf("got %q, want %q", got, tc.want)
				}
				if got := s.sent("list managedclusters"); got != tc.lists {
					t.Errorf("%d requests, want %d", got, tc.lists)
				}
			})
		})
	}
}

// B11: in a large fleet more clusters are read one by one than in a small one, because a list of all costs more there.
func TestHowManyClustersAreReadOneByOne(t *testing.T) {
	for _, tc := range []struct {
		fleet, clusters, gets, lists int
	}{
		{20, 8, 8, 0},
		{20, 9, 0, 1},
		{899, 9, 0, 1},
		{900, 9, 9, 0},
		{2000, 20, 20, 0},
		{2000, 21, 0, 1},
	} {
		t.Run(fmt.Sprintf("%d of %d", tc.clusters, tc.fleet), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newLargeServer(tc.fleet)
				if got := s.prove(t, s.removal(tc.clusters)); got != "proved" {
					t.Errorf("got %q", got)
				}
				gets := 0
				for i := range tc.fleet {
					gets += s.sent("get managedclusters " + cluster(i).Name)
				}
				if lists := s.sent("list managedclusters"); gets != tc.gets || lists != tc.lists {
					t.Errorf("%d clusters were read and %d lists, want %d and %d", gets, lists, tc.gets, tc.lists)
				}
			})
		})
	}
}

// B11: clusters that would be read one by one are compared with a list of all that was read for another removal less than a second ago.
func TestAListThatWasReadServesAFewClusters(t *testing.T) {
	for _, tc := range []struct {
		reason       string
		takes, pause time.Duration
		removal      func(*server) freshness.ProofRequest
		gets, lists  int
	}{
		{"a moment ago", 0, 0, func(s *server) freshness.ProofRequest { return s.removal(20) }, 0, 1},
		{"a second ago", 0, time.Second, func(s *server) freshness.ProofRequest { return s.removal(20) }, 1, 1},
		{"a list that took longer", 2 * time.Second, 0, func(s *server) freshness.ProofRequest { return s.removal(20) }, 1, 1},
		{"a list that took longer, for every cluster", 2 * time.Second, 0, (*server).ofAll, 0, 1},
		{"a list that took longer, for too many clusters", 2 * time.Second, 0, func(s *server) freshness.ProofRequest { return s.removal(21) }, 0, 2},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newLargeServer(2000)
				s.beforeList = func(namespace string) {
					if namespace == "" {
						<-time.After(tc.takes)
					}
				}
				if got := s.prove(t, s.ofAll()); got != "proved" {
					t.Errorf("the other removal: got %q", got)
				}
				<-time.After(tc.pause)
				if got := s.prove(t, tc.removal(s)); got != "proved" {
					t.Errorf("got %q", got)
				}
				if gets, lists := s.sent("get managedclusters c00"), s.sent("list managedclusters"); gets != tc.gets || lists != tc.lists {
					t.Errorf("the first cluster was read %d times and the list %d times, want %d and %d", gets, lists, tc.gets, tc.lists)
				}
			})
		})
	}
}

// B11: the sets of a namespace are read one by one up to eight, and compared with a list of all beyond.
func TestManySetsAreListed(t *testing.T) {
	set := object(freshness.ClusterSets, "", "set-1")
	for _, tc := range []struct {
		reason      string
		sets        int
		happens     func(*server)
		gets, lists int
		want        string
	}{
		{"eight", 8, func(*server) {}, 8, 0, "proved"},
		{"nine", 9, func(*server) {}, 0, 1, "proved"},
		{
			"the view is behind with one of nine", 9, func(s *server) { s.put(set, 0) }, 0, 1,
			"the watch has not shown the latest version of managedclustersets set-1",
		},
		{
			"one of nine is gone, which the view has not shown", 9, func(s *server) { delete(s.objects, set) }, 0, 1,
			"the watch has not shown the latest version of managedclustersets set-1",
		},
		{"the view is behind with one that is not bound", 9, func(s *server) { s.put(object(freshness.ClusterSets, "", "z"), 0) }, 0, 1, "proved"},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newServer() // It has a set that is bound.
				for i := 1; i < tc.sets; i++ {
					name := fmt.Sprintf("set-%d", i)
					s.see(s.put(object(freshness.ClusterSets, "", name), 0))
					s.see(s.put(object(freshness.Bindings, "ns", name), 0))
				}
				tc.happens(s)
				if got := s.prove(t, s.removal(1)); got != tc.want {
					t.Errorf("got %q, want %q", got, tc.want)
				}
				gets := s.sent("get managedclustersets a")
				for i := 1; i < tc.sets; i++ {
					gets += s.sent(fmt.Sprintf("get managedclustersets set-%d", i))
				}
				if lists := s.sent("list managedclustersets"); gets != tc.gets || lists != tc.lists {
					t.Errorf("%d sets were read and %d lists, want %d and %d", gets, lists, tc.gets, tc.lists)
				}
			})
		})
	}
}

// B11: a list serves further proofs for a second after it was sent, and one that takes longer for twice as long as it takes, for ten seconds at
// most.
func TestHowLongAListServes(t *testing.T) {
	for _, tc := range []struct {
		takes, age time.Duration
		lists      int
	}{
		{100 * time.Millisecond, 999 * time.Millisecond, 1},
		{100 * time.Millisecond, time.Second, 2},
		{time.Second, 1999 * time.Millisecond, 1},
		{time.Second, 2 * time.Second, 2},
		{3 * time.Second, 2 * time.Second, 1}, // while it has no response
		{3 * time.Second, 5999 * time.Millisecond, 1},
		{3 * time.Second, 6 * time.Second, 2},
		{6 * time.Second, 9999 * time.Millisecond, 1},
		{6 * time.Second, 10 * time.Second, 2},
	} {
		t.Run(fmt.Sprintf("takes %s, at %s", tc.takes, tc.age), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const clusters, waits = 2001, 2001 * 10 * time.Microsecond // Two pages, which wait before they are sent.
				s := newLargeServer(clusters)
				s.beforeList = func(namespace string) {
					if namespace == "" {
						<-time.After(tc.takes / 2)
					}
				}
				first := make(chan string, 1)
				go func() { first <- s.prove(t, s.ofAll()) }()
				<-time.After(waits + tc.age)
				for _, got := range []string{s.prove(t, s.ofAll()), <-first} {
					if got != "proved" {
						t.Errorf("got %q", got)
					}
				}
				if got := s.sent("list managedclusters"); got != 2*tc.lists {
					t.Errorf("%d pages, want %d", got, 2*tc.lists)
				}
			})
		})
	}
}

// A page has five seconds, and all pages of a list have ten.
func TestHowLongAListTakes(t *testing.T) {
	for _, tc := range []struct {
		pages int
		each  time.Duration
		want  string
	}{
		{1, 4900 * time.Millisecond, "proved"},
		{1, 5100 * time.Millisecond, "listing the metadata of managedclusters: context deadline exceeded"},
		{3, 3300 * time.Millisecond, "proved"},
		{3, 3400 * time.Millisecond, "listing the metadata of managedclusters: context deadline exceeded"},
	} {
		t.Run(fmt.Sprintf("%d pages of %s", tc.pages, tc.each), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newLargeServer(tc.pages * 2000)
				s.beforeList = func(namespace string) {
					if namespace == "" {
						<-time.After(tc.each)
					}
				}
				if got := s.prove(t, s.ofAll()); got != tc.want {
					t.Errorf("got %q, want %q", got, tc.want)
				}
			})
		})
	}
}

// B11: a single read that comes and expires while a list is open does not end what the list serves for.
func TestAListServesBesideShorterReads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		s.beforeList = func(namespace string) {
			if namespace == "" {
				<-time.After(2 * time.Second)
			}
		}
		if got := s.prove(t, s.ofAll()); got != "proved" {
			t.Errorf("got %q", got)
		}
		s.see(s.put(object(freshness.ClusterSets, "", "unbound"), 0)) // It has a later number, and concerns no removal from the set a.
		later := s.inNamespace("other", "q")
		later.ClusterSets = []string{"a"}
		if got := s.prove(t, later); got != "proved" {
			t.Errorf("the single read: got %q", got)
		}
		<-time.After(1500 * time.Millisecond) // The single reads serve no more.
		last := s.ofAll()
		last.ClusterSets = []string{"a"}
		if got := s.prove(t, last); got != "proved" {
			t.Errorf("got %q", got)
		}
		if got := s.sent("list managedclusters"); got != 1 {
			t.Errorf("%d lists, want one", got)
		}
	})
}

// B11: a list of several pages waits for 10 µs for each object, and for half a second at most, for the proofs of a change of many objects.
func TestALongListGathersProofs(t *testing.T) {
	for _, tc := range []struct {
		clusters int
		apart    time.Duration
		want     int // lists for two proofs that come apart
	}{
		{2000, time.Millisecond, 2},
		{4000, 39 * time.Millisecond, 1},
		{4000, 41 * time.Millisecond, 2},
		{60_000, 499 * time.Millisecond, 1},
		{60_000, 501 * time.Millisecond, 2},
	} {
		t.Run(fmt.Sprintf("%d clusters, apart %s", tc.clusters, tc.apart), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newLargeServer(tc.clusters)
				results := make(chan string, 2)
				for _, namespace := range []string{"one", "two"} {
					removal := s.inNamespace(namespace, "p") // With a binding that was made just now.
					removal.Ranked, removal.AllClusters, removal.Since = true, true, s.view.Now()
					go func() { results <- s.prove(t, removal) }()
					<-time.After(tc.apart)
					synctest.Wait() // The server is not locked while objects are made.
				}
				for range 2 {
					if got := <-results; got != "proved" {
						t.Errorf("got %q", got)
					}
				}
				pages := (tc.clusters + 1999) / 2000
				if got := s.sent("list managedclusters"); got != tc.want*pages {
					t.Errorf("%d pages, want %d lists of %d", got, tc.want, pages)
				}
			})
		})
	}
}
