package selector

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/placement-hub/placement-hub/pkg/facts"
)

// requirement is one comparison of a label or a claim, with the meaning of a Kubernetes label selector requirement.
type requirement struct {
	kind     facts.Kind
	key      string
	operator metav1.LabelSelectorOperator
	values   []string
}

func (r requirement) value(f *facts.Facts) (string, bool) {
	source := f.Labels
	if r.kind == facts.Claim {
		source = f.Claims
	}

	value, found := source[r.key]

	return value, found
}

func (r requirement) matches(f *facts.Facts) bool {
	value, found := r.value(f)

	switch r.operator {
	case metav1.LabelSelectorOpIn:
		return found && slices.Contains(r.values, value)
	case metav1.LabelSelectorOpNotIn:
		return !found || !slices.Contains(r.values, value)
	case metav1.LabelSelectorOpExists:
		return found
	case metav1.LabelSelectorOpDoesNotExist:
		return !found
	default:
		return false
	}
}

// String is "label region In [eu us]".
func (r requirement) String() string {
	if len(r.values) == 0 {
		return fmt.Sprintf("%s %s %s", r.kind, r.key, r.operator)
	}

	return fmt.Sprintf("%s %s %s [%s]", r.kind, r.key, r.operator, strings.Join(r.values, " "))
}

// failure says why the requirement does not hold: "label region In [eu]: is us".
func (r requirement) failure(f *facts.Facts) string {
	value, found := r.value(f)
	if !found {
		return r.String() + ": not set"
	}

	return r.String() + ": is " + value
}

// labelRequirements compiles a label selector; matchLabels come first, in the order of their keys.
func labelRequirements(path *field.Path, selector *metav1.LabelSelector) ([]requirement, field.ErrorList) {
	errs := metav1validation.ValidateLabelSelector(selector, metav1validation.LabelSelectorValidationOptions{}, path)
	if len(errs) > 0 {
		return nil, errs
	}

	requirements := make([]requirement, 0, len(selector.MatchLabels)+len(selector.MatchExpressions))
	for _, key := range slices.Sorted(maps.Keys(selector.MatchLabels)) {
		requirements = append(requirements, requirement{
			kind: facts.Label, key: key, operator: metav1.LabelSelectorOpIn, values: []string{selector.MatchLabels[key]},
		})
	}

	for _, expression := range selector.MatchExpressions {
		requirements = append(requirements, newRequirement(facts.Label, expression))
	}

	return requirements, nil
}

// claimRequirements compiles requirements over claims. Claims are plain strings: any name and any value works (ours.md C1).
func claimRequirements(path *field.Path, expressions []metav1.LabelSelectorRequirement) ([]requirement, field.ErrorList) {
	var errs field.ErrorList

	requirements := make([]requirement, 0, len(expressions))

	for i, expression := range expressions {
		at := path.Index(i)
		if expression.Key == "" {
			errs = append(errs, field.Required(at.Child("key"), "the name of a cluster claim"))
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

		requirements = append(requirements, newRequirement(facts.Claim, expression))
	}

	return requirements, errs
}

func newRequirement(kind facts.Kind, expression metav1.LabelSelectorRequirement) requirement {
	return requirement{
		kind: kind, key: expression.Key, operator: expression.Operator, values: slices.Sorted(slices.Values(expression.Values)),
	}
}
