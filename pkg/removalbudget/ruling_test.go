// SPDX-License-Identifier: Apache-2.0

package removalbudget

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/scheduling"
	"github.com/placement-hub/placement-hub/pkg/selector"
)

func setOf(names ...string) map[string]bool {
	set := map[string]bool{}
	for _, name := range names {
		set[name] = true
	}
	return set
}

// A hold keeps the number of clusters that there were when it began, as long as the limit is exceeded with it.
func TestTheNumberOfAHoldStays(t *testing.T) {
	for _, tc := range []struct {
		reason string
		before hold
		past   int
		of     int
	}{
		{"more than there are now", hold{Of: 12, Clusters: []string{"a", "b"}}, 0, 12},
		{"fewer than there are now", hold{Of: 8, Clusters: []string{"a", "b"}}, 0, 10},
		{"so many that the limit permits the removal", hold{Of: 14, Clusters: []string{"a", "b"}}, 0, 10},
		{"others have left before", hold{Of: 14, Clusters: []string{"a", "b"}}, 1, 14},
		{"so many that the limit permits it with those before", hold{Of: 21, Clusters: []string{"a", "b"}}, 3, 10},
		{"clusters that have left the scope", hold{Of: 12, Clusters: []string{"a", "b"}, Until: &metav1.Time{Time: noon}}, 0, 10},
		{"the last cluster", hold{Of: 12, Clusters: []string{"a"}, Last: true}, 0, 10},
		{"a cluster that is not among them", hold{Of: 12, Clusters: []string{"a", "x"}}, 0, 10},
	} {
		c := &check{Budget: Budget{Percent: 30, memory: memory{Held: []hold{tc.before}}}}
		if got := c.asBefore(hold{Lost: 4, Of: 10}, tc.past, []string{"a", "b", "c", "d"}).Of; got != tc.of {
			t.Errorf("%s: of %d, want %d", tc.reason, got, tc.of)
		}
	}
}

// A hold of an earlier spec goes on while the limit is exceeded, until enough of those that have left before do not count any more.
func TestWhenAHoldOfAnEarlierSpecEnds(t *testing.T) {
	later, until := noon.Add(time.Minute), metav1.NewTime(noon.Add(3*time.Minute))
	for _, tc := range []struct {
		reason   string
		hold     hold
		left     RecentRemovals
		percent  int
		hub      int
		now      time.Time
		released bool
		selected map[string]bool
		held     bool
		until    time.Time
	}{
		{reason: "more than the limit", hold: hold{Lost: 4, Of: 10}, held: true},
		{reason: "as many as the limit", hold: hold{Lost: 3, Of: 10}},
		{reason: "a released generation", hold: hold{Lost: 4, Of: 10}, released: true},
		{reason: "no limit", hold: hold{Lost: 4, Of: 10}, percent: NoLimit},
		{
			reason: "one of two that have left must be forgotten", hold: hold{Lost: 2, Of: 10}, held: true, until: noon.Add(Window),
			left: RecentRemovals{Clusters: map[string]time.Time{"x": noon, "y": later}},
		},
		{
			reason: "both must be forgotten", hold: hold{Lost: 3, Of: 10}, held: true, until: later.Add(Window),
			left: RecentRemovals{Clusters: map[string]time.Time{"x": noon, "y": later}},
		},
		{
			reason: "one that is in the decisions again does not count", hold: hold{Lost: 3, Of: 10},
			left: RecentRemovals{Clusters: map[string]time.Time{"a": noon}},
		},
		{
			reason: "those without names count", hold: hold{Lost: 3, Of: 10}, held: true, until: noon.Add(Window),
			left: RecentRemovals{Others: []Others{{At: noon, Count: 1}}},
		},
		{reason: "the last cluster", hold: hold{Lost: 1, Of: 1, Last: true}, held: true},
		{reason: "the last cluster, which another one replaces", hold: hold{Lost: 1, Of: 1, Last: true}, selected: setOf("b")},
		{
			reason: "the last cluster, which has left the scope, and another one", held: true, until: until.Time, selected: setOf("b"),
			hold: hold{Lost: 1, Of: 1, Last: true, Until: &until},
		},
		{reason: "out of scope, before its time", hold: hold{Lost: 4, Of: 10, Until: &until}, held: true, until: until.Time},
		{reason: "out of scope, released", hold: hold{Lost: 4, Of: 10, Until: &until}, released: true, held: true, until: until.Time},
		{reason: "out of scope, at its time", hold: hold{Lost: 4, Of: 10, Until: &until}, now: until.Time},
		{reason: "out of scope, on a hub without a limit", hold: hold{Lost: 4, Of: 10, Until: &until}, hub: NoLimit},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			orElse := func(percent int) int {
				if percent == 0 {
					return 30
				}
				return percent
			}
			c := &check{
				Budget: Budget{
					Percent: orElse(tc.percent), Released: tc.released, hub: hubLimit{percent: orElse(tc.hub)}, subject: &Subject{Generation: 7},
				},
				incumbents: setOf("a"), left: tc.left, now: tc.now, selected: tc.selected,
			}
			if held, until := c.stillHolds(tc.hold, 1); held != tc.held || !until.Equal(tc.until) {
				t.Errorf("held: %v until %v, want %v until %v", held, until, tc.held, tc.until)
			}
		})
	}
}

