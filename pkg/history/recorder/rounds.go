// SPDX-License-Identifier: Apache-2.0

package recorder

import (
	"context"
	"maps"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	toolscache "k8s.io/client-go/tools/cache"

	"github.com/placement-hub/placement-hub/pkg/history"
	"github.com/placement-hub/placement-hub/pkg/hub/consistency"
	"github.com/placement-hub/placement-hub/pkg/hub/objects"
	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/placement/api"
)

const (
	// quiet is how long no event of a round has come when it ends, and longest how long a round lasts at most.
	quiet   = 300 * time.Millisecond
	longest = 10 * time.Second
	// tick is how often rounds are looked at while there are some.
	tick = 100 * time.Millisecond
	// mostNoted bounds the reasons that are noted in a round.
	mostNoted = 100
)

// round are the writes of the decisions of a Placement that become one row.
type round struct {
	// writing counts the writers that have begun and not ended.
	writing int
	// before are the pages before the first event of the round; nil without an event.
	before      map[string]part
	first, last time.Time
	version     string
	// reasons are those of the evaluation, by cluster, and evaluated reports that this process has written.
	reasons   []history.Reason
	evaluated bool
}

// Begin notes that this process writes the decisions of a Placement.
func (r *Recorder) Begin(key inventory.Key) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	of := r.roundOf(key)
	of.writing++
	of.last = time.Now()
}

// End notes that this process has written the decisions of a Placement, with the reasons of the evaluation for clusters that were gained or lost.
func (r *Recorder) End(key inventory.Key, reasons []history.Reason) {
	if r == nil {
		return
	}
	r.mu.Lock()
	of := r.roundOf(key)
	of.writing = max(0, of.writing-1)
	of.last, of.evaluated = time.Now(), true
	for _, reason := range reasons { // Several evaluations may write in one round.
		of.reasons = slices.DeleteFunc(of.reasons, func(former history.Reason) bool { return former.Cluster == reason.Cluster })
		of.reasons = append(of.reasons, reason)
	}
	of.reasons = of.reasons[max(0, len(of.reasons)-mostNoted):]
	r.mu.Unlock()
	r.wakeUp()
}

// roundOf returns the round of a Placement; mu must be held.
func (r *Recorder) roundOf(key inventory.Key) *round {
	of := r.rounds[key]
	if of == nil {
		of = &round{first: time.Now()}
		r.rounds[key] = of
	}
	return of
}

func (r *Recorder) wakeUp() {
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// decisionsOf returns the event handler of the PlacementDecisions of an API.
func (r *Recorder) decisionsOf(adapter api.Adapter) toolscache.ResourceEventHandler {
	keyOf := func(page api.Object) (inventory.Key, bool) {
		owner := adapter.Codec().Placement(api.MetadataOnly(page))
		return inventory.NewPlacementKey(adapter.Name(), page.GetNamespace(), owner), owner != ""
	}
	return objects.On(func(before, after api.Object, initial bool) {
		if before != nil && before.GetResourceVersion() == after.GetResourceVersion() {
			return
		}
		key, owned := keyOf(after)
		if before != nil {
			if former, was := keyOf(before); was && (!owned || former != key) {
				r.set(former, before.GetName(), nil, after, false)
			}
		}
		if owned {
			r.set(key, after.GetName(), page{after, adapter.Codec()}, after, initial)
		}
	}, func(last api.Object) {
		if key, owned := keyOf(last); owned {
			r.set(key, last.GetName(), nil, last, false)
		}
	})
}

// set sets a part of a decision; nil removes it. Parts of the initial list begin no round.
func (r *Recorder) set(key inventory.Key, name string, of part, latest metav1.Object, initial bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	pages := r.pages[key]
	if !initial {
		begun := r.roundOf(key)
		if begun.before == nil {
			begun.before = map[string]part{}
			maps.Copy(begun.before, pages)
			begun.first = time.Now()
		}
		begun.last = time.Now()
		if order, ordered := consistency.Compare(latest.GetResourceVersion(), begun.version); begun.version == "" || ordered && order > 0 {
			begun.version = latest.GetResourceVersion()
		}
		defer r.wakeUp()
	}
	switch {
	case of != nil && pages == nil:
		r.pages[key] = map[string]part{name: of}
	case of != nil:
		pages[name] = of
	default:
		delete(pages, name)
		if len(pages) == 0 {
			delete(r.pages, key)
		}
	}
}

// loop turns rounds that have ended into rows, until ctx ends.
func (r *Recorder) loop(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-r.wake:
		}
		for ticker := time.NewTicker(tick); ; {
			if !r.endRounds(ctx, time.Now()) {
				ticker.Stop()
				break
			}
			select {
			case <-ctx.Done():
				ticker.Stop()
				return
			case <-ticker.C:
			}
		}
	}
}

// ended is a round that has ended, with the pages after it.
type ended struct {
	*round

	key   inventory.Key
	after []part
}

// endRounds adds a row for each round that has ended. It returns whether there are others.
func (r *Recorder) endRounds(ctx context.Context, now time.Time) (others bool) {
	var over []ended
	r.mu.Lock()
	for key, of := range r.rounds {
		settled := of.writing == 0 && now.Sub(of.last) >= quiet
		if !settled && now.Sub(of.first) < longest {
			others = true
			continue
		}
		switch {
		case of.before != nil:
			over = append(over, ended{of, key, slices.Collect(maps.Values(r.pages[key]))})
		case of.writing > 0:
			others = true
			continue // Its first event is still to come.
		}
		delete(r.rounds, key)
		if of.writing > 0 { // The writer goes on, in a round of its own.
			r.rounds[key] = &round{writing: of.writing, first: now, last: now}
			others = true
		}
	}
	r.mu.Unlock()

	slices.SortFunc(over, func(a, b ended) int { return a.first.Compare(b.first) })
	for _, each := range over {
		if row := r.row(ctx, each, now); row != nil {
			r.rows.Add(row)
			r.archiveRow(ctx, row)
		}
	}
	return others
}
