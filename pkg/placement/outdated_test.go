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
	carryOut := func(allowed int) (told []string, losing []bool, err error) {
		plan, objects := four()
		writer := Writer{Client: newServer(t, objects...), Proceed: func(_ context.Context, loses bool) error {
			losing = append(losing, loses)
			if len(losing) > allowed {
				return errRefused
			}
			return nil
		}}

		written, err := writer.Write(t.Context(), plan, observer(&told))
		if err == nil {
			err = writer.Delete(t.Context(), plan, written, observer(&told))
		}
		return told, losing, err
	}

	all, losing, err := carryOut(100)
	if err != nil {
		t.Fatal(err)
	}
	// The plan replaces a cluster, creates a page, updates an owner, and deletes two pages.
	expect(t, "writes that take clusters away", []bool{true, false, false, true, true}, losing)

	for allowed := range losing {
		told, asked, err := carryOut(allowed)
		if !errors.Is(err, errRefused) || len(asked) != allowed+1 || len(told) >= len(all) {
			t.Errorf("allowed %d: asked %d times, got %v", allowed, len(asked), err)
		}
		expect(t, "requests", strings.Join(all[:len(told)], ", "), strings.Join(told, ", "))
	}
}
