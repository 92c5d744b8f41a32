// SPDX-License-Identifier: Apache-2.0

package selector

import (
	"strings"
	"unicode/utf8"

	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
)

const (
	// elementBytes are the bytes of an element of a list, with the growth of the array.
	elementBytes = 48
	// zoneCost is the cost of a function with a time zone, which Go reads from a file.
	zoneCost = 2000
	// jsonBytes are the most bytes that a byte of JSON takes when it is parsed.
	jsonBytes = 80
)

// charge charges a call before it is made.
type charge func(m *meter, args []ref.Val)

// charges returns the charge of a function. A function that is in none of the two tables reads all nodes of its arguments, and builds as
// much, so that a function of a new version of a library is never free.
func charges(name string) (charge, bool) {
	if constantFunctions[name] {
		return nil, false
	}
	if known, ok := chargeOf[name]; ok {
		return known, true
	}
	return chargeAll, true
}

// constantFunctions take a time that does not depend on their arguments. The cost of the call is in the weight of the expression.
var constantFunctions = map[string]bool{
	operators.LogicalNot: true, operators.Negate: true, operators.NotStrictlyFalse: true,
	operators.Subtract: true, operators.Multiply: true, operators.Divide: true, operators.Modulo: true,
	"dyn": true, "type": true, "optional.of": true, "optional.ofNonZeroValue": true, "optional.none": true, "hasValue": true,
	"value": true, "or": true, "orValue": true, "first": true, "last": true, "major": true, "minor": true, "patch": true,
	"family": true, "isUnspecified": true, "isLoopback": true, "isLinkLocalMulticast": true, "isLinkLocalUnicast": true,
	"isGlobalUnicast": true, "prefixLength": true, "masked": true, "sign": true, "isInteger": true, scoresName: true,
}

// chargeOf has the charges of the other functions. String functions of cel-go copy the text as runes.
var chargeOf = map[string]charge{
	operators.Add: chargeAdd, operators.In: chargeIn, operators.OldIn: chargeIn,
	operators.Less: chargeOrder, operators.LessEquals: chargeOrder, operators.Greater: chargeOrder, operators.GreaterEquals: chargeOrder,
	"size": chargeTexts, "bool": chargeTexts, "format.named": chargeTexts, "validate": chargeValidate,
	"contains": chargeTexts, "startsWith": chargeOrder, "endsWith": chargeOrder, "trim": chargeTexts,
	"string": chargeCopy, "bytes": chargeCopy, "int": chargeTexts, "uint": chargeTexts, "double": chargeTexts,
	"lowerAscii": chargeRunes, "upperAscii": chargeRunes, "reverse": chargeRunes, "charAt": chargeRunes, "substring": chargeRunes,
	"strings.quote": chargeRunes, "indexOf": chargeSearch, "lastIndexOf": chargeSearch, "replace": chargeReplace, "split": chargeSplit,
	"join": chargeJoin, "format": chargeFormat, "matches": chargePattern, "find": chargePattern, "findAll": chargeAllMatches,
	parseJSONName: chargeJSON, "timestamp": chargeParse, "duration": chargeParse, "quantity": chargeParse, "isQuantity": chargeParse,
	"semver": chargeParse, "isSemver": chargeParse, "ip": chargeParse, "isIP": chargeParse, "ip.isCanonical": chargeParse,
	"cidr": chargeParse, "isCIDR": chargeParse, "containsIP": chargeParse, "containsCIDR": chargeParse, "url": chargeParse, "isURL": chargeParse,
	"getFullYear": chargeZone, "getMonth": chargeZone, "getDayOfYear": chargeZone, "getDayOfMonth": chargeZone, "getDate": chargeZone,
	"getDayOfWeek": chargeZone, "getHours": chargeZone, "getMinutes": chargeZone, "getSeconds": chargeZone, "getMilliseconds": chargeZone,
}

// chargeAll charges all nodes of the arguments.
func chargeAll(m *meter, args []ref.Val) {
	const copies = 8
	for _, arg := range args {
		m.grow(m.text(arg, 0) * copies)
	}
}

// length returns the length of a string or of bytes; 0 for other values.
func length(value ref.Val) uint64 {
	switch v := value.(type) {
	case types.String:
		return uint64(len(v))
	case types.Bytes:
		return uint64(len(v))
	default:
		return 0
	}
}

