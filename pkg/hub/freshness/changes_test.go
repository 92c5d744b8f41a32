// SPDX-License-Identifier: Apache-2.0

package freshness_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/placement-hub/placement-hub/pkg/clusterinfo"
	"github.com/placement-hub/placement-hub/pkg/hub/freshness"
)

// B11: a snapshot has the versions of a proof if the view has shown no change since that the result depends on.
func TestChangesSinceTheSnapshot(t *testing.T) {
	const changed = "what decides about the clusters has changed since the object was evaluated"
	for _, tc := range []struct {
		reason string
		before func(*server)
		change func(*server)
		want   string
	}{
		{"nothing has changed", func(*server) {}, func(*server) {}, "proved"},
		{"another cluster", func(*server) {}, func(s *server) { s.see(s.put(cluster(5), 0)) }, "proved"},
		{"the cluster", func(*server) {}, func(s *server) { s.see(s.put(cluster(0), 0)) }, changed},
		{"a heartbeat of the cluster", func(*server) {}, func(s *server) { s.see(s.beat(cluster(0), 0)) }, "proved"},
		{"a binding has come", func(*server) {}, func(s *server) { s.see(s.put(object(freshness.Bindings, "ns", "b"), 0)) }, changed},
		{"a binding of another namespace", func(*server) {}, func(s *server) { s.see(s.put(object(freshness.Bindings, "other", "b"), 0)) }, "proved"},
		{"the set", func(*server) {}, func(s *server) { s.see(s.put(object(freshness.ClusterSets, "", "a"), 0)) }, changed},
		{"the status of the set", func(*server) {}, func(s *server) { s.see(s.beat(object(freshness.ClusterSets, "", "a"), 0)) }, "proved"},
		{"the cluster has gone", func(*server) {}, func(s *server) {
			delete(s.objects, cluster(0))
			s.see(cluster(0))
		}, changed},
		{"the cluster had gone before", func(s *server) {
			delete(s.objects, cluster(0))
			s.see(cluster(0))
		}, func(s *server) { s.see(s.put(cluster(5), 0)) }, "proved"},
	} {
		for _, clusters := range []int{1, 20} {
			if clusters == 20 && (tc.reason == "another cluster" || tc.reason == "the cluster had gone before") {
				continue
			}
			t.Run(fmt.Sprintf("%s/%d", tc.reason, clusters), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					s := newServer()
					tc.before(s)
					removal := s.removal(clusters)
					removal.Since = s.view.Now()
					tc.change(s)
					if got := s.prove(t, removal); got != tc.want {
						t.Errorf("got %q, want %q", got, tc.want)
					}
				})
			})
		}
	}
}

// B11: what the result does not read does not concern its proof, however often it changes while the proof lasts.
func TestOnlyWhatIsReadCounts(t *testing.T) {
	for reads, want := range map[clusterinfo.Property]string{
		{Kind: clusterinfo.Label, Name: "tier"}:   "proved",
		{Kind: clusterinfo.Label, Name: "region"}: freshness.ErrViewChanged.Error(),
		{Kind: clusterinfo.Any}:                   freshness.ErrViewChanged.Error(),
	} {
		synctest.Test(t, func(t *testing.T) {
			s := newServer()
			s.before = func() {
				s.mu.Lock()
				defer s.mu.Unlock()
				s.see(s.put(cluster(0), 0))
			}

			removal := s.removal(1)
			removal.Reads = []clusterinfo.Property{reads}
			if got := s.prove(t, removal); got != want {
				t.Errorf("it reads %s: got %q, want %q", reads, got, want)
			}
		})
	}
}

// B11: an object that was deleted after it was read is later than the proof, and not behind: nothing waits for it.
func TestADeletedObjectIsNotBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		removal := s.removal(1)
		removal.Since = s.view.Now()
		s.see(s.put(cluster(0), 0))
		s.view.Delete(cluster(0)) // The server shows it to a read that was answered before its deletion.
		begin := time.Now()
		if got := s.prove(t, removal); got != freshness.ErrViewChanged.Error() || time.Since(begin) != 0 {
			t.Errorf("got %q after %v", got, time.Since(begin))
		}
	})
}

// B11: where every cluster decides, one that the view has not shown in its version keeps a removal from being proved, and heartbeats do not.
func TestEveryClusterDecides(t *testing.T) {
	for _, tc := range []struct {
		reason  string
		happens func(*server)
		want    string
	}{
		{"the view is as the server", func(*server) {}, "proved"},
		{"a cluster that stays", func(s *server) { s.put(cluster(15), 0) }, "the watch has not shown the latest version of managedclusters c15"},
		{"a cluster that the view lacks", func(s *server) { s.put(cluster(77), 0) },
			"the watch has not shown the latest version of managedclusters c77"},
		{"a score of a cluster that stays", func(s *server) { s.put(object(freshness.Scores, "c15", "s"), 0) },
			"the watch has not shown the latest version of addonplacementscores c15/s"},
		{"heartbeats during the proof", func(s *server) {
			s.before = func() {
				s.mu.Lock()
				defer s.mu.Unlock()
				s.see(s.beat(cluster(15), 0))
			}
		}, "proved"},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newServer()
				removal := s.removal(1)
				removal.Scores, removal.Ranked, removal.AllClusters = true, true, true
				tc.happens(s)
				if got := s.prove(t, removal); got != tc.want {
					t.Errorf("got %q, want %q", got, tc.want)
				}
			})
		})
	}
}

// B11: a cluster that says in the API server what the view shows is proved while its watch is behind.
func TestWhatAClusterSaysIsCompared(t *testing.T) {
	region := []clusterinfo.Property{{Kind: clusterinfo.Label, Name: "region"}}
	for _, tc := range []struct {
		reason         string
		ranked         bool
		clusters       int
		differs, reads []clusterinfo.Property
		want           string
	}{
		{"nothing differs", false, 2, nil, region, "proved"},
		{"what is not read differs", false, 2, []clusterinfo.Property{{Kind: clusterinfo.Claim, Name: "version"}}, region, "proved"},
		{"what is read differs", false, 2, region, region, "the watch has not shown the latest version of managedclusters c00"},
		{"one that is ranked", true, 1, nil, region, "proved"},
		{"some that decide about each other", true, 2, nil, region, "the watch has not shown the latest version of managedclusters c00"},
		{"too many", false, 20, nil, region, "the watch has not shown the latest version of managedclusters c00"},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newServer()
				s.checker = freshness.New(s, s.view, func(context.Context, string) ([]clusterinfo.Property, error) { return tc.differs, nil })
				s.beat(cluster(0), 0)
				removal := s.removal(tc.clusters)
				removal.Ranked, removal.Reads = tc.ranked, tc.reads
				if got := s.prove(t, removal); got != tc.want {
					t.Errorf("got %q, want %q", got, tc.want)
				}
			})
		})
	}
}
