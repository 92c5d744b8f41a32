// SPDX-License-Identifier: Apache-2.0

package argocdrefresh

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/sets"
)

// pace is that of the process.
var pace = Pace{
	Gather: 500 * time.Millisecond, Interval: 10 * time.Second, Spacing: 100 * time.Millisecond, Retry: time.Second, MaxRetry: time.Minute,
}

// epoch is when the tests start.
var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// byPlacement returns an ApplicationSet that follows the decisions of a Placement.
func byPlacement(name, placement string) ApplicationSet {
	return ApplicationSet{Name: name, Followed: true, References: []Reference{{"ocm", Selection{LabelSelector: "placement=" + placement}}}}
}

// page returns a PlacementDecision of a Placement.
func page(name, placement string, clusters ...string) Decision {
	return Decision{Name: name, Labels: map[string]string{"placement": placement}, Clusters: clusters}
}

// write is one refresh.
type write struct {
	name string
	at   time.Duration
}

// run carries out what is due until the time that has passed since epoch, and returns it. Argo CD removes the annotation at once.
func run(r *Refresher, from, until time.Duration) []write {
	var writes []write
	for now := from; ; {
		refresh, at, due := r.Next(epoch.Add(now))
		if due {
			writes = append(writes, write{refresh.Name, now})
			r.Done(refresh, Refreshed, epoch.Add(now))
			continue
		}
		if at.IsZero() || at.Sub(epoch) > until {
			return writes
		}
		now = at.Sub(epoch)
	}
}

// docs/spec/argocd-refresh.md AR5: 1,000 writes of one Placement in 60 s are at most 7 refreshes, and the last one comes after the last write.
func TestManyWritesAreFewRefreshes(t *testing.T) {
	t.Parallel()
	r := New(pace)
	r.SetApplicationSet(byPlacement("s", "p"), epoch)
	var writes []write
	last := time.Duration(0)
	for i := range 1000 {
		now := time.Duration(i) * 60 * time.Millisecond
		writes = append(writes, run(r, last, now)...)
		r.SetDecision(page("p-1", "p", fmt.Sprintf("c%d", i)), epoch.Add(now))
		last = now
	}
	writes = append(writes, run(r, last, time.Hour)...)
	if len(writes) > 7 {
		t.Errorf("%d refreshes, want at most 7: %v", len(writes), writes)
	}
	if end := writes[len(writes)-1].at; end < last+pace.Gather || end > last+pace.Interval {
		t.Errorf("the last refresh is at %s, want it within %s after the last write at %s", end, pace.Interval, last)
	}
}

// docs/spec/argocd-refresh.md AR5: 200 ApplicationSets at once are refreshed at 10 per second, each once.
func TestManySetsAreSpaced(t *testing.T) {
	t.Parallel()
	r := New(pace)
	for i := range 200 {
		r.SetApplicationSet(byPlacement(fmt.Sprintf("s%03d", i), "p"), epoch)
	}
	r.SetDecision(page("p-1", "p", "c1"), epoch)
	writes := run(r, 0, time.Hour)
	names := sets.New[string]()
	for i, w := range writes {
		names.Insert(w.name)
		if i > 0 && w.at-writes[i-1].at < pace.Spacing {
			t.Errorf("%v follows %v after less than %s", w, writes[i-1], pace.Spacing)
		}
	}
	if len(writes) != 200 || names.Len() != 200 || writes[199].at > 21*time.Second {
		t.Errorf("%d refreshes of %d ApplicationSets until %s, want 200 of 200 within 21 s", len(writes), names.Len(), writes[len(writes)-1].at)
	}
}

