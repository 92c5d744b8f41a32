// SPDX-License-Identifier: Apache-2.0

package quantity_test

import (
	"testing"

	"github.com/placement-hub/placement-hub/pkg/decoding/quantity"
)

func TestModerate(t *testing.T) {
	for text, want := range map[string]bool{
		"": true, "1": true, "1.5": true, "1Ei": true, "2E": true, "100m": true, "1e3": true, "1E-3": true, "1e+1000": true, "-1e1000": true,
		"1e1001": false, "1e-1001": false, "1e4217483647": false, "1E-99999999": false, "1e99999999999999999999": false, "1e1.5": false,
	} {
		if got := quantity.Moderate(text); got != want {
			t.Errorf("%q: got %v, want %v", text, got, want)
		}
	}
}