// A cluster of a hold that fits again is one less that would be lost. The others stay held while the limit is exceeded with all that were lost with
// them.
func TestOneOfAHoldFitsAgain(t *testing.T) {
	nothing := scheduling.Schedule(&scheduling.Request{}, inventory.New(selector.NewCompiler()).Snapshot(), nil, noon)
	for lost, want := range map[int]string{4: "", 5: "b"} {
		c := &check{
			result: nothing,
			Budget: Budget{
				Percent: 30, hub: hubLimit{percent: 30}, subject: &Subject{Generation: 7},
				memory: memory{Held: []hold{{Generation: 6, Lost: lost, Of: 10, Clusters: []string{"a", "b"}}}},
			},
			generation: 7, incumbents: setOf("a", "b"), selected: setOf("a"),
		}
		r := &ruling{}
		c.holdEarlier(r)
		if diff := cmp.Diff(want, strings.Join(r.kept(), " ")); diff != "" {
			t.Errorf("%d would be lost: %s", lost, diff)
		}
	}
}

// Which holds began under an earlier spec. Without a record of them, all clusters count as held if the status says that clusters are.
func TestHoldsOfEarlierSpecs(t *testing.T) {
	recorded := memory{Held: []hold{{Generation: 6, Lost: 1}, {Generation: 7, Lost: 2}}}
	all := hold{Generation: 7, Lost: 3, Of: 3, Unnamed: 3}
	outside := all
	outside.Until = &metav1.Time{Time: noon}
	held := metav1.Condition{Type: Condition, Status: metav1.ConditionTrue}
	for _, tc := range []struct {
		reason    string
		doubtful  bool
		memory    memory
		condition *metav1.Condition
		until     time.Time
		want      []hold
	}{
		{reason: "the former spec is known", memory: recorded, condition: &held, want: recorded.Held[:1]},
		{reason: "it is not known", doubtful: true, memory: recorded, condition: &held, want: recorded.Held},
		{reason: "nothing is recorded, and the spec is known", condition: &held},
		{reason: "nothing is recorded", doubtful: true, condition: &held, want: []hold{all}},
		{reason: "nothing is recorded of those out of scope", doubtful: true, condition: &held, until: noon, want: []hold{outside}},
		{reason: "nothing is held", doubtful: true, condition: &metav1.Condition{Status: metav1.ConditionFalse}},
		{reason: "there is no condition", doubtful: true},
	} {
		c := &check{
			Budget:   Budget{memory: tc.memory, condition: tc.condition, hub: hubLimit{until: tc.until}},
			doubtful: tc.doubtful, generation: 7, incumbents: setOf("a", "b", "c"),
		}
		if diff := cmp.Diff(tc.want, c.earlierHolds()); diff != "" {
			t.Errorf("%s: %s", tc.reason, diff)
		}
	}
}

// A hold that does not know all names holds each cluster in the decisions.
func TestClustersOfAHold(t *testing.T) {
	c := &check{incumbents: setOf("a", "b", "c")}
	for unnamed, want := range map[int][]string{0: {"a", "c"}, 1: {"a", "b", "c"}} {
		if diff := cmp.Diff(want, c.incumbentsOf(hold{Clusters: []string{"a", "c", "x"}, Unnamed: unnamed})); diff != "" {
			t.Errorf("%d without names: %s", unnamed, diff)
		}
	}
}

