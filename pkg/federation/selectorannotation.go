// SPDX-License-Identifier: Apache-2.0

package federation

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/placement-hub/placement-hub/pkg/limits"
)

// clusterRequirement is an element of the value of SelectorAnnotation.
type clusterRequirement struct {
	Key      string   `json:"key"`
	Operator string   `json:"operator"`
	Values   []string `json:"values"`
}

// operatorAliases maps the aliases of operators to the operators of the package labels (docs/spec/federated-selector.md 3.1.1).
var operatorAliases = map[string]selection.Operator{
	"In": selection.In, "in": selection.In,
	"NotIn": selection.NotIn, "notin": selection.NotIn,
	"=": selection.Equals, "==": selection.DoubleEquals, "!=": selection.NotEquals,
	"Exists": selection.Exists, "exists": selection.Exists,
	"DoesNotExist": selection.DoesNotExist, "!": selection.DoesNotExist,
	"Gt": selection.GreaterThan, "gt": selection.GreaterThan, ">": selection.GreaterThan,
	"Lt": selection.LessThan, "lt": selection.LessThan, "<": selection.LessThan,
}

// ParseSelector returns the requirements of a value of SelectorAnnotation; none select every cluster. It returns all errors of the
// requirements, each with the name of the annotation and the index of the requirement (docs/spec/federated-selector.md 3.1.3).
func ParseSelector(value string) ([]labels.Requirement, error) {
	var parsed []clusterRequirement
	if err := decodeStrictly(value, &parsed); err != nil {
		return nil, fmt.Errorf("annotation %s: %w", SelectorAnnotation, err)
	}
	if parsed == nil {
		return nil, fmt.Errorf("annotation %s: must be a JSON array, not null; [] selects every cluster", SelectorAnnotation)
	}
	if err := checkLimits(parsed); err != nil {
		return nil, fmt.Errorf("annotation %s: %w", SelectorAnnotation, err)
	}

	var errs []error
	requirements := make([]labels.Requirement, 0, len(parsed))
	for i, given := range parsed {
		operator, known := operatorAliases[given.Operator]
		if !known {
			operator = selection.Operator(given.Operator) // NewRequirement returns the error.
		}
		requirement, err := labels.NewRequirement(given.Key, operator, given.Values)
		if err != nil {
			errs = append(errs, fmt.Errorf("annotation %s: requirement[%d]: %w", SelectorAnnotation, i, err))
			continue
		}
		requirements = append(requirements, *requirement)
	}

	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	return requirements, nil
}

// checkLimits returns an error if there are more requirements, or values in one of them, than a selector may have
// (docs/spec/differences.md C2a).
func checkLimits(requirements []clusterRequirement) error {
	if count := len(requirements); count > limits.Requirements.Max {
		return fmt.Errorf("has %d requirements: %s", count, limits.Requirements.Detail())
	}
	for i, requirement := range requirements {
		if err := limits.Values.Check(field.NewPath("values"), len(requirement.Values)); err != nil {
			return fmt.Errorf("requirement[%d]: %w", i, err)
		}
	}
	return nil
}

// decodeStrictly decodes a JSON text as json.Unmarshal does, but rejects unknown fields.
func decodeStrictly(text string, into any) error {
	// The decoder alone would ignore what follows the first value.
	if err := json.Unmarshal([]byte(text), &json.RawMessage{}); err != nil {
		return err //nolint:wrapcheck // the caller names the annotation
	}
	decoder := json.NewDecoder(bytes.NewReader([]byte(text)))
	decoder.DisallowUnknownFields()
	return decoder.Decode(into) //nolint:wrapcheck // as above
}
