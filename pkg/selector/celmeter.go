// SPDX-License-Identifier: Apache-2.0

package selector

import (
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/interpreter"
)

const (
	// expressionCost and expressionBytes limit one evaluation of one expression on one cluster: its cost in units, and the bytes of the
	// strings, lists and maps that it builds.
	expressionCost  = 1_000_000
	expressionBytes = 16 << 20
	// interruptCost is the cost between two looks at whether the evaluation is cancelled, which takes at most in the order of a millisecond.
	interruptCost = 10_000
	// maxDepth limits the nesting of a value that is walked. It is far below the depth at which Go ends the process.
	maxDepth = 2000
	// scanned is the number of bytes of text that cost a unit when they are read and written, and compared when they are only compared.
	scanned  = 16
	compared = 128
)

// The messages of evaluations that end early. The first is that of cel-go.
const (
	costExceededMessage  = "operation cancelled: actual cost limit exceeded"
	bytesExceededMessage = "operation cancelled: the expression builds more than 16 MiB of strings, lists and maps"
	depthExceededMessage = "operation cancelled: a value is nested too deeply"
	cancelledMessage     = "operation cancelled"
)

// meter counts what one evaluation of an expression costs before the work is done, and ends the evaluation by a panic that cel-go recovers
// when a limit is exceeded or the caller has cancelled it. A nil meter counts nothing: it is that of constants, which are computed once.
type meter struct {
	cost, bytes uint64
	// limit is the highest cost, and look the cost at which the meter looks at done next.
	limit, look uint64
	done        <-chan struct{}
}

func newMeter(limit uint64, done <-chan struct{}) *meter {
	m := &meter{limit: limit, look: limit, done: done}
	if done != nil {
		m.look = min(limit, interruptCost)
	}
	return m
}

// charge adds to the cost.
func (m *meter) charge(cost uint64) {
	if m == nil {
		return
	}
	if m.cost += min(cost, expressionCost+1); m.cost > m.look {
		m.examine()
	}
}

func (m *meter) examine() {
	if m.cost > m.limit {
		panic(interpreter.EvalCancelledError{Cause: interpreter.CostLimitExceeded, Message: costExceededMessage})
	}
	m.look = min(m.limit, m.cost+interruptCost)
	select {
	case <-m.done:
		panic(interpreter.EvalCancelledError{Cause: interpreter.ContextCancelled, Message: cancelledMessage})
	default:
	}
}

// grow adds bytes that the evaluation is about to build, and charges writing them.
func (m *meter) grow(bytes uint64) {
	if m == nil {
		return
	}
	if m.bytes += min(bytes, expressionBytes+1); m.bytes > expressionBytes {
		panic(interpreter.EvalCancelledError{Cause: interpreter.CostLimitExceeded, Message: bytesExceededMessage})
	}
	m.charge(bytes / scanned / 4)
}

// descend ends the evaluation when a walk is too deep; also walks over a list that contains itself end here.
func (m *meter) descend(depth int) {
	if depth > maxDepth {
		panic(interpreter.EvalCancelledError{Cause: interpreter.CostLimitExceeded, Message: depthExceededMessage})
	}
}

// meterVariable is the name by which the nodes of a program find the meter. No expression can name it.
const meterVariable = "#meter"

// activation has the variables of one evaluation.
type activation struct {
	cluster *clusterValue
	meter   *meter
}

// ResolveName returns the value of a variable; false if there is none of that name.
func (a *activation) ResolveName(name string) (any, bool) {
	switch name {
	case clusterVariable:
		return a.cluster, true
	case meterVariable:
		return a.meter, true
	default:
		return nil, false
	}
}

// Parent returns nil.
func (a *activation) Parent() interpreter.Activation { return nil }

// meterOf returns the meter of an evaluation; nil for constants.
func meterOf(variables interpreter.Activation) *meter {
	value, _ := variables.ResolveName(meterVariable)
	m, _ := value.(*meter)
	return m
}

// stopped reports whether an evaluation ended by a limit, as opposed to an error of the expression.
func stopped(err error) bool {
	cancelled, ok := err.(interpreter.EvalCancelledError) //nolint:errorlint // It is returned as it was thrown.
	return ok && cancelled.Cause == interpreter.CostLimitExceeded
}

// size returns the number of elements.
func size(value interface{ Size() ref.Val }) uint64 {
	if n, ok := value.Size().(types.Int); ok && n > 0 {
		return uint64(n)
	}
	return 0
}
