package controller

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	testingclock "k8s.io/utils/clock/testing"

	"github.com/placement-hub/placement-hub/pkg/decision/record"
	"github.com/placement-hub/placement-hub/pkg/inventory"
)

var owner = inventory.NewPlacementKey(inventory.V1beta1, "ns", "p")

func state(name, uid, version string) *record.Page {
	return &record.Page{ObjectMeta: metav1.ObjectMeta{
		Namespace: owner.Namespace, Name: name, UID: types.UID(uid), ResourceVersion: version,
	}}
}

func versions(pages []*record.Page) map[string]string {
	seen := map[string]string{}
	for _, page := range pages {
		seen[page.Name] = string(page.UID) + "@" + page.ResourceVersion
	}

	return seen
}

func TestReadbackLatest(t *testing.T) {
	type write struct {
		page    *record.Page
		deleted bool
	}

	for _, tc := range []struct {
		reason string
		writes []write
		cached []*record.Page
		want   map[string]string
	}{
		{
			reason: "what was never written comes from the cache",
			cached: []*record.Page{state("a", "1", "5")},
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
			cached: []*record.Page{state("a", "1", "9")},
			want:   map[string]string{"a": "1@12"},
		},
		{
			reason: "somebody wrote after us: the cache wins",
			writes: []write{{page: state("a", "1", "9")}},
			cached: []*record.Page{state("a", "1", "12")},
			want:   map[string]string{"a": "1@12"},
		},
		{
			reason: "a deleted page is gone before the cache knows it",
			writes: []write{{page: state("a", "1", "9"), deleted: true}},
			cached: []*record.Page{state("a", "1", "9"), state("b", "2", "3")},
			want:   map[string]string{"b": "2@3"},
		},
		{
			reason: "a page that was deleted by us and made again by another is there",
			writes: []write{{page: state("a", "1", "9"), deleted: true}},
			cached: []*record.Page{state("a", "7", "20")},
			want:   map[string]string{"a": "7@20"},
		},
		{
			reason: "versions that cannot be compared: the cache wins over a memory that might stay for ever",
			writes: []write{{page: state("a", "1", "x")}},
			cached: []*record.Page{state("a", "1", "9")},
			want:   map[string]string{"a": "1@9"},
		},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			r := newReadback[*record.Page](testingclock.NewFakePassiveClock(time.Unix(0, 0)))
			for _, w := range tc.writes {
				r.wrote(owner, w.page, w.deleted)
			}

			if diff := cmp.Diff(tc.want, versions(r.latest(owner, tc.cached))); diff != "" {
				t.Errorf("latest (-want +got):\n%s", diff)
			}
		})
	}
}

func TestReadbackTellsOwnEvents(t *testing.T) {
	for _, tc := range []struct {
		reason         string
		written        *record.Page
		deletedByUs    bool
		event          *record.Page
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
			r := newReadback[*record.Page](testingclock.NewFakePassiveClock(time.Unix(0, 0)))
			if tc.written != nil {
				r.wrote(owner, tc.written, tc.deletedByUs)
			}

			if got := r.expected(owner, tc.event, tc.deleteEvent); got != tc.want {
				t.Errorf("expected() = %v, want %v", got, tc.want)
			}

			if got := len(r.written) > 0; got != tc.remember {
				t.Errorf("remembers = %v, want %v", got, tc.remember)
			}
		})
	}
}

// A write whose event is lost with the watch is looked for again and again, the oldest first, and believed until the answer is in.
func TestReadbackLooksForWritesWhoseEventsAreLost(t *testing.T) {
	clock := testingclock.NewFakePassiveClock(time.Unix(0, 0))
	r := newReadback[*record.Page](clock)
	after := func(d time.Duration) { clock.SetTime(time.Unix(0, 0).Add(d)) }
	expect := func(limit int, want ...string) []memento[*record.Page] {
		t.Helper()

		overdue, names := r.overdue(limit), []string{}
		for _, m := range overdue {
			names = append(names, m.object.Name)
		}

		if !slices.Equal(names, want) {
			t.Errorf("overdue are %v, want %v", names, want)
		}

		return overdue
	}

	r.wrote(owner, state("a", "1", "9"), false)
	after(1)
	r.wrote(owner, state("b", "2", "10"), false)
	after(unconfirmed - 1)
	expect(9)
	after(unconfirmed + 1)
	expect(1, "a")
	expect(9, "b")
	expect(9)
	after(2*unconfirmed + 1)

	overdue := expect(9, "a", "b")

	if got := len(r.latest(owner, nil)); got != 2 {
		t.Errorf("%d pages are believed in, want 2", got)
	}

	r.wrote(owner, state("b", "2", "12"), false)

	if !r.dismiss(overdue[0]) || r.dismiss(overdue[0]) || r.dismiss(overdue[1]) {
		t.Error("a write is dismissed once, and not when there was another one since")
	}

	if diff := cmp.Diff(map[string]string{"b": "2@12"}, versions(r.latest(owner, nil))); diff != "" {
		t.Errorf("after the dismissal (-want +got):\n%s", diff)
	}
}

func TestConfirmedByTheCache(t *testing.T) {
	for _, tc := range []struct {
		reason        string
		deleted       bool
		cached        *record.Page
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
		m := memento[*record.Page]{owner: owner, object: state("a", "1", "9"), deleted: tc.deleted}
		if got := m.confirmed(tc.cached, tc.found); got != tc.wanted {
			t.Errorf("%s: confirmed = %v, want %v", tc.reason, got, tc.wanted)
		}
	}
}

// Workers that start before the initial lists are complete must not answer from half a world.
func TestNothingIsEvaluatedBeforeTheInitialLists(t *testing.T) {
	r := &placementReconciler{memory: newMemory(outputs{apis: record.APIs()}, testingclock.NewFakePassiveClock(time.Unix(0, 0)))}

	result, err := r.Reconcile(t.Context(), owner)
	if err != nil || result.RequeueAfter != notSyncedDelay {
		t.Errorf("got %v and %v, want to be asked again after %v", result, err, notSyncedDelay)
	}
}

// A watch may show a write before the writer has its answer: what it shows is judged when the writes are over.
func TestEventsWaitForTheAnswer(t *testing.T) {
	for _, tc := range []struct {
		reason string
		events []*record.Page
		want   bool
	}{
		{"our writes", []*record.Page{state("a", "1", "5"), state("a", "1", "6")}, false},
		{"an earlier state", []*record.Page{state("a", "1", "4")}, false},
		{"somebody wrote after us", []*record.Page{state("a", "1", "6"), state("a", "1", "9")}, true},
		{"another page", []*record.Page{state("b", "2", "5")}, true},
		{"nothing", nil, false},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			r := newReadback[*record.Page](testingclock.NewFakePassiveClock(time.Unix(0, 0)))
			r.hold(owner)

			for _, event := range tc.events {
				if !r.expected(owner, event, false) {
					t.Errorf("%s@%s was judged before the answer", event.Name, event.ResourceVersion)
				}
			}

			r.wrote(owner, state("a", "1", "5"), false)
			r.wrote(owner, state("a", "1", "6"), false)

			if got := r.release(owner); got != tc.want {
				t.Errorf("release() = %v, want %v", got, tc.want)
			}

			if r.expected(owner, state("c", "3", "1"), false) {
				t.Error("still held after the release")
			}
		})
	}
}
