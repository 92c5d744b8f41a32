// SPDX-License-Identifier: Apache-2.0

package selector

import (
	"runtime"
	"strings"
	"testing"
)

// nested returns an expression whose value is made of the source by a step that is nested so often.
func nested(source, step string, times int) string {
	for range times {
		source = "[" + source + "]." + step + "[0]"
	}
	return source
}

// TestHostileExpressionsEndWithinTheirBounds checks that evaluations that would take for ever, or more memory than the process may have,
// end by their limits (docs/spec/differences.md C2).
func TestHostileExpressionsEndWithinTheirBounds(t *testing.T) {
	// The text of the cluster is not known when the expression is compiled.
	const name = `managedCluster.metadata.name`
	long := `"` + strings.Repeat("x", 1000) + `"`
	list := `(` + long + ` + ` + name + `).split("")`
	for _, tc := range []struct{ reason, expression string }{
		{"lists that double", `"y" in ` + nested(list, `map(x, x + x)`, 11) + ` && ` + nested(list, `map(x, x + x)`, 11) + ` == []`},
		{"a shared list", nested(list, `map(x, [x, x])`, 11) + ` == ` + nested(list, `map(x, [x, x])`, 11)},
		{"a shared map", nested(list, `map(x, {"a": x, "b": x})`, 11) + ` == ` + nested(list, `map(x, {"a": x, "b": x})`, 11)},
		{"members of a shared list", nested(list, `map(x, [x, x])`, 11) + ` in [` + nested(list, `map(x, [x, x])`, 11) + `]`},
		{"a position in a shared list", `[` + nested(list, `map(x, [x, x])`, 11) + `].indexOf(` + nested(list, `map(x, [x, x])`, 11) + `) == 0`},
		{"a shared list as text", `"%s%s%s%s".format([` + strings.Repeat(nested(list, `map(x, [x, x])`, 11)+`,`, 4) + `]) == ""`},
		{"a shared list as an absent key", `dyn({})[dyn(` + nested(list, `map(x, [x, x])`, 11) + `)] == 1`},
		{"format of format", nested(name, `map(x, "%s%s%s%s%s%s%s%s%s%s".format([x,x,x,x,x,x,x,x,x,x]))`, 3) +
			`.replace("c", ` + long + `).replace("x", ` + long + `) == ""`},
		{"replace", `(` + long + ` + ` + name + `).replace("x", ` + long + `).replace("x", ` + long + `) == ""`},
		{"join", `[1,2,3,4,5,6,7,8].map(i, [1,2,3,4,5,6,7,8].map(j, [1,2,3,4,5,6,7,8].map(k, [1,2,3,4,5,6,7,8].map(l, ` + name + ` + ` + long +
			`).join(` + long + `)).join(` + long + `)).join(` + long + `)).join(` + long + `) == ""`},
		{"split", `(` + long + ` + ` + name + `).replace("x", ` + long + `).split("").size() == 0`},
		{"a pattern", `(` + long + ` + ` + name + `).replace("x", ` + long + `).matches("(x+x+)+y")`},
		{"a pattern of the cluster", `"x".matches("(((" + ` + long + ` + ` + name + ` + "){100}){10})")`},
		{"all matches", `(` + long + ` + ` + name + `).replace("x", "xxxxxxxx").findAll("x.*y|x").size() == 0`},
		{"time zones", `[1,2,3,4,5,6,7,8,9,10].all(a, [1,2,3,4,5,6,7,8,9,10].all(b, [1,2,3,4,5,6,7,8,9,10].all(c, ` +
			`timestamp("2026-01-01T00:00:00Z").getHours("Europe/Berlin") > -1)))`},
		{"a list that contains itself", `optional.of([]).optMap(x, (x + [1] + [dyn(x)]) == x).orValue(false) && ` + name + ` == "c1"`},
		{"loops of constants", `[1,2,3,4,5,6,7,8,9,10].all(a, [1,2,3,4,5,6,7,8,9,10].all(b, [1,2,3,4,5,6,7,8,9,10].all(c, ` +
			`[1,2,3,4,5,6,7,8,9,10].all(d, ` + strings.Repeat(`true && `, 200) + `true))))`},
		{"a long text as an index", `[(` + long + ` + ` + name + `).replace("x", ` + long + `)].all(x, [1,2,3,4,5,6,7,8,9,10].all(a, ` +
			`[1,2,3,4,5,6,7,8,9,10].all(b, [1,2,3,4,5,6,7,8,9,10].all(c, [1,2,3,4,5,6,7,8,9,10].all(d, !(x in {"a": 1}) || {x: 1}[x] == 1)))))`},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			s, errs := NewCompiler().Compile(paths(), Spec{CEL: []string{tc.expression}})
			if len(errs) > 0 {
				t.Fatal(errs.ToAggregate())
			}
			evaluation, allocated := &EvalContext{Now: now}, allocatedBytes()
			verdict := s.Match(cluster(), evaluation)
			if verdict.Matched || verdict.Err == nil || !strings.HasPrefix(verdict.Err.Error(), "operation cancelled") {
				t.Errorf("matched = %v, error %v: want the evaluation to end by a limit", verdict.Matched, verdict.Err)
			}

			if evaluation.Cost() > expressionCost {
				t.Errorf("cost %d, more than the limit", evaluation.Cost())
			}
			if got := allocatedBytes() - allocated; got > mostAllocated(evaluation) {
				t.Errorf("%d bytes were allocated at a cost of %d", got, evaluation.Cost())
			}
		})
	}
}