// When a cluster leaves that has left the scope: as it is recorded, or else as the status says, or else after the hold of the hub.
func TestWhenAClusterOutOfScopeLeaves(t *testing.T) {
	recorded, stated := metav1.NewTime(noon.Add(time.Minute)), noon.Add(2*time.Minute)
	for _, tc := range []struct {
		reason string
		held   []hold
		record bool
		stated time.Time
		want   time.Time
	}{
		{"nothing is known", nil, false, time.Time{}, noon.Add(time.Hour)},
		{"the status says it", nil, false, stated, stated},
		{"the status says it of others", nil, true, stated, noon.Add(time.Hour)},
		{"it is recorded", []hold{{Clusters: []string{"a", "b"}, Until: &recorded}}, true, stated, recorded.Time},
		{"another one is recorded", []hold{{Clusters: []string{"b"}, Until: &recorded}}, true, stated, noon.Add(time.Hour)},
		{"it may be one without a name", []hold{{Clusters: []string{"b"}, Unnamed: 1, Until: &recorded}}, true, stated, recorded.Time},
		{"it was held for another cause", []hold{{Clusters: []string{"a"}}}, true, stated, noon.Add(time.Hour)},
	} {
		c := &check{Budget: Budget{memory: memory{Held: tc.held}, hub: hubLimit{until: tc.stated, hold: time.Hour}}, now: noon}
		if tc.record {
			c.memoryRecord = &metav1.Condition{}
		}
		if got := c.scopeUntil("a"); !got.Equal(tc.want) {
			t.Errorf("%s: got %v, want %v", tc.reason, got, tc.want)
		}
	}
}

// Of the clusters that have joined, as many count as there are more than before.
func TestJoinedClustersThatCount(t *testing.T) {
	joined := memory{Joined: []join{{Time: metav1.NewTime(noon), Clusters: []string{"a", "b", "c"}}}, JoinedTo: 2}
	for _, tc := range []struct {
		reason     string
		incumbents []string
		left       RecentRemovals
		now        time.Time
		want       string
	}{
		{"all of them", []string{"a", "b", "c", "x", "y"}, RecentRemovals{}, noon, "a b c"},
		{"one took the place of another", []string{"a", "b", "c", "x"}, RecentRemovals{}, noon, "b c"},
		{"one has gone again", []string{"a", "b", "x", "y"}, RecentRemovals{}, noon, "a b"},
		{"one has left, and come back", []string{"a", "b", "c", "x", "y"}, RecentRemovals{Clusters: map[string]time.Time{"b": noon}}, noon, "a c"},
		{"the window is over", []string{"a", "b", "c", "x", "y"}, RecentRemovals{}, noon.Add(Window), ""},
	} {
		c := &check{Budget: Budget{memory: joined}, incumbents: setOf(tc.incumbents...), left: tc.left, now: tc.now}
		got := []string{}
		for cluster := range c.countJoined() {
			got = append(got, cluster)
		}
		slices.Sort(got)
		if diff := cmp.Diff(tc.want, strings.Join(got, " ")); diff != "" {
			t.Errorf("%s: %s", tc.reason, diff)
		}
	}
}

// The numbers of a ruling: those that leave at once count as past, and there were at least as many as leave.
func TestTheNumbersOfARuling(t *testing.T) {
	for _, tc := range []struct {
		reason string
		ruling ruling
		want   Count
	}{
		{"some are held", ruling{past: 1, base: 10, leaving: []string{"a", "b", "c"}, holds: []hold{{Clusters: []string{"a"}, Of: 5}}},
			Count{Past: 3, Now: 1, Total: 10}},
		{"a hold began with more", ruling{past: 1, base: 10, leaving: []string{"a"}, holds: []hold{{Clusters: []string{"a"}, Of: 12}}},
			Count{Past: 1, Now: 1, Total: 13}},
		{"more leave than there were", ruling{past: 2, base: 1, leaving: []string{"a", "b"}, holds: []hold{{Clusters: []string{"a", "b"}, Of: 1}}},
			Count{Past: 2, Now: 2, Total: 4}},
	} {
		if diff := cmp.Diff(tc.want, tc.ruling.total(tc.ruling.kept())); diff != "" {
			t.Errorf("%s: %s", tc.reason, diff)
		}
	}
}

