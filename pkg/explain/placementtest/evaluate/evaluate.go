// SPDX-License-Identifier: Apache-2.0

package evaluate

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/placement-hub/placement-hub/pkg/clusterinfo"
	"github.com/placement-hub/placement-hub/pkg/explain"
	"github.com/placement-hub/placement-hub/pkg/explain/placementtest/cases"
	"github.com/placement-hub/placement-hub/pkg/explain/whatif"
	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/placement/api"
)

// exists reports whether the world has a Placement.
func (r *run) exists(key inventory.Key) bool { return r.placed[key] != nil }

// evaluatePresent evaluates cases in the world as it is.
func (r *run) evaluatePresent(group []*test) {
	outcomes := map[inventory.Key]*outcome{}
	for _, t := range r.ready(group, r.known, r.exists) {
		for _, key := range t.keys {
			o := outcomes[key]
			if o == nil {
				evaluation, evaluated := r.variants.Base(key)
				if !evaluated {
					return // It was interrupted.
				}
				o = r.newOutcome(explain.Variant{Before: &evaluation, After: evaluation, Snapshot: r.variants.Snapshot()})
				outcomes[key] = o
			}
			r.check(t, key, "", r.State, o)
		}
		if !r.cancelled() {
			t.result.Objects = len(t.keys)
		}
	}
	r.evaluateSystems(group, "", r.State)
}

// evaluateChanged evaluates cases in a changed world.
func (r *run) evaluateChanged(group []*test) {
	after, text, err := r.change(group[0].Case)
	if err != nil {
		for _, t := range group {
			t.fail(err)
		}
		return
	}
	placed := map[inventory.Key]bool{}
	for _, key := range keysIn(after) {
		placed[key] = true
	}
	var clusters []*clusterinfo.ClusterInfo
	outcomes := map[inventory.Key]*outcome{}
	wanted := func(key inventory.Key) bool {
		return slices.ContainsFunc(group, func(t *test) bool { return t.wanted[key] })
	}
	for _, t := range group {
		if by := t.Spec.Objects.Placements; by != nil {
			t.keys = selectedKeys(after, by)
			for _, key := range t.keys {
				t.wanted[key] = true
			}
		}
	}
	r.variants.InChanged(after, wanted, func(variant explain.Variant) {
		outcomes[variant.After.Placement.Key()], clusters = r.newOutcome(variant), variant.Snapshot.Clusters()
	})
	if r.cancelled() {
		return
	}
	known := newVocabulary(slices.Concat(clusters, r.variants.Snapshot().Clusters()), after)
	for _, t := range r.ready(group, known, func(key inventory.Key) bool { return placed[key] }) {
		for _, key := range t.keys {
			r.check(t, key, text, after, outcomes[key])
		}
		if !r.cancelled() {
			t.result.Objects = len(t.keys)
		}
	}
	r.evaluateSystems(group, text, after)
}

// change returns the world after the changes of a case, and what they are.
func (r *run) change(c *cases.Case) (*explain.State, string, error) {
	state, texts := r.State, make([]string, 0, len(c.Spec.When.Changed))
	for i, parsed := range c.Changes() {
		field := fmt.Sprintf("spec.when.changed[%d]", i)
		written := &c.Spec.When.Changed[i]
		var err error
		switch {
		case parsed != nil:
			state, err = whatif.Apply(state, r.Now, parsed)
			texts = append(texts, parsed.String())
		case r.Files == nil:
			err = errors.New("there are no files here; write the changes into the case")
		default:
			state, err = r.Files(state, c, written, r.Now)
			texts = append(texts, textOfFiles(written))
		}
		if err != nil {
			return nil, "", fmt.Errorf("%s: %w", field, err)
		}
	}
	return state, strings.Join(texts, ", "), nil
}

// textOfFiles returns "apply new/ instead of old/".
func textOfFiles(change *cases.Change) string {
	switch {
	case change.Delete != "":
		return "delete " + change.Delete
	case change.Old != "":
		return "apply " + change.Apply + " instead of " + change.Old
	default:
		return "apply " + change.Apply
	}
}

