// SPDX-License-Identifier: Apache-2.0

package property

import (
	"math/rand/v2"
	"os"
	"strconv"

	"pgregory.net/rapid"
)

// seedVariable of the environment names the seed of Random.
const seedVariable = "PLACEMENT_SEED"

// Random returns the source of all chance of a test, and logs its seed, with which PLACEMENT_SEED repeats the test. Without that variable,
// the seed is fresh.
func Random(t rapid.TB) *rand.Rand {
	t.Helper()
	seed := fresh()
	if given := os.Getenv(seedVariable); given != "" {
		var err error
		if seed, err = strconv.ParseUint(given, 10, 64); err != nil {
			t.Fatalf("%s: %v", seedVariable, err)
		}
	}
	t.Logf("the same again: %s=%d", seedVariable, seed)
	return rand.New(rand.NewPCG(seed, 0))
}
