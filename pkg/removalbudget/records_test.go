// SPDX-License-Identifier: Apache-2.0

package removalbudget

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

// A hold that differs in what it does is written. Past alone expires, so that it is not worth a write.
func TestHoldsThatAreWritten(t *testing.T) {
	at := func(minute int) *metav1.Time {
		return &metav1.Time{Time: noon.Add(time.Duration(minute) * time.Minute)}
	}
	was := hold{Generation: 3, Until: at(0), Lost: 4, Of: 10, Past: 1, Clusters: []string{"a", "b"}, Unnamed: 2}
	for _, tc := range []struct {
		field  string
		change func(*hold)
		equal  bool
	}{
		{"nothing", func(*hold) {}, true},
		{"past", func(h *hold) { h.Past++ }, true},
		{"generation", func(h *hold) { h.Generation++ }, false},
		{"until", func(h *hold) { h.Until = at(1) }, false},
		{"no until", func(h *hold) { h.Until = nil }, false},
		{"last", func(h *hold) { h.Last = true }, false},
		{"lost", func(h *hold) { h.Lost++ }, false},
		{"of", func(h *hold) { h.Of++ }, false},
		{"clusters", func(h *hold) { h.Clusters = []string{"a", "c"} }, false},
		{"unnamed", func(h *hold) { h.Unnamed++ }, false},
	} {
		is := was
		tc.change(&is)
		if got := was.equal(is); got != tc.equal {
			t.Errorf("%s: equal is %v, want %v", tc.field, got, tc.equal)
		}
	}
}

// nameOf returns a name that takes a number of bytes in a record, its overhead included. Names of one number are sorted by what they are of.
func nameOf(of, bytes int) string {
	prefix := fmt.Sprintf("c%06d", of)
	return prefix + strings.Repeat("x", bytes-nameOverheadBytes-len(prefix))
}

// names returns as many names of 64 bytes each as a record has room for, and more.
func names(more int) []string {
	const bytes = 64
	list := make([]string, 0, maxNameBytes/bytes+more)
	for i := range maxNameBytes/bytes + more {
		list = append(list, nameOf(i, bytes))
	}
	return list
}

// The memory has as many names as a status has room for. Held clusters without names are counted, and those that have joined are left out.
func TestAsManyNamesAsAMemoryHasRoomFor(t *testing.T) {
	joined := []join{{Time: metav1.NewTime(noon), Clusters: []string{"j"}}}
	for _, tc := range []struct {
		more, unnamed, joins int
	}{
		{more: -1, joins: 1},
		{more: 0},
		{more: 1, unnamed: 1},
		{more: 5, unnamed: 5},
	} {
		got := memory{Held: []hold{{Clusters: names(tc.more), Unnamed: 2}}, Joined: joined}.truncated()
		if named, all := len(got.Held[0].Clusters), len(names(min(tc.more, 0))); named != all || got.Held[0].Unnamed != tc.unnamed+2 {
			t.Errorf("%d more names: %d names and %d unnamed, want %d and %d", tc.more, named, got.Held[0].Unnamed, all, tc.unnamed+2)
		}
		if len(got.Joined) != tc.joins {
			t.Errorf("%d more names: %d times at which clusters joined, want %d", tc.more, len(got.Joined), tc.joins)
		}
	}
	if len(joined[0].Clusters) != 1 {
		t.Error("the memory that is shortened was changed")
	}
}

// The last of the clusters that have joined are kept, as many as there are places.
func TestAsManyJoinsAsThereArePlaces(t *testing.T) {
	for places, want := range map[int]string{-2: "", -1: "", 0: "", 1: "c", 2: "b c", 3: "a b c", 4: "a b c"} {
		left := truncatedJoins(map[string]time.Time{"a": noon, "b": noon, "c": noon}, places)
		got := []string{}
		for _, j := range joins(left) {
			got = append(got, j.Clusters...)
		}
		if diff := cmp.Diff(want, strings.Join(got, " ")); diff != "" {
			t.Errorf("%d places: %s", places, diff)
		}
	}
}

// The record of removals has as many names as a status has room for. The earliest lose their names, and count to the end of their minute.
func TestAsManyNamesAsARecordHasRoomFor(t *testing.T) {
	for _, tc := range []struct {
		more   int
		others []Others
	}{
		{more: 0},
		{more: 1, others: []Others{{At: noon.Add(time.Minute), Count: 1}}},
		{more: 3, others: []Others{{At: noon.Add(time.Minute), Count: 3}}},
	} {
		var removed RecentRemovals
		for i, cluster := range names(tc.more) {
			removed = removed.with(cluster, noon.Add(time.Second+time.Duration(i)*time.Millisecond))
		}
		got := removed.truncated()
		if named := len(names(0)); len(got.Clusters) != named {
			t.Errorf("%d more names: %d names, want %d", tc.more, len(got.Clusters), named)
		}
		if diff := cmp.Diff(tc.others, got.Others); diff != "" {
			t.Errorf("%d more names: %s", tc.more, diff)
		}
	}
}

