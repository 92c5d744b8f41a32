// SPDX-License-Identifier: Apache-2.0

package selector

import (
	"fmt"
	"sync"

	"github.com/google/cel-go/common/functions"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	"github.com/google/cel-go/interpreter"
)

// implementations returns the implementations of all functions by overload and by name.
var implementations = sync.OnceValues(func() (map[string]*functions.Overload, error) {
	env, err := environment()
	if err != nil {
		return nil, err
	}
	all := map[string]*functions.Overload{}

	for name, declared := range env.Functions() {
		bindings, err := declared.Bindings()
		if err != nil {
			return nil, fmt.Errorf("the bindings of function %s: %w", name, err)
		}
		for _, binding := range bindings {
			all[binding.Operator] = binding
		}
	}
	return all, nil
})

// decorator replaces the nodes of a program by those that charge a meter.
type decorator struct {
	*weights

	implementations map[string]*functions.Overload
	// instructions are those that the constant regular expressions of the expression may still have.
	instructions uint64
}

// decorate returns the node to use instead of a node. It keeps what cel-go recognises and optimizes: constants, attributes and calls.
func (d *decorator) decorate(node interpreter.InterpretableV2) (interpreter.InterpretableV2, error) {
	switch n := node.(type) {
	case interpreter.InterpretableConst, *meteredAttribute:
		return node, nil
	case interpreter.InterpretableCall:
		return d.call(n)
	case interpreter.InterpretableAttribute:
		// The node of a condition has the id of the condition, which may begin a part; all others are in a part of another node.
		if d.parts[n.ID()] == nil {
			if is := d.roles[n.ID()]; is != noRole {
				return &meteredAttribute{InterpretableAttribute: n, role: is}, nil
			}
			return node, nil
		}
	}

	return d.metered(node), nil
}

// metered returns a node that charges the weight of the part that it begins and the role of its value, if there are any.
func (d *decorator) metered(node interpreter.InterpretableV2) interpreter.InterpretableV2 {
	part, is := d.parts[node.ID()], d.roles[node.ID()]
	switch {
	case part != nil:
		return &meteredNode{InterpretableV2: node, weight: *part, role: is}
	case is != noRole:
		return &meteredNode{InterpretableV2: node, role: is}
	default:
		return node
	}
}

// call returns the call to use instead of a call of cel-go.
func (d *decorator) call(node interpreter.InterpretableCall) (interpreter.InterpretableV2, error) {
	made := &meteredCall{InterpretableCall: node, args: node.Args(), role: d.roles[node.ID()]}
	if part := d.parts[node.ID()]; part != nil {
		made.weight = *part
	}

	switch name := node.Function(); name {
	case operators.Equals, operators.NotEquals:
		if anyBounded(made.args) {
			return d.metered(node), nil
		}
		made.call = equality(name)
	case operators.In, operators.OldIn:
		if _, constant := made.args[1].(interpreter.InterpretableConst); constant {
			return d.member(node, made), nil
		}
		return d.withCharge(node, made, chargeIn), nil
	case "matches", "find", "findAll":
		return d.pattern(node, made)
	case operators.Less, operators.LessEquals, operators.Greater, operators.GreaterEquals, "startsWith", "endsWith":
		if anyBounded(made.args) {
			return d.metered(node), nil
		}
		return d.withCharge(node, made, chargeOrder), nil
	default:
		charged, dynamic := charges(name)
		if !dynamic || len(made.args) == 0 {
			return d.metered(node), nil
		}
		return d.withCharge(node, made, charged), nil
	}

	return made, nil
}

// withCharge completes a call of cel-go with its charge.
func (d *decorator) withCharge(node interpreter.InterpretableCall, made *meteredCall, charged charge) interpreter.InterpretableV2 {
	known := d.implementations[node.OverloadID()]
	if known == nil {
		known = d.implementations[node.Function()]
	}
	if known == nil {
		known = &functions.Overload{} // The first argument receives the call.
	}

	original := implementation(node, known)
	made.nonStrict = known.NonStrict
	made.call = func(m *meter, args []ref.Val) ref.Val {
		if m == nil {
			return original(m, args)
		}
		charged(m, args)
		return replaced(node.Function(), m, args, original)
	}
	return made
}

// replaced calls the functions of which cel-go's implementation does work that cannot be charged before, and all others as they are.
func replaced(name string, m *meter, args []ref.Val, original function) ref.Val {
	if len(args) == 2 {
		switch name {
		case operators.Add:
			first, isList := args[0].(traits.Lister)
			_, accumulates := args[0].(traits.MutableLister)
			second, areLists := args[1].(traits.Lister)
			if isList && areLists && !accumulates {
				return m.joined(first, second)
			}
		case operators.In, operators.OldIn:
			if list, ok := args[1].(traits.Lister); ok {
				return m.contains(list, args[0])
			}
		}
	}

	return original(m, args)
}

// equality returns the function == or !=.
func equality(name string) function {
	if name == operators.Equals {
		return func(m *meter, args []ref.Val) ref.Val { return m.equal(args[0], args[1], 0) }
	}
	return func(m *meter, args []ref.Val) ref.Val { return types.Bool(m.equal(args[0], args[1], 0) != types.True) }
}

// member returns the call of "in" with a constant list, which cel-go replaces by a lookup of the first argument.
func (d *decorator) member(node interpreter.InterpretableCall, made *meteredCall) interpreter.InterpretableV2 {
	list := made.args[1]
	first := made.args[0]
	if made.weight != (weight{}) {
		first = &meteredNode{InterpretableV2: first, weight: made.weight}
		made.weight = weight{}
	}
	d.withCharge(node, made, chargeIn)
	made.args = []interpreter.InterpretableV2{first, list}
	return made
}

// pattern returns the call of a function with a regular expression. A constant regular expression is compiled once.
func (d *decorator) pattern(node interpreter.InterpretableCall, made *meteredCall) (interpreter.InterpretableV2, error) {
	constant, ok := made.args[1].(interpreter.InterpretableConst)
	text, isText := types.String(""), false
	if ok {
		text, isText = constant.Value().(types.String)
	}
	if !isText {
		charged, _ := charges(node.Function())
		return d.withCharge(node, made, charged), nil
	}

	compiled, err := newPattern(string(text), d.instructions)
	if err != nil {
		return nil, err
	}
	d.instructions -= compiled.instructions

	made.call = constantPattern(node.Function(), compiled)
	made.args = append([]interpreter.InterpretableV2{made.args[0], hiddenConstant{constant}}, made.args[2:]...)
	return made, nil
}

// anyBounded reports whether one of two arguments is a constant of a primitive type or null, so that a comparison costs at most its length.
func anyBounded(args []interpreter.InterpretableV2) bool {
	for _, arg := range args {
		if constant, ok := arg.(interpreter.InterpretableConst); ok {
			value := constant.Value()
			if types.IsPrimitiveType(value) || value == types.NullValue {
				return true
			}
		}
	}
	return false
}
