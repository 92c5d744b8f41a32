// SPDX-License-Identifier: Apache-2.0

package works

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
)

// maxShown is the greatest number of clusters in a finding.
const maxShown = 5

// Passage is what happened between two states.
type Passage struct {
	Before State
	Events []Event
	After  State
}

// Only returns the part of the passage about some deliveries.
func (p Passage) Only(of func(Key) bool) Passage {
	drop := func(_ types.UID, work Work) bool { return !of(work.Key) }
	part := Passage{Before: maps.Clone(p.Before), After: maps.Clone(p.After)}
	maps.DeleteFunc(part.Before, drop)
	maps.DeleteFunc(part.After, drop)
	for _, event := range p.Events {
		if of(event.Work.Key) {
			part.Events = append(part.Events, event)
		}
	}
	return part
}

// Staying returns the deliveries that have a work before and after.
func (p Passage) Staying() map[Key]bool {
	staying, after := p.Before.Keys(), p.After.Keys()
	maps.DeleteFunc(staying, func(key Key, _ bool) bool { return !after[key] })
	return staying
}

// Disturbed reports the deletions of works of clusters that keep the object (docs/spec/federated-selector.md F35 and F41). A work that is
// created again was deleted before.
func (p Passage) Disturbed(staying map[Key]bool) []string {
	var findings []string
	p.replay(func(n int, event Event, state State) {
		if ends(event, state) && staying[event.Work.Key] {
			findings = append(findings, fmt.Sprintf("event %d, %s: the work %s of %s is deleted, and the cluster keeps the object",
				n, event.Type, event.Work.Name, event.Work.Key))
		}
	})
	return findings
}

// EarlyLosses reports the deletions of works of an object that began while clusters that get the object had no work yet
// (docs/spec/federated-selector.md 3.1.4, docs/architecture.md law 5). It expects one change of the clusters of each object between the two
// states.
func (p Passage) EarlyLosses() []string {
	before := p.Before.Keys()
	missing := map[string]map[string]bool{} // the clusters that get an object and have no work, by the object
	for key := range p.After.Keys() {
		if !before[key] {
			if missing[key.Object] == nil {
				missing[key.Object] = map[string]bool{}
			}
			missing[key.Object][key.Cluster] = true
		}
	}

	var findings []string
	p.replay(func(n int, event Event, state State) {
		object := event.Work.Object
		if ends(event, state) && len(missing[object]) > 0 {
			clusters := slices.Sorted(maps.Keys(missing[object]))
			findings = append(findings, fmt.Sprintf("event %d, %s: the work of %s is deleted while %d clusters that get the object have no work: %s",
				n, event.Type, event.Work.Key, len(clusters), strings.Join(clusters[:min(maxShown, len(clusters))], " ")))
		}
		if event.Type != watch.Deleted && !event.Work.Deleting {
			delete(missing[object], event.Work.Cluster)
		}
	})

	return findings
}

// Doubled reports the works of deliveries that already had another work.
func (p Passage) Doubled() []string {
	works := map[Key]map[types.UID]bool{}
	note := func(work Work) {
		if works[work.Key] == nil {
			works[work.Key] = map[types.UID]bool{}
		}
		works[work.Key][work.UID] = true
	}
	for _, work := range p.Before {
		note(work)
	}

	var findings []string
	for n, event := range p.Events {
		if event.Type == watch.Deleted {
			delete(works[event.Work.Key], event.Work.UID)
			continue
		}
		note(event.Work)
		if count := len(works[event.Work.Key]); event.Type == watch.Added && count > 1 {
			findings = append(findings, fmt.Sprintf("event %d: %s has %d works", n, event.Work.Key, count))
		}
	}

	return findings
}

// replay calls see for each event with its number and the state before it. The state must not be kept.
func (p Passage) replay(see func(n int, event Event, state State)) {
	state := maps.Clone(p.Before)
	if state == nil {
		state = State{}
	}
	for n, event := range p.Events {
		see(n, event, state)
		state.apply(event)
	}
}

// ends reports whether an event begins the deletion of a work, or deletes it at once.
func ends(event Event, state State) bool {
	was, existed := state[event.Work.UID]
	return existed && !was.Deleting && (event.Work.Deleting || event.Type == watch.Deleted)
}