// A record covers the removals that it has, at the same times or later. Removals without names count for their time.
func TestWhatARecordCovers(t *testing.T) {
	record := RecentRemovals{Clusters: map[string]time.Time{"a": noon}, Others: []Others{{At: noon, Count: 2}}}
	for _, tc := range []struct {
		reason string
		needed RecentRemovals
		covers bool
	}{
		{"nothing", RecentRemovals{}, true},
		{"the same", record, true},
		{"an earlier time", RecentRemovals{Clusters: map[string]time.Time{"a": noon.Add(-time.Second)}}, true},
		{"a later time", RecentRemovals{Clusters: map[string]time.Time{"a": noon.Add(time.Second)}}, false},
		{"another cluster", RecentRemovals{Clusters: map[string]time.Time{"b": noon}}, false},
		{"fewer without names", RecentRemovals{Others: []Others{{At: noon, Count: 1}}}, true},
		{"more without names", RecentRemovals{Others: []Others{{At: noon, Count: 3}}}, false},
		{"without names at another time", RecentRemovals{Others: []Others{{At: noon.Add(time.Minute), Count: 1}}}, false},
	} {
		if got := record.covers(tc.needed); got != tc.covers {
			t.Errorf("%s: covers is %v, want %v", tc.reason, got, tc.covers)
		}
	}
}

// A record that says of no cluster that it left says nothing.
func TestARecordOfNoRemovals(t *testing.T) {
	for _, others := range []int{-1, 0, 1} {
		text := fmt.Sprintf(`%s[{"time":"2026-01-02T12:00:00Z","others":%d}]`, recordText, others)
		got := decodeRecord(&metav1.Condition{Message: text})
		if got.empty() != (others <= 0) || got.countOthers() != max(0, others) {
			t.Errorf("%d without names: got %v", others, got)
		}
	}
}

// Which generation of the spec was applied last, as the conditions of the status say it.
func TestAppliedGenerationOfAStatus(t *testing.T) {
	satisfied := func(observed int64) metav1.Condition {
		return metav1.Condition{Type: satisfiedCondition, ObservedGeneration: observed}
	}
	held := func(reason string) metav1.Condition { return metav1.Condition{Type: Condition, Reason: reason} }
	applied := func(generation int64) metav1.Condition {
		return *memory{Applied: generation, Held: []hold{{Clusters: []string{"a"}}}}.condition()
	}
	for _, tc := range []struct {
		reason     string
		generation int64
		conditions []metav1.Condition
		want       int64
	}{
		{"no conditions, and never changed", 1, nil, 1},
		{"no conditions, and changed", 2, nil, 0},
		{"the present one", 4, []metav1.Condition{satisfied(4)}, 4},
		{"an earlier one", 4, []metav1.Condition{satisfied(3)}, 3},
		{"a later one, as in a backup", 4, []metav1.Condition{satisfied(5)}, 4},
		{"the upstream controller says none", 4, []metav1.Condition{satisfied(0)}, 4},
		{"the memory names an earlier one", 4, []metav1.Condition{satisfied(4), applied(2)}, 2},
		{"the memory names none", 4, []metav1.Condition{satisfied(3), applied(0)}, 3},
		{"a change is not completely written", 4, []metav1.Condition{satisfied(4), held(ReasonSpecChanged)}, 0},
		{"nothing is held", 4, []metav1.Condition{satisfied(4), held(ReasonNothingHeld)}, 4},
	} {
		if got := AppliedGeneration(Subject{Generation: tc.generation, Conditions: tc.conditions}); got != tc.want {
			t.Errorf("%s: generation %d, want %d", tc.reason, got, tc.want)
		}
	}
}

