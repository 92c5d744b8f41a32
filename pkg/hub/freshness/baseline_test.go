// SPDX-License-Identifier: Apache-2.0

package freshness_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr/funcr"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"

	"github.com/placement-hub/placement-hub/pkg/hub/freshness"
)

// A new leader compares everything in the background, and the first removals wait for that.
func TestANewLeaderComparesEverything(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		s.checker.RequireAll()
		other := s.put(object(freshness.Scores, "c19", "s"), 0)
		gone := object(freshness.Scores, "c18", "s")
		s.view.Set(gone, "1", nil)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()

		go func() {
			if err := s.checker.Start(ctx); err != nil {
				t.Error(err)
			}
		}()
		<-time.After(5 * time.Second)
		if got, want := s.prove(t, s.removal(1)), "the watch has not shown the latest version of addonplacementscores c19/s"; got != want {
			t.Errorf("got %q, want %q", got, want)
		}

		s.see(other)
		<-time.After(5 * time.Second)
		if got, want := s.prove(t, s.removal(1)), "the watch has not shown the latest version of addonplacementscores c18/s"; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
		s.view.Delete(gone)
		<-time.After(5 * time.Second)
		if got := s.prove(t, s.removal(1)); got != "proved" {
			t.Errorf("got %q", got)
		}

		s.put(other, 0)
		if got := s.prove(t, s.removal(1)); got != "proved" {
			t.Errorf("the second time: got %q", got)
		}
	})
}

// A restored API server, which shows an earlier state than before, proves nothing, and ends the process.
func TestTheHistoryGoesBack(t *testing.T) {
	for _, tc := range []struct {
		reason  string
		happens func(*server)
		lost    bool
	}{
		{"it goes on", func(s *server) { s.see(s.put(cluster(0), 0)) }, false},
		{"the version of the cluster", func(s *server) {
			meta := s.objects[cluster(0)]
			meta.ResourceVersion = "1"
			s.objects[cluster(0)] = meta
		}, true},
		{"the version of a list", func(s *server) {
			s.objects[cluster(0)] = metav1.ObjectMeta{Name: "c00", ResourceVersion: "2000"}
			s.see(cluster(0))
			delete(s.objects, cluster(0))
		}, true},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newServer()
				logged := &strings.Builder{}
				logger := funcr.New(func(_, line string) { logged.WriteString(line) }, funcr.Options{})
				ctx, cancel := context.WithCancel(klog.NewContext(t.Context(), logger))
				ended := make(chan error, 1)
				go func() { ended <- s.checker.WatchHistory(ctx) }()
				s.mu.Lock()
				tc.happens(s)
				s.mu.Unlock()

				removal := s.removal(1)
				if tc.reason == "the version of a list" {
					removal.Clusters = nil
					<-time.After(10 * time.Second) // Nothing is removed, and it is found out.
				}
				want := "proved"
				if tc.lost {
					want = freshness.ErrHistoryLost.Error()
				}

				if got := s.prove(t, removal); got != want {
					t.Errorf("got %q, want %q", got, want)
				}
				synctest.Wait()
				if tc.lost != (len(ended) == 1) {
					t.Errorf("the process has ended: %v, want %v", len(ended) == 1, tc.lost)
				}
				cancel()

				if tc.lost != strings.Contains(logged.String(), `"c00"`) {
					t.Errorf("the log is %q, want the cluster that differs", logged)
				}
				if err := <-ended; tc.lost != errors.Is(err, freshness.ErrHistoryLost) {
					t.Errorf("got %v", err)
				}
			})
		})
	}
}
