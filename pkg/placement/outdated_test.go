// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"context"
	"errors"
	"strings"
	"testing"
)

// docs/spec/differences.md B13: an error of Proceed ends the plan before the next write, which Proceed knows to take clusters away or not.
func TestAnOutdatedPlanIsDropped(t *testing.T) {
	carryOut := func(allowed int) (told []string, asked, losing int, err error) {
		plan, objects := four()
		writer := Writer{Client: newServer(t, objects...), Proceed: func(_ context.Context, loses bool) error {
			asked++
			if loses {
				losing++
			}
			if asked > allowed {
				return errRefused
			}
			return nil
		}}

		written, err := writer.Write(t.Context(), plan, observer(&told))
		if err == nil {
			err = writer.Delete(t.Context(), plan, written, observer(&told))
		}
		return told, asked, losing, err
	}

	all, writes, losses, err := carryOut(100)
	if err != nil || losses < 2 || writes <= losses {
		t.Fatalf("got %d writes, of which %d lose clusters, and %v", writes, losses, err)
	}

	for allowed := range writes {
		told, asked, _, err := carryOut(allowed)
		if !errors.Is(err, errRefused) || asked != allowed+1 || len(told) >= len(all) {
			t.Errorf("allowed %d: asked %d times, got %v", allowed, asked, err)
		}
		expect(t, "requests", strings.Join(all[:len(told)], ", "), strings.Join(told, ", "))
	}
}
