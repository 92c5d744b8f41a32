// SPDX-License-Identifier: Apache-2.0

package assumecache

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	testingclock "k8s.io/utils/clock/testing"

	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/placement/api"
)

var owner = inventory.NewPlacementKey(inventory.V1beta1, "ns", "p")

func state(name, uid, version string) *api.Page {
	return &api.Page{ObjectMeta: metav1.ObjectMeta{
		Namespace: owner.Namespace, Name: name, UID: types.UID(uid), ResourceVersion: version,
	}}
}

func versions(pages []*api.Page) map[string]string {
	seen := map[string]string{}
	for _, page := range pages {
		seen[page.Name] = string(page.UID) + "@" + page.ResourceVersion
	}
	return seen
}

func TestListOverlaysWrites(t *testing.T) {
	type write struct {
		page    *api.Page
		deleted bool
	}

	for _, tc := range []struct {
		reason string
		writes []write
		cached []*api.Page
		want   map[string]string
	}{
		{
			reason: "what was never written comes from the cache",
			cached: []*api.Page{state("a", "1", "5")},
			want:   map[string]string{"a": "1@5"},
		},
		{
			reason: "a created page is seen before the cache knows it",
			writes: []write{{page: state("a", "1", "5")}},
			want:   map[string]string{"a": "1@5"},
		},
		{
			reason: "the cache lags behind a write",
			writes: []write{{page: state("a", "1", "12")}},
			cached: []*api.Page{state("a", "1", "9")},
			want:   map[string]string{"a": "1@12"},
		},
		{
			reason: "somebody wrote after us: the cache wins",
			writes: []write{{page: state("a", "1", "9")}},
			cached: []*api.Page{state("a", "1", "12")},
			want:   map[string]string{"a": "1@12"},
		},
		{
			reason: "a deleted page is gone before the cache knows it",
			writes: []write{{page: state("a", "1", "9"), deleted: true}},
			cached: []*api.Page{state("a", "1", "9"), state("b", "2", "3")},
			want:   map[string]string{"b": "2@3"},
		},
		{
			reason: "a page that was deleted by us and made again by another is there",
			writes: []write{{page: state("a", "1", "9"), deleted: true}},
			cached: []*api.Page{state("a", "7", "20")},
			want:   map[string]string{"a": "7@20"},
		},
		{
			reason: "versions that cannot be compared: the cache wins over a memory that might stay for ever",
			writes: []write{{page: state("a", "1", "x")}},
			cached: []*api.Page{state("a", "1", "9")},
			want:   map[string]string{"a": "1@9"},
		},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			c := New[inventory.Key, *api.Page](testingclock.NewFakePassiveClock(time.Unix(0, 0)))
			for _, w := range tc.writes {
				c.assume(owner, w.page, w.deleted)
			}
			if diff := cmp.Diff(tc.want, versions(c.List(owner, tc.cached))); diff != "" {
				t.Errorf("List (-want +got):\n%s", diff)
			}
		})
	}
}

func TestObserveReportsOwnEvents(t *testing.T) {
	for _, tc := range []struct {
		reason         string
		written        *api.Page
		deletedByUs    bool
		event          *api.Page
		deleteEvent    bool
		want, remember bool
	}{
		{reason: "nothing was written", event: state("a", "1", "5")},
		{reason: "our last write comes back", written: state("a", "1", "5"), event: state("a", "1", "5"), want: true},
		{reason: "an earlier write of ours comes back",
			written: state("a", "1", "10"), event: state("a", "1", "9"), want: true, remember: true},
		{reason: "somebody wrote after us", written: state("a", "1", "9"), event: state("a", "1", "10")},
		{reason: "our delete comes back",
			written: state("a", "1", "9"), deletedByUs: true, event: state("a", "1", "9"), deleteEvent: true, want: true},
		{reason: "somebody deleted what we wrote",
			written: state("a", "1", "9"), event: state("a", "1", "9"), deleteEvent: true},
		{reason: "an event from before our delete",
			written: state("a", "1", "9"), deletedByUs: true, event: state("a", "1", "9"), want: true, remember: true},
		{reason: "an earlier object of the name goes",
			written: state("a", "2", "9"), event: state("a", "1", "12"), deleteEvent: true, remember: true},
		{reason: "somebody made it again after our delete",
			written: state("a", "1", "9"), deletedByUs: true, event: state("a", "2", "12"), remember: true},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			c := New[inventory.Key, *api.Page](testingclock.NewFakePassiveClock(time.Unix(0, 0)))
			if tc.written != nil {
				c.assume(owner, tc.written, tc.deletedByUs)
			}
			if got := c.Observe(owner, tc.event, tc.deleteEvent); got != tc.want {
				t.Errorf("Observe() = %v, want %v", got, tc.want)
			}
			if got := len(c.writes) > 0; got != tc.remember {
				t.Errorf("remembers = %v, want %v", got, tc.remember)
			}
		})
	}
}

