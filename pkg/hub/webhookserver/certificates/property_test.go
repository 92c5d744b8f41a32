// SPDX-License-Identifier: Apache-2.0

package certificates

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/placement-hub/placement-hub/test/property"
)

// However often Next is called, no client with the bundle of the last hour ever sees a certificate that the bundle does not verify.
func TestRotationIsNeverNoticed(t *testing.T) {
	property.Check(t, func(t *rapid.T) {
		at := begin
		held, again := next(t, Material{}, at)
		for range rapid.IntRange(1, 12).Draw(t, "steps") {
			// The hub may be late by a month: a third of the lifetime of a serving certificate.
			if rapid.Bool().Draw(t, "on time") {
				at = again
			} else {
				at = again.Add(time.Duration(rapid.IntRange(-int(time.Hour), int(28*day)).Draw(t, "late")))
			}
			if err := trusts(t, held.Bundle, held, at); err != nil {
				t.Fatalf("what was served until %v: %v", at, err)
			}
			after, later := next(t, held, at)
			if err := trusts(t, held.Bundle, after, at); err != nil {
				t.Fatalf("what is served from %v on, to those who have not read the new bundle: %v", at, err)
			}
			if err := trusts(t, after.Bundle, held, at); err != nil {
				t.Fatalf("what was served until %v, to those who have: %v", at, err)
			}
			if at.Before(again.Add(-rounding)) && !after.Equal(held) {
				t.Fatalf("something changed at %v, before %v", at, again)
			}
			if settled, _ := next(t, after, at); !settled.Equal(after) {
				t.Fatalf("asked twice at %v, there are two answers", at)
			}
			held, again = after, later
		}
	})
}

// Whatever the current Material is, the next one is complete.
func TestEditsAreCorrected(t *testing.T) {
	first, _ := next(t, Material{}, begin)
	second, _ := next(t, Material{}, begin.Add(100*day))
	property.Check(t, func(t *rapid.T) {
		part := func(name string, of func(Material) []byte) []byte {
			switch rapid.IntRange(0, 4).Draw(t, name) {
			case 0:
				return of(second)
			case 1:
				return rapid.SliceOf(rapid.Byte()).Draw(t, name+" noise")
			case 2:
				whole := of(first)
				return whole[:rapid.IntRange(0, len(whole)).Draw(t, name+" cut")]
			case 3:
				return append(append([]byte{}, of(second)...), of(first)...)
			default:
				return of(first)
			}
		}
		held := Material{
			Bundle:       part("bundle", func(m Material) []byte { return m.Bundle }),
			AuthorityKey: part("authority key", func(m Material) []byte { return m.AuthorityKey }),
			Certificate:  part("certificate", func(m Material) []byte { return m.Certificate }),
			Key:          part("key", func(m Material) []byte { return m.Key }),
		}
		at := begin.Add(time.Duration(rapid.IntRange(0, int(500*day)).Draw(t, "at")))
		got, _ := next(t, held, at)
		if err := trusts(t, got.Bundle, got, at); err != nil {
			t.Fatalf("not mended: %v", err)
		}
		if settled, _ := next(t, got, at); !settled.Equal(got) {
			t.Fatalf("mended twice")
		}
	})
}