// Where the parts of a limit come from: the annotations, the hub, and what the status says of the hub.
func TestWhereALimitComesFrom(t *testing.T) {
	const (
		percent  = PercentAnnotation
		replaced = CountReplacedAnnotation
		stated   = "Of the clusters in the decisions no more than 40 % may leave or be replaced within 10 minutes"
	)
	for _, tc := range []struct {
		reason      string
		annotations map[string]string
		limit       Limit
		status      string
		percent     int
		replaced    bool
		mistake     string
		unknown     bool
		enabled     bool
		stricter    bool
	}{
		{reason: "nobody says anything", percent: NoLimit},
		{reason: "the hub", limit: Limit{Percent: ptr.To(30), CountReplaced: ptr.To(true)}, percent: 30, replaced: true, enabled: true},
		{reason: "the status", status: stated, percent: 40, replaced: true, enabled: true},
		{
			reason: "the hub before the status", limit: Limit{Percent: ptr.To(30), CountReplaced: ptr.To(false)}, status: stated, percent: 30,
			enabled: true,
		},
		{reason: "a status that says no limit", status: "as it was", percent: NoLimit, unknown: true},
		{
			reason: "the annotations", annotations: map[string]string{percent: "20%", replaced: "false"},
			limit: Limit{Percent: ptr.To(30), CountReplaced: ptr.To(true)}, percent: 20, enabled: true,
		},
		{
			reason: "the annotation that counts replaced clusters", annotations: map[string]string{replaced: "true"},
			limit: Limit{Percent: ptr.To(30), CountReplaced: ptr.To(false)}, percent: 30, replaced: true, enabled: true,
		},
		{
			reason: "the hub does not say whether replaced clusters count", limit: Limit{Percent: ptr.To(30)}, percent: 30, enabled: true,
			stricter: true,
		},
		{
			reason: "without a limit nothing is stricter", limit: Limit{Percent: ptr.To(NoLimit)}, percent: NoLimit,
		},
		{
			reason: "a mistake in the percentage", annotations: map[string]string{percent: "x"},
			limit: Limit{Percent: ptr.To(30), CountReplaced: ptr.To(false)}, percent: 30, enabled: true,
			mistake: `the annotation ` + percent + `: "x" is no whole number from 0 to 100`,
		},
		{
			reason: "a mistake in the percentage, and no limit", annotations: map[string]string{percent: "101"},
			limit: Limit{Percent: ptr.To(NoLimit), CountReplaced: ptr.To(false)}, percent: 0, enabled: true,
			mistake: `the annotation ` + percent + `: "101" is no whole number from 0 to 100`,
		},
		{
			reason: "a mistake in what counts", annotations: map[string]string{replaced: "yes"},
			limit: Limit{Percent: ptr.To(30), CountReplaced: ptr.To(false)}, percent: 30, replaced: true, enabled: true,
			mistake: `the annotation ` + replaced + `: "yes" is neither true nor false`,
		},
		{
			reason: "two mistakes", annotations: map[string]string{percent: "-1", replaced: ""},
			limit: Limit{Percent: ptr.To(30), CountReplaced: ptr.To(false)}, percent: 30, replaced: true, enabled: true,
			mistake: `the annotation ` + percent + `: "-1" is no whole number from 0 to 100, and the annotation ` + replaced +
				`: "" is neither true nor false`,
		},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			subject := Subject{Generation: 1, Annotations: tc.annotations}
			if tc.status != "" {
				subject.Conditions = []metav1.Condition{{Type: Condition, Message: tc.status}}
			}
			b := NewBudget(subject, tc.limit)
			if b.Percent != tc.percent || b.CountReplaced != tc.replaced || b.Enabled() != tc.enabled || b.Unknown != tc.unknown {
				t.Errorf("%d %%, replaced count: %v, enabled: %v, unknown: %v", b.Percent, b.CountReplaced, b.Enabled(), b.Unknown)
			}
			if diff := cmp.Diff(tc.mistake, b.Mistake); diff != "" {
				t.Error(diff)
			}
			if strict, is := b.Stricter(); is != tc.stricter || is && !strict.CountReplaced {
				t.Errorf("stricter: %v, want %v", is, tc.stricter)
			}
		})
	}
}

