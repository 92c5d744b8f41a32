// SPDX-License-Identifier: Apache-2.0

package quantity

import (
	"strconv"
	"strings"
)

// MostExponent is the greatest absolute value of the exponent of a moderate quantity. The greatest unit is about 1e19.
const MostExponent = 1000

// Moderate reports whether the exponent of a quantity is between -MostExponent and MostExponent. A text without an exponent is moderate,
// even if it is not a quantity.
func Moderate(text string) bool {
	at := strings.LastIndexAny(text, "eE")
	if at < 0 || at == len(text)-1 || strings.HasSuffix(text, "i") {
		return true // The last letter is a unit such as E or Ei.
	}
	exponent, err := strconv.Atoi(text[at+1:])
	return err == nil && exponent >= -MostExponent && exponent <= MostExponent
}
