// SPDX-License-Identifier: Apache-2.0

package selector

import (
	"bytes"
	"runtime"
	"strings"
	"testing"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"pgregory.net/rapid"

	"github.com/placement-hub/placement-hub/test/property"
)

// drawnDepth is the nesting of drawn expressions.
const drawnDepth = 5

// drawnExpression returns an expression that data determines.
func drawnExpression(data []byte) (string, error) {
	d, err := newDrawer(data)
	if err != nil {
		return "", err
	}
	return "dyn(" + d.expression("dyn", drawnDepth) + ") == dyn(" + d.expression("dyn", drawnDepth) + ")", nil
}

// FuzzCELStaysWithinItsBounds checks that no evaluation of a drawn expression exceeds its cost or allocates more than its bounds, that none
// leaves a goroutine behind, and that an evaluation within the limits returns what cel-go returns without them.
func FuzzCELStaysWithinItsBounds(f *testing.F) {
	for n := range 64 {
		f.Add(bytes.Repeat([]byte{byte(n * 7), byte(n * 13), byte(n), byte(n * 31), byte(255 - n)}, 8+n))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		source, err := drawnExpression(data)
		if err != nil {
			t.Fatal(err)
		}
		checkBounds(t, source)
	})
}

// TestDrawnExpressionsStayWithinTheirBounds does the same with random data.
func TestDrawnExpressionsStayWithinTheirBounds(t *testing.T) {
	compiled := 0
	property.Check(t, func(t *rapid.T) {
		source, err := drawnExpression(rapid.SliceOfN(rapid.Byte(), 0, 200).Draw(t, "data"))
		if err != nil {
			t.Fatal(err)
		}
		if checkBounds(t, source) {
			compiled++
		}
	})

	if compiled == 0 {
		t.Error("no drawn expression compiles")
	}
}

// TestEveryFunctionIsCharged checks that each function of the environment is free for a reason, has a charge, or has the charge of all
// arguments, and that no function is in both tables.
func TestEveryFunctionIsCharged(t *testing.T) {
	for name := range chargeOf {
		if constantFunctions[name] {
			t.Errorf("%s is in both tables", name)
		}
	}
}

type reporter interface {
	Errorf(format string, args ...any)
	Helper()
}

// checkBounds evaluates an expression, and reports whether it compiles.
func checkBounds(t reporter, source string) bool {
	t.Helper()
	p, err := compile(source)
	if err != nil {
		return false
	}
	goroutines, evaluation, allocated := runtime.NumGoroutine(), &EvalContext{Now: now}, allocatedBytes()
	result, err := p.value(cluster(), evaluation)
	if got := allocatedBytes() - allocated; got > mostAllocated(evaluation) {
		t.Errorf("%d bytes were allocated at a cost of %d by %s", got, evaluation.Cost(), source)
	}

	if evaluation.Cost() > expressionCost {
		t.Errorf("cost %d, more than the limit, of %s", evaluation.Cost(), source)
	}
	if left := runtime.NumGoroutine(); left > goroutines {
		t.Errorf("%d goroutines became %d by %s", goroutines, left, source)
	}
	if !stopped(err) {
		comparePlain(t, source, result, err)
	}
	return true
}

// comparePlain compares a result with that of cel-go without limits.
func comparePlain(t reporter, source string, result ref.Val, failed error) {
	t.Helper()
	env, err := environment()
	if err != nil {
		t.Errorf("%v", err)
		return
	}

	checked, issues := env.Compile(source)
	if issues.Err() != nil {
		t.Errorf("%v", issues.Err())
		return
	}

	plain, err := env.Program(checked, cel.EvalOptions(cel.OptOptimize))
	if err != nil { // cel-go finds some errors of constants when it builds the program.
		if failed == nil {
			t.Errorf("got %v, but cel-go builds no program of %s: %v", result, source, err)
		}
		return
	}
	want, _, err := plain.Eval(map[string]any{clusterVariable: &clusterValue{
		Mapper: lazyCluster(cluster(), nil), info: cluster(), evaluation: &EvalContext{Now: now},
	}})
	if (failed == nil) != (err == nil) || err == nil && result.Equal(want) != types.True && !strings.Contains(types.Format(want), "NaN") {
		t.Errorf("got %v (%v), want %v (%v) of %s", result, failed, want, err, source)
	}
}
