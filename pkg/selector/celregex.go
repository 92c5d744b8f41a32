// SPDX-License-Identifier: Apache-2.0

package selector

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
	"unicode/utf8"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
)

const (
	// freeInstructions, and instructionsPerByte for each byte of an expression, are the instructions that its constant regular expressions
	// may have: a program keeps them in memory.
	freeInstructions    = 1024
	instructionsPerByte = 8
	// instructionBytes are the bytes that an instruction takes while a pattern is compiled.
	instructionBytes = 256
	// steps is the number of pairs of an instruction and a character that cost a unit.
	steps = 8
	// classCost is the cost of parsing a class of Unicode, which has up to 700 ranges, and foldCost that of a range of characters without
	// regard to case, of which each character is looked up.
	classCost = 500
	foldCost  = 30_000
	// maxParsingCost is the most that parsing a constant regular expression may cost.
	maxParsingCost = 600_000
)

// pattern is a constant regular expression.
type pattern struct {
	compiled     *regexp.Regexp
	instructions uint64
}

// newPattern compiles a constant regular expression, which may have so many instructions.
func newPattern(text string, most uint64) (*pattern, error) {
	if cost := parsingCost(text); cost > maxParsingCost {
		return nil, fmt.Errorf("the regular expression %.64q costs %d to compile, more than %d: use fewer ranges of Unicode without regard to case",
			text, cost, maxParsingCost)
	}
	parsed, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return nil, err //nolint:wrapcheck // cel-go returns the same error.
	}

	instructions := countInstructions(parsed)
	if instructions > most {
		return nil, fmt.Errorf("the regular expression %.64q expands to %d instructions, and %d are left for an expression of this length: "+
			"use smaller repetition counts", text, instructions, most)
	}
	compiled, err := regexp.Compile(text)
	if err != nil {
		return nil, err //nolint:wrapcheck // cel-go returns the same error.
	}
	return &pattern{compiled: compiled, instructions: instructions}, nil
}

// parsingCost returns the cost of parsing a regular expression.
func parsingCost(text string) uint64 {
	ranges := uint64(strings.Count(text, `\x`) + strings.Count(text, `\p`) + strings.Count(text, `\P`))
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			ranges++
		}
	}
	if strings.Contains(text, "(?") {
		return uint64(len(text))*steps + ranges*foldCost
	}
	return uint64(len(text))*steps + ranges*classCost
}

// countInstructions returns about the number of instructions of a regular expression, in which repetitions are written out.
func countInstructions(re *syntax.Regexp) uint64 {
	sum := uint64(1 + len(re.Rune)/32) // A class is one instruction with a list of ranges.
	if re.Op == syntax.OpLiteral {
		sum = uint64(len(re.Rune))
	}
	for _, sub := range re.Sub {
		sum += countInstructions(sub)
	}
	if re.Op == syntax.OpRepeat {
		sum *= uint64(max(re.Min, re.Max, 0) + 1)
	}
	return sum
}

// chargePattern charges compiling a regular expression that is not constant, and matching it.
func chargePattern(m *meter, args []ref.Val) {
	source, ok := args[1].(types.String)
	if !ok {
		return
	}
	m.charge(parsingCost(string(source)))
	m.grow(length(source) * instructionBytes)
	parsed, err := syntax.Parse(string(source), syntax.Perl)
	if err != nil {
		return // The call returns the error.
	}

	instructions := countInstructions(parsed)
	m.charge(instructions * steps)
	m.grow(instructions * instructionBytes)
	chargeMatching(m, args[0], instructions)
}

// chargeAllMatches is chargePattern for findAll.
func chargeAllMatches(m *meter, args []ref.Val) {
	chargePattern(m, args)
	if source, ok := args[1].(types.String); ok {
		if parsed, err := syntax.Parse(string(source), syntax.Perl); err == nil {
			chargeFindAll(m, args, countInstructions(parsed))
		}
	}
}

func chargeMatching(m *meter, text ref.Val, instructions uint64) {
	m.charge((length(text) + 1) * instructions / steps)
}

// chargeFindAll charges a search for all matches: each begins where the last one ended and may read the rest of the text.
func chargeFindAll(m *meter, args []ref.Val, instructions uint64) {
	const share = 4
	n := length(args[0]) + 1
	m.charge(n * n / share * instructions / steps)
	m.grow(n * elementBytes)
}

// constantPattern returns the function matches, find or findAll for a constant regular expression.
func constantPattern(name string, p *pattern) function {
	return func(m *meter, args []ref.Val) ref.Val {
		text, ok := args[0].Value().(string)
		if !ok {
			return types.MaybeNoSuchOverloadErr(args[0])
		}

		switch name {
		case "matches":
			chargeMatching(m, args[0], p.instructions)
			return types.Bool(p.compiled.MatchString(text))
		case "find":
			chargeMatching(m, args[0], p.instructions)
			return types.String(p.compiled.FindString(text))
		default:
			most := int64(-1)
			if len(args) > 2 {
				if most, ok = args[2].Value().(int64); !ok {
					return types.MaybeNoSuchOverloadErr(args[2])
				}
			}
			chargeFindAll(m, args, p.instructions)
			return types.NewStringList(types.DefaultTypeAdapter, p.compiled.FindAllString(text, int(most)))
		}
	}
}
