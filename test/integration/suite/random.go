// SPDX-License-Identifier: Apache-2.0

package suite

import (
	"math/rand/v2"
)

// Pick returns one of the choices.
func Pick[T any](random *rand.Rand, choices ...T) T { return choices[random.IntN(len(choices))] }

// Some returns up to n results of one.
func Some[T any](random *rand.Rand, n int, one func(*rand.Rand) T) []T {
	things := make([]T, random.IntN(n+1))
	for i := range things {
		things[i] = one(random)
	}
	return things
}
