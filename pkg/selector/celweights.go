// SPDX-License-Identifier: Apache-2.0

package selector

import (
	"slices"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
)

// weight is the cost of the nodes of a part of an expression, without the calls whose cost depends on their arguments, and the bytes of
// the lists and maps that they make.
type weight struct{ cost, bytes uint64 }

func (w weight) charge(m *meter) {
	if w.cost > 0 {
		m.charge(w.cost)
		m.grow(w.bytes)
	}
}

// The weights of nodes, in units of cost and in bytes.
const (
	nodeCost          = 1
	callCost          = 2
	comprehensionCost = 8
	entryCost         = 4
	messageCost       = 40
	listBytes         = 96
	mapBytes          = 384
	mapEntryBytes     = 128
	messageBytes      = 1024
	// depthShare is the number of nested comprehensions through which a variable is found for a unit.
	depthShare = 4
)

// weights are the weights of the parts of an expression that are evaluated together: once, or once for each element of a range, or if an
// operand before them does not decide. They are found by the id of their root.
type weights struct {
	parts map[int64]*weight
	roles map[int64]role
}

// weigh returns the weights of an expression, and that of the part that is always evaluated.
func weigh(root ast.Expr) (*weights, weight) {
	w := &weights{parts: map[int64]*weight{}, roles: map[int64]role{}}
	whole := &weight{}
	w.add(root, 0, whole)
	return w, *whole
}

// add adds the weight of an expression, which is inside of depth comprehensions, to a part.
func (w *weights) add(e ast.Expr, depth int, part *weight) {
	share := uint64(depth / depthShare)
	switch e.Kind() {
	case ast.IdentKind:
		part.cost += nodeCost + share
	case ast.SelectKind:
		part.cost += nodeCost
		w.add(e.AsSelect().Operand(), depth, part)
	case ast.CallKind:
		part.cost += callCost + share
		w.addCall(e.AsCall(), depth, part)
	case ast.ListKind:
		if isConstantList(e) {
			part.cost += nodeCost
			return
		}
		elements := e.AsList().Elements()
		part.cost += callCost + uint64(len(elements))
		part.bytes += listBytes + uint64(len(elements))*elementBytes
		for _, element := range elements {
			w.add(element, depth, part)
		}
	case ast.MapKind, ast.StructKind:
		w.addEntries(e, depth, part)
	case ast.ComprehensionKind:
		w.addComprehension(e.AsComprehension(), depth, part)
	default: // A literal costs nothing.
	}
}

func (w *weights) addCall(call ast.CallExpr, depth int, part *weight) {
	args := call.Args()
	if call.IsMemberFunction() {
		w.add(call.Target(), depth, part)
	}

	switch call.FunctionName() {
	case operators.LogicalAnd, operators.LogicalOr:
		w.add(args[0], depth, part)
		for _, operand := range args[1:] {
			w.addPart(operand, depth, part)
		}
		return
	case operators.Index, operators.OptIndex:
		w.setRole(args[1], keyRole)
	case operators.In:
		if args[1].Kind() == ast.ListKind {
			w.setRole(args[0], keyRole) // A list of constants is a map.
		}
	}

	for _, arg := range args {
		w.add(arg, depth, part)
	}
}

// addPart adds an expression as a part of its own where its node can charge a weight, and to the surrounding part otherwise.
func (w *weights) addPart(e ast.Expr, depth int, around *weight) {
	if !hasOwnNode(e) {
		w.add(e, depth, around)
		return
	}
	part := &weight{}
	w.add(e, depth, part)
	w.parts[e.ID()] = part
}

// hasOwnNode reports whether an expression is a node of the program with the id of the expression: fields and indices are a part of the
// node of their operand.
func hasOwnNode(e ast.Expr) bool {
	switch e.Kind() {
	case ast.ComprehensionKind:
		return true
	case ast.CallKind:
		name := e.AsCall().FunctionName()
		return name != operators.Index && name != operators.OptIndex && name != operators.OptSelect
	default:
		return false
	}
}

// setRole sets what the value of an expression is used for.
func (w *weights) setRole(e ast.Expr, is role) {
	for e.Kind() == ast.SelectKind && !e.AsSelect().IsTestOnly() || e.Kind() == ast.CallKind && !hasOwnNode(e) {
		if e.Kind() == ast.SelectKind {
			e = e.AsSelect().Operand()
		} else {
			e = e.AsCall().Args()[0]
		}
	}

	// cel-go makes the lists of constants once, which it would not recognise in another node, and needs nothing to iterate over a list.
	if e.Kind() != ast.LiteralKind && e.Kind() != ast.ListKind {
		w.roles[e.ID()] = is
	}
}

// isConstantList reports whether an expression is a list of literals and of such lists, which is made once.
func isConstantList(e ast.Expr) bool {
	if e.Kind() != ast.ListKind {
		return false
	}
	return !slices.ContainsFunc(e.AsList().Elements(), func(element ast.Expr) bool {
		return element.Kind() != ast.LiteralKind && !isConstantList(element)
	})
}

func (w *weights) addEntries(e ast.Expr, depth int, part *weight) {
	if e.Kind() == ast.StructKind {
		part.cost += messageCost
		part.bytes += messageBytes
		for _, field := range e.AsStruct().Fields() {
			value := field.AsStructField().Value()
			w.setRole(value, fieldRole)
			w.add(value, depth, part)
		}
		return
	}

	part.cost += entryCost
	part.bytes += mapBytes
	for _, entry := range e.AsMap().Entries() {
		part.cost += entryCost
		part.bytes += mapEntryBytes
		w.setRole(entry.AsMapEntry().Key(), keyRole)
		w.add(entry.AsMapEntry().Key(), depth, part)
		w.add(entry.AsMapEntry().Value(), depth, part)
	}
}

// addComprehension adds the range, the initial value and the result, which are evaluated once. The condition and the step are a part that
// is evaluated for each element.
func (w *weights) addComprehension(c ast.ComprehensionExpr, depth int, part *weight) {
	part.cost += comprehensionCost
	w.setRole(c.IterRange(), rangeRole)
	w.add(c.IterRange(), depth, part)
	w.add(c.AccuInit(), depth, part)
	w.add(c.Result(), depth+1, part)
	if !hasOwnNode(c.LoopStep()) {
		w.add(c.LoopCondition(), depth+1, part)
		w.add(c.LoopStep(), depth+1, part)
		return
	}

	w.addPart(c.LoopStep(), depth+1, part)
	w.add(c.LoopCondition(), depth+1, w.parts[c.LoopStep().ID()])
}