// allocatedBytes returns the bytes that the process has allocated since it began.
func allocatedBytes() uint64 {
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.TotalAlloc
}

// mostAllocated returns the most bytes that an evaluation may allocate, of which most are free again when it ends: those that it has
// counted, and some for each unit of its cost.
func mostAllocated(evaluation *EvalContext) uint64 {
	const perUnit, fixed = 128, 1 << 20
	return fixed + 2*expressionBytes + evaluation.Cost()*perUnit
}

// TestGrowthIsRefused checks that expressions that make too many copies of a value, whatever the cluster, do not compile
// (docs/spec/differences.md C2).
func TestGrowthIsRefused(t *testing.T) {
	chained := `optional.of(1)` + strings.Repeat(`.optMap(a, a)`, 40)

	body := `1`
	for _, variable := range []string{"a", "b", "c", "d", "e", "f", "g"} {
		body = "[1].map(" + variable + ", [" + strings.Repeat(variable+",", 8) + body + "])"
	}

	for _, tc := range []struct{ reason, expression, want string }{
		{"lists that double", `7 in ` + nested(`[1, 2]`, `map(x, x + x)`, 40), "nested comprehensions"},
		{"a shared list", nested(`[1]`, `map(x, [x, x])`, 40) + ` == [[]]`, "nested comprehensions"},
		{"texts that grow", nested(`"a"`, `map(x, "%s%s%s%s%s%s%s%s%s%s".format([x,x,x,x,x,x,x,x,x,x]))`, 8) + ` == ""`, "nested comprehensions"},
		{"types that grow", nested(`1`, `map(x, {x: x})`, 40) + ` == {}`, "nested comprehensions"},
		{"in the body", body + `.size() == 1`, "nested comprehensions"},
		{"optMap copies its target", chained + `.hasValue()`, "optMap and optFlatMap repeat"},
		{"a large pattern", `managedCluster.metadata.name.matches("(((abcdefghij){10}){90})")`, "expands to"},
		{"a pattern that is slow to compile", `"x".matches("(?i)` + strings.Repeat(`[\\x{42}-\\x{1E942}]`, 20) + `")`, "to compile"},
		{"an optional element without an optional value", `[?managedCluster.spec] == []`, "must be an optional value"},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			_, errs := NewCompiler().Compile(paths(), Spec{CEL: []string{tc.expression}})
			if len(errs) != 1 || errs[0].Field != "spec.celExpressions[0]" || !strings.Contains(errs[0].Detail, tc.want) {
				t.Errorf("got %v, want one mistake at spec.celExpressions[0] that says %q", errs, tc.want)
			}
		})
	}

	for _, expression := range []string{
		`managedCluster.status.clusterClaims.filter(x, x.name == "a" && x.value == "b").map(y, y.name + y.value).exists(z, z > "a" && z < "b")`,
		`managedCluster.status.clusterClaims.exists(x, managedCluster.status.clusterClaims.exists(y, x.name == y.name && x.value == y.value))`,
		`[1, 2].map(a, [a, a].map(b, [b, b])).size() == 2`,
		`managedCluster.metadata.name.matches("^([a-z0-9]{1,63}[.]){1,8}[a-z]{2,63}$")`,
		`[?managedCluster.?spec] != []`,
	} {
		if _, errs := NewCompiler().Compile(paths(), Spec{CEL: []string{expression}}); len(errs) > 0 {
			t.Errorf("%s: %v", expression, errs)
		}
	}
}

// TestConstantListsAreFree checks that an expression does not pay for lists of constants, which are made once.
func TestConstantListsAreFree(t *testing.T) {
	names := "[" + strings.Repeat(`"a name", `, 1000) + `"c1"]`
	for _, expression := range []string{`managedCluster.metadata.name in ` + names, names + `.size() > 0`} {
		s, errs := NewCompiler().Compile(paths(), Spec{CEL: []string{expression}})
		if len(errs) > 0 {
			t.Fatal(errs.ToAggregate())
		}
		evaluation := &EvalContext{Now: now}
		if verdict := s.Match(cluster(), evaluation); !verdict.Matched || evaluation.Cost() > 100 {
			t.Errorf("matched = %v (%v) at a cost of %d", verdict.Matched, verdict.Err, evaluation.Cost())
		}
	}
}

// TestACancelledEvaluationEnds checks that an evaluation ends when its context is cancelled.
func TestACancelledEvaluationEnds(t *testing.T) {
	const loop = `[1,2,3,4,5,6,7,8,9,10].all(a, [1,2,3,4,5,6,7,8,9,10].all(b, [1,2,3,4,5,6,7,8,9,10].all(c, ` +
		`[1,2,3,4,5,6,7,8,9,10].all(d, managedCluster.metadata.name != "x"))))`
	s, errs := NewCompiler().Compile(paths(), Spec{CEL: []string{loop}})
	if len(errs) > 0 {
		t.Fatal(errs.ToAggregate())
	}
	done := make(chan struct{})
	close(done)

	evaluation := &EvalContext{Now: now, Done: done}
	if verdict := s.Match(cluster(), evaluation); verdict.Err == nil || verdict.Err.Error() != cancelledMessage {
		t.Errorf("error %v, want %q", verdict.Err, cancelledMessage)
	}
	if evaluation.Cost() > 2*interruptCost {
		t.Errorf("cost %d after it was cancelled", evaluation.Cost())
	}
}
