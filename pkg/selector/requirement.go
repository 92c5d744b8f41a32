package selector

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/placement-hub/placement-hub/pkg/clusterinfo"
)

// requirement is a comparison of a label or a claim, with the meaning of a Kubernetes label selector requirement, or of the name.
type requirement struct {
	key      clusterinfo.Property
	operator metav1.LabelSelectorOperator
	values   []string // sorted, each once
}

func (r *requirement) matches(f *clusterinfo.ClusterInfo) bool {
	value, found := f.Value(r.key)

	switch r.operator {
	case metav1.LabelSelectorOpIn:
		return found && r.hasValue(value)
	case metav1.LabelSelectorOpNotIn:
		return !found || !r.hasValue(value)
	case metav1.LabelSelectorOpExists:
		return found
	case metav1.LabelSelectorOpDoesNotExist:
		return !found
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
		return fmt.Sprintf("%s %s", r.key, r.operator)
	default:
		return fmt.Sprintf("%s %s [%s]", r.key, r.operator, strings.Join(r.values, " "))
	}
}

// actual returns the value that a cluster has instead of the required one, to follow the requirement in a text: ": is us".
func (r *requirement) actual(f *clusterinfo.ClusterInfo) string {
	value, found := f.Value(r.key)
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
