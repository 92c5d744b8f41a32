// SPDX-License-Identifier: Apache-2.0

package selector

import (
	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"k8s.io/apimachinery/pkg/api/resource"
	apiservercel "k8s.io/apiserver/pkg/cel"

	"github.com/placement-hub/placement-hub/pkg/decoding/quantity"
)

// quantityFunctions replaces quantity() and isQuantity() of the Kubernetes library, which parse any text. Agents of clusters choose the
// text, and no cost limit of CEL includes the time that parsing takes (see package quantity).
func quantityFunctions() cel.EnvOption {
	return cel.Lib(quantityLibrary{})
}

type quantityLibrary struct{}

// CompileOptions returns the functions with the overloads of the Kubernetes library, which cel-go allows to redefine.
func (quantityLibrary) CompileOptions() []cel.EnvOption {
	return []cel.EnvOption{
		cel.Function("quantity", cel.Overload("string_to_quantity",
			[]*cel.Type{cel.StringType}, apiservercel.QuantityType, cel.UnaryBinding(parseQuantity))),
		cel.Function("isQuantity", cel.Overload("is_quantity_string",
			[]*cel.Type{cel.StringType}, cel.BoolType, cel.UnaryBinding(isQuantity))),
	}
}

// ProgramOptions returns nil.
func (quantityLibrary) ProgramOptions() []cel.ProgramOption { return nil }

func parseQuantity(text ref.Val) ref.Val {
	source, ok := text.Value().(string)
	if !ok {
		return types.MaybeNoSuchOverloadErr(text)
	}
	if !quantity.Moderate(source) {
		return types.NewErr("quantity %q: the exponent must be from %d to %d", source, -quantity.MostExponent, quantity.MostExponent)
	}

	parsed, err := resource.ParseQuantity(source)
	if err != nil {
		return types.WrapErr(err)
	}
	return apiservercel.Quantity{Quantity: &parsed}
}

func isQuantity(text ref.Val) ref.Val {
	source, ok := text.Value().(string)
	if !ok {
		return types.MaybeNoSuchOverloadErr(text)
	}
	if !quantity.Moderate(source) {
		return types.False
	}
	_, err := resource.ParseQuantity(source)
	return types.Bool(err == nil)
}
