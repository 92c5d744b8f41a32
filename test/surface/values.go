// SPDX-License-Identifier: Apache-2.0

package surface

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"maps"
	"slices"
)

// Unknown is a value that only the running program knows.
const Unknown = "*"

// maxSum is the greatest number of strings that a sum is followed to. A sum of more is a text for people, such as that of an error.
const maxSum = 1000

// trace follows strings back to constants, and visits every object once: what it returns for an object is what the visits before have not
// returned. All that a trace returns together is the result.
type trace struct {
	program *Program
	visited map[visit]bool
}

// visit is a part of an object, or of a result of a function.
type visit struct {
	object types.Object
	result int
	part   part
}

func newTrace(program *Program) *trace {
	return &trace{program: program, visited: map[visit]bool{}}
}

// first reports whether something is visited for the first time.
func (t *trace) first(of visit) bool {
	before := t.visited[of]
	t.visited[of] = true
	return !before
}

// stringSet is a set of strings.
type stringSet map[string]bool

func (s stringSet) add(others stringSet) { maps.Copy(s, others) }

// values are the strings that an expression can be, without regard to the order of statements.
func (p *Program) values(in *checked, expr ast.Expr) []string {
	found := newTrace(p).from(source{in: in, expr: expr})
	return slices.Sorted(maps.Keys(found))
}

// valuesOf are the strings that a variable or field can be.
func (p *Program) valuesOf(object types.Object) []string {
	found := newTrace(p).object(object, whole)
	return slices.Sorted(maps.Keys(found))
}

func (t *trace) from(s source) stringSet {
	if s.expr == nil {
		return stringSet{}
	}
	if value := s.in.info.Types[s.expr].Value; value != nil && s.part == whole {
		return stringSet{text(value): true}
	}

	switch expr := ast.Unparen(s.expr).(type) {
	case *ast.CompositeLit:
		return t.elements(s, expr)
	case *ast.CallExpr:
		return t.call(s, expr)
	case *ast.BinaryExpr:
		return t.sum(s.in, expr)
	case *ast.IndexExpr:
		return t.from(source{in: s.in, expr: expr.X, part: element})
	case *ast.StarExpr:
		return t.from(source{in: s.in, expr: expr.X})
	case *ast.UnaryExpr:
		return t.from(source{in: s.in, expr: expr.X})
	case *ast.Ident, *ast.SelectorExpr:
		return t.object(s.in.object(expr), s.part)
	default:
		return stringSet{Unknown: true}
	}
}

func text(value constant.Value) string {
	if value.Kind() == constant.String {
		return constant.StringVal(value)
	}
	return value.ExactString()
}

// object is what any source of it is. What has no source (it comes from outside of the program) is any constant of its type, if that is a
// type of strings declared here.
func (t *trace) object(object types.Object, of part) stringSet {
	if _, isNil := object.(*types.Nil); isNil || object == nil || !t.first(visit{object: object, part: of}) {
		return stringSet{}
	}
	found := stringSet{}
	for _, s := range t.program.sources[object] {
		s.part = max(s.part, of)
		found.add(t.from(s))
	}

	if len(t.program.sources[object]) == 0 {
		found.add(t.constantsOf(object.Type()))
	}
	return found
}

// constantsOf are the constants of a type, or Unknown if it is none that has constants.
func (t *trace) constantsOf(kind types.Type) stringSet {
	found := stringSet{}
	if named, ok := kind.(*types.Named); ok && t.program.has(named.Obj().Pkg()) {
		for _, name := range named.Obj().Pkg().Scope().Names() {
			if c, ok := named.Obj().Pkg().Scope().Lookup(name).(*types.Const); ok && types.Identical(c.Type(), kind) {
				found[text(c.Val())] = true
			}
		}
	}

	if len(found) == 0 {
		found[Unknown] = true
	}
	return found
}

func (p *Program) has(other *types.Package) bool {
	return slices.ContainsFunc(p.packages, func(c *checked) bool { return c.types == other })
}

func (t *trace) elements(s source, literal *ast.CompositeLit) stringSet {
	found := stringSet{}
	for _, each := range literal.Elts {
		switch pair, keyed := each.(*ast.KeyValueExpr); {
		case keyed && s.part == mapKey:
			each = pair.Key
		case keyed:
			each = pair.Value
		}
		found.add(t.from(source{in: s.in, expr: each}))
	}
	return found
}

func (t *trace) sum(in *checked, expr *ast.BinaryExpr) stringSet {
	if expr.Op != token.ADD {
		return stringSet{Unknown: true}
	}
	if found, known := t.program.sums[expr]; known {
		return found
	}
	t.program.sums[expr] = nil
	found := stringSet{}

	lefts, rights := t.operand(in, expr.X), t.operand(in, expr.Y)
	if len(lefts)*len(rights) > maxSum {
		lefts, rights = stringSet{Unknown: true}, stringSet{"": true}
	}
	for left := range lefts {
		for right := range rights {
			found[left+right] = true
		}
	}
	t.program.sums[expr] = found
	return found
}

// operand returns all strings that an operand of a sum can be, whatever was visited before.
func (t *trace) operand(in *checked, expr ast.Expr) stringSet {
	return newTrace(t.program).from(source{in: in, expr: expr})
}

func (t *trace) call(s source, call *ast.CallExpr) stringSet {
	if s.in.info.Types[call.Fun].IsType() { // A conversion.
		return t.from(source{in: s.in, expr: call.Args[0], part: s.part})
	}
	if builtin, ok := s.in.object(call.Fun).(*types.Builtin); ok && !call.Ellipsis.IsValid() {
		return t.builtin(s, builtin.Name(), call.Args)
	}
	function, ok := s.in.object(call.Fun).(*types.Func)
	if !ok || len(t.program.results[function]) == 0 && !composed(function) {
		return stringSet{Unknown: true}
	}

	switch function.FullName() {
	case "strconv.FormatBool":
		return stringSet{"true": true, "false": true}
	case "cmp.Or":
		found := stringSet{}
		for _, argument := range call.Args {
			found.add(t.from(source{in: s.in, expr: argument}))
		}
		return found
	}

	found := stringSet{}
	if !t.first(visit{object: function, result: s.result, part: s.part}) {
		return found
	}
	for _, results := range t.program.results[function] {
		result := results[s.result]
		result.part = max(result.part, s.part)
		found.add(t.from(result))
	}
	return found
}

// composed reports whether call knows what a function of a library returns.
func composed(function *types.Func) bool {
	return function.FullName() == "strconv.FormatBool" || function.FullName() == "cmp.Or"
}

// builtin are the strings that a call of a built-in function returns: append those of all its arguments, and make none.
func (t *trace) builtin(s source, name string, arguments []ast.Expr) stringSet {
	switch name {
	case "make":
		return stringSet{}
	case "append":
		found := stringSet{}
		found.add(t.from(source{in: s.in, expr: arguments[0], part: s.part}))
		for _, argument := range arguments[1:] {
			found.add(t.from(source{in: s.in, expr: argument}))
		}
		return found
	default:
		return stringSet{Unknown: true}
	}
}