// docs/spec/argocd-refresh.md AR3: what changes the clusters of an ApplicationSet.
func TestChangesOfClusters(t *testing.T) {
	t.Parallel()
	base := []Decision{page("p-1", "p", "c1", "c2"), page("p-2", "p", "c3"), page("q-1", "q", "c1")}
	tests := []struct {
		name, reason string
		change       func(r *Refresher)
		want         []string
	}{{
		name: "the same clusters", reason: "scores, reasons and resourceVersions are no part of a Decision",
		change: func(r *Refresher) { r.SetDecision(page("p-1", "p", "c1", "c2"), epoch) },
	}, {
		name: "another order", reason: "a page that is sorted anew has the same clusters",
		change: func(r *Refresher) { r.SetDecision(page("p-1", "p", "c2", "c1"), epoch) },
	}, {
		name: "a label alone", reason: "the label is in no selector",
		change: func(r *Refresher) {
			d := page("p-1", "p", "c1", "c2")
			d.Labels["group"] = "1"
			r.SetDecision(d, epoch)
		},
	}, {
		name: "a cluster moves to another page", reason: "it is named before it goes, and the generator that reads one page by name alone loses it",
		change: func(r *Refresher) {
			r.SetDecision(page("p-2", "p", "c3", "c2"), epoch)
			r.SetDecision(page("p-1", "p", "c1"), epoch)
		},
		want: []string{"first-of-p"},
	}, {
		name: "a cluster is replaced, added first", reason: "two changes within the time of gathering are one refresh",
		change: func(r *Refresher) {
			r.SetDecision(page("p-2", "p", "c3", "c4"), epoch)
			r.SetDecision(page("p-2", "p", "c4"), epoch)
		},
		want: []string{"all-of-p"},
	}, {
		name: "a page of another Placement", reason: "its readers alone are concerned",
		change: func(r *Refresher) { r.SetDecision(page("q-1", "q"), epoch) }, want: []string{"all-of-q"},
	}, {
		name: "the page that is read by its name", reason: "the selector names it too",
		change: func(r *Refresher) { r.SetDecision(page("p-1", "p", "c1"), epoch) }, want: []string{"all-of-p", "first-of-p"},
	}, {
		name: "a page goes", reason: "the state before the change matches",
		change: func(r *Refresher) { r.DeleteDecision("p-2", epoch) }, want: []string{"all-of-p"},
	}, {
		name: "a page that is not there goes", reason: "nothing changes",
		change: func(r *Refresher) { r.DeleteDecision("p-9", epoch) },
	}, {
		name: "a page gets the labels of another Placement", reason: "the states before and after the change match",
		change: func(r *Refresher) { r.SetDecision(page("p-2", "q", "c3"), epoch) }, want: []string{"all-of-p", "all-of-q"},
	}, {
		name: "an empty page", reason: "no cluster comes",
		change: func(r *Refresher) { r.SetDecision(page("p-3", "p"), epoch) },
	}}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			r := New(pace)
			for _, decision := range base {
				r.Base(decision)
			}
			r.SetApplicationSet(byPlacement("all-of-p", "p"), epoch)
			r.SetApplicationSet(byPlacement("all-of-q", "q"), epoch)
			r.SetApplicationSet(ApplicationSet{
				Name: "first-of-p", Followed: true, References: []Reference{{"ocm", Selection{Name: "p-1"}}},
			}, epoch)
			out := byPlacement("opted-out", "p")
			out.Followed = false
			r.SetApplicationSet(out, epoch)
			test.change(r)
			var got []string
			for _, w := range run(r, 0, time.Hour) {
				got = append(got, w.name)
			}
			slices.Sort(got)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", test.reason, diff)
			}
		})
	}
}

// PlacementDecisions that exist when the process starts are no change, in whatever order they and the ApplicationSets arrive.
func TestBaseIsNoChange(t *testing.T) {
	t.Parallel()
	r := New(pace)
	r.Base(page("p-1", "p", "c1"))
	r.SetApplicationSet(byPlacement("s", "p"), epoch)
	r.Base(page("p-2", "p", "c2"))
	if writes := run(r, 0, time.Hour); writes != nil {
		t.Errorf("refreshes at the start: %v", writes)
	}
	r.SetDecision(page("p-2", "p", "c1"), epoch)
	if writes := run(r, 0, time.Hour); len(writes) != 1 {
		t.Errorf("refreshes %v after c2 has gone, want 1", writes)
	}
}

