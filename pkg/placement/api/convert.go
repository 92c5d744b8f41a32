// SPDX-License-Identifier: Apache-2.0

package api

import (
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/placement-hub/placement-hub/pkg/clusterinfo"
	"github.com/placement-hub/placement-hub/pkg/scheduling"
	"github.com/placement-hub/placement-hub/pkg/selector"
)

// conversion converts a Placement of any API: it collects the Request and its validation errors.
type conversion struct {
	compiler *selector.Compiler
	request  *scheduling.Request
}

func (c *conversion) addErrors(errs ...*field.Error) {
	c.request.Errors = append(c.request.Errors, errs...)
}

// name validates the name of the Placement, which is a label value of the decisions (docs/spec/differences.md A2).
func (c *conversion) name(name string) {
	path := field.NewPath("metadata", "name")
	for _, rule := range validation.IsValidLabelValue(name) {
		c.addErrors(field.Invalid(path, name, "labels every PlacementDecision and "+rule))
	}
}

func (c *conversion) wanted(path *field.Path, wanted *int32) {
	if wanted != nil && *wanted < 0 {
		c.addErrors(field.Invalid(path, *wanted, "must be 0 or more, or absent for all clusters"))
	}
}

func (c *conversion) predicate(paths selector.Paths, spec selector.Spec) {
	compiled, errs := c.compiler.Compile(paths, spec)
	c.addErrors(errs...)
	if compiled != nil {
		c.request.Predicates = append(c.request.Predicates, scheduling.Predicate{Selector: compiled, CEL: paths.CEL})
	}
}

// The types of topology keys, which are the same words in every API.
const (
	topologyLabel = "Label"
	topologyClaim = "Claim"
)

// topologyKey converts the fields topologyKey and topologyKeyType of the struct at path. A claim may have any name
// (docs/spec/differences.md C1). A label name that no cluster can have is an error.
func (c *conversion) topologyKey(path *field.Path, name, kind string) clusterinfo.Property {
	key := clusterinfo.Property{Kind: clusterinfo.Label, Name: name}
	if kind == topologyClaim {
		key.Kind = clusterinfo.Claim
	}

	if name == "" {
		c.addErrors(field.Required(path.Child("topologyKey"), "the name of a label or of a cluster claim"))
	} else if kind == topologyLabel {
		for _, rule := range validation.IsQualifiedName(name) {
			c.addErrors(field.Invalid(path.Child("topologyKey"), name, rule))
		}
	}
	if kind != topologyLabel && kind != topologyClaim {
		c.addErrors(field.NotSupported(path.Child("topologyKeyType"), kind, []string{topologyLabel, topologyClaim}))
	}
	return key
}
