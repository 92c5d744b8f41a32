// SPDX-License-Identifier: Apache-2.0

package removalbudget

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/placement-hub/placement-hub/pkg/scheduling"
)

// MemoryCondition is the type of the condition with what the budget of a Placement has to know beside its RecentRemovals: which clusters are held,
// and which have joined lately. It exists while there is any of that, and until the status is written next.
const MemoryCondition = "RemovalBudget"

// ReasonRecorded is the only reason of the MemoryCondition.
const ReasonRecorded = "Recorded"

// memoryText precedes the memory in the message of the MemoryCondition, which is a JSON object.
const memoryText = "The hub reads this record when it checks the next removal: "

// memory is the content of the MemoryCondition.
type memory struct {
	// Applied is the generation of the spec for which the decisions were last completely written; 0 if that is the observed generation.
	Applied int64 `json:"applied,omitempty"`
	// Held are the clusters that are held.
	Held []hold `json:"held,omitempty"`
	// Joined are the clusters that joined the decisions within the Window, or while others were held, for causes outside of the Placement.
	Joined []join `json:"joined,omitempty"`
	// JoinedTo is the number of the other clusters in the decisions.
	JoinedTo int `json:"joinedTo,omitempty"`
}

// hold is a number of clusters that are held for the same cause since the same generation.
type hold struct {
	// Generation is the generation of the Placement under which the removal began to be held.
	Generation int64 `json:"generation"`
	// Until is the time at which clusters that have left the scope leave; nil for others.
	Until *metav1.Time `json:"until,omitempty"`
	// Cause is the stage that rejects the clusters for a cause outside of the spec: scheduling.StageTaint, or scheduling.StageTerminating for
	// those that are deleted. Empty: the spec decides as well, or an earlier version of the hub has written the record.
	Cause scheduling.Stage `json:"cause,omitempty"`
	// Last reports whether the cluster is held because it is the last one.
	Last bool `json:"last,omitempty"`
	// Lost of Of clusters would leave at once; earlier removals are not included. Past is the number of those that counted when the hold began.
	Lost int `json:"lost"`
	Of   int `json:"of"`
	Past int `json:"past,omitempty"`
	// Clusters are sorted. Unnamed is the number of further clusters, whose names the status has no room for.
	Clusters []string `json:"clusters,omitempty"`
	Unnamed  int      `json:"unnamed,omitempty"`
}

// join is the clusters that joined at a time, in whole seconds in UTC.
type join struct {
	Time     metav1.Time `json:"time"`
	Clusters []string    `json:"clusters"`
}

// until returns the time of Until; zero without one.
func (h hold) until() time.Time { return ptr.Deref(h.Until, metav1.Time{}).Time }

// without returns the hold once clusters of the removal have left that are not held.
func (h hold) without(clusters int) hold {
	h.Lost, h.Of, h.Past = h.Lost-clusters, h.Of-clusters, h.Past+clusters
	return h
}

// numbers identify the holds that one removal has begun. A difference of Past alone, which expires, is none.
type numbers struct {
	generation int64
	last       bool
	lost, of   int
}

func (h hold) numbers() numbers { return numbers{h.Generation, h.Last, h.Lost, h.Of} }

// equal compares what a hold does.
func (h hold) equal(other hold) bool {
	return h.numbers() == other.numbers() && h.until().Equal(other.until()) && h.Cause == other.Cause && slices.Equal(h.Clusters, other.Clusters) &&
		h.Unnamed == other.Unnamed
}

// equalHolds compares lists of holds. A record without causes has what the same holds with causes have, so that an upgrade of the hub writes no
// status.
func equalHolds(recorded, next []hold) bool {
	if !slices.ContainsFunc(recorded, func(h hold) bool { return h.Cause != "" }) {
		next = withoutCauses(next)
	}
	return slices.EqualFunc(recorded, next, hold.equal)
}

// withoutCauses joins the holds that one removal has begun.
func withoutCauses(holds []hold) []hold {
	var joined []hold
	for _, h := range holds {
		h.Cause = ""
		if last := len(joined) - 1; last >= 0 && joined[last].numbers() == h.numbers() && joined[last].until().Equal(h.until()) {
			joined[last].Clusters = slices.Sorted(slices.Values(slices.Concat(joined[last].Clusters, h.Clusters)))
			joined[last].Unnamed += h.Unnamed
			continue
		}
		joined = append(joined, h)
	}
	return joined
}

