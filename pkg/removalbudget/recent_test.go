// SPDX-License-Identifier: Apache-2.0

package removalbudget_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	"pgregory.net/rapid"

	"github.com/placement-hub/placement-hub/pkg/placement/api"
	"github.com/placement-hub/placement-hub/pkg/removalbudget"
	"github.com/placement-hub/placement-hub/test/property"
)

// A process that ends after writing a page and before writing the status has recorded the removals before.
func TestAKillBeforeTheStatusLosesNothing(t *testing.T) {
	for _, end := range []string{afterTheReserve, withinThePages, afterThePages, toTheEnd} {
		w := newFixture(10)
		w.remove(0, 3)
		w.stepUntil(30, end, nil)
		w.now = w.now.Add(time.Minute)
		w.remove(3, 4)
		ruling := w.judge(30)
		if !ruling.Held || ruling.Count.Removed() != 4 || ruling.Count.Total != 10 {
			t.Errorf("killed %s: held %v, %d of %d", end, ruling.Held, ruling.Count.Removed(), ruling.Count.Total)
		}
	}
}

// G5: a cluster that leaves counts beside others that have left within the same second, whatever their names.
func TestRemovalsWithinOneSecond(t *testing.T) {
	w := newFixture(2)
	wanted(3)(w)
	w.record(metav1.Condition{
		Type: removalbudget.RecordCondition, Status: metav1.ConditionTrue, Reason: removalbudget.ReasonClustersRemoved,
		Message: `Clusters that left the decisions, and count as removed for 10 minutes: [{"time":"2026-01-02T03:04:05Z","clusters":["c05","c07"]}]`,
	})
	w.remove(0, 1)
	if ruling := w.judge(10); gone(ruling) != "2 of 3: c00" {
		t.Errorf("got %q", gone(ruling))
	}
}

// Expired removals need no write of their own, and are dropped by the next write.
func TestWhatIsOverIsNotWritten(t *testing.T) {
	w := newFixture(10)
	w.remove(0, 3)
	expect(t, "recorded", 1, len(w.step(30).Recorded(done)))
	w.now = w.now.Add(2 * removalbudget.Window)
	ruling := w.judge(30)
	if _, needed := ruling.Reserve(); needed || len(ruling.Recorded(done)) != 1 || len(ruling.Record(done)) != 0 {
		t.Errorf("reserve %v, as it is %v, anew %v", needed, ruling.Recorded(done), ruling.Record(done))
	}
}

// A record that others have overwritten records nothing.
func TestARecordThatCannotBeRead(t *testing.T) {
	w := newFixture(10)
	w.remove(0, 3)
	for _, message := range []string{"", "x", "Clusters that left the decisions, and count as removed for 10 minutes: [{]"} {
		condition, _ := w.judge(30).Reserve()
		condition.Message = message
		w.record(condition)
		ruling := w.judge(30)
		if _, needed := ruling.Reserve(); ruling.Held || !needed {
			t.Errorf("%q: held %v, to be recorded %v", message, ruling.Held, needed)
		}
	}
}

// Thousands of removals fit into a status. The earliest lose their names, and all of them count.
func TestManyDepartures(t *testing.T) {
	w := newFixture(0)
	long := strings.Repeat("x", 50)
	for i := range 2000 {
		w.decisions[fmt.Sprintf("gone-%s-%04d", long, i)] = true
	}

	for i := range 3000 {
		c := cluster(0)
		c.Name = fmt.Sprintf("stays-%04d", i)
		w.SetCluster(c)
		w.decisions[c.Name] = true
	}
	record := w.step(40).Recorded(done)[0].Message
	expect(t, "decisions after 2000 of 5000 have left", 3000, len(w.decisions))

	if len(record) > 20<<10 {
		t.Errorf("the record has %d bytes", len(record))
	}
	w.now = w.now.Add(removalbudget.Window - time.Second)
	w.DeleteCluster("stays-0000")
	ruling := w.judge(40)
	expect(t, "held", true, ruling.Held)
	expect(t, "removed", 2001, ruling.Count.Removed())
	expect(t, "of", 5000, ruling.Count.Total)

	w.now = ruling.RequeueAt
	expect(t, "held when it is to be looked at again", false, w.judge(40).Held)
}

// The hub holds the last clusters also if they have joined just now and do not count as removed: a limit of the hub that an annotation hides
// matters for them, too.
func TestAHiddenLimitHoldsTheLastClustersThatHaveJoined(t *testing.T) {
	w := newFixture(1)
	w.placement.Annotations[removalbudget.PercentAnnotation] = "0"
	w.settle(0)
	w.relabel(1, 2)
	w.remove(0, 1)
	w.settle(0)
	w.DeleteBinding("ns", "all")
	w.placement.Annotations[removalbudget.ReleaseAnnotation] = strconv.FormatInt(w.placement.Generation, 10)

	expect(t, "held by the hub", true, w.judge(0).Held)
	seen := removalbudget.NewBudget(api.V1beta1.Read(w.placement).RemovalSubject(), removalbudget.Limit{})
	expect(t, "limit unknown to an observer", true, w.check(seen).LimitUnknown())
}