// A write whose event is lost with the watch is looked for again and again, the oldest first, and believed until the answer is in.
func TestExpiredReturnsWritesWhoseEventsAreLost(t *testing.T) {
	clock := testingclock.NewFakePassiveClock(time.Unix(0, 0))
	c := New[inventory.Key, *api.Page](clock)
	after := func(d time.Duration) { clock.SetTime(time.Unix(0, 0).Add(d)) }
	expect := func(limit int, want ...string) []Write[inventory.Key, *api.Page] {
		t.Helper()
		expired, names := c.Expired(limit), []string{}
		for _, w := range expired {
			names = append(names, w.Object.Name)
		}
		if !slices.Equal(names, want) {
			t.Errorf("expired are %v, want %v", names, want)
		}
		return expired
	}

	c.Assume(owner, state("a", "1", "9"))
	after(1)
	c.Assume(owner, state("b", "2", "10"))
	after(Expiry - 1)
	expect(9)
	after(Expiry + 1)
	expect(1, "a")
	expect(9, "b")
	expect(9)
	after(2*Expiry + 1)

	expired := expect(9, "a", "b")
	if got := len(c.List(owner, nil)); got != 2 {
		t.Errorf("%d pages are believed in, want 2", got)
	}
	c.Assume(owner, state("b", "2", "12"))
	if !c.Drop(expired[0]) || c.Drop(expired[0]) || c.Drop(expired[1]) {
		t.Error("a write is dismissed once, and not when there was another one since")
	}

	if diff := cmp.Diff(map[string]string{"b": "2@12"}, versions(c.List(owner, nil))); diff != "" {
		t.Errorf("after the dismissal (-want +got):\n%s", diff)
	}
}

func TestShownBy(t *testing.T) {
	for _, tc := range []struct {
		reason        string
		deleted       bool
		cached        *api.Page
		found, wanted bool
	}{
		{reason: "the cache has what was written", cached: state("a", "1", "9"), found: true, wanted: true},
		{reason: "the cache has a later state", cached: state("a", "1", "10"), found: true, wanted: true},
		{reason: "the cache lags behind", cached: state("a", "1", "8"), found: true},
		{reason: "the cache knows nothing of it", cached: state("", "", "")},
		{reason: "a deleted page is gone", deleted: true, cached: state("", "", ""), wanted: true},
		{reason: "a deleted page is still there", deleted: true, cached: state("a", "1", "9"), found: true},
		{reason: "a deleted page was made again", deleted: true, cached: state("a", "2", "12"), found: true, wanted: true},
	} {
		m := Write[inventory.Key, *api.Page]{Owner: owner, Object: state("a", "1", "9"), Deleted: tc.deleted}
		if got := m.ShownBy(tc.cached, tc.found); got != tc.wanted {
			t.Errorf("%s: ShownBy = %v, want %v", tc.reason, got, tc.wanted)
		}
	}
}

// A watch may show a write before the writer has its answer: what it shows is judged when the writes are over.
func TestPauseDefersEvents(t *testing.T) {
	for _, tc := range []struct {
		reason string
		events []*api.Page
		want   bool
	}{
		{"our writes", []*api.Page{state("a", "1", "5"), state("a", "1", "6")}, false},
		{"an earlier state", []*api.Page{state("a", "1", "4")}, false},
		{"somebody wrote after us", []*api.Page{state("a", "1", "6"), state("a", "1", "9")}, true},
		{"another page", []*api.Page{state("b", "2", "5")}, true},
		{"nothing", nil, false},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			c := New[inventory.Key, *api.Page](testingclock.NewFakePassiveClock(time.Unix(0, 0)))
			c.Pause(owner)
			for _, event := range tc.events {
				if !c.Observe(owner, event, false) {
					t.Errorf("%s@%s was judged before the answer", event.Name, event.ResourceVersion)
				}
			}
			c.Assume(owner, state("a", "1", "5"))
			c.Assume(owner, state("a", "1", "6"))

			if got := c.Resume(owner); got != tc.want {
				t.Errorf("Resume() = %v, want %v", got, tc.want)
			}
			if c.Observe(owner, state("c", "3", "1"), false) {
				t.Error("still paused after Resume")
			}
		})
	}
}
