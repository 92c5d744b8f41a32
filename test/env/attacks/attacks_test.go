// SPDX-License-Identifier: Apache-2.0

package attacks

import (
	"testing"
	"time"
)

func TestSettings(t *testing.T) {
	for _, tc := range []struct {
		reason         string
		duration, seed string
		want           time.Duration
		wantSeed       uint64
		fails          bool
	}{
		{reason: "nothing is named: the seed is new", want: time.Minute},
		{reason: "both are named", duration: "10m", seed: "7", want: 10 * time.Minute, wantSeed: 7},
		{reason: "no duration", duration: "ten", fails: true},
		{reason: "no seed", seed: "-1", fails: true},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			t.Setenv(DurationVariable, tc.duration)
			t.Setenv(SeedVariable, tc.seed)
			duration, seed, err := Settings(time.Minute)
			if (err != nil) != tc.fails || duration != tc.want || tc.seed != "" && seed != tc.wantSeed || !tc.fails && seed == 0 {
				t.Errorf("%s: got %v, %d, %v", tc.reason, duration, seed, err)
			}
		})
	}
}
