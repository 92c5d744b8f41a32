// SPDX-License-Identifier: Apache-2.0

package selector

import (
	"github.com/google/cel-go/common/functions"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	"github.com/google/cel-go/interpreter"
)

// function is a function with its cost: it charges the meter before it builds or walks anything.
type function func(m *meter, args []ref.Val) ref.Val

// meteredCall is a call that charges its cost between the evaluation of its arguments and the call. It is an InterpretableCall, so that
// the optimizations of cel-go and observers of costs work as with the calls of cel-go.
type meteredCall struct {
	interpreter.InterpretableCall

	args      []interpreter.InterpretableV2
	call      function
	nonStrict bool
	// weight is charged when the call begins a part of the expression that is not always evaluated; sized calls charge their result.
	weight weight
	role   role
}

// Exec evaluates the arguments, charges the cost and calls the function.
func (c *meteredCall) Exec(frame *interpreter.ExecutionFrame) ref.Val {
	m := meterOf(frame)
	c.weight.charge(m)
	args := make([]ref.Val, 0, len(c.args))
	for _, arg := range c.args {
		value := arg.Exec(frame)
		if !c.nonStrict && types.IsUnknownOrError(value) {
			return value
		}
		args = append(args, value)
	}

	result := types.LabelErrNode(c.ID(), c.call(m, args))
	c.role.charge(m, result)
	return result
}

// Eval is Exec.
func (c *meteredCall) Eval(variables interpreter.Activation) ref.Val {
	return c.Exec(interpreter.AsFrame(variables))
}

// Args returns the arguments. They hide that a regular expression is a constant, because cel-go replaces calls with constant regular
// expressions by others that charge nothing.
func (c *meteredCall) Args() []interpreter.InterpretableV2 { return c.args }

// hiddenConstant is a constant that cel-go does not recognise as one.
type hiddenConstant struct{ interpreter.InterpretableV2 }

// meteredNode charges its weight before it is evaluated, and its result by its role.
type meteredNode struct {
	interpreter.InterpretableV2

	weight weight
	role   role
}

// Exec evaluates the node.
func (n *meteredNode) Exec(frame *interpreter.ExecutionFrame) ref.Val {
	m := meterOf(frame)
	n.weight.charge(m)
	result := n.InterpretableV2.Exec(frame)
	n.role.charge(m, result)
	return result
}

// Eval is Exec.
func (n *meteredNode) Eval(variables interpreter.Activation) ref.Val {
	return n.Exec(interpreter.AsFrame(variables))
}

// meteredAttribute is a variable, with fields and indices, that charges its value by its role.
type meteredAttribute struct {
	interpreter.InterpretableAttribute

	role role
}

// Exec evaluates the attribute.
func (a *meteredAttribute) Exec(frame *interpreter.ExecutionFrame) ref.Val {
	result := a.InterpretableAttribute.Exec(frame)
	a.role.charge(meterOf(frame), result)
	return result
}

// Eval is Exec.
func (a *meteredAttribute) Eval(variables interpreter.Activation) ref.Val {
	return a.Exec(interpreter.AsFrame(variables))
}

// Resolve evaluates the attribute as an index of another.
func (a *meteredAttribute) Resolve(variables interpreter.Activation) (any, error) {
	value, err := a.InterpretableAttribute.Resolve(variables)
	if err == nil {
		a.role.charge(meterOf(variables), a.Adapter().NativeToValue(value))
	}
	return value, err //nolint:wrapcheck // It is the error of the expression.
}

// role is what the value of a node is used for, where cel-go does work of the size of the value that is in no call.
type role uint8

const (
	noRole role = iota
	// keyRole is an index or a key of a map, rangeRole the range of a comprehension, fieldRole a field of a message, which is copied.
	keyRole
	rangeRole
	fieldRole
)

func (r role) charge(m *meter, value ref.Val) {
	switch r {
	case noRole:
	case keyRole:
		m.key(value)
	case rangeRole:
		if entries, ok := value.(traits.Mapper); ok {
			m.charge(size(entries))
			m.grow(size(entries) * elementBytes)
		}
	case fieldRole:
		const copies = 8
		m.grow(m.text(value, 0) * copies)
	}
}

// implementation returns a function of cel-go as a function without costs. It does what the calls of cel-go do.
func implementation(call interpreter.InterpretableCall, known *functions.Overload) function {
	return func(_ *meter, args []ref.Val) ref.Val {
		first := args[0]
		strict := !known.NonStrict
		if known.OperandTrait == 0 || !strict && types.IsUnknownOrError(first) || first.Type().HasTrait(known.OperandTrait) {
			switch {
			case len(args) == 1 && known.Unary != nil:
				return known.Unary(first)
			case len(args) == 2 && known.Binary != nil:
				return known.Binary(first, args[1])
			case known.Function != nil:
				return known.Function(args...)
			}
		}

		if first.Type().HasTrait(traits.ReceiverType) {
			if receiver, ok := first.(traits.Receiver); ok {
				return receiver.Receive(call.Function(), call.OverloadID(), args[1:])
			}
		}
		return types.NewErr("no such overload: %s", call.Function())
	}
}