// evaluateFailures evaluates cases in each combination of clusters that fail.
func (r *run) evaluateFailures(group []*test, when *cases.When) {
	failure, field := when.Lost, "spec.when.lost"
	if failure == nil {
		failure, field = when.Deleted, "spec.when.deleted"
	}
	combined, err := combinationsOf(failure, clusterNames(r.variants.Snapshot()), r.variants.Snapshot())
	if err = errors.Join(r.known.checkFailure(when), err); err != nil {
		for _, t := range group {
			t.fail(fmt.Errorf("%s: %w", field, err))
		}
		return
	}
	ready := r.ready(group, r.known, r.exists)
	titles := make([]string, 0, len(ready))
	for _, t := range ready {
		titles = append(titles, t.Metadata.Name)
		t.result.Situations = &Situations{Of: combined.of, Seed: combined.seed}
	}
	if len(ready) == 0 {
		return
	}
	ago, tried := longestToleration(r.State), uint64(0)
	for clusters := range combined.each {
		if r.cancelled() {
			return
		}
		if r.Progress != nil {
			r.Progress(titles, tried, combined.tried)
		}
		changes := failing(when, clusters, ago)
		after, err := whatif.Apply(r.State, r.Now, changes...)
		if err != nil {
			for _, t := range ready {
				t.fail(fmt.Errorf("%s: %w", field, err))
			}
			return
		}
		r.evaluateFailure(ready, after, textOf(changes))
		if r.cancelled() {
			return
		}
		tried++
		for _, t := range ready {
			t.result.Situations.Tried = tried
		}
	}
	for _, t := range ready {
		if !t.system {
			t.result.Objects = len(t.keys)
		}
	}
}

// clusterNames returns the sorted names of all clusters.
func clusterNames(snapshot *inventory.Snapshot) []string {
	clusters := snapshot.Clusters()
	names := make([]string, 0, len(clusters))
	for _, cluster := range clusters {
		names = append(names, cluster.Name)
	}
	slices.Sort(names)
	return names
}

// evaluateFailure evaluates cases in a world in which clusters fail. A Placement on which they have no effect is checked once.
func (r *run) evaluateFailure(group []*test, after *explain.State, when string) {
	evaluated := map[inventory.Key]bool{}
	wanted := func(key inventory.Key, depends bool) bool {
		for _, t := range group {
			if t.wanted[key] && (depends || t.readsAll()) {
				evaluated[key] = true
				return true
			}
		}
		return false
	}
	r.variants.In(after, wanted, func(variant explain.Variant) {
		key := variant.After.Placement.Key()
		var o *outcome
		for _, t := range group {
			if t.wanted[key] {
				if o == nil {
					o = r.newOutcome(variant)
				}
				r.check(t, key, when, after, o)
			}
		}
	})
	for _, t := range group {
		if len(t.resting) < len(t.keys) {
			r.checkResting(t, evaluated, when, after)
		}
	}
	r.evaluateSystems(group, when, after)
}

// checkResting checks the Placements of a case on which failures had no effect yet, and which were not checked before.
func (r *run) checkResting(t *test, evaluated map[inventory.Key]bool, when string, after *explain.State) {
	for _, key := range t.keys {
		if evaluated[key] || t.resting[key] {
			continue
		}
		t.resting[key] = true
		if evaluation, known := r.variants.Base(key); known {
			r.check(t, key, when, after, r.newOutcome(explain.Variant{Before: &evaluation, After: evaluation, Snapshot: r.variants.Snapshot()}))
		}
	}
}

// readsAll reports whether a case expects something of clusters that decide nothing.
func (t *test) readsAll() bool {
	expect := &t.Spec.Expect
	return expect.NotSelected != nil || len(expect.Because) > 0 || len(expect.Order) > 0
}

// keysIn returns the keys of the Placements of a State.
func keysIn(state *explain.State) []inventory.Key {
	keys := make([]inventory.Key, 0, len(state.Placements))
	for _, object := range state.Placements {
		keys = append(keys, api.Read(object).Key())
	}
	return keys
}

// selectedKeys returns the keys of the Placements of a State that a selector selects, in their order.
func selectedKeys(state *explain.State, by *cases.PlacementSelector) []inventory.Key {
	var keys []inventory.Key
	for _, object := range state.Placements {
		if p := api.Read(object); selects(by, p) {
			keys = append(keys, p.Key())
		}
	}
	slices.SortFunc(keys, inventory.Key.Compare)
	return keys
}