// Under a changed spec the clusters that it selects are not held any more, and neither is a last one that others replace.
func TestARulingUnderAChangedSpec(t *testing.T) {
	r := &ruling{leaving: []string{"a", "b", "c"}, holds: []hold{{Clusters: []string{"a", "b"}}, {Clusters: []string{"c"}, Last: true}}}
	for _, tc := range []struct {
		selected map[string]bool
		leaving  string
		held     string
	}{
		{nil, "a b c", "a b c"},
		{setOf("a"), "b c", "b"},
		{setOf("a", "b"), "c", ""},
	} {
		next := r.under(&check{selected: tc.selected})
		if leaving, held := strings.Join(next.leaving, " "), strings.Join(next.kept(), " "); leaving != tc.leaving || held != tc.held {
			t.Errorf("%v: %s leave and %s are held, want %s and %s", tc.selected, leaving, held, tc.leaving, tc.held)
		}
		if tc.held == "" && len(next.holds) > 0 {
			t.Errorf("%v: a hold without clusters", tc.selected)
		}
	}
}

// Which losses count where others have come: first those that do not fit, and of the others those that left last.
func TestLossesThatCount(t *testing.T) {
	lost := losses{infeasible: []string{"a", "b"}, outranked: []string{"c", "d", "e"}}
	for gained, want := range map[int]string{0: "a b c d e", 2: "a b e", 3: "a b", 4: "a b"} {
		counted := comparison{previous: 10, infeasible: 2, outranked: 3, gained: gained}
		got := lost.removed(counted, RecentRemovals{}, setOf("a", "b", "c", "d", "e"))
		if diff := cmp.Diff(want, strings.Join(got, " ")); diff != "" {
			t.Errorf("%d gained: %s", gained, diff)
		}
	}
}

// A recent removal that expires makes place: one that is selected again counts as gained then, and not as one of those that there were.
func TestWhenARecentRemovalMakesPlace(t *testing.T) {
	for _, tc := range []struct {
		reason  string
		counted comparison
		want    time.Time
	}{
		{"it is gained then", comparison{previous: 11, outranked: 4}, noon.Add(Window)},
		{"there are fewer then", comparison{previous: 10, outranked: 4}, time.Time{}},
	} {
		c := &check{left: RecentRemovals{Clusters: map[string]time.Time{"a": noon}}, selected: setOf("a")}
		if got := c.allowedAt(Budget{Percent: 30}, tc.counted); !got.Equal(tc.want) {
			t.Errorf("%s: got %v, want %v", tc.reason, got, tc.want)
		}
	}
}

func TestTextsAndNumbersOfResults(t *testing.T) {
	limited := Budget{Percent: 20, hub: hubLimit{percent: 30}, subject: &Subject{Generation: 7}}
	unknown := Budget{hub: hubLimit{unknown: true}}
	applied := limited
	applied.applied = 3
	both := Result{budget: limited, holds: []hold{{Clusters: []string{"a"}}, {Clusters: []string{"b"}, Last: true}}}
	expect := func(what string, want, got any) {
		t.Helper()
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", what, diff)
		}
	}
	expect("three names", "a, b, c", Name([]string{"a", "b", "c"}))
	expect("four names", "a, b, c and 1 more", Name([]string{"a", "b", "c", "d"}))
	expect("no cluster is out of scope", false, Result{budget: unknown}.LimitUnknown())
	expect("a cluster is out of scope", true, Result{budget: unknown, outside: []string{"a"}}.LimitUnknown())
	expect("the generation before", int64(6), limited.appliedGeneration())
	expect("the applied generation", int64(3), applied.appliedGeneration())
	expect("nobody has joined", 0, Result{budget: limited, joinedTo: 5}.memory(Progress{}).JoinedTo)
	expect("one has joined", 5, Result{budget: limited, joinedTo: 5, joined: map[string]time.Time{"a": noon}}.memory(Progress{}).JoinedTo)
	expect("the limit of the Placement holds both", true, strings.Contains(both.message(), "no more than 20 %"))
}