// The ConfigMaps of a refresh are those of the generators whose clusters have changed, also after a failure.
func TestConfigMapsOfChangedGenerators(t *testing.T) {
	t.Parallel()
	r := New(pace)
	set := byPlacement("s", "p")
	set.References = append(set.References, Reference{"other", Selection{LabelSelector: "placement=q"}})
	r.SetApplicationSet(set, epoch)
	r.SetDecision(page("q-1", "q", "c1"), epoch)
	now := epoch.Add(pace.Gather)
	refresh, _, due := r.Next(now)
	if want := sets.New("other"); !due || !refresh.ConfigMaps.Equal(want) {
		t.Fatalf("Next() = %v, %t, want %v", refresh, due, want)
	}
	r.SetDecision(page("p-1", "p", "c1"), now)
	r.Done(refresh, Failed, now)
	refresh, _, due = r.Next(now.Add(pace.Retry))
	if want := sets.New("other", "ocm"); !due || !refresh.ConfigMaps.Equal(want) {
		t.Errorf("Next() = %v, %t after a failure, want %v", refresh, due, want)
	}
}

// docs/spec/argocd-refresh.md AR6: while the annotation stays there is no second refresh, and the last change is not lost.
func TestAnnotationThatStays(t *testing.T) {
	t.Parallel()
	r := New(pace)
	set := byPlacement("s", "p")
	r.SetApplicationSet(set, epoch)
	r.SetDecision(page("p-1", "p", "c1"), epoch)
	if writes := run(r, 0, time.Second); len(writes) != 1 {
		t.Fatalf("refreshes %v, want 1", writes)
	}
	set.Requested = true
	r.SetApplicationSet(set, epoch.Add(time.Second))
	r.SetDecision(page("p-1", "p", "c2"), epoch.Add(2*time.Second))
	if writes := run(r, 2*time.Second, time.Hour); writes != nil || r.Held() != 1 {
		t.Errorf("refreshes %v while the annotation stays, %d held, want none and 1", writes, r.Held())
	}
	set.Requested = false
	r.SetApplicationSet(set, epoch.Add(time.Hour))
	writes := run(r, time.Hour, 2*time.Hour)
	if diff := cmp.Diff([]write{{"s", time.Hour}}, writes, cmp.AllowUnexported(write{})); diff != "" || r.Held() != 0 {
		t.Errorf("after the annotation has gone, %d held (-want +got):\n%s", r.Held(), diff)
	}
}

// A refresh that fails is tried again, each time later, until it succeeds.
func TestFailuresBackOff(t *testing.T) {
	t.Parallel()
	r := New(pace)
	r.SetApplicationSet(byPlacement("s", "p"), epoch)
	r.SetDecision(page("p-1", "p", "c1"), epoch)
	var delays []time.Duration
	now := epoch.Add(pace.Gather)
	for range 8 {
		refresh, _, due := r.Next(now)
		if !due {
			t.Fatalf("nothing due at %s", now)
		}
		r.Done(refresh, Failed, now)
		_, at, _ := r.Next(now)
		delays = append(delays, at.Sub(now))
		now = at
	}
	want := []time.Duration{
		time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second, 16 * time.Second, 32 * time.Second, time.Minute, time.Minute,
	}
	if diff := cmp.Diff(want, delays); diff != "" {
		t.Errorf("delays (-want +got):\n%s", diff)
	}
}

// An ApplicationSet that is deleted or opted out while it waits is not refreshed.
func TestLeavingWhileWaiting(t *testing.T) {
	t.Parallel()
	out := byPlacement("s", "p")
	out.Followed = false
	for name, leave := range map[string]func(*Refresher){
		"deleted":   func(r *Refresher) { r.DeleteApplicationSet("s") },
		"opted out": func(r *Refresher) { r.SetApplicationSet(out, epoch) },
	} {
		r := New(pace)
		r.SetApplicationSet(byPlacement("s", "p"), epoch)
		r.SetDecision(page("p-1", "p", "c1"), epoch)
		leave(r)
		if writes := run(r, 0, time.Hour); writes != nil {
			t.Errorf("%s: refreshes %v", name, writes)
		}
	}
}
