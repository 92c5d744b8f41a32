// SPDX-License-Identifier: Apache-2.0

package inventory

import (
	"math"
	"math/bits"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/placement-hub/placement-hub/test/property"
)

// Verdicts in blocks are those that a map has.
func TestCELVerdictsAreThoseThatWereSet(t *testing.T) {
	property.Check(t, func(t *rapid.T) {
		var verdicts celVerdicts
		model := map[uint]cachedVerdict{}
		const clusters = 3 * blockSize
		for range rapid.IntRange(1, 200).Draw(t, "changes") {
			if rapid.IntRange(0, 30).Draw(t, "invalidate") == 0 {
				verdicts.invalidate()
				for id, one := range model {
					model[id] = cachedVerdict{from: one.from}
				}
				continue
			}
			id := rapid.UintRange(0, clusters-1).Draw(t, "cluster")
			one := cachedVerdict{from: rapid.SampledFrom([]uint64{0, 0, 0, 1, 5}).Draw(t, "from"), valid: rapid.Bool().Draw(t, "valid")}
			if one.valid {
				one.cost = rapid.SampledFrom([]uint32{0, 7, 7, 9, 1 << 31}).Draw(t, "cost")
				one.matched, one.hasDetails = rapid.Bool().Draw(t, "matched"), rapid.IntRange(0, 9).Draw(t, "details") == 0
			}
			verdicts.set(id, one)
			model[id] = one
		}
		for id := range uint(clusters) {
			if diff := cmp.Diff(model[id], verdicts.get(id), cmp.AllowUnexported(cachedVerdict{})); diff != "" {
				t.Fatalf("cluster %d (-want +got):\n%s", id, diff)
			}
		}
		generation, asked := rapid.Uint64Range(0, 6).Draw(t, "generation"), rapid.Uint64().Draw(t, "asked")
		for i := range verdicts.blocks {
			want, cost := uint64(0), uint64(0)
			for at := range uint(blockSize) {
				one := model[uint(i)*blockSize+at]
				if isSet(asked, at) && one.valid && !one.hasDetails && generation >= one.from {
					setTo(&want, at, true)
					cost += uint64(one.cost)
				}
			}
			got := verdicts.blocks[i].settled(asked, generation)
			if got != want || verdicts.blocks[i].costOf(got) != cost {
				t.Fatalf("block %d has %d settled verdicts of cost %d, want %d of %d",
					i, bits.OnesCount64(got), verdicts.blocks[i].costOf(got), bits.OnesCount64(want), cost)
			}
		}
	})
}

// TestCELVerdictsOfEqualCostAreSmall checks that there are no more blocks than needed, and that verdicts with the same cost share it.
func TestCELVerdictsOfEqualCostAreSmall(t *testing.T) {
	var verdicts celVerdicts
	for id := range uint(3 * blockSize) {
		verdicts.set(id, cachedVerdict{cost: 7, valid: true})
	}
	want := verdictBlock{valid: math.MaxUint64, cost: 7}
	if diff := cmp.Diff([]verdictBlock{want, want, want}, verdicts.blocks, cmp.AllowUnexported(verdictBlock{})); diff != "" {
		t.Errorf("blocks (-want +got):\n%s", diff)
	}
}
