// SPDX-License-Identifier: Apache-2.0

package surface

import (
	"go/ast"
	"go/types"
)

// source is an expression that a variable, field, parameter or result can have its value from.
type source struct {
	in   *checked
	expr ast.Expr
	// result is which result of a call it is, where a call has several.
	result int
	// part is which part of the expression it is.
	part part
}

// part is a part of the value of an expression.
type part uint8

const (
	whole   part = iota
	element      // an element of a list, or a value of a map
	mapKey       // a key of a map
)

// index records the sources of every variable, field, parameter and result that a package assigns.
func (p *Program) index(in *checked) {
	for _, file := range in.files {
		for _, declaration := range file.Decls {
			function, _ := declaration.(*ast.FuncDecl)
			ast.Inspect(declaration, func(node ast.Node) bool {
				p.assign(in, node)
				return true
			})
			if function != nil && function.Body != nil {
				p.returns(in, function)
			}
		}
	}
}

func (p *Program) assign(in *checked, node ast.Node) {
	switch node := node.(type) {
	case *ast.AssignStmt:
		p.bindAll(in, node.Lhs, node.Rhs)
	case *ast.ValueSpec:
		names := make([]ast.Expr, len(node.Names))
		for i, name := range node.Names {
			names[i] = name
		}
		p.bindAll(in, names, node.Values)
	case *ast.RangeStmt:
		if node.Value != nil {
			p.bind(in.object(node.Value), source{in: in, expr: node.X, part: element})
		}
		if node.Key != nil {
			p.bind(in.object(node.Key), source{in: in, expr: node.X, part: mapKey})
		}
	case *ast.CompositeLit:
		p.bindFields(in, node)
	case *ast.CallExpr:
		p.bindArguments(in, node)
	}
}

func (p *Program) bind(to types.Object, from source) {
	if to != nil {
		p.sources[to] = append(p.sources[to], from)
	}
}

func (p *Program) bindAll(in *checked, to, from []ast.Expr) {
	for i, each := range to {
		switch {
		case len(from) == len(to):
			p.bind(in.object(each), source{in: in, expr: from[i]})
		case len(from) == 1:
			p.bind(in.object(each), source{in: in, expr: from[0], result: i})
		}
	}
}

func (p *Program) bindFields(in *checked, literal *ast.CompositeLit) {
	structure, ok := in.info.TypeOf(literal).Underlying().(*types.Struct)
	if !ok {
		return
	}

	for i, element := range literal.Elts {
		if pair, keyed := element.(*ast.KeyValueExpr); keyed {
			p.bind(in.object(pair.Key), source{in: in, expr: pair.Value})
		} else {
			p.bind(structure.Field(i).Origin(), source{in: in, expr: element})
		}
	}
}

func (p *Program) bindArguments(in *checked, call *ast.CallExpr) {
	function, ok := in.object(call.Fun).(*types.Func)
	if !ok {
		return
	}
	parameters := function.Signature().Params()
	for i, argument := range call.Args {
		if i < parameters.Len() {
			p.bind(parameters.At(i), source{in: in, expr: argument})
		}
	}
}

// returns records the results of a function. Those of function literals in it are not its own.
func (p *Program) returns(in *checked, function *ast.FuncDecl) {
	object := in.info.Defs[function.Name]
	ast.Inspect(function.Body, func(node ast.Node) bool {
		if _, nested := node.(*ast.FuncLit); nested {
			return false
		}
		statement, ok := node.(*ast.ReturnStmt)
		if !ok {
			return true
		}
		signature, _ := object.Type().(*types.Signature)
		results := make([]source, signature.Results().Len())
		for i := range results {
			switch {
			case len(statement.Results) == len(results):
				results[i] = source{in: in, expr: statement.Results[i]}
			case len(statement.Results) == 1:
				results[i] = source{in: in, expr: statement.Results[0], result: i}
			}
		}

		p.results[object] = append(p.results[object], results)
		return true
	})
}

// object is the variable, field or function that an expression names, nil if it names none. Generic ones are those that were declared.
func (c *checked) object(expr ast.Expr) types.Object {
	switch expr := ast.Unparen(expr).(type) {
	case *ast.Ident:
		return origin(c.info.ObjectOf(expr))
	case *ast.SelectorExpr:
		return origin(c.info.ObjectOf(expr.Sel))
	case *ast.IndexExpr: // An instance of a generic function.
		if function, ok := c.object(expr.X).(*types.Func); ok {
			return function
		}
	}
	return nil
}

func origin(object types.Object) types.Object {
	switch object := object.(type) {
	case *types.Var:
		return object.Origin()
	case *types.Func:
		return object.Origin()
	default:
		return object
	}
}
