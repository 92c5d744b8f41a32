// SPDX-License-Identifier: Apache-2.0

package selector

import (
	"fmt"
	"regexp/syntax"
	"slices"
	"strings"
	"testing"

	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/interpreter"
)

// textOf is a text of a number of bytes.
func textOf(bytes int) types.String { return types.String(strings.Repeat("x", bytes)) }

// listOf is a list of as many texts of 32 bytes.
func listOf(elements int) ref.Val {
	return types.NewStringList(types.DefaultTypeAdapter, slices.Repeat([]string{strings.Repeat("x", 32)}, elements))
}

// What a call costs: units for the time, and bytes of what it builds. Each 64 bytes cost a unit too. A higher number can make expressions fail that
// users have. A lower one permits more work for a unit (BenchmarkCELUnits).
func TestWhatACallCosts(t *testing.T) {
	accumulator := types.NewMutableList(types.DefaultTypeAdapter)
	for _, tc := range []struct {
		function    string
		args        []ref.Val
		cost, bytes uint64
	}{
		{"size", []ref.Val{textOf(160)}, 10, 0},
		{"size", []ref.Val{types.Bytes(textOf(160))}, 10, 0},
		{"size", []ref.Val{listOf(10)}, 0, 0},
		{"contains", []ref.Val{textOf(160), textOf(32)}, 12, 0},
		{"string", []ref.Val{textOf(6400)}, 100, 6400},
		{"lowerAscii", []ref.Val{textOf(640)}, 80, 5120},
		{"substring", []ref.Val{textOf(640), types.Int(1)}, 80, 5120},
		{"startsWith", []ref.Val{textOf(1280), textOf(256)}, 2, 0},
		{operators.Less, []ref.Val{textOf(256), textOf(1280)}, 2, 0},
		{operators.Less, []ref.Val{types.Int(1), types.Int(2)}, 0, 0},
		{operators.Add, []ref.Val{textOf(640), textOf(640)}, 20, 1280},
		{operators.Add, []ref.Val{accumulator, listOf(10)}, 10 + 7, 480},
		{operators.Add, []ref.Val{accumulator, textOf(640)}, 0, 0},
		{operators.In, []ref.Val{textOf(1280), listOf(10)}, 10, 0},
		{"indexOf", []ref.Val{textOf(64), textOf(4)}, 20 + 8, 544},
		{"indexOf", []ref.Val{textOf(16), textOf(64)}, 17 + 10, 640},
		{"lastIndexOf", []ref.Val{textOf(64), textOf(4), types.Int(9)}, 20 + 8, 544},
		{"indexOf", []ref.Val{listOf(1), textOf(16)}, 11 + 4, 448},
		{"replace", []ref.Val{types.String(strings.Repeat("ab", 320)), types.String("a"), textOf(2)}, 40 + 320 + 20, 1280},
		{"replace", []ref.Val{types.Int(1), types.String("a"), textOf(16)}, 1, 0},
		{"split", []ref.Val{types.String(strings.Repeat("a,", 64)), types.String(",")}, 8 + 65 + 16, 1040},
		{"split", []ref.Val{types.Int(1), textOf(16)}, 1, 0},
		{"join", []ref.Val{listOf(10)}, 53 + 11, 728},
		{"join", []ref.Val{listOf(10), textOf(6)}, 53 + 13, 848},
		{"join", []ref.Val{types.Int(1)}, 0, 0},
		{"format", []ref.Val{textOf(64)}, 4 + 8, 512},
		{"format", []ref.Val{textOf(64), listOf(10)}, 4 + 53 + 53, 3424},
		{"timestamp", []ref.Val{textOf(320)}, 4 + 80 + 400 + 20, 1280},
		{"duration", []ref.Val{textOf(8)}, 4 + 2, 32},
		{"validate", []ref.Val{types.Int(1), textOf(100)}, 16 + 200 + 12, 800},
		{parseJSONName, []ref.Val{textOf(100)}, 8 + 50 + 125, 8000},
		{"getHours", []ref.Val{types.Timestamp{}}, 0, 0},
		{"getHours", []ref.Val{types.Timestamp{}, textOf(10)}, 2010, 0},
		{"a function of a later version", []ref.Val{textOf(64), types.Int(1)}, 13 + 13, 1024},
	} {
		t.Run(fmt.Sprintf("%s/%d", tc.function, len(tc.args)), func(t *testing.T) {
			call, charged := charges(tc.function)
			if !charged {
				t.Fatal("it is free")
			}
			m := newMeter(expressionCost, nil)
			call(m, tc.args)
			if m.cost != tc.cost || m.bytes != tc.bytes {
				t.Errorf("it costs %d and builds %d bytes, want %d and %d", m.cost, m.bytes, tc.cost, tc.bytes)
			}
		})
	}
}

