package selector

import (
	"strconv"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"k8s.io/apimachinery/pkg/api/resource"
	apiservercel "k8s.io/apiserver/pkg/cel"
)

// mostExponent bounds the exponent of a quantity in an expression. The greatest amount that any unit stands for is about 1e19.
const mostExponent = 1000

// quantityFunctions replace quantity() and isQuantity() of the Kubernetes library. resource.Quantity calculates exactly, so that parsing
// "1e-99999999" or comparing "1e99999999" takes minutes and gigabytes, which no cost limit of CEL sees; and agents of clusters choose the text.
func quantityFunctions() cel.EnvOption {
	return cel.Lib(quantityLibrary{})
}

type quantityLibrary struct{}

// CompileOptions are the functions. They have the overloads of the Kubernetes library, which cel-go admits to be defined anew.
func (quantityLibrary) CompileOptions() []cel.EnvOption {
	return []cel.EnvOption{
		cel.Function("quantity", cel.Overload("string_to_quantity",
			[]*cel.Type{cel.StringType}, apiservercel.QuantityType, cel.UnaryBinding(quantity))),
		cel.Function("isQuantity", cel.Overload("is_quantity_string",
			[]*cel.Type{cel.StringType}, cel.BoolType, cel.UnaryBinding(isQuantity))),
	}
}

// ProgramOptions are none.
func (quantityLibrary) ProgramOptions() []cel.ProgramOption { return nil }

func quantity(text ref.Val) ref.Val {
	source, ok := text.Value().(string)
	if !ok {
		return types.MaybeNoSuchOverloadErr(text)
	}

	if !moderate(source) {
		return types.NewErr("quantity %q: the exponent must be from %d to %d", source, -mostExponent, mostExponent)
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

	if !moderate(source) {
		return types.False
	}

	_, err := resource.ParseQuantity(source)

	return types.Bool(err == nil)
}

// moderate reports whether the exponent of a quantity is within its bounds. A text without an exponent is moderate.
func moderate(source string) bool {
	at := strings.LastIndexAny(source, "eE")
	if at < 0 || at == len(source)-1 || strings.HasSuffix(source, "i") {
		return true // The last letter is a suffix such as E or Ei.
	}

	exponent, err := strconv.Atoi(source[at+1:])

	return err == nil && exponent >= -mostExponent && exponent <= mostExponent
}
