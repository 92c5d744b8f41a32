// SPDX-License-Identifier: Apache-2.0

package changes

import (
	"slices"
	"sync"
	"time"

	"github.com/placement-hub/placement-hub/pkg/clusterinfo"
	"github.com/placement-hub/placement-hub/pkg/history"
)

// Log keeps recent Changes in a bounded number of bytes, with a fair share for each namespace, and for each object without one: the agent of a
// cluster writes its ManagedCluster as often as it likes. It is safe for concurrent use.
type Log struct {
	mu      sync.Mutex
	changes *history.Shares[*Change]
}

// NewLog returns an empty Log of at most limit bytes.
func NewLog(limit int) *Log { return &Log{changes: history.NewShares[*Change](limit)} }

// Add adds changes.
func (l *Log) Add(changes []Change) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := range changes {
		change := &changes[i]
		const besides = 3*24 + 64 // A Change is a Cause with two lists.
		l.changes.Add(shareOf(change.Object()), change.Size()+besides, change)
	}
}

// shareOf returns whose share an object counts to.
func shareOf(object history.Object) string {
	if object.Namespace != "" {
		return object.Namespace
	}
	return object.Kind + "/" + object.Name
}

// Question says which changes a decision depends on.
type Question struct {
	// Namespace is that of the decision, and Has reports whether it depends on an object there.
	Namespace string
	Has       func(history.Object) bool
	// Clusters are those whose changes and scores the decision depends on, and Sets the ManagedClusterSets.
	Clusters, Sets []string
	// Reads are the properties of clusters that the decision depends on; nil if that is not known, which means all.
	Reads []clusterinfo.Property
	// Since and Until bound the time.
	Since, Until time.Time
	// Limit bounds the number, of which the latest are returned.
	Limit int
}

// Find returns the changes that a decision depends on, oldest first, and of several changes of one field the latest.
func (l *Log) Find(question Question) []history.Cause {
	l.mu.Lock()
	defer l.mu.Unlock()
	type of struct {
		object history.Object
		field  string
	}
	seen, found := map[of]bool{}, []history.Cause(nil)
	for _, share := range question.shares() {
		for change := range l.changes.Of(share) {
			if change.Time.Before(question.Since) {
				break
			}
			key := of{change.Object(), change.Field}
			if change.Time.After(question.Until) || seen[key] || !question.Has(key.object) ||
				question.Reads != nil && !change.Matters(question.Reads) {
				continue
			}
			seen[key] = true
			found = append(found, change.Cause)
		}
	}
	slices.SortStableFunc(found, func(a, b history.Cause) int { return a.Time.Compare(b.Time) })
	return found[max(0, len(found)-question.Limit):]
}

// shares returns the shares with changes that a decision may depend on, each once.
func (q *Question) shares() []string {
	shares := []string{q.Namespace}
	for _, cluster := range q.Clusters {
		shares = append(shares, shareOf(history.Object{Kind: KindCluster, Name: cluster}))
		if cluster != q.Namespace {
			shares = append(shares, cluster) // With its scores.
		}
	}
	for _, set := range q.Sets {
		shares = append(shares, shareOf(history.Object{Kind: KindSet, Name: set}))
	}
	slices.Sort(shares)
	return slices.Compact(shares)
}
