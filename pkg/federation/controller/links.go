// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"maps"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/types"

	"github.com/placement-hub/placement-hub/pkg/inventory"
)

// link is what an evaluated object has to do with others.
type link struct {
	// clusters are those to which it is delivered, sorted.
	clusters []string
	// needs are its dependencies, and propagates reports whether they are delivered with it.
	needs      []inventory.Key
	propagates bool
	// placement is the Placement whose decisions it follows; empty for none.
	placement types.NamespacedName
}

// links has the links of the evaluated objects. It is safe for concurrent use.
type links struct {
	mu sync.Mutex
	of map[inventory.Key]link
	// users are the objects that need a key, and followers those that follow a Placement.
	users     map[inventory.Key]map[inventory.Key]bool
	followers map[types.NamespacedName]map[inventory.Key]bool
}

func newLinks() *links {
	return &links{
		of: map[inventory.Key]link{}, users: map[inventory.Key]map[inventory.Key]bool{},
		followers: map[types.NamespacedName]map[inventory.Key]bool{},
	}
}

// set replaces the link of an object, and returns the objects that the change concerns: its users if its clusters have changed, and the
// dependencies that it propagates, or has propagated before.
func (l *links) set(key inventory.Key, after link) []inventory.Key {
	l.mu.Lock()
	defer l.mu.Unlock()
	before, known := l.of[key]
	l.of[key] = after
	return l.replace(key, before, after, known)
}

// forget drops the link of an object, and returns the objects that the change concerns.
func (l *links) forget(key inventory.Key) []inventory.Key {
	l.mu.Lock()
	defer l.mu.Unlock()
	before, known := l.of[key]
	delete(l.of, key)
	return l.replace(key, before, link{}, known)
}

// replace updates the indexes; mu must be held.
func (l *links) replace(key inventory.Key, before, after link, known bool) []inventory.Key {
	for _, need := range before.needs {
		remove(l.users, need, key)
	}
	for _, need := range after.needs {
		add(l.users, need, key)
	}

	if before.placement != after.placement {
		remove(l.followers, before.placement, key)
		if after.placement.Name != "" {
			add(l.followers, after.placement, key)
		}
	}
	var concerned []inventory.Key

	moved := !slices.Equal(before.clusters, after.clusters)
	if moved || !known {
		concerned = slices.AppendSeq(concerned, maps.Keys(l.users[key]))
	}

	if moved || before.propagates != after.propagates || !slices.Equal(before.needs, after.needs) {
		if before.propagates {
			concerned = append(concerned, before.needs...)
		}
		if after.propagates {
			concerned = append(concerned, after.needs...)
		}
	}
	return concerned
}

// clusters returns the clusters to which an object is delivered; false if it was not evaluated yet.
func (l *links) clusters(key inventory.Key) ([]string, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	of, known := l.of[key]
	return of.clusters, known
}

// propagated returns the clusters of the objects that propagate a dependency.
func (l *links) propagated(key inventory.Key) []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var clusters []string
	for user := range l.users[key] {
		if of := l.of[user]; of.propagates {
			clusters = append(clusters, of.clusters...)
		}
	}
	slices.Sort(clusters)
	return slices.Compact(clusters)
}

// following returns the objects that follow the decisions of a Placement.
func (l *links) following(placement types.NamespacedName) []inventory.Key {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Collect(maps.Keys(l.followers[placement]))
}

func add[K comparable](index map[K]map[inventory.Key]bool, of K, key inventory.Key) {
	if index[of] == nil {
		index[of] = map[inventory.Key]bool{}
	}
	index[of][key] = true
}

func remove[K comparable](index map[K]map[inventory.Key]bool, of K, key inventory.Key) {
	delete(index[of], key)
	if len(index[of]) == 0 {
		delete(index, of)
	}
}
