package lenient

import (
	"encoding/json"
	"errors"
	"strings"

	"github.com/placement-hub/placement-hub/pkg/quantity"
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

// suspicious reports whether the data has text that looks like a number with a long exponent, which is rare and cheap to check.
func suspicious(data []byte) bool {
	for i := 1; i+suspiciousDigits < len(data); i++ {
		if data[i]|0x20 != 'e' || !isDigit(data[i-1]) && data[i-1] != '.' {
			continue
		}

		next := i + 1
		if data[next] == '+' || data[next] == '-' {
			next++
		}

		digits := 0
		for next+digits < len(data) && isDigit(data[next+digits]) {
			digits++
		}

		if digits >= suspiciousDigits {
			return true
		}
	}

	return false
}

func isDigit(b byte) bool { return '0' <= b && b <= '9' }
