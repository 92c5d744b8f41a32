// SPDX-License-Identifier: Apache-2.0

package limits

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Limit is the greatest number of items in a field.
type Limit struct {
	// Name is the name of the variable of the policies with the number.
	Name string
	// Path is the field in a v1beta1 Placement, where [*] is any index.
	Path string
	// Max is the limit.
	Max int
	// Items are the counted items, in the plural, and Instead is what to do where there are more.
	Items, Instead string
}

// The limits of a Placement.
var (
	Predicates = Limit{
		Name: "maxPredicates", Path: "spec.predicates", Max: 64, Items: "predicates",
		Instead: "merge those that differ in one value, or use several Placements",
	}
	Requirements = Limit{
		Name: "maxRequirements", Path: "spec.predicates[*].requiredClusterSelector", Max: 100, Items: "requirements on labels and claims",
		Instead: "give the clusters one label for what they have in common",
	}
	Values = Limit{
		Name: "maxValues", Path: "spec.predicates[*].requiredClusterSelector.labelSelector.matchExpressions[*].values", Max: 1000, Items: "values",
		Instead: "give the clusters one label for what they have in common",
	}
	Tolerations = Limit{
		Name: "maxTolerations", Path: "spec.tolerations", Max: 64, Items: "tolerations",
		Instead: "tolerate all values of a key with operator Exists",
	}
	Prioritizers = Limit{
		Name: "maxPrioritizers", Path: "spec.prioritizerPolicy.configurations", Max: 32, Items: "prioritizers",
		Instead: "remove those with the least weight",
	}
	SpreadConstraints = Limit{
		Name: "maxSpreadConstraints", Path: "spec.spreadPolicy.spreadConstraints", Max: 16, Items: "spread constraints",
		Instead: "remove the last ones, which decide least",
	}
	DecisionGroups = Limit{
		Name: "maxDecisionGroups", Path: "spec.decisionStrategy.groupStrategy.decisionGroups", Max: 100, Items: "decision groups",
		Instead: "divide the clusters by clustersPerDecisionGroup, or use several Placements",
	}
	CELBytes = Limit{
		Name: "maxCELBytes", Path: "spec.predicates", Max: 64 << 10, Items: "bytes of CEL expressions",
		Instead: "shorten them, or use labels and claims",
	}
)

// All returns every limit.
func All() []Limit {
	return []Limit{Predicates, Requirements, Values, Tolerations, Prioritizers, SpreadConstraints, DecisionGroups, CELBytes}
}

// Check returns an error if the field at path has more items than the limit, and nil otherwise.
func (l Limit) Check(path *field.Path, count int) *field.Error {
	if count <= l.Max {
		return nil
	}
	return &field.Error{Type: field.ErrorTypeTooMany, Field: path.String(), BadValue: count, Detail: l.Detail(), Origin: "maxItems"}
}

// Detail returns the rule and what to do, which is the end of the text of an error.
func (l Limit) Detail() string {
	return fmt.Sprintf("must have at most %d %s: %s", l.Max, l.Items, l.Instead)
}
