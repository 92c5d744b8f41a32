// SPDX-License-Identifier: Apache-2.0

package argocdrefresh

import (
	"time"

	"k8s.io/apimachinery/pkg/util/sets"
)

// Decision is what matters of a PlacementDecision: the clusters that it names, in any order.
type Decision struct {
	Name     string
	Labels   map[string]string
	Clusters []string
}

// Refresh is the refresh of one ApplicationSet that is due.
type Refresh struct {
	// Name and ResourceVersion are those of the ApplicationSet.
	Name, ResourceVersion string
	// ConfigMaps are those of the generators whose clusters have changed. The refresh is needed if NamesDecisions is true for one of them.
	ConfigMaps sets.Set[string]
}

// Refresher follows the ApplicationSets and PlacementDecisions of one namespace.
type Refresher struct {
	applicationSets map[string]*followedSet
	decisions       map[string]Decision
	selections      map[Selection]*selected
	pace            pacer
}

// followedSet is one ApplicationSet.
type followedSet struct {
	ApplicationSet

	// changed has the ConfigMaps of the generators whose clusters have changed since the last refresh was due.
	changed sets.Set[string]
}

// selected are the clusters of one Selection, which many ApplicationSets may share.
type selected struct {
	matches func(Decision) bool
	// named is how many times the PlacementDecisions name each cluster.
	named map[string]int
	// readers are the names of the ApplicationSets with the selection.
	readers sets.Set[string]
}

// New returns a Refresher without objects.
func New(pace Pace) *Refresher {
	return &Refresher{
		applicationSets: map[string]*followedSet{},
		decisions:       map[string]Decision{},
		selections:      map[Selection]*selected{},
		pace:            newPacer(pace),
	}
}

// SetApplicationSet adds or replaces an ApplicationSet. Argo CD evaluates one that is new or has a new spec by itself, so that it needs no refresh.
func (r *Refresher) SetApplicationSet(set ApplicationSet, now time.Time) {
	old, exists := r.applicationSets[set.Name]
	next := &followedSet{ApplicationSet: set, changed: sets.New[string]()}
	if exists {
		next.changed = old.changed
	}
	for _, reference := range set.References {
		r.read(reference.Selection, set.Name)
	}
	r.applicationSets[set.Name] = next
	if exists {
		r.unread(old, next)
	}
	if !set.Followed {
		next.changed = sets.New[string]()
		r.pace.drop(set.Name)
	}
	r.pace.hold(set.Name, set.Requested, now)
}

// DeleteApplicationSet removes an ApplicationSet.
func (r *Refresher) DeleteApplicationSet(name string) {
	if old, exists := r.applicationSets[name]; exists {
		delete(r.applicationSets, name)
		r.unread(old, &followedSet{})
	}
	r.pace.forget(name)
}

// read adds a reader of a selection.
func (r *Refresher) read(selection Selection, reader string) {
	found, exists := r.selections[selection]
	if !exists {
		found = &selected{matches: selection.matcher(), named: map[string]int{}, readers: sets.New[string]()}
		for _, decision := range r.decisions {
			if found.matches(decision) {
				found.count(decision, 1)
			}
		}
		r.selections[selection] = found
	}
	found.readers.Insert(reader)
}

// unread removes an ApplicationSet from the selections that its next state does not have.
func (r *Refresher) unread(old, next *followedSet) {
	kept := sets.New[Selection]()
	for _, reference := range next.References {
		kept.Insert(reference.Selection)
	}
	for _, reference := range old.References {
		found, exists := r.selections[reference.Selection]
		if !exists || kept.Has(reference.Selection) {
			continue
		}
		found.readers.Delete(old.Name)
		if found.readers.Len() == 0 {
			delete(r.selections, reference.Selection)
		}
	}
}

// Base adds or replaces a PlacementDecision that Argo CD has read, or will read without a refresh: one that exists when the process starts.
func (r *Refresher) Base(decision Decision) {
	r.replace(&decision, decision.Name)
}

// SetDecision adds or replaces a PlacementDecision, and notes the ApplicationSets whose clusters it changes.
func (r *Refresher) SetDecision(decision Decision, now time.Time) {
	r.note(r.replace(&decision, decision.Name), now)
}

// DeleteDecision removes a PlacementDecision, and notes the ApplicationSets whose clusters that changes.
func (r *Refresher) DeleteDecision(name string, now time.Time) {
	r.note(r.replace(nil, name), now)
}

// replace replaces a PlacementDecision by its next state, nil if it has none, and returns the selections whose clusters differ.
func (r *Refresher) replace(next *Decision, name string) sets.Set[Selection] {
	old, exists := r.decisions[name]
	changed := sets.New[Selection]()
	for selection, found := range r.selections {
		touched := sets.New[string]()
		before := map[string]bool{}
		remember := func(decision Decision) {
			for _, cluster := range decision.Clusters {
				before[cluster] = found.named[cluster] > 0
				touched.Insert(cluster)
			}
		}
		leaves, comes := exists && found.matches(old), next != nil && found.matches(*next)
		if leaves {
			remember(old)
		}
		if comes {
			remember(*next)
			found.count(*next, 1)
		}
		if leaves {
			found.count(old, -1)
		}
		for cluster := range touched {
			if before[cluster] != (found.named[cluster] > 0) {
				changed.Insert(selection)
				break
			}
		}
	}
	if next == nil {
		delete(r.decisions, name)
	} else {
		r.decisions[name] = *next
	}
	return changed
}

// count adds how often a PlacementDecision names clusters, times sign.
func (s *selected) count(decision Decision, sign int) {
	for _, cluster := range decision.Clusters {
		s.named[cluster] += sign
		if s.named[cluster] == 0 {
			delete(s.named, cluster)
		}
	}
}

// note notes that the clusters of selections have changed.
func (r *Refresher) note(changed sets.Set[Selection], now time.Time) {
	for selection := range changed {
		for reader := range r.selections[selection].readers {
			set := r.applicationSets[reader]
			if !set.Followed {
				continue
			}
			for _, reference := range set.References {
				if reference.Selection == selection {
					set.changed.Insert(reference.ConfigMap)
				}
			}
			r.pace.want(reader, now)
		}
	}
}

// Next returns the refresh that is due, and true. Without one it returns false and when to ask again, which is zero if only a change can make
// one due. After Next the caller calls Done with the same name.
func (r *Refresher) Next(now time.Time) (Refresh, time.Time, bool) {
	name, at, found := r.pace.next(now)
	if !found {
		return Refresh{}, at, false
	}
	set := r.applicationSets[name]
	due := Refresh{Name: name, ResourceVersion: set.ResourceVersion, ConfigMaps: set.changed}
	set.changed = sets.New[string]()
	return due, time.Time{}, true
}

// Done records what came of a refresh.
func (r *Refresher) Done(refresh Refresh, outcome Outcome, now time.Time) {
	set, exists := r.applicationSets[refresh.Name]
	if !exists {
		return
	}
	if outcome == Failed && set.Followed {
		set.changed = set.changed.Union(refresh.ConfigMaps)
		r.pace.want(refresh.Name, now)
	}
	r.pace.done(refresh.Name, outcome, now)
}

// Held returns how many ApplicationSets have changed clusters and wait for Argo CD to remove AnnotationRefresh.
func (r *Refresher) Held() int {
	return r.pace.held()
}
