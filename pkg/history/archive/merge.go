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

// Merge returns the rows that were stored with those that a process has, by their times, and which of these are not stored. Up to the latest stored
// row of an object the stored rows are right: a process that watched as a standby may have cut the same writes into other rows, without reasons.
func Merge(stored, own []*history.Move) (all, missing []*history.Move) {
	latest := map[identity]*history.Move{}
	for _, move := range stored {
		of := identity{object: move.Object(), uid: move.UID}
		if known := latest[of]; known == nil || after(move, known) {
			latest[of] = move
		}
	}
	all = slices.Clone(stored)
	for _, move := range own {
		if known := latest[identity{object: move.Object(), uid: move.UID}]; known == nil || after(move, known) {
			all, missing = append(all, move), append(missing, move)
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
