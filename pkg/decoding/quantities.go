// SPDX-License-Identifier: Apache-2.0

package decoding

import (
	"encoding/json"
	"errors"
	"strings"

	"github.com/placement-hub/placement-hub/pkg/decoding/quantity"
)

// errImmoderate is the problem of a quantity that must not be parsed.
var errImmoderate = errors.New("the exponent of a quantity is out of bounds")

// quantities are the fields with quantities in the hub's own kinds, of one object or of the items of a list.
type quantities struct {
	Status struct {
		Allocatable map[string]json.RawMessage `json:"allocatable"`
		Capacity    map[string]json.RawMessage `json:"capacity"`
	} `json:"status"`
	Items []json.RawMessage `json:"items"`
}

// immoderate reports whether JSON data has a quantity that takes too long to parse (see package quantity).
func immoderate(data []byte) bool {
	if !suspicious(data) {
		return false
	}
	var found quantities
	if err := json.Unmarshal(data, &found); err != nil {
		return false // The CustomResourceDefinitions of the hub's kinds admit no such data.
	}

	for _, amounts := range []map[string]json.RawMessage{found.Status.Allocatable, found.Status.Capacity} {
		for _, amount := range amounts {
			if !quantity.Moderate(strings.Trim(string(amount), `"`)) {
				return true
			}
		}
	}

	for _, item := range found.Items {
		if immoderate(item) {
			return true
		}
	}
	return false
}

// suspiciousDigits is the number of digits from which on an exponent may be out of bounds.
const suspiciousDigits = 4

// suspicious reports whether the data has a number with a long exponent, as a JSON number or as a whole string, which is rare and cheap to
// check. Digests and UIDs often have such digits inside, which must not count: of a list of many objects nearly every one would be suspicious.
func suspicious(data []byte) bool {
	for i := 1; i+suspiciousDigits < len(data); i++ {
		if data[i]|0x20 == 'e' && beginsNumber(data[:i]) && endsExponent(data[i+1:]) {
			return true
		}
	}
	return false
}

// beginsNumber reports whether data ends with the digits of a value, at the beginning of that value.
func beginsNumber(data []byte) bool {
	at := len(data)
	for at > 0 && (isDigit(data[at-1]) || data[at-1] == '.') {
		at--
	}
	if at == len(data) {
		return false
	}
	if at > 0 && (data[at-1] == '+' || data[at-1] == '-') {
		at--
	}
	return at == 0 || strings.IndexByte("\":,[ \t\r\n", data[at-1]) >= 0
}

// endsExponent reports whether data begins with many digits, after which the value ends.
func endsExponent(data []byte) bool {
	if len(data) > 0 && (data[0] == '+' || data[0] == '-') {
		data = data[1:]
	}
	digits := 0
	for digits < len(data) && isDigit(data[digits]) {
		digits++
	}
	return digits >= suspiciousDigits && (digits == len(data) || strings.IndexByte("\",}] \t\r\n", data[digits]) >= 0)
}

func isDigit(b byte) bool { return '0' <= b && b <= '9' }
