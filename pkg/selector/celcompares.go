// SPDX-License-Identifier: Apache-2.0

package selector

import (
	"slices"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"

	"github.com/placement-hub/placement-hub/pkg/clusterinfo"
)

// maxComparisons is how many comparisons of one expression are looked at.
const maxComparisons = 50

// ComparedValues returns the literals with which the CEL expressions compare a label or a claim by ==, != or in, in the order of the expressions.
// It knows labels by a constant key, and claims as c.value beside c.name == "NAME" in one macro over status.clusterClaims.
func (s *Selector) ComparedValues() []RequiredValue {
	var values []RequiredValue
	for _, p := range s.programs {
		values = append(values, p.compares...)
	}
	return values
}

// compares returns the literals with which a checked expression compares a label or a claim.
func compares(checked *cel.Ast) []RequiredValue {
	var found []RequiredValue
	looked := 0
	for _, call := range ast.MatchDescendants(ast.NavigateAST(checked.NativeRep()), ast.KindMatcher(ast.CallKind)) {
		operands := call.Children()
		if len(operands) != 2 {
			continue
		}
		if looked == maxComparisons {
			break
		}
		left, right := operands[0], operands[1]
		switch call.AsCall().FunctionName() {
		case operators.Equals, operators.NotEquals:
			if left.Kind() == ast.LiteralKind {
				left, right = right, left
			}
		case operators.In:
		default:
			continue
		}
		looked++
		if key, known := comparedProperty(left); known {
			if values := literalTexts(right); len(values) > 0 {
				found = append(found, RequiredValue{Key: key, Values: values})
			}
		}
	}
	return found
}

// literalTexts returns the text of a literal, or the sorted texts of a list of literals; nil for anything else.
func literalTexts(e ast.NavigableExpr) []string {
	elements := []ast.NavigableExpr{e}
	if e.Kind() == ast.ListKind {
		elements = e.Children()
	}
	texts := make([]string, 0, len(elements))
	for _, element := range elements {
		text, ok := constantText(element)
		if !ok {
			return nil
		}
		texts = append(texts, text)
	}
	slices.Sort(texts)
	return slices.Compact(texts)
}

// comparedProperty returns the label or claim whose value an expression is.
func comparedProperty(e ast.NavigableExpr) (clusterinfo.Property, bool) {
	e = withoutDefault(e)
	if path := pathTo(e); len(path) == 3 && path[0]+"."+path[1] == labelsPath {
		return clusterinfo.Property{Kind: clusterinfo.Label, Name: path[2]}, true
	}
	if e.Kind() != ast.SelectKind || e.AsSelect().FieldName() != "value" {
		return clusterinfo.Property{}, false
	}
	name, ok := comparedClaim(e.Children()[0])
	return clusterinfo.Property{Kind: clusterinfo.Claim, Name: name}, ok
}

// withoutDefault returns the optional value of x.orValue(default), and other expressions as they are.
func withoutDefault(e ast.NavigableExpr) ast.NavigableExpr {
	if e.Kind() == ast.CallKind && e.AsCall().IsMemberFunction() && e.AsCall().FunctionName() == "orValue" {
		return e.Children()[0]
	}
	return e
}

// pathTo returns the constant steps from the cluster to an expression; nil if it is something else.
func pathTo(e ast.NavigableExpr) []string {
	if e.Kind() == ast.IdentKind && strings.TrimPrefix(e.AsIdent(), ".") == clusterVariable {
		return []string{}
	}
	for _, operand := range e.Children() {
		name, presence, ok := fieldStep(e, operand.ID())
		if !ok || presence {
			continue
		}
		if path := pathTo(operand); path != nil {
			return append(path, name)
		}
	}
	return nil
}

// comparedClaim returns the name of the claim that an expression is: the variable of a macro over the claims that compares its name with one literal,
// or an element of the result of such a macro.
func comparedClaim(claim ast.NavigableExpr) (string, bool) {
	macro := claim
	switch {
	case claim.Kind() == ast.CallKind && claim.AsCall().FunctionName() == operators.Index:
		macro = claim.Children()[0]
	case claim.Kind() == ast.IdentKind:
		for is := true; is && (macro.Kind() != ast.ComprehensionKind || macro.AsComprehension().IterVar() != claim.AsIdent()); {
			macro, is = macro.Parent()
		}
	default:
		return "", false
	}
	if macro == nil || macro.Kind() != ast.ComprehensionKind {
		return "", false
	}
	if path := pathTo(withoutDefault(macro.Children()[0])); strings.Join(path, ".") != "status.clusterClaims" {
		return "", false
	}

	return comparedName(macro)
}

// comparedName returns the one literal with which a macro compares the names of claims.
func comparedName(macro ast.NavigableExpr) (string, bool) {
	variable, names := macro.AsComprehension().IterVar(), map[string]bool{}
	for _, call := range ast.MatchDescendants(macro, ast.FunctionMatcher(operators.Equals)) {
		operands := call.Children()
		if operands[0].Kind() == ast.LiteralKind {
			slices.Reverse(operands)
		}
		of := operands[0]
		if of.Kind() != ast.SelectKind || of.AsSelect().FieldName() != "name" || of.AsSelect().Operand().AsIdent() != variable {
			continue
		}
		for _, text := range literalTexts(operands[1]) {
			names[text] = true
		}
	}
	for name := range names {
		return name, len(names) == 1
	}
	return "", false
}