// decodeMemory decodes the content of condition. One that others have made unreadable or deleted is empty.
func decodeMemory(condition *metav1.Condition) memory {
	var m memory
	if condition == nil {
		return m
	}
	text, found := strings.CutPrefix(condition.Message, memoryText)
	if !found || json.Unmarshal([]byte(text), &m) != nil {
		return memory{}
	}
	return m
}

// Remembered is what the MemoryCondition of a Placement says.
type Remembered struct {
	// Held are the clusters that are held, sorted, and Unnamed is the number of further ones.
	Held    []string
	Unnamed int
	// Joined are the clusters that have joined the decisions lately, sorted.
	Joined []string
	// Applied is the generation of the Placement for which the decisions were last completely written; 0 if that is the observed generation.
	Applied int64
}

// RememberedIn returns what the MemoryCondition among some conditions says; nothing if there is none, or if it cannot be read.
func RememberedIn(conditions []metav1.Condition) Remembered {
	m := decodeMemory(meta.FindStatusCondition(conditions, MemoryCondition))
	told := Remembered{Applied: m.Applied}
	for _, each := range m.Held {
		told.Held, told.Unnamed = append(told.Held, each.Clusters...), told.Unnamed+each.Unnamed
	}
	for _, each := range m.Joined {
		told.Joined = append(told.Joined, each.Clusters...)
	}
	slices.Sort(told.Held)
	slices.Sort(told.Joined)
	told.Held, told.Joined = slices.Compact(told.Held), slices.Compact(told.Joined)
	return told
}

// condition returns the condition with the memory; nil when that is empty.
func (m memory) condition() *metav1.Condition {
	m = m.truncated()
	if m.Applied == 0 && len(m.Held) == 0 && len(m.Joined) == 0 {
		return nil
	}
	text, err := json.Marshal(m)
	if err != nil {
		panic(err) // Strings, numbers and times before the year 10000 can be encoded.
	}
	return &metav1.Condition{Type: MemoryCondition, Status: metav1.ConditionTrue, Reason: ReasonRecorded, Message: memoryText + string(text)}
}

// truncated returns the memory with as many names as a status can hold. Held clusters without names are counted, and clusters without names have
// not joined, which both err toward blocking.
func (m memory) truncated() memory {
	left := maxNameBytes
	fitting := func(clusters []string) []string {
		for i, cluster := range clusters {
			if left -= len(cluster) + nameOverheadBytes; left < 0 {
				return clusters[:i]
			}
		}
		return clusters
	}

	m.Held, m.Joined = slices.Clone(m.Held), slices.Clone(m.Joined)
	for i := range m.Held {
		h := &m.Held[i]
		named := fitting(h.Clusters)
		h.Clusters, h.Unnamed = named, h.Unnamed+len(h.Clusters)-len(named)
	}
	for i := range m.Joined {
		m.Joined[i].Clusters = fitting(m.Joined[i].Clusters)
	}
	m.Joined = slices.DeleteFunc(m.Joined, func(j join) bool { return len(j.Clusters) == 0 })
	return m
}

// joined returns the clusters that joined within the Window before a time or later, with the time at which each of them joined.
func (m memory) joined(since time.Time) map[string]time.Time {
	joined := map[string]time.Time{}
	for _, j := range m.Joined {
		if counts(j.Time.Time, since) {
			for _, cluster := range j.Clusters {
				joined[cluster] = j.Time.Time
			}
		}
	}
	return joined
}

// joins returns the clusters by the time at which they joined, the earliest first.
func joins(joined map[string]time.Time) []join {
	byTime := map[time.Time][]string{}
	for cluster, at := range joined {
		byTime[at.UTC()] = append(byTime[at.UTC()], cluster)
	}
	list := make([]join, 0, len(byTime))
	for _, at := range slices.SortedFunc(maps.Keys(byTime), time.Time.Compare) {
		slices.Sort(byTime[at])
		list = append(list, join{Time: metav1.NewTime(at), Clusters: byTime[at]})
	}
	return list
}

// truncatedJoins returns the last of the joined clusters by name, as many as there are places; it modifies the map.
func truncatedJoins(joined map[string]time.Time, places int) map[string]time.Time {
	for _, cluster := range slices.Sorted(maps.Keys(joined)) {
		if len(joined) > max(0, places) {
			delete(joined, cluster)
		}
	}
	return joined
}
