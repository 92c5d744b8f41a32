// SPDX-License-Identifier: Apache-2.0

package archive

import (
	"slices"
	"time"

	"github.com/placement-hub/placement-hub/pkg/history"
	"github.com/placement-hub/placement-hub/pkg/hub/consistency"
)

// identity is the same for a row in every process of the hub.
type identity struct {
	object          history.Object
	uid             string
	resourceVersion string
	time            time.Time // of a row without resourceVersion
}

func identityOf(move *history.Move) identity {
	of := identity{object: move.Object(), uid: move.UID, resourceVersion: move.ResourceVersion}
	if of.resourceVersion == "" {
		of.time = move.Time
	}
	return of
}

// overlap is how much older than the latest stored row a row may be that was not stored in time.
const overlap = time.Minute

// Merge returns the rows that were stored with those that a process has, by their times, and which of these have not been stored. Up to the latest
// stored row of an object the stored rows are right: a process that watched as a standby may have cut the same writes into other rows, without
// reasons. A row that is older than the overlap before the latest stored row was stored and has gone since: it is not missing.
func Merge(stored, own []*history.Move) (all, missing []*history.Move) {
	latest, end := map[identity]*history.Move{}, time.Time{}
	for _, move := range stored {
		of := identity{object: move.Object(), uid: move.UID}
		if known := latest[of]; known == nil || after(move, known) {
			latest[of] = move
		}
		if move.Time.After(end) {
			end = move.Time
		}
	}
	all = slices.Clone(stored)
	for _, move := range own {
		if known := latest[identity{object: move.Object(), uid: move.UID}]; known != nil && !after(move, known) {
			continue
		}
		all = append(all, move)
		if end.IsZero() || move.Time.After(end.Add(-overlap)) {
			missing = append(missing, move)
		}
	}
	slices.SortStableFunc(all, byTime)
	return all, missing
}

// after reports whether a is a later row of an object than b: by their versions, or by their times if one has none.
func after(a, b *history.Move) bool {
	if order, ordered := consistency.Compare(a.ResourceVersion, b.ResourceVersion); ordered {
		return order > 0
	}
	return a.Time.After(b.Time)
}
