// SPDX-License-Identifier: Apache-2.0

package selector

import (
	"fmt"
	"sync"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
)

const (
	// maxCopies is how often a value may occur in the result of nested comprehensions by their variables alone.
	maxCopies = 1 << 12
	// maxNodes is the number of nodes of an expression after its macros are written out: about four times that of 64 KiB of text.
	maxNodes = 1 << 16
)

// checkGrowth returns an error if nested comprehensions, each of which uses its variable more than once, make so many copies of a value
// that no cluster can be evaluated within the limits. What grows with the cluster is left to the limits.
func checkGrowth(root ast.Expr) error {
	if (growth{}).copies(root) > maxCopies {
		return fmt.Errorf("nested comprehensions (map, optMap, optFlatMap) use their variables more than once, which makes more than %d copies "+
			"of a value: use each variable once, or nest fewer of them", maxCopies)
	}
	return nil
}

// growth has how often a value may occur in the values of expressions, by their ids.
type growth map[int64]uint64

// copies returns how often a value may occur in the value of an expression, at most maxCopies+1.
func (g growth) copies(e ast.Expr) uint64 {
	if known, ok := g[e.ID()]; ok {
		return known
	}
	most := uint64(1)
	for _, child := range children(e) {
		most = max(most, g.copies(child))
	}
	if e.Kind() == ast.ComprehensionKind {
		most = max(most, g.ofComprehension(e.AsComprehension()))
	}

	g[e.ID()] = min(most, maxCopies+1)
	return g[e.ID()]
}

func (g growth) ofComprehension(c ast.ComprehensionExpr) uint64 {
	switch {
	case c.Result().Kind() != ast.IdentKind || c.Result().AsIdent() != c.AccuVar():
		// The variable of optMap is the accumulator, and its body the result.
		return max(uses(c.Result(), c.AccuVar()), 1) * g.copies(c.AccuInit()) * g.copies(c.Result())
	case c.AccuInit().Kind() == ast.ListKind:
		body := appended(c.LoopStep())
		return max(uses(body, c.IterVar()), 1) * g.copies(c.IterRange()) * g.copies(body)
	default:
		return 1 // The value of all, exists and exists_one does not grow.
	}
}

// appended returns the list that the step of map and filter appends to the result: the step is accumulator + [value], or
// condition ? accumulator + [value] : accumulator.
func appended(step ast.Expr) ast.Expr {
	if step.Kind() != ast.CallKind {
		return step
	}
	switch call := step.AsCall(); call.FunctionName() {
	case operators.Conditional:
		return appended(call.Args()[1])
	case operators.Add:
		return call.Args()[1]
	default:
		return step
	}
}

// uses returns how often an expression uses a variable, at most maxCopies+1.
func uses(e ast.Expr, variable string) uint64 {
	if e.Kind() == ast.IdentKind && e.AsIdent() == variable {
		return 1
	}
	sum := uint64(0)
	for _, child := range children(e) {
		sum += uses(child, variable)
	}
	return min(sum, maxCopies+1)
}

// children returns the direct parts of an expression.
func children(e ast.Expr) []ast.Expr {
	switch e.Kind() {
	case ast.SelectKind:
		return []ast.Expr{e.AsSelect().Operand()}
	case ast.CallKind:
		if call := e.AsCall(); call.IsMemberFunction() {
			return append([]ast.Expr{call.Target()}, call.Args()...)
		}
		return e.AsCall().Args()
	case ast.ListKind:
		return e.AsList().Elements()
	case ast.MapKind:
		var parts []ast.Expr
		for _, entry := range e.AsMap().Entries() {
			parts = append(parts, entry.AsMapEntry().Key(), entry.AsMapEntry().Value())
		}
		return parts
	case ast.StructKind:
		var parts []ast.Expr
		for _, field := range e.AsStruct().Fields() {
			parts = append(parts, field.AsStructField().Value())
		}
		return parts
	case ast.ComprehensionKind:
		c := e.AsComprehension()
		return []ast.Expr{c.IterRange(), c.AccuInit(), c.LoopCondition(), c.LoopStep(), c.Result()}
	default:
		return nil
	}
}

// macroless returns an environment that parses macros as calls.
var macroless = sync.OnceValues(func() (*cel.Env, error) { return cel.NewEnv(cel.OptionalTypes(), cel.ClearMacros()) })

// checkMacros returns an error if an expression is too large when its macros are written out: optMap and optFlatMap copy their target.
func checkMacros(source string) error {
	env, err := macroless()
	if err != nil {
		return fmt.Errorf("making the CEL environment: %w", err)
	}
	parsed, issues := env.Parse(source)
	if issues.Err() != nil {
		return nil //nolint:nilerr // The compilation returns the error.
	}

	if nodes(parsed.NativeRep().Expr()) > maxNodes {
		return fmt.Errorf("the expression has more than %d nodes when its macros are written out: optMap and optFlatMap repeat what they are "+
			"called on, so do not chain them", maxNodes)
	}
	return nil
}

// nodes returns the number of nodes of an expression whose macros are calls after they are written out, at most about maxNodes.
func nodes(e ast.Expr) uint64 {
	sum := uint64(1)
	for i, child := range children(e) {
		of := nodes(child)
		sum += of
		if i == 0 && e.Kind() == ast.CallKind && e.AsCall().IsMemberFunction() {
			if name := e.AsCall().FunctionName(); name == "optMap" || name == "optFlatMap" {
				sum += of
			}
		}
	}
	return min(sum, maxNodes+1)
}

// checkOptionals returns an error if an optional element of a list or map is of no optional type. cel-go has the whole value in the text of
// the error that the evaluation then returns, so that it can be of any length.
func checkOptionals(checked *cel.Ast) error {
	var visit func(e ast.Expr) error
	visit = func(e ast.Expr) error {
		for _, value := range optionals(e) {
			if kind := checked.NativeRep().GetType(value.ID()); kind.TypeName() != "optional_type" {
				return fmt.Errorf("an optional element of a list or map (with a question mark) must be an optional value, but its type is %s", kind)
			}
		}
		for _, child := range children(e) {
			if err := visit(child); err != nil {
				return err
			}
		}
		return nil
	}

	return visit(checked.NativeRep().Expr())
}

// optionals returns the optional elements of a list, map or message.
func optionals(e ast.Expr) []ast.Expr {
	var values []ast.Expr
	switch e.Kind() {
	case ast.ListKind:
		for _, at := range e.AsList().OptionalIndices() {
			values = append(values, e.AsList().Elements()[at])
		}
	case ast.MapKind:
		for _, entry := range e.AsMap().Entries() {
			if entry.AsMapEntry().IsOptional() {
				values = append(values, entry.AsMapEntry().Value())
			}
		}
	case ast.StructKind:
		for _, field := range e.AsStruct().Fields() {
			if field.AsStructField().IsOptional() {
				values = append(values, field.AsStructField().Value())
			}
		}
	default:
	}

	return values
}
