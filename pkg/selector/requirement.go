// SPDX-License-Identifier: Apache-2.0

package selector

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/placement-hub/placement-hub/pkg/clusterinfo"
)

// The operators of a Clause beyond those of metav1.LabelSelectorOperator compare a label that is an int64 with one value. A label that is
// not set or no int64 does not match.
const (
	OpGreaterThan metav1.LabelSelectorOperator = "Gt"
	OpLessThan    metav1.LabelSelectorOperator = "Lt"
)

// requirement is a comparison of a label or a claim, with the meaning of a Kubernetes label selector requirement, or of the name.
type requirement struct {
	key      clusterinfo.Property
	operator metav1.LabelSelectorOperator
	values   []string // sorted, each once
	bound    int64    // the value of OpGreaterThan and OpLessThan
}

func (r *requirement) matches(info *clusterinfo.ClusterInfo) bool {
	return r.matchesValue(info.Value(r.key))
}

func (r *requirement) matchesValue(value string, found bool) bool {
	switch r.operator {
	case metav1.LabelSelectorOpIn:
		return found && r.hasValue(value)
	case metav1.LabelSelectorOpNotIn:
		return !found || !r.hasValue(value)
	case metav1.LabelSelectorOpExists:
		return found
	case metav1.LabelSelectorOpDoesNotExist:
		return !found
	case OpGreaterThan, OpLessThan:
		number, err := strconv.ParseInt(value, 10, 64)
		return err == nil && (r.operator == OpGreaterThan && number > r.bound || r.operator == OpLessThan && number < r.bound)
	default:
		return false
	}
}

func (r *requirement) hasValue(value string) bool {
	_, listed := slices.BinarySearch(r.values, value)
	return listed
}

// String returns "label region In [eu us]", or "name is c1".
func (r *requirement) String() string {
	switch {
	case r.key.Kind == clusterinfo.Name:
		return "name is " + r.key.Name
	case len(r.values) == 0:
		return r.key.String() + " " + string(r.operator)
	default:
		return r.key.String() + " " + string(r.operator) + " [" + strings.Join(r.values, " ") + "]"
	}
}

// actual returns the value that a cluster has instead of the required one, to follow the requirement in a text: ": is us".
func (r *requirement) actual(info *clusterinfo.ClusterInfo) string {
	value, found := info.Value(r.key)
	if !found {
		return ": not set"
	}
	return ": is " + value
}

// nameRequirement compiles the required name of a cluster; empty means any name. It returns an error for a name that no cluster can have.
func nameRequirement(path *field.Path, name string) ([]requirement, field.ErrorList) {
	if name == "" {
		return nil, nil
	}
	var errs field.ErrorList
	for _, rule := range validation.IsDNS1123Subdomain(name) {
		errs = append(errs, field.Invalid(path, name, rule))
	}
	return []requirement{equals(clusterinfo.Property{Kind: clusterinfo.Name, Name: name}, name)}, errs
}

// equals returns a comparison with a single value.
func equals(key clusterinfo.Property, value string) requirement {
	return requirement{key: key, operator: metav1.LabelSelectorOpIn, values: []string{value}}
}

// equalities compiles required values of labels or claims, in the order of their keys.
func equalities(kind clusterinfo.PropertyKind, values map[string]string) []requirement {
	requirements := make([]requirement, 0, len(values))
	for _, key := range slices.Sorted(maps.Keys(values)) {
		requirements = append(requirements, equals(clusterinfo.Property{Kind: kind, Name: key}, values[key]))
	}
	return requirements
}

// labelRequirements compiles a label selector; matchLabels come first, in the order of their keys.
func labelRequirements(path *field.Path, selector *metav1.LabelSelector) ([]requirement, field.ErrorList) {
	errs := metav1validation.ValidateLabelSelector(selector, metav1validation.LabelSelectorValidationOptions{}, path)
	if len(errs) > 0 {
		// ValidateLabelSelector returns the errors of matchLabels first, in the order of a map.
		rest := slices.IndexFunc(errs, func(err *field.Error) bool { return err.Field != errs[0].Field })
		if rest < 0 {
			rest = len(errs)
		}
		slices.SortFunc(errs[:rest], func(a, b *field.Error) int { return cmp.Compare(a.Error(), b.Error()) })
		return nil, errs
	}

	requirements := equalities(clusterinfo.Label, selector.MatchLabels)
	for _, expression := range selector.MatchExpressions {
		requirements = append(requirements, newRequirement(clusterinfo.Label, expression))
	}
	return requirements, nil
}

