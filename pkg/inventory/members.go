// SPDX-License-Identifier: Apache-2.0

package inventory

import "github.com/bits-and-blooms/bitset"

// Members is a set of clusters of one snapshot, by their ids in it.
type Members = *bitset.BitSet

// flags is a set of clusters that is copied on the first change after freeze.
type flags struct {
	bits   Members
	shared bool
}

func newFlags() flags { return flags{bits: bitset.New(0)} }

// set adds or removes a cluster, and reports whether that was a change.
func (f *flags) set(id uint, is bool) bool {
	if f.bits.Test(id) == is {
		return false
	}
	if f.shared {
		f.bits, f.shared = f.bits.Clone(), false
	}
	f.bits.SetTo(id, is)
	return true
}

func (f *flags) freeze() Members {
	f.shared = true
	return f.bits
}
