// SPDX-License-Identifier: Apache-2.0

package scheduling

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/selector"
)

const (
	// maxExceeded is the number of evaluations in a row after which a Placement whose CEL expressions exceed the cost limit is quarantined.
	maxExceeded = 3
	// quarantineTime is how long the CEL expressions of a quarantined Placement are not evaluated.
	quarantineTime = 10 * time.Minute
)

// quarantined is what a condition says of a quarantined Placement.
var quarantined = fmt.Sprintf("the CEL expressions cost more than an evaluation over all clusters may cost, %d for a predicate and %d for all "+
	"of them, in %d evaluations in a row; the hub evaluates them again after ten minutes or when the spec changes: narrow the clusters by "+
	"labelSelector, claimSelector or clusterSets first, or make the expressions cheaper",
	uint64(selector.MaxSelectorCost), uint64(selector.MaxCost), maxExceeded)

// Quarantine remembers the Placements whose CEL expressions exceed the cost limit again and again, so that they are not evaluated for some
// time: their decisions stay (docs/spec/differences.md C2). The zero value is ready to use. It is safe for concurrent use.
type Quarantine struct {
	mu      sync.Mutex
	entries map[inventory.Key]quarantineEntry
}

// quarantineEntry has the evaluations in a row that exceeded the limit, of the Placement with that uid and these predicates.
type quarantineEntry struct {
	uid      types.UID
	text     string
	exceeded int
	until    time.Time
}

// Result returns the Result of a quarantined Placement, which is Invalid and has the end of the quarantine as RequeueAt; nil if the Placement
// is not quarantined at that time.
func (q *Quarantine) Result(
	request *Request, uid types.UID, snapshot *inventory.Snapshot, incumbents Incumbents, now time.Time,
) *Result {
	known := q.entry(request, uid)
	if known.exceeded < maxExceeded || !now.Before(known.until) {
		return nil
	}
	e := newEvaluation(request, snapshot, incumbents, now)
	if e.result.Outcome() != Decided {
		return e.result
	}
	result := e.withoutAnswer(field.Forbidden(field.NewPath("spec", "predicates"), quarantined))
	result.RequeueAt = known.until
	return result
}

// Observe counts the Result of an evaluation. After the quarantine one more evaluation that exceeds the limit begins the next.
func (q *Quarantine) Observe(request *Request, uid types.UID, result *Result, now time.Time) {
	if !result.costExceeded {
		q.Forget(request.Key)
		return
	}
	entry := q.entry(request, uid)
	entry.exceeded++
	if entry.exceeded >= maxExceeded {
		entry.until = now.Add(quarantineTime)
	}

	q.mu.Lock()
	defer q.mu.Unlock()
	if q.entries == nil {
		q.entries = map[inventory.Key]quarantineEntry{}
	}
	q.entries[request.Key] = entry
}

// Forget removes a Placement.
func (q *Quarantine) Forget(key inventory.Key) {
	q.mu.Lock()
	defer q.mu.Unlock()
	delete(q.entries, key)
}

// entry returns the entry of a Placement with these predicates; a new one if there is none.
func (q *Quarantine) entry(request *Request, uid types.UID) quarantineEntry {
	q.mu.Lock()
	defer q.mu.Unlock()
	text := inventory.RequestIdentity(slices.Clone(request.ClusterSets), request.selectors())
	if known, ok := q.entries[request.Key]; ok && known.uid == uid && known.text == text {
		return known
	}
	return quarantineEntry{uid: uid, text: text}
}