// What the condition says of a held removal is read back: the number of clusters that there were, and when those out of scope leave.
func TestWhatAHeldConditionSays(t *testing.T) {
	condition := func(status metav1.ConditionStatus, generation int64, message string) *metav1.Condition {
		return &metav1.Condition{Type: Condition, Status: status, ObservedGeneration: generation, Message: message}
	}
	const text = "The decisions would lose 4 of 10 clusters, where no more than 30 % may leave within 10 minutes; causes: x. " +
		"Clusters that left the scope (4) leave at 2026-01-02T12:05:00Z, whatever the annotations say."
	for _, tc := range []struct {
		reason    string
		condition *metav1.Condition
		held      bool
		base      int
		until     time.Time
	}{
		{reason: "no condition"},
		{reason: "a held removal", condition: condition(metav1.ConditionTrue, 7, text), held: true, base: 10, until: noon.Add(5 * time.Minute)},
		{reason: "nothing is held", condition: condition(metav1.ConditionFalse, 7, text), until: noon.Add(5 * time.Minute)},
		{reason: "another generation", condition: condition(metav1.ConditionTrue, 6, text), until: noon.Add(5 * time.Minute)},
		{reason: "a text of others", condition: condition(metav1.ConditionTrue, 7, "as it was"), held: true},
		{
			reason: "a number that is too large", held: true, until: noon.Add(5 * time.Minute),
			condition: condition(metav1.ConditionTrue, 7, strings.Replace(text, "of 10", "of 99999999999999999999", 1)),
		},
		{
			reason: "a time that is none", held: true, base: 10,
			condition: condition(metav1.ConditionTrue, 7, strings.Replace(text, "T12:05", "T92:05", 1)),
		},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			b := Budget{subject: &Subject{Generation: 7}, condition: tc.condition}
			if b.heldBefore() != tc.held || b.heldBase() != tc.base || !parseLimit(tc.condition).until.Equal(tc.until) {
				t.Errorf("held: %v, of %d, until %v", b.heldBefore(), b.heldBase(), parseLimit(tc.condition).until)
			}
		})
	}
}

// A text of an earlier version of the hub that says the same is kept, so that no status is written for its words.
func TestATextInOtherWordsIsKept(t *testing.T) {
	b := Budget{subject: &Subject{Namespace: "ns", Name: "p", Generation: 7}}
	long, short := "It would lose 4. "+b.releaseSentence(), "It would lose 4."
	former := strings.Replace(long, releaseText, formerReleaseText, 1)
	for _, tc := range []struct {
		reason, existing, message, want string
		generation                      int64
	}{
		{"the same text", long, long, long, 7},
		{"the former words", former, long, former, 7},
		{"a sentence on the release that is left out now", long, short, long, 7},
		{"another text", "It would lose 5.", short, short, 7},
		{"the former words of another generation", former, long, long, 6},
	} {
		b.condition = &metav1.Condition{Type: Condition, Status: metav1.ConditionTrue, ObservedGeneration: tc.generation, Message: tc.existing}
		if diff := cmp.Diff(tc.want, b.unlessReworded(tc.message)); diff != "" {
			t.Errorf("%s: %s", tc.reason, diff)
		}
	}
}

func TestTheEarlierOfTwoTimes(t *testing.T) {
	never, later := time.Time{}, noon.Add(time.Second)
	for _, tc := range [][3]time.Time{
		{never, never, never}, {noon, never, noon}, {never, noon, noon}, {noon, later, noon}, {later, noon, noon}, {noon, noon, noon},
	} {
		if got := earliest(tc[0], tc[1]); !got.Equal(tc[2]) {
			t.Errorf("%v and %v: got %v, want %v", tc[0], tc[1], got, tc[2])
		}
	}
}

// Whether the recorded memory has what the next one has. Without a record, the condition of a held removal says enough.
func TestWhatARecordRemembers(t *testing.T) {
	held := []hold{{Generation: 7, Lost: 4, Of: 10, Clusters: []string{"a"}}}
	condition := func(status metav1.ConditionStatus) *metav1.Condition {
		return &metav1.Condition{Type: Condition, Status: status, ObservedGeneration: 7}
	}
	record := func(m memory) Budget { return Budget{memory: m, memoryRecord: m.condition()} }
	for _, tc := range []struct {
		reason  string
		budget  Budget
		applied bool
		holds   []hold
		want    bool
	}{
		{"nothing is to be remembered", Budget{}, true, nil, true},
		{"a hold", Budget{}, true, held, false},
		{"a hold that the condition describes", Budget{condition: condition(metav1.ConditionTrue)}, true, held, true},
		{"a hold that the condition does not describe", Budget{condition: condition(metav1.ConditionFalse)}, true, held, false},
		{"a spec that is not applied", Budget{condition: condition(metav1.ConditionTrue)}, false, held, false},
		{"the recorded hold", record(memory{Held: held}), true, held, true},
		{"another hold than the recorded one", record(memory{Held: held}), true, []hold{{Generation: 7, Lost: 5, Of: 10}}, false},
		{"no hold any more", record(memory{Held: held}), true, nil, false},
		{"the recorded spec", record(memory{Applied: 6}), false, nil, true},
		{"another spec than the recorded one", record(memory{Applied: 5}), false, nil, false},
	} {
		b := tc.budget
		b.Percent, b.SpecApplied, b.subject = 30, tc.applied, &Subject{Generation: 7}
		if got := (Result{budget: b, valid: true, holds: tc.holds}).remembers(Progress{}); got != tc.want {
			t.Errorf("%s: %v, want %v", tc.reason, got, tc.want)
		}
	}
}