// labelOperators maps the operators of the package labels to those of a requirement. The operators = and == require the only value, as In does.
var labelOperators = map[selection.Operator]metav1.LabelSelectorOperator{
	selection.In:           metav1.LabelSelectorOpIn,
	selection.Equals:       metav1.LabelSelectorOpIn,
	selection.DoubleEquals: metav1.LabelSelectorOpIn,
	selection.NotIn:        metav1.LabelSelectorOpNotIn,
	selection.NotEquals:    metav1.LabelSelectorOpNotIn,
	selection.Exists:       metav1.LabelSelectorOpExists,
	selection.DoesNotExist: metav1.LabelSelectorOpDoesNotExist,
	selection.GreaterThan:  OpGreaterThan,
	selection.LessThan:     OpLessThan,
}

// operatorRequirements compiles requirements that labels.NewRequirement has validated.
func operatorRequirements(given []labels.Requirement) []requirement {
	requirements := make([]requirement, 0, len(given))
	for _, one := range given {
		r := requirement{
			key: clusterinfo.Property{Kind: clusterinfo.Label, Name: one.Key()}, operator: labelOperators[one.Operator()],
			values: slices.Sorted(maps.Keys(one.Values())),
		}
		if r.operator == OpGreaterThan || r.operator == OpLessThan {
			// The value has been validated.
			r.bound, _ = strconv.ParseInt(r.values[0], 10, 64)
		}
		requirements = append(requirements, r)
	}

	return requirements
}

// claimValues compiles required values of claims.
func claimValues(path *field.Path, values map[string]string) ([]requirement, field.ErrorList) {
	if _, unnamed := values[""]; unnamed {
		return nil, field.ErrorList{field.Required(path.Key(""), claimName)}
	}
	return equalities(clusterinfo.Claim, values), nil
}

// claimName is the detail of the error for a requirement on claims without a key.
const claimName = "the name of a cluster claim"

// claimRequirements compiles requirements on claims. Claims are plain strings: every name and every value is allowed
// (docs/spec/differences.md C1).
func claimRequirements(path *field.Path, expressions []metav1.LabelSelectorRequirement) ([]requirement, field.ErrorList) {
	var errs field.ErrorList
	requirements := make([]requirement, 0, len(expressions))
	for i, expression := range expressions {
		at := path.Index(i)
		if expression.Key == "" {
			errs = append(errs, field.Required(at.Child("key"), claimName))
		}

		switch expression.Operator {
		case metav1.LabelSelectorOpIn, metav1.LabelSelectorOpNotIn:
			if len(expression.Values) == 0 {
				errs = append(errs, field.Required(at.Child("values"), "must be specified when `operator` is 'In' or 'NotIn'"))
			}
		case metav1.LabelSelectorOpExists, metav1.LabelSelectorOpDoesNotExist:
			if len(expression.Values) > 0 {
				errs = append(errs, field.Forbidden(at.Child("values"), "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"))
			}
		default:
			errs = append(errs, field.NotSupported(at.Child("operator"), expression.Operator, []metav1.LabelSelectorOperator{
				metav1.LabelSelectorOpIn, metav1.LabelSelectorOpNotIn, metav1.LabelSelectorOpExists, metav1.LabelSelectorOpDoesNotExist,
			}))
		}

		requirements = append(requirements, newRequirement(clusterinfo.Claim, expression))
	}

	return requirements, errs
}

func newRequirement(kind clusterinfo.PropertyKind, expression metav1.LabelSelectorRequirement) requirement {
	return requirement{
		key: clusterinfo.Property{Kind: kind, Name: expression.Key}, operator: expression.Operator,
		values: slices.Compact(slices.Sorted(slices.Values(expression.Values))),
	}
}
