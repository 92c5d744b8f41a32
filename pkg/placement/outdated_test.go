// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"context"
	"errors"
	"strings"
	"testing"
)

// docs/spec/differences.md B13: an error of Proceed ends the plan before the next request that takes clusters away, and never before a gain.
func TestAnOutdatedPlanIsDropped(t *testing.T) {
	carryOut := func(allowed int) (told []string, asked int, err error) {
		plan, objects := four()
		writer := Writer{Client: newServer(t, objects...), Proceed: func(context.Context) error {
			asked++
			if asked > allowed {
				return errRefused
			}
			return nil
		}}

		written, err := writer.Write(t.Context(), plan, observer(&told))
		if err == nil {
			err = writer.Delete(t.Context(), plan, written, observer(&told))
		}
		return told, asked, err
	}

	all, losses, err := carryOut(100)
	if err != nil || losses < 2 {
		t.Fatalf("got %d losses and %v", losses, err)
	}

	for allowed := range losses {
		told, asked, err := carryOut(allowed)
		if !errors.Is(err, errRefused) || asked != allowed+1 || len(told) >= len(all) {
			t.Errorf("allowed %d: asked %d times, got %v", allowed, asked, err)
		}
		expect(t, "requests", strings.Join(all[:len(told)], ", "), strings.Join(told, ", "))
	}
}
