// SPDX-License-Identifier: Apache-2.0

package surface

import (
	"go/ast"
	"go/types"
	"regexp"
	"slices"
	"strings"
)

// Use is a call with the strings that each of its arguments can be.
type Use struct {
	// Receiver are the strings that the receiver is made of: the values of the first argument of the call that made it.
	Receiver []string
	// Arguments are the values of the arguments.
	Arguments [][]string
}

// Calls finds the calls of functions, methods and fields by name, as in strconv.FormatBool or
// (*github.com/prometheus/client_golang/prometheus.CounterVec).WithLabelValues.
func (p *Program) Calls(is func(fullName string) bool) []Use {
	var uses []Use
	p.inspect(func(in *checked, node ast.Node) {
		call, ok := node.(*ast.CallExpr)
		if !ok || !is(calleeName(in.object(call.Fun))) {
			return
		}
		use := Use{}
		if selector, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr); ok {
			use.Receiver = p.made(in, selector.X)
		}

		for _, argument := range call.Args {
			use.Arguments = append(use.Arguments, p.values(in, argument))
		}
		uses = append(uses, use)
	})

	return uses
}

func calleeName(object types.Object) string {
	switch object := object.(type) {
	case *types.Func:
		return object.FullName()
	case *types.Var:
		return object.Name()
	default:
		return ""
	}
}

// made are the values of the first argument of the calls that an expression, or a variable's sources, consist of.
func (p *Program) made(in *checked, expr ast.Expr) []string {
	if call, ok := ast.Unparen(expr).(*ast.CallExpr); ok && len(call.Args) > 0 {
		return p.values(in, call.Args[0])
	}
	var names []string
	for _, s := range p.sources[in.object(expr)] {
		if call, ok := ast.Unparen(s.expr).(*ast.CallExpr); ok && len(call.Args) > 0 {
			names = append(names, p.values(s.in, call.Args[0])...)
		}
	}
	return names
}

// Field are the strings that a field of a type can be set to, wherever that is done.
func (p *Program) Field(path, name, field string) []string {
	var found []string
	for object := range p.sources {
		variable, ok := object.(*types.Var)
		if ok && variable.IsField() && variable.Name() == field && variable.Pkg().Path() == path && owns(variable, name) {
			found = append(found, p.valuesOf(object)...)
		}
	}
	return found
}

// owns reports whether a named struct type has the field.
func owns(field *types.Var, name string) bool {
	object := field.Pkg().Scope().Lookup(name)
	if object == nil {
		return false
	}
	structure, ok := object.Type().Underlying().(*types.Struct)
	return ok && slices.Contains(slices.Collect(structure.Fields()), field)
}

// Constants are the constant strings that match, wherever an expression has one.
func (p *Program) Constants(matching *regexp.Regexp) []string {
	var found []string
	for _, in := range p.packages {
		for _, is := range in.info.Types {
			if is.Value != nil && matching.MatchString(text(is.Value)) {
				found = append(found, text(is.Value))
			}
		}
	}
	return found
}

// Tagged are the struct types with a json tag in packages below a directory, as path.Name; types within functions are left out.
func (p *Program) Tagged(below string) []string {
	var found []string
	for _, in := range p.packages {
		if path := in.types.Path() + "/"; !strings.HasPrefix(path, Module+below+"/") {
			continue
		}
		for _, name := range in.types.Scope().Names() {
			structure, ok := in.types.Scope().Lookup(name).Type().Underlying().(*types.Struct)
			if !ok {
				continue
			}
			for i := range structure.NumFields() {
				if strings.Contains(structure.Tag(i), "json:") {
					found = append(found, in.types.Path()+"."+name)
					break
				}
			}
		}
	}

	return found
}

func (p *Program) inspect(visit func(in *checked, node ast.Node)) {
	for _, in := range p.packages {
		for _, file := range in.files {
			ast.Inspect(file, func(node ast.Node) bool {
				visit(in, node)
				return true
			})
		}
	}
}
