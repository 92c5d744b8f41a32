// SPDX-License-Identifier: Apache-2.0

package history

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
)

// page returns page n, whose UID is its number, of a group "index/name".
func page(n int, group string, clusters ...string) *clusterv1beta1.PlacementDecision {
	index, name, _ := strings.Cut(group, "/")
	page := &clusterv1beta1.PlacementDecision{ObjectMeta: metav1.ObjectMeta{
		Name: "p-decision-" + strconv.Itoa(n), UID: types.UID(strconv.Itoa(n)), Labels: map[string]string{
			clusterv1beta1.DecisionGroupIndexLabel: index, clusterv1beta1.DecisionGroupNameLabel: name,
		},
	}}
	for _, cluster := range clusters {
		page.Status.Decisions = append(page.Status.Decisions, clusterv1beta1.ClusterDecision{ClusterName: cluster})
	}
	return page
}

func names(first, last int) []string {
	var names []string
	for n := first; n <= last; n++ {
		names = append(names, fmt.Sprintf("c%03d", n))
	}
	return names
}

// eventOf returns the modification of the first page of a state.
func eventOf(pages ...*clusterv1beta1.PlacementDecision) Event {
	return Event{Type: watch.Modified, Page: pages[0], Pages: pages}
}

// afterGap returns an event before which others were not seen.
func afterGap(event Event) Event {
	event.Gap = true
	return event
}

// wantFindings compares each finding with a part of it.
func wantFindings(t *testing.T, got []string, want ...string) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("got %q, want %q", got, want)
	}
	for n := range want {
		if !strings.Contains(got[n], want[n]) {
			t.Errorf("finding %d is %q, want %q", n, got[n], want[n])
		}
	}
}

func TestMissing(t *testing.T) {
	before, after := State{page(1, "0/", "a", "b", "gone")}, State{page(1, "0/", "a", "new"), page(2, "0/", "b")}
	wantFindings(t, Missing(before, []Event{eventOf(page(1, "0/", "a", "b", "gone"), page(2, "0/", "b")), eventOf(after...)}, after))
	wantFindings(t, Missing(before, []Event{eventOf(page(1, "0/", "a", "new")), eventOf(after...)}, after), "event 0, MODIFIED of p-decision-1")
}

func TestUnsafe(t *testing.T) {
	settled := State{page(1, "0/", "a", "b")}
	for _, tc := range []struct {
		reason string
		events []Event
		after  State
		length int
		want   []string
	}{
		{reason: "nothing", events: []Event{eventOf(settled...)}, after: settled},
		{
			reason: "a page that is too long", events: []Event{eventOf(page(1, "0/", names(1, 101)...))}, after: settled,
			want: []string{"has 101 decisions"},
		},
		{reason: "another group", events: []Event{eventOf(page(1, "0/x", "a"))}, after: settled, want: []string{`goes from group "0"/"" to "0"/"x"`}},
		{
			reason: "another group once it is empty", after: State{page(1, "0/x", "a"), page(2, "1/", "b")},
			events: []Event{
				eventOf(page(1, "0/"), page(2, "1/", "a", "b")), eventOf(page(1, "0/x"), page(2, "1/", "a", "b")),
				eventOf(page(1, "0/x", "a"), page(2, "1/", "b")),
			},
		},
		{
			reason: "another group in a gap, of which another page is the event", after: State{page(1, "0/x", "a"), page(2, "1/", "b")},
			events: []Event{
				eventOf(page(1, "0/"), page(2, "1/", "a", "b")),
				afterGap(eventOf(page(2, "1/", "b"), page(1, "0/x", "a"))),
			},
		},
		{
			reason: "another group and index in a gap", events: []Event{afterGap(eventOf(page(1, "1/x", "a"), page(2, "0/", "b")))},
			after: settled, want: []string{`goes from group "0"/"" to "1"/"x"`},
		},
		{
			reason: "emptied before a gap", events: []Event{eventOf(page(1, "0/")), afterGap(eventOf(page(1, "0/", "a")))}, after: settled,
			want: []string{"becomes empty"},
		},
		{
			reason: "another index", events: []Event{eventOf(page(1, "0/")), eventOf(page(1, "1/"))}, after: settled,
			want: []string{"index 0 is missing", "goes from group"},
		},
		{reason: "no index", events: []Event{eventOf(page(2, "/x", "a"))}, after: settled, want: []string{"not a group index", "the tracker says"}},
		{reason: "a gap", events: []Event{eventOf(page(2, "2/x", "a"), page(1, "0/", "a"))}, after: settled, want: []string{"index 1 is missing"}},
		{
			reason: "one takes the place of another", events: []Event{eventOf(page(2, "0/x", "a"), page(1, "0/", "a"))},
			after: State{page(2, "0/x", "a")}, want: []string{"both have index 0"},
		},
		{reason: "emptied", events: []Event{eventOf(page(1, "0/"))}, after: settled, want: []string{"becomes empty"}},
		{reason: "the answer is none", events: []Event{eventOf(page(1, "0/"))}, after: State{page(1, "0/")}},
		{reason: "empty at birth", events: []Event{eventOf(page(2, "0/"), settled[0])}, after: settled},
		{
			reason: "a group that grows too much", events: []Event{eventOf(page(1, "0/", "a", "b", "c"))}, after: settled, length: 2,
			want: []string{"grows from 2 to 3 clusters, and may have 2"},
		},
		{reason: "a group that was too long before", events: []Event{eventOf(settled...)}, after: settled, length: 1},
		{
			reason: "pages on their way out", events: []Event{eventOf(page(2, "0/", "c"), settled[0])}, after: settled, length: 2,
		},
	} {
		t.Run(tc.reason, func(t *testing.T) { wantFindings(t, Unsafe(settled, tc.events, tc.after, tc.length), tc.want...) })
	}
}

