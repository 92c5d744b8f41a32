// SPDX-License-Identifier: Apache-2.0

package statefile

import (
	"errors"
	"fmt"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/placement-hub/placement-hub/pkg/placement/api"
)

// Admission validates Placements and fills in their defaults, as an API server with strict field validation does. It is safe for concurrent
// use.
type Admission struct {
	definitions map[schema.GroupVersionKind]admitter
}

// NewAdmission returns an Admission for the given definitions, which must serve the Placements of all APIs.
func NewAdmission(crds []*apiextensionsv1.CustomResourceDefinition) (*Admission, error) {
	definitions, err := newDefinitions(crds)
	if err != nil {
		return nil, err
	}
	for _, adapter := range api.Adapters() {
		if definitions[adapter.Kind()] == nil {
			return nil, fmt.Errorf("no CustomResourceDefinition serves %s", adapter.Kind())
		}
	}
	return &Admission{definitions: definitions}, nil
}

// Placement validates and reads a Placement of an API. It writes the defaults to object. The error names each invalid field and its rule.
func (a *Admission) Placement(adapter api.Adapter, object map[string]any) (*api.Placement, error) {
	if findings := a.definitions[adapter.Kind()].admit(object); len(findings) > 0 {
		mistakes := make([]string, 0, len(findings))
		for _, finding := range findings {
			mistakes = append(mistakes, strings.TrimPrefix(finding.path+": "+finding.text, ": "))
		}
		return nil, errors.New(strings.Join(mistakes, "; "))
	}

	typed := adapter.Empty()
	if err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(object, typed, true); err != nil {
		return nil, fmt.Errorf("cannot be read: %w", err)
	}
	return adapter.Read(typed), nil
}
