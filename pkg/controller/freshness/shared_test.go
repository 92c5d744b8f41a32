package freshness_test

import (
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/placement-hub/placement-hub/pkg/controller/freshness"
)

// batch returns a server with a number of placements, each in a namespace of its own with a binding, and a removal of one cluster from each.
func batch(size int) (*server, []freshness.Removal) {
	s := newServer()
	removals := make([]freshness.Removal, 0, size)

	for i := range size {
		in := fmt.Sprintf("ns-%03d", i)
		s.see(s.put(object(freshness.Bindings, in, "a"), 0))
		s.see(s.put(object(namespace.Resource, "", in), 0))
		s.see(s.put(object(placements, in, "p"), 1))

		removal := s.removal(1)
		removal.Object = object(placements, in, "p")
		removal.Meta = s.objects[removal.Object]
		removal.Others = []freshness.Object{object(namespace.Resource, "", in)}
		removals = append(removals, removal)
	}

	return s, removals
}

// asked is a server whose responses wait for open, and the results of the questions in their order.
type asked struct {
	*server

	gate    chan struct{}
	results []chan string
}

func (a *asked) ask(t *testing.T, removal freshness.Removal) {
	t.Helper()

	result := make(chan string, 1)
	a.results = append(a.results, result)

	go func() { result <- a.prove(t, removal) }()

	synctest.Wait()
}

// open answers all requests, and returns the results.
func (a *asked) open() []string {
	close(a.gate)

	results := make([]string, 0, len(a.results))
	for _, result := range a.results {
		results = append(results, <-result)
	}

	return results
}

func askedOf(s *server) *asked {
	a := &asked{server: s, gate: make(chan struct{})}
	s.before = func() { <-a.gate }

	return a
}

func (s *server) counts() map[string]int {
	counts := map[string]int{}
	for _, request := range s.requests {
		counts[request]++
	}

	return counts
}

// Proofs of objects of different namespaces at once share lists of what decides about all of them.
func TestABatchOfProofsSharesItsReads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const size = 20

		s, removals := batch(size)
		a := askedOf(s)

		for i := range removals {
			a.ask(t, removals[i])
		}

		for i, got := range a.open() {
			if got != "proved" {
				t.Errorf("proof %d: %s", i, got)
			}
		}

		// Of each resource two parts, a list for the third question, and one for all questions that came while that was running.
		counts := s.counts()
		want := map[string]int{
			"list managedclustersetbindings": 4, "list namespaces": 2, "list placements": 2,
			"get managedclusters c00": 2, "get managedclustersets a": 2,
		}

		for request, number := range want {
			if diff := cmp.Diff(number, counts[request]); diff != "" {
				t.Errorf("%s: %s", request, diff)
			}
		}

		if got := len(s.requests); got > size {
			t.Errorf("%d requests for %d proofs: %v", got, size, counts)
		}
	})
}

// What was asked before a change is sent after it: a shared read begins after the last of its questions, and the change is seen by all.
func TestASharedReadBeginsAfterItsQuestions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, removals := batch(6)
		a := askedOf(s)

		for i := range removals {
			a.ask(t, removals[i])

			if i == len(removals)-2 {
				// The list of the bindings is running: the last question needs another one.
				s.mu.Lock()
				s.put(object(freshness.Bindings, removals[i+1].Object.Namespace, "a"), 0)
				s.mu.Unlock()
			}
		}

		results, behind := a.open(), "the watch has not shown the latest version of managedclustersetbindings ns-005/a"
		if diff := cmp.Diff([]string{"proved", "proved", "proved", "proved", "proved", behind}, results); diff != "" {
			t.Error(diff)
		}

		if got := s.counts()["list managedclustersetbindings"]; got != 4 {
			t.Errorf("%d lists, want those of two namespaces, and two of all: the last question came while the first one ran", got)
		}
	})
}

// A list of a large resource would cost more than the requests that it replaces.
func TestALargeResourceIsReadInParts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, removals := batch(300)
		a := askedOf(s)

		for i := range 12 {
			a.ask(t, removals[i])
		}

		a.open()

		if got := s.counts()["list placements"] + s.counts()["list namespaces"]; got != 0 {
			t.Errorf("%d lists of whole resources with 300 objects", got)
		}
	})
}