func TestUnsettled(t *testing.T) {
	together, apart := map[string][]string{"": {"a", "b"}}, map[string][]string{"x": {"a"}, "": {"b"}}
	for _, tc := range []struct {
		reason   string
		pages    State
		portions map[string][]string
		length   int
		want     []string
	}{
		{"nothing selected", State{page(1, "0/")}, nil, 0, nil},
		{"two groups", State{page(1, "0/x", "a"), page(2, "1/", "b")}, apart, 0, nil},
		{"the rest first", State{page(1, "0/", "b"), page(2, "1/x", "a")}, apart, 0, []string{`B8: group 1 "x" follows`}},
		{"one index twice", State{page(1, "0/x", "a"), page(2, "0/", "b")}, apart, 0, []string{"both have index 0", "tracker sees 1 of 2"}},
		{"too many pages", State{page(1, "0/", "a"), page(2, "0/", "b")}, together, 0, []string{"on 2 pages, and needs 1"}},
		{"too many groups", State{page(1, "0/", "a"), page(2, "1/", "b")}, together, 2, []string{"in 2 groups, and needs 1"}},
		{"too long a group", State{page(1, "0/", "a", "b")}, together, 1, []string{"may have 1", "needs 2"}},
		{"a cluster twice", State{page(1, "0/", "a", "a")}, map[string][]string{"": {"a"}}, 0, []string{"a +1"}},
		{"another cluster", State{page(1, "0/", "b")}, map[string][]string{"": {"a"}}, 0, []string{"a -1, b +1"}},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			wantFindings(t, Unsettled(tc.pages, []string{"x"}, tc.portions, tc.length), tc.want...)
		})
	}
}

