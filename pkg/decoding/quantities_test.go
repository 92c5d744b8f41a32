// SPDX-License-Identifier: Apache-2.0

package decoding

import "testing"

func TestSuspicious(t *testing.T) {
	for data, want := range map[string]bool{
		`{"cpu":"1e1000"}`:               true,
		`{"cpu":"+1.5E-12345"}`:          true,
		`{"cpu":".5e1000"}`:              true,
		`{"cpu":1e1000}`:                 true,
		`{"cpu": -1e+1000 }`:             true,
		`[1,2e1000]`:                     true,
		`{"cpu":"1e100"}`:                false,
		`{"cpu":"1000"}`:                 false,
		`{"cpu":"e1000"}`:                false,
		`{"cpu":"1e1000Ki"}`:             false, // It cannot be parsed, whatever its exponent is.
		`{"hash":"a3e41271"}`:            false,
		`{"hash":"3e41271ab"}`:           false,
		`{"uid":"1e412712-3e4127-4e41"}`: false,
		``:                               false,
	} {
		if got := suspicious([]byte(data)); got != want {
			t.Errorf("suspicious(%s) is %t", data, got)
		}
	}
}