// An observer without the limit of the hub computes the Result of the hub from the status that the hub has written.
func TestTheStatusHasTheLimit(t *testing.T) {
	property.Check(t, func(t *rapid.T) {
		w := newFixture(rapid.IntRange(1, 12).Draw(t, "clusters"))
		w.countReplaced = rapid.Bool().Draw(t, "replaced count")
		percent := rapid.SampledFrom([]int{0, 1, 10, 50, 99, 100}).Draw(t, "percent")
		if text := rapid.SampledFrom([]string{"", "", "0", "40%", "100", "many"}).Draw(t, "percent annotation"); text != "" {
			w.placement.Annotations[removalbudget.PercentAnnotation] = text
		}
		if text := rapid.SampledFrom([]string{"", "", "true", "false", "no"}).Draw(t, "replaced annotation"); text != "" {
			w.placement.Annotations[removalbudget.CountReplacedAnnotation] = text
		}

		if rapid.Bool().Draw(t, "limited") {
			wanted(int32(rapid.IntRange(0, 12).Draw(t, "wanted")))(w)
		}
		w.settle(percent)

		for range rapid.IntRange(1, 10).Draw(t, "events") {
			w.disturb(t)
			if rapid.Bool().Draw(t, "written") {
				w.settle(percent)
			}
			switch rapid.SampledFrom([]string{"", "", "spec", "release"}).Draw(t, "edit") {
			case "spec":
				w.edit(func(*clusterv1beta1.PlacementSpec) {})
			case "release":
				w.placement.Annotations[removalbudget.ReleaseAnnotation] = strconv.FormatInt(w.placement.Generation, 10)
			}

			hub := w.judge(percent)
			seen := removalbudget.NewBudget(api.V1beta1.Read(w.placement).RemovalSubject(), removalbudget.Limit{})
			outside := w.check(seen)
			if outside.LimitUnknown() {
				continue // An annotation hides the limit of the hub, which holds clusters that have left the scope.
			}
			if seen.Unknown || conditionText(hub) != conditionText(outside) || gone(hub) != gone(outside) || !hub.RequeueAt.Equal(outside.RequeueAt) {
				t.Fatalf("unknown %v\nthe hub says      %s\nthe observer says %s", seen.Unknown, conditionText(hub), conditionText(outside))
			}
		}
	})
}

// When an annotation is removed that the status refers to, the limit of the hub is unknown.
func TestALimitThatIsNotKnown(t *testing.T) {
	w := newFixture(10)
	w.placement.Annotations[removalbudget.PercentAnnotation] = "50"
	w.settle(30)
	delete(w.placement.Annotations, removalbudget.PercentAnnotation)
	seen := removalbudget.NewBudget(api.V1beta1.Read(w.placement).RemovalSubject(), removalbudget.Limit{})
	if seen.Enabled() || !seen.Unknown {
		t.Errorf("on %v, unknown %v", seen.Enabled(), seen.Unknown)
	}

	told := removalbudget.NewBudget(api.V1beta1.Read(w.placement).RemovalSubject(), removalbudget.Limit{Percent: new(30), CountReplaced: new(false)})
	if told.Unknown || told.Percent != 30 {
		t.Errorf("%d %%, unknown %v", told.Percent, told.Unknown)
	}
}

// Removals without names stay recorded while they count, and are forgotten where others have taken their places.
func TestRemovalsWithoutNames(t *testing.T) {
	without := metav1.Condition{
		Type: removalbudget.RecordCondition, Status: metav1.ConditionTrue, Reason: removalbudget.ReasonClustersRemoved,
		Message: `Clusters that left the decisions, and count as removed for 10 minutes: [{"time":"2026-01-02T03:04:00Z","others":1}]`,
	}
	w := newFixture(10)
	w.record(without)
	w.remove(0, 1)
	ruling := w.step(30)
	expect(t, "held", "", gone(ruling))
	expect(t, "recorded", 1, len(ruling.Recent.Others))

	replaced := newFixture(10)
	wanted(4)(replaced)
	replaced.decisions = map[string]bool{name(0): true, name(1): true, name(2): true, name(3): true}
	replaced.record(without)
	expect(t, "recorded where others have their places", 0, len(replaced.step(30).Recent.Others))
}

// The memory has the clusters that joined, and the number of the others.
func TestWhoHasJoinedIsRecorded(t *testing.T) {
	memory := func(w *fixture) string {
		return meta.FindStatusCondition(w.placement.Status.Conditions, removalbudget.MemoryCondition).Message
	}
	w := newFixture(10)
	w.settle(30)
	w.relabel(20, 22)
	w.settle(30)
	expect(t, "two have joined", true, strings.HasSuffix(memory(w),
		`{"joined":[{"time":"2026-01-02T03:04:05Z","clusters":["c20","c21"]}],"joinedTo":10}`))

	w.now = start.Add(time.Minute)
	w.relabel(22, 23)
	w.settle(30)
	expect(t, "another one has", true, strings.HasSuffix(memory(w),
		`{"time":"2026-01-02T03:05:05Z","clusters":["c22"]}],"joinedTo":10}`))
}