func TestMoved(t *testing.T) {
	for _, tc := range []struct {
		reason        string
		before, after State
		events        []Event
		length        int
		want          []string
	}{
		{reason: "new ones take free places", before: State{page(1, "0/", "b")}, after: State{page(1, "0/", "a", "b")}},
		{
			reason: "sorted anew", before: State{page(1, "0/", "b"), page(2, "1/", "c")}, after: State{page(1, "0/", "a"), page(2, "1/", "b", "c")},
			length: 2, want: []string{"1 clusters left pages of group 0"},
		},
		{
			reason: "another portion", before: State{page(1, "0/", "a"), page(2, "1/x", "b")}, after: State{page(1, "0/"), page(2, "1/x", "a", "b")},
		},
		{
			reason: "the group was too long", before: State{page(1, "0/", "a", "b", "c")},
			after: State{page(1, "0/", "a", "b"), page(2, "1/", "c")}, length: 2,
		},
		{
			reason: "more than were too many", before: State{page(1, "0/", "a", "b", "c")},
			after: State{page(1, "0/", "a"), page(2, "1/", "b", "c")}, length: 2, want: []string{"2 clusters left"},
		},
		{
			reason: "a page that is needed no more", before: State{page(1, "0/", names(1, 100)...), page(2, "0/", names(101, 120)...)},
			after: State{page(1, "0/", append(names(51, 100), names(101, 120)...)...)},
		},
		{
			reason: "a page that was given up until new clusters came",
			before: State{page(1, "0/", names(1, 100)...), page(2, "0/", names(101, 106)...)},
			after:  State{page(1, "0/", append(names(23, 100), names(101, 106)...)...), page(2, "0/", names(201, 220)...)},
		},
		{
			reason: "a page that was needed all the time",
			before: State{page(1, "0/", names(1, 100)...), page(2, "0/", names(101, 106)...)},
			after:  State{page(1, "0/", append(names(5, 100), names(101, 102)...)...), page(2, "0/", append(names(103, 106), "a")...)},
			want:   []string{"2 clusters left pages of group 0"},
		},
		{
			reason: "a page that is needed", before: State{page(1, "0/", names(1, 100)...), page(2, "0/", names(101, 120)...)},
			after: State{page(1, "0/", names(1, 100)...), page(3, "0/", names(101, 120)...)}, want: []string{"1 of 2 pages of group 0"},
		},
		{
			reason: "a group that is needed no more", before: State{page(1, "0/", "a", "b"), page(2, "1/", "c")},
			after: State{page(1, "0/", "a", "c")}, length: 2,
		},
		{
			reason: "the wrong group", before: State{page(1, "0/", "a", "b"), page(2, "1/", "c", "d"), page(3, "2/x", "e")},
			after: State{page(4, "0/", "a", "b"), page(2, "1/", "c", "d"), page(3, "2/x", "e")}, length: 2, want: []string{`1 pages of group 0 ""`},
		},
		{
			reason: "a group that was given up until its index came back",
			before: State{page(1, "0/x", "a", "b"), page(2, "1/", "c", "d"), page(3, "2/", "e")},
			after:  State{page(1, "0/x", "a", "b"), page(2, "1/x", "c"), page(3, "2/", "d"), page(4, "2/", "e")}, length: 2,
		},
		{
			reason: "a group whose name has one index more, after it had only the first of the two",
			before: State{page(1, "0/x", "a", "b"), page(2, "1/x", "c"), page(3, "2/", "d", "e")},
			after:  State{page(1, "0/x", "a", "b"), page(2, "1/", "d", "e"), page(3, "2/", "c")}, length: 2,
		},
		{
			reason: "a group that was given up until new clusters came", before: State{page(1, "0/", "a", "b"), page(2, "1/", "c")},
			after: State{page(1, "0/", "a", "c"), page(2, "1/", "d")}, length: 2,
		},
		{
			reason: "a group that was needed all the time", before: State{page(1, "0/", "a", "b"), page(2, "1/", "c")},
			after: State{page(1, "0/", "a", "c"), page(2, "1/", "b")}, length: 2,
			want: []string{"1 clusters left pages of group 0", "1 clusters left pages of group 1"},
		},
		{
			reason: "a group whose index belonged to another rule for a time",
			before: State{page(1, "0/x", "a", "b"), page(2, "1/", "c", "d"), page(3, "2/", "e")},
			events: []Event{{Pages: State{page(1, "0/x", "a", "b"), page(2, "1/x", "f"), page(3, "2/", "c", "e"), page(4, "3/", "d")}}},
			after:  State{page(1, "0/x", "a", "b"), page(2, "1/", "d"), page(3, "2/", "c", "e")}, length: 2,
		},
		{
			reason: "an index that is needed no more", before: State{page(1, "0/x", "a"), page(2, "1/", "b"), page(3, "2/y", "c")},
			after: State{page(4, "0/y", "c"), page(2, "1/", "b")},
		},
	} {
		t.Run(tc.reason, func(t *testing.T) { wantFindings(t, Moved(tc.before, tc.events, tc.after, tc.length), tc.want...) })
	}
}

func TestHistoryHasEveryEvent(t *testing.T) {
	events := make(chan watch.Event, 3)
	recorded := &History{adapter: identity(), received: events, pages: map[types.UID]*clusterv1beta1.PlacementDecision{}}
	first, second := page(1, "0/", "a"), page(2, "0/", "b")
	events <- watch.Event{Type: watch.Added, Object: first}
	events <- watch.Event{Type: watch.Added, Object: second}
	events <- watch.Event{Type: watch.Deleted, Object: first}
	if err := recorded.Until(t.Context(), []clusterv1beta1.PlacementDecision{*second}); err != nil {
		t.Fatal(err)
	}

	if events := recorded.Events(); len(events) != 3 || len(events[1].Pages) != 2 || len(recorded.Current()) != 1 {
		t.Errorf("the history is %v", events)
	}
	events <- watch.Event{Type: watch.Error, Object: &metav1.Status{Message: "too old"}}
	if err := recorded.Drain(); err == nil || !strings.Contains(err.Error(), "too old") {
		t.Errorf("an event that is no page: %v", err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()

	if _, err := recorded.Next(ended); err == nil {
		t.Error("there is nothing to wait for")
	}
	close(events)
	if err := recorded.Drain(); err == nil {
		t.Error("a watch that has ended is a gap")
	}
}
