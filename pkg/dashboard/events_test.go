// SPDX-License-Identifier: Apache-2.0

package dashboard

import (
	"testing"
	"time"
)

// Streams take a part of a core, and pages whose Placements have changed are made at once after a rest.
func TestStreamsTakeAPartOfACore(t *testing.T) {
	const took = 20 * time.Millisecond
	for _, tc := range []struct {
		reason string
		urgent bool
		// within is how long the first pages may take that a burst has room for.
		within time.Duration
	}{
		{"pages of Placements that have changed", true, burst},
		{"other pages", false, streamPace * burst},
	} {
		var s spending
		begin := time.Now()
		now := begin
		for made := took; now.Sub(begin) < time.Minute; made += took {
			now = now.Add(took)
			now = now.Add(s.add(now.Add(-took), now, tc.urgent))
			if took := now.Sub(begin); made == burst && took > tc.within {
				t.Errorf("%s: the first %v took %v", tc.reason, made, took)
			}
			if most := now.Sub(begin)/streamPace + burst + took; made > most {
				t.Fatalf("%s: %v of %v, want %v at most", tc.reason, made, now.Sub(begin), most)
			}
		}
	}
}

// A slow page delays the streams of others by as long as it took, and no other page after that.
func TestASlowPageIsPaidForOnce(t *testing.T) {
	const slow, took = 5 * time.Second, 20 * time.Millisecond
	for _, urgent := range []bool{false, true} {
		var s spending
		begin := time.Now()
		ended := begin.Add(slow)
		wait := s.add(begin, ended, urgent)
		if wait > slow {
			t.Errorf("urgent %t: the next page waits for %v, want %v at most", urgent, wait, slow)
		}
		next := ended.Add(wait)
		if wait := s.add(next, next.Add(took), urgent); wait > 2*streamPace*took {
			t.Errorf("urgent %t: the page after the next one waits for %v", urgent, wait)
		}
	}
}
