// SPDX-License-Identifier: Apache-2.0

package inventory

import (
	"slices"

	"github.com/placement-hub/placement-hub/pkg/selector"
)

// hold returns views of selectors with a reference to each. The caller holds the mutex, which hold releases while it evaluates selectors.
func (i *Inventory) hold(selectors []*selector.Selector) []*view {
	held := make([]*view, 0, len(selectors))
	for batch := range slices.Chunk(selectors, maxBuild) {
		build := i.views.newBuild(batch)
		if len(build.views) > 0 {
			i.unlocked(func() { i.runBuild(build) })
		}

		// Each round evaluates what changed during the round before it, which becomes shorter each time.
		for changed := i.views.changedSince(build); len(changed) > maxCatchUp; changed = i.views.changedSince(build) {
			now := i.infos.freeze()
			i.unlocked(func() { build.catchUp(changed, now) })
		}
		held = append(held, i.views.install(build)...)
		i.views.freeze()
	}

	return held
}

// unlocked calls a function without the mutex, which the caller holds.
func (i *Inventory) unlocked(do func()) {
	i.mu.Unlock()
	defer i.mu.Lock()
	do()
}

// release removes a reference to each view. The caller holds the mutex, which release gives up after each batch.
func (i *Inventory) release(unused []*view) {
	for batch := range slices.Chunk(unused, maxBuild) {
		if len(unused) > maxBuild {
			i.views.freeze()
			i.unlocked(func() {})
		}
		for _, one := range batch {
			i.views.release(one)
		}
	}
}
