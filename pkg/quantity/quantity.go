package quantity

import (
	"strconv"
	"strings"
)

// MostExponent bounds the exponent of a quantity. The greatest amount that any unit stands for is about 1e19.
const MostExponent = 1000

// Moderate reports whether the exponent of a quantity is within -MostExponent and MostExponent. A text without an exponent is moderate, be it
// a quantity or not.
func Moderate(text string) bool {
	at := strings.LastIndexAny(text, "eE")
	if at < 0 || at == len(text)-1 || strings.HasSuffix(text, "i") {
		return true // The last letter is a suffix such as E or Ei.
	}

	exponent, err := strconv.Atoi(text[at+1:])

	return err == nil && exponent >= -MostExponent && exponent <= MostExponent
}
