// SPDX-License-Identifier: Apache-2.0

package removalbudget

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// RecordCondition is the type of the condition that records the RecentRemovals of a Placement. It exists while there are recent removals,
// and until the status is written next.
const RecordCondition = "RecentRemovals"

// ReasonClustersRemoved is the only reason of the RecordCondition.
const ReasonClustersRemoved = "ClustersRemoved"

const (
	// recordText precedes the removals in the message of the RecordCondition, which are a JSON array.
	recordText = "Clusters that left the decisions, and count as removed for 10 minutes: "
	// maxNameBytes is about the maximal size of the recorded names. Further clusters are only counted, so that the status stays small.
	maxNameBytes = 16 << 10
	// nameOverheadBytes is the size of the JSON around a name.
	nameOverheadBytes = 3
	// othersPrecision is the unit to which the times of removals without names are rounded up.
	othersPrecision = time.Minute
)

// RecentRemovals are the clusters that left decisions for causes outside of the Placement. The times are whole seconds in UTC, so that a
// record of them is exact.
type RecentRemovals struct {
	// Clusters has the time at which each cluster left.
	Clusters map[string]time.Time
	// Others are further removals without names, the earliest first. They count as infeasible.
	Others []Others
}

// Others is a number of clusters that left at a time.
type Others struct {
	At    time.Time
	Count int
}

// removal is the record of the clusters that left at a time.
type removal struct {
	Time     metav1.Time `json:"time"`
	Clusters []string    `json:"clusters,omitempty"`
	Others   int         `json:"others,omitempty"`
}

// RemovedLately returns the clusters that the conditions of a status record as RecentRemovals within the Window, with the times at which they left.
func RemovedLately(conditions []metav1.Condition, now time.Time) map[string]time.Time {
	return decodeRecord(meta.FindStatusCondition(conditions, RecordCondition)).within(now).Clusters
}

func (r RecentRemovals) empty() bool { return len(r.Clusters) == 0 && len(r.Others) == 0 }

// countOthers returns the number of clusters without names.
func (r RecentRemovals) countOthers() int {
	sum := 0
	for _, others := range r.Others {
		sum += others.Count
	}
	return sum
}

// within returns the removals that count at a time.
func (r RecentRemovals) within(now time.Time) RecentRemovals {
	var recent RecentRemovals
	for cluster, left := range r.Clusters {
		if counts(left, now) {
			recent = recent.with(cluster, left)
		}
	}

	for _, others := range r.Others {
		if counts(others.At, now) {
			recent.Others = append(recent.Others, others)
		}
	}
	return recent
}

// with returns the removals and that of a cluster at a time. It may modify the map of the receiver.
func (r RecentRemovals) with(cluster string, at time.Time) RecentRemovals {
	if r.Clusters == nil {
		r.Clusters = map[string]time.Time{}
	}
	r.Clusters[cluster] = at
	return r
}

// union returns the removals of both. A cluster in both has the later time.
func (r RecentRemovals) union(more RecentRemovals) RecentRemovals {
	both := RecentRemovals{Clusters: maps.Clone(r.Clusters), Others: r.Others}
	for cluster, at := range more.Clusters {
		if at.After(both.Clusters[cluster]) {
			both = both.with(cluster, at)
		}
	}
	counts := map[time.Time]int{}

	for _, list := range [][]Others{r.Others, more.Others} {
		for _, others := range list {
			counts[others.At] = max(counts[others.At], others.Count)
		}
	}
	both.Others = sortedOthers(counts)
	return both
}

func sortedOthers(counts map[time.Time]int) []Others {
	others := make([]Others, 0, len(counts))
	for at, count := range counts {
		others = append(others, Others{At: at, Count: count})
	}
	slices.SortFunc(others, func(a, b Others) int { return a.At.Compare(b.At) })
	return others
}