func lengths(args []ref.Val) uint64 {
	sum := uint64(0)
	for _, arg := range args {
		sum += length(arg)
	}
	return sum
}

// chargeTexts charges a function that reads its texts once.
func chargeTexts(m *meter, args []ref.Val) { m.charge(lengths(args) / scanned) }

// chargeCopy charges a function whose result is a copy of a text.
func chargeCopy(m *meter, args []ref.Val) { m.grow(lengths(args)) }

// chargeRunes charges a function that converts a text to runes and back.
func chargeRunes(m *meter, args []ref.Val) {
	const copies = 8
	m.grow(lengths(args) * copies)
}

// chargeOrder charges a comparison of two texts.
func chargeOrder(m *meter, args []ref.Val) {
	if len(args) == 2 {
		m.charge(min(length(args[0]), length(args[1])) / compared)
	}
}

func chargeAdd(m *meter, args []ref.Val) {
	if _, ok := args[0].(traits.MutableLister); !ok {
		m.grow(lengths(args))
		return
	}

	// The accumulator of a comprehension appends the elements to itself.
	if added, ok := args[1].(traits.Lister); ok {
		m.charge(size(added))
		m.grow(size(added) * elementBytes)
	}
}

// chargeIn charges the lookup of a text in a map; the search in a list charges while it compares.
func chargeIn(m *meter, args []ref.Val) { m.charge(length(args[0]) / compared) }

// chargeSearch charges indexOf and lastIndexOf: of a text, which compare it at every position, and of a list.
func chargeSearch(m *meter, args []ref.Val) {
	if _, ok := args[0].(types.String); !ok {
		chargeAll(m, args)
		return
	}
	text, part := length(args[0]), length(args[1])
	m.charge(text * (1 + min(text, part)) / scanned)
	chargeRunes(m, args[:2])
}

func chargeReplace(m *meter, args []ref.Val) {
	chargeTexts(m, args)
	text, ok := args[0].(types.String)
	old, _ := args[1].(types.String)
	if !ok {
		return
	}
	count := uint64(strings.Count(string(text), string(old)))
	m.charge(count)
	m.grow(length(text) + count*length(args[2]))
}

func chargeSplit(m *meter, args []ref.Val) {
	chargeTexts(m, args)
	text, ok := args[0].(types.String)
	separator, _ := args[1].(types.String)
	if !ok {
		return
	}
	parts := 1 + strings.Count(string(text), string(separator))
	m.charge(uint64(parts))
	m.grow(uint64(parts) * utf8.UTFMax * 4)
}

// chargeJoin charges the elements of the list, and the result.
func chargeJoin(m *meter, args []ref.Val) {
	const copies = 2 // while the text grows
	list, ok := args[0].(traits.Lister)
	if !ok {
		return
	}
	sum := m.text(list, 0)
	if len(args) == 2 {
		sum += size(list) * length(args[1])
	}
	m.grow(sum * copies)
}

// chargeFormat charges the texts of the arguments, which grow while they are written.
func chargeFormat(m *meter, args []ref.Val) {
	const copies = 8
	chargeTexts(m, args[:1])
	sum := length(args[0])
	if len(args) == 2 {
		sum += m.text(args[1], 0)
	}
	m.grow(sum * copies)
}

// chargeParse charges parsing a text. The square of the length keeps values short whose comparison takes a time that depends on it.
func chargeParse(m *meter, args []ref.Val) {
	for _, arg := range args {
		n := length(arg)
		m.charge(4 + n/4 + (n/scanned)*(n/scanned))
		m.grow(n * 4)
	}
}

// chargeValidate charges the regular expressions of a format.
func chargeValidate(m *meter, args []ref.Val) {
	n := lengths(args)
	m.charge(16 + 2*n)
	m.grow(n * 8)
}

func chargeJSON(m *meter, args []ref.Val) {
	n := length(args[0])
	m.charge(8 + n/2)
	m.grow(n * jsonBytes)
}

func chargeZone(m *meter, args []ref.Val) {
	if len(args) == 2 {
		m.charge(zoneCost + length(args[1]))
	}
}
