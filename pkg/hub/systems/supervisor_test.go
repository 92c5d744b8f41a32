// SPDX-License-Identifier: Apache-2.0

package systems

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/manager"
)

const path = "/widgets"

// stage is a system with one controller and one webhook, and the supervisor of it.
type stage struct {
	*System

	server  *server
	defined *definitions
	hub     *fakeHub

	mu sync.Mutex
	// starts are the times at which the controller has started. running is how many of them run, and dropped how many were dropped.
	starts           []time.Time
	running, dropped int
	// failing has the controller end with an error after a time; unbuildable is the error of Setup.
	failing     bool
	failsAfter  time.Duration
	unbuildable error
}

// play runs a system in a bubble of time, and ends it.
func play(t *testing.T, act func(*testing.T, *stage)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := &stage{hub: &fakeHub{elected: make(chan struct{})}}
		s.server, s.defined = newServer()
		s.System = &System{
			Name: "widgets", Groups: []string{example.Group}, Needs: []Need{widgets}, reason: starting,
			Cache: func() cache.Options { return cache.Options{} }, Setup: s.setup,
		}
		under := &supervisor{System: s.System, hub: s.hub, definitions: s.defined, changed: s.defined.listen()}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- under.Start(ctx) }()

		synctest.Wait()
		act(t, s)
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("the supervisor ended with %v", err)
		}
		s.want(t, "at the end of the process", len(s.starts), 0)
	})
}

// breakSetup sets the error of Setup.
func (s *stage) breakSetup(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.unbuildable = err
}

// setup adds the controller, which works on the leader.
func (s *stage) setup(mgr manager.Manager) (map[string]http.Handler, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.unbuildable != nil {
		return nil, s.unbuildable
	}
	OnEnd(mgr, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.dropped++
	})
	return map[string]http.Handler{path: http.NotFoundHandler()}, mgr.Add(manager.RunnableFunc(s.work))
}

func (s *stage) work(ctx context.Context) error {
	s.mu.Lock()
	s.starts = append(s.starts, time.Now())
	s.running++
	failing := s.failing
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.running--
	}()

	if !failing {
		<-ctx.Done()
		return nil
	}
	select {
	case <-time.After(s.failsAfter):
		return errBroken
	case <-ctx.Done():
		return nil
	}
}

// install has the server serve the kind of the system by a definition with an identity.
func (s *stage) install(uid string) {
	s.server.define("widgets.example.com", uid)
	s.server.serve("example.com/v1", metav1.APIResource{Name: "widgets", Kind: "Widget"})
	s.changed()
}

// changed has the system look at the server, and returns when it has.
func (s *stage) changed() {
	s.defined.notify()
	synctest.Wait()
	time.Sleep(latePeriod) // In the bubble: caches poll until they have synced.
	synctest.Wait()
}

// want compares how often the controller has started, and how many run.
func (s *stage) want(t *testing.T, when string, starts, running int) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.starts) != starts || s.running != running {
		t.Errorf("%s: the controller has started %d times and %d run, want %d and %d", when, len(s.starts), s.running, starts, running)
	}
}

// wantOff checks why the system is off, and that its webhook says so; on for "".
func (s *stage) wantOff(t *testing.T, when, reason string) {
	t.Helper()
	off := s.Off()
	if (off == "") != (reason == "") || !strings.Contains(off, reason) {
		t.Errorf("%s: the system is off for %q, want %q", when, off, reason)
	}
	_, err := s.Handler(path)
	if (err == nil) != (reason == "") || err != nil && !strings.Contains(err.Error(), reason) {
		t.Errorf("%s: the webhook answers %v, want %q", when, err, reason)
	}
}

// docs/spec/trust.md R3: a system runs while its definitions are served. It is ended and dropped when they go, and built anew when they return.
func TestSystemFollowsItsDefinitions(t *testing.T) {
	play(t, func(t *testing.T, s *stage) {
		t.Helper()
		s.wantOff(t, "without definitions", "CustomResourceDefinition widgets.example.com is not served in version v1")
		if err := s.Ready(); err != nil {
			t.Errorf("a system that is known to be off keeps the process from being ready: %v", err)
		}

		s.install("1")
		s.wantOff(t, "served, on a standby", "")
		s.want(t, "served, on a standby", 0, 0)
		close(s.hub.elected)
		synctest.Wait()
		s.want(t, "after the election", 1, 1)

		s.server.fail(errBroken)
		s.changed()
		s.wantOff(t, "while discovery fails", "")
		s.want(t, "while discovery fails", 1, 1)
		s.server.fail(nil)

		s.server.terminate("widgets.example.com")
		s.changed()
		s.wantOff(t, "while the definition is being deleted", "widgets.example.com is being deleted")
		s.want(t, "while the definition is being deleted", 1, 0)

		s.install("2")
		s.wantOff(t, "with a new definition", "")
		s.want(t, "with a new definition", 2, 1)

		s.install("3")
		s.wantOff(t, "with a definition that has replaced another", "")
		s.want(t, "with a definition that has replaced another", 3, 1)
		if s.dropped != 2 {
			t.Errorf("%d starts of the system were dropped, want 2", s.dropped)
		}
	})
}

// A controller that fails ends its system alone, which starts again after pauses that double up to a minute, and are short again after it has
// run for long.
func TestSystemThatFailsStartsAgain(t *testing.T) {
	play(t, func(t *testing.T, s *stage) {
		t.Helper()
		close(s.hub.elected)
		s.failing = true
		s.install("1")
		s.wantOff(t, "after a failure", "it failed, and starts again: running the system: it is broken")
		time.Sleep(10 * time.Minute)
		synctest.Wait()

		s.mu.Lock()
		var pauses []int
		for i := range 8 {
			pauses = append(pauses, int(s.starts[i+1].Sub(s.starts[i]).Seconds()))
		}
		s.failsAfter = 2 * longestPause
		s.mu.Unlock()
		if diff := cmp.Diff([]int{1, 2, 4, 8, 16, 32, 60, 60}, pauses); diff != "" {
			t.Errorf("seconds between starts (-want +got):\n%s", diff)
		}

		time.Sleep(30 * time.Minute)
		synctest.Wait()

		s.mu.Lock()
		last := s.starts[len(s.starts)-1].Sub(s.starts[len(s.starts)-2])
		s.failing = false
		s.mu.Unlock()
		if want := s.failsAfter + soonPeriod; last.Round(time.Second) != want {
			t.Errorf("a system that ran for %s started again after %s, want %s", s.failsAfter, last, want)
		}
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		s.wantOff(t, "after it has healed", "")
	})
}

// A system that cannot be built is off, says why, and is tried again.
func TestSystemThatCannotBeBuilt(t *testing.T) {
	play(t, func(t *testing.T, s *stage) {
		t.Helper()
		close(s.hub.elected)
		s.breakSetup(errBroken)
		s.install("1")
		s.wantOff(t, "while it cannot be built", "it cannot start: it is broken")
		s.breakSetup(nil)
		time.Sleep(latePeriod)
		synctest.Wait()
		s.wantOff(t, "afterwards", "")
		s.want(t, "afterwards", 1, 1)
	})
}