// An evaluation may reach its limits, and ends beyond them.
func TestTheLimitsOfAMeter(t *testing.T) {
	ends := func(do func()) (message string) {
		defer func() {
			if cancelled, ok := recover().(interpreter.EvalCancelledError); ok {
				message = cancelled.Message
			}
		}()
		do()
		return ""
	}
	cancelled := make(chan struct{})
	close(cancelled)
	for _, tc := range []struct {
		reason string
		do     func()
		want   string
	}{
		{"the cost", func() { newMeter(100, nil).charge(100) }, ""},
		{"more than the cost", func() { newMeter(100, nil).charge(101) }, costExceededMessage},
		{"the bytes", func() { newMeter(expressionCost, nil).grow(expressionBytes) }, ""},
		{"more than the bytes", func() { newMeter(expressionCost, nil).grow(expressionBytes + 1) }, bytesExceededMessage},
		{"the depth", func() { newMeter(100, nil).descend(maxDepth) }, ""},
		{"more than the depth", func() { newMeter(100, nil).descend(maxDepth + 1) }, depthExceededMessage},
		{"a cancelled one is not looked at", func() { newMeter(expressionCost, cancelled).charge(interruptCost) }, ""},
		{"a cancelled one", func() { newMeter(expressionCost, cancelled).charge(interruptCost + 1) }, cancelledMessage},
		{"a constant", func() { (*meter)(nil).charge(expressionCost + 1); (*meter)(nil).grow(expressionBytes + 1) }, ""},
	} {
		if got := ends(tc.do); got != tc.want {
			t.Errorf("%s: %q, want %q", tc.reason, got, tc.want)
		}
	}
}

// What a regular expression costs: parsing it by its text, and its instructions, in which repetitions are written out.
func TestWhatARegularExpressionCosts(t *testing.T) {
	for _, tc := range []struct {
		pattern               string
		parsing, instructions uint64
	}{
		{``, 0, 1},
		{`abc`, 3 * steps, 3},
		{`[a-z]`, 5 * steps, 1},
		{`a*`, 2 * steps, 2},
		{`(ab)c`, 5 * steps, 1 + 3 + 1},
		{`(?:ab){3}`, 9 * steps, (1 + 2) * 4},
		{`x{2,5}`, 6 * steps, (1 + 1) * 6},
		{`x{2,}`, 5 * steps, (1 + 1) * 3},
		{`\pL`, 3*steps + classCost, 1 + uint64(len(letters(t))/32)},
		{`\PL\x41`, 7*steps + 2*classCost, 1 + 1 + 1 + uint64((len(letters(t))+2)/32)},
		{`ä`, 2*steps + 2*classCost, 1},
		{`(?i)ä`, 6*steps + 2*foldCost, 1},
	} {
		parsed, err := syntax.Parse(tc.pattern, syntax.Perl)
		if err != nil {
			t.Fatal(err)
		}
		if parsing, instructions := parsingCost(tc.pattern), countInstructions(parsed); parsing != tc.parsing || instructions != tc.instructions {
			t.Errorf("%s: parsing costs %d and it has %d instructions, want %d and %d",
				tc.pattern, parsing, instructions, tc.parsing, tc.instructions)
		}
		if _, err := newPattern(tc.pattern, tc.instructions); err != nil {
			t.Errorf("%s: %v with room for its instructions", tc.pattern, err)
		}
		if _, err := newPattern(tc.pattern, tc.instructions-1); err == nil {
			t.Errorf("%s: no error with room for one instruction less", tc.pattern)
		}
	}
}

// letters are the ranges of the class of letters.
func letters(t *testing.T) []rune {
	t.Helper()
	parsed, err := syntax.Parse(`\pL`, syntax.Perl)
	if err != nil {
		t.Fatal(err)
	}
	return parsed.Rune
}

// A match reads the text once for each instruction, and a search for all matches may read the rest of the text again after each.
func TestWhatAMatchCosts(t *testing.T) {
	text, source := textOf(199), types.String(`x{2}y`)
	parsed, err := syntax.Parse(string(source), syntax.Perl)
	if err != nil {
		t.Fatal(err)
	}
	is := countInstructions(parsed)
	compiled := uint64(5*instructionBytes) + is*instructionBytes
	matching := uint64(5*steps) + 5*instructionBytes/64 + is*steps + is*instructionBytes/64 + 200*is/steps
	for _, tc := range []struct {
		function    string
		args        []ref.Val
		cost, bytes uint64
	}{
		{"matches", []ref.Val{text, source}, matching, compiled},
		{"findAll", []ref.Val{text, source}, matching + 200*200/4*is/steps + 200*elementBytes/64, compiled + 200*elementBytes},
		{"matches", []ref.Val{text, types.Int(1)}, 0, 0},
		{"findAll", []ref.Val{text, types.Int(1)}, 0, 0},
	} {
		m := newMeter(expressionCost, nil)
		call, _ := charges(tc.function)
		call(m, tc.args)
		if m.cost != tc.cost || m.bytes != tc.bytes {
			t.Errorf("%s: it costs %d and builds %d bytes, want %d and %d", tc.function, m.cost, m.bytes, tc.cost, tc.bytes)
		}
	}
}

// A remembered result costs what the evaluation did, also where other expressions were evaluated before it.
func TestAMemoKnowsItsOwnCost(t *testing.T) {
	compiler := NewCompiler()
	evaluate := func() uint64 {
		evaluation := &EvalContext{Now: now}
		for _, source := range []string{`managedCluster.metadata.labels["x"].startsWith("a")`, `managedCluster.metadata.labels["x"] == "b"`} {
			p, err := compiler.program(source)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := p.evaluate(labelled("c1", map[string]string{"x": "b"}), evaluation); err != nil {
				t.Fatal(err)
			}
		}
		return evaluation.Cost()
	}
	first := evaluate()
	if again := evaluate(); again != first || first == 0 {
		t.Errorf("the evaluation costs %d at first and %d from the memo", first, again)
	}
}
