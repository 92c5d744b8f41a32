package worldfile

import (
	"errors"
	"fmt"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/placement-hub/placement-hub/pkg/decision/record"
)

// Admission does with single placements what an API server does that was asked to be strict: it fills in defaults and finds mistakes. It is
// safe for concurrent use.
type Admission struct {
	definitions map[schema.GroupVersionKind]admitter
}

// NewAdmission makes an Admission that checks by the given definitions, which must serve the placements of all APIs.
func NewAdmission(crds []*apiextensionsv1.CustomResourceDefinition) (*Admission, error) {
	definitions, err := newDefinitions(crds)
	if err != nil {
		return nil, err
	}

	for _, api := range record.APIs() {
		if definitions[placementKind(api)] == nil {
			return nil, fmt.Errorf("no CustomResourceDefinition serves %s", placementKind(api))
		}
	}

	return &Admission{definitions: definitions}, nil
}

// Placement reads a placement of an API, whose defaults are filled into the object. The error names each field with a mistake, and the rule.
func (a *Admission) Placement(api record.API, object map[string]any) (*record.Placement, error) {
	if findings := a.definitions[placementKind(api)].admit(object); len(findings) > 0 {
		mistakes := make([]string, 0, len(findings))
		for _, finding := range findings {
			mistakes = append(mistakes, strings.TrimPrefix(finding.path+": "+finding.text, ": "))
		}

		return nil, errors.New(strings.Join(mistakes, "; "))
	}

	typed := api.Empty()
	if err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(object, typed, true); err != nil {
		return nil, fmt.Errorf("cannot be read: %w", err)
	}

	return api.Read(typed), nil
}
