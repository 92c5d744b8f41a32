// SPDX-License-Identifier: Apache-2.0

package selector

import (
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"

	"github.com/placement-hub/placement-hub/pkg/clusterinfo"
)

// labelsPath is the field of which each entry is a property of its own.
const labelsPath = "metadata.labels"

// reads returns the properties that a checked expression reads. It follows every use of the cluster from the variable upwards through
// constant steps in all their forms: x.f, x["f"], x.?f, x[?"f"], has(x.f), "f" in x. A dynamic step reads everything.
func reads(checked *cel.Ast) []clusterinfo.Property {
	uses := usesOfCluster(checked)
	keys := make([]clusterinfo.Property, 0, len(uses))
	for _, use := range uses {
		keys = append(keys, readsOf(use)...)
	}
	return keys
}

// usesOfCluster returns the uses of the variable managedCluster in a checked expression.
func usesOfCluster(checked *cel.Ast) []ast.NavigableExpr {
	return ast.MatchDescendants(ast.NavigateAST(checked.NativeRep()), func(e ast.NavigableExpr) bool {
		// A macro variable may shadow the cluster, which then is written with a leading dot.
		return e.Kind() == ast.IdentKind && strings.TrimPrefix(e.AsIdent(), ".") == clusterVariable
	})
}

// readsOf returns the properties that one use of the cluster reads.
func readsOf(use ast.NavigableExpr) []clusterinfo.Property {
	if name, ok := scoresArgument(use); ok {
		return []clusterinfo.Property{{Kind: clusterinfo.Score, Name: name}}
	}
	path, _, presence := constantPath(use)
	switch {
	case len(path) == 1 && presence && (path[0] == "metadata" || path[0] == "spec" || path[0] == "status"):
		return nil // They are always present.
	case len(path) < 2:
		return []clusterinfo.Property{{Kind: clusterinfo.Any}}
	}

	field, known := clusterinfo.FieldProperty(path[0] + "." + path[1])
	switch {
	case !known:
		return []clusterinfo.Property{{Kind: clusterinfo.Any}}
	case field.Name != labelsPath:
		return []clusterinfo.Property{field}
	case len(path) == 2:
		return []clusterinfo.Property{{Kind: clusterinfo.Label}}
	default:
		// If the cluster has no labels at all, the lookup of a label is an error instead of "no such label".
		return []clusterinfo.Property{{Kind: clusterinfo.Label, Name: path[2]}, field}
	}
}

// constantPath returns up to three constant steps from a use of the cluster, the expression of the last step, and whether it tests presence only.
func constantPath(use ast.NavigableExpr) (path []string, at ast.NavigableExpr, presence bool) {
	for at = use; len(path) < 3; {
		parent, ok := at.Parent()
		if !ok {
			break
		}
		name, test, ok := fieldStep(parent, at.ID())
		if !ok {
			break
		}
		path, presence, at = append(path, name), test, parent
	}

	return path, at, presence
}

// fieldStep returns the constant name of the field that e looks up in the operand with that id, and whether e tests presence only.
func fieldStep(e ast.NavigableExpr, operand int64) (name string, presence, ok bool) {
	switch e.Kind() {
	case ast.SelectKind:
		return e.AsSelect().FieldName(), e.AsSelect().IsTestOnly(), e.AsSelect().Operand().ID() == operand
	case ast.CallKind:
	default:
		return "", false, false
	}

	call := e.AsCall()
	if call.IsMemberFunction() || len(call.Args()) != 2 {
		return "", false, false
	}
	container, key := call.Args()[0], call.Args()[1]

	switch call.FunctionName() {
	case operators.Index, operators.OptIndex, operators.OptSelect:
	case operators.In:
		container, key, presence = key, container, true
	default:
		return "", false, false
	}
	if container.ID() != operand {
		return "", false, false
	}

	name, ok = constantText(key)
	return name, presence, ok
}

// scoresArgument returns the constant argument of a call of scores() on a use of the cluster.
func scoresArgument(use ast.NavigableExpr) (string, bool) {
	parent, ok := use.Parent()
	if !ok || parent.Kind() != ast.CallKind || parent.AsCall().FunctionName() != scoresName || len(parent.AsCall().Args()) != 1 {
		return "", false
	}
	return constantText(parent.AsCall().Args()[0])
}

// constantText returns the text of a string literal. It returns false for the empty string, which as the name of a Property would cover its
// whole kind.
func constantText(e ast.Expr) (string, bool) {
	if e.Kind() != ast.LiteralKind {
		return "", false
	}
	text, ok := e.AsLiteral().Value().(string)
	return text, ok && text != ""
}