// covers reports whether the removals include all needed ones, at the same times or later.
func (r RecentRemovals) covers(needed RecentRemovals) bool {
	for cluster, at := range needed.Clusters {
		if left, known := r.Clusters[cluster]; !known || left.Before(at) {
			return false
		}
	}
	return !slices.ContainsFunc(needed.Others, func(others Others) bool {
		return !slices.ContainsFunc(r.Others, func(have Others) bool { return have.At.Equal(others.At) && have.Count >= others.Count })
	})
}

// truncated returns the removals with as many names as a status can hold. The earliest lose their names and count for up to a minute
// longer, which errs toward blocking.
func (r RecentRemovals) truncated() RecentRemovals {
	size := 0
	for cluster := range r.Clusters {
		size += len(cluster) + nameOverheadBytes
	}
	if size <= maxNameBytes {
		return r
	}
	bounded := RecentRemovals{Clusters: maps.Clone(r.Clusters)}
	counts := map[time.Time]int{}

	for _, others := range r.Others {
		counts[others.At] = others.Count
	}
	for _, cluster := range r.byTime() {
		if size <= maxNameBytes {
			break
		}
		counts[ceil(r.Clusters[cluster], othersPrecision)]++
		delete(bounded.Clusters, cluster)
		size -= len(cluster) + nameOverheadBytes
	}

	bounded.Others = sortedOthers(counts)
	return bounded
}

// byTime returns the clusters, the earliest first.
func (r RecentRemovals) byTime() []string {
	return slices.SortedFunc(maps.Keys(r.Clusters), func(a, b string) int {
		return cmp.Or(r.Clusters[a].Compare(r.Clusters[b]), cmp.Compare(a, b))
	})
}

// ceil returns the time rounded up to the unit, in UTC.
func ceil(at time.Time, unit time.Duration) time.Time {
	rounded := at.UTC().Truncate(unit)
	if rounded.Before(at) {
		rounded = rounded.Add(unit)
	}
	return rounded
}

// removals returns the removals by time, the earliest first.
func (r RecentRemovals) removals() []*removal {
	byTime := map[time.Time]*removal{}
	at := func(when time.Time) *removal {
		if byTime[when] == nil {
			byTime[when] = &removal{Time: metav1.NewTime(when)}
		}
		return byTime[when]
	}
	for _, cluster := range r.byTime() {
		one := at(r.Clusters[cluster])
		one.Clusters = append(one.Clusters, cluster)
	}

	for _, others := range r.Others {
		at(others.At).Others += others.Count
	}
	return slices.SortedFunc(maps.Values(byTime), func(a, b *removal) int { return a.Time.Compare(b.Time.Time) })
}

// condition returns the condition that records the removals; nil when there are none.
func (r RecentRemovals) condition() *metav1.Condition {
	if r.empty() {
		return nil
	}
	text, err := json.Marshal(r.removals())
	if err != nil {
		panic(err) // Strings, numbers and times before the year 10000 can be encoded.
	}
	return &metav1.Condition{
		Type: RecordCondition, Status: metav1.ConditionTrue, Reason: ReasonClustersRemoved, Message: recordText + string(text),
	}
}

// decodeRecord decodes the record of condition. A record that others have made unreadable or deleted records nothing.
func decodeRecord(condition *metav1.Condition) RecentRemovals {
	if condition == nil {
		return RecentRemovals{}
	}
	text, found := strings.CutPrefix(condition.Message, recordText)
	var removals []removal
	if !found || json.Unmarshal([]byte(text), &removals) != nil {
		return RecentRemovals{}
	}
	var recent RecentRemovals
	counts := map[time.Time]int{}

	for _, one := range removals {
		at := one.Time.UTC()
		for _, cluster := range one.Clusters {
			recent = recent.with(cluster, at)
		}
		if one.Others > 0 {
			counts[at] = one.Others
		}
	}
	recent.Others = sortedOthers(counts)
	return recent
}
