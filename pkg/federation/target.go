// SPDX-License-Identifier: Apache-2.0

package federation

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/utils/ptr"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/scheduling"
	"github.com/placement-hub/placement-hub/pkg/selector"
)

// Target is what the annotations of an object say about its clusters. The zero value selects every cluster in scope.
type Target struct {
	// Placement is the name of the Placement whose decisions are the clusters; the other fields are zero then.
	Placement string
	// Nowhere reports that no cluster is selected.
	Nowhere bool
	// Requirements are ANDed; none select every cluster in scope.
	Requirements []labels.Requirement
	// FromNamespace reports whether the annotation is on the Namespace.
	FromNamespace bool
}

// String returns a text that is equal for Targets with the same clusters, and never empty.
func (t Target) String() string {
	switch {
	case t.Placement != "":
		return "Placement " + t.Placement
	case t.Nowhere:
		return "no cluster"
	case len(t.Requirements) == 0:
		return "all clusters"
	}

	texts := make([]string, 0, len(t.Requirements))
	for i := range t.Requirements {
		texts = append(texts, t.Requirements[i].String())
	}
	return strings.Join(texts, ",")
}

// Choose returns the Target of an object by its annotations or, if the object has neither annotation, by those of its Namespace
// (docs/spec/federated-selector.md 3.1.2 and 3.1.4). With an error the works of the object stay as they are.
func Choose(object, namespace map[string]string) (Target, error) {
	target, found, err := targetOf(object)
	if found || err != nil {
		return target, err
	}
	target, found, err = targetOf(namespace)
	if err != nil {
		return Target{}, fmt.Errorf("namespace: %w", err)
	}
	target.FromNamespace = found
	return target, nil
}

// targetOf returns the Target of one set of annotations, and whether it has one of the two.
func targetOf(annotations map[string]string) (target Target, found bool, err error) {
	value, selects := annotations[SelectorAnnotation]
	placement, places := annotations[PlacementAnnotation]
	switch {
	case selects && places:
		return Target{}, true, fmt.Errorf("annotations %s and %s exclude each other; remove one of them", SelectorAnnotation, PlacementAnnotation)
	case places && placement == "":
		return Target{}, true, fmt.Errorf("annotation %s: must be the name of a Placement", PlacementAnnotation)
	case places:
		return Target{Placement: placement}, true, nil
	case !selects:
		return Target{}, false, nil
	case value == ControlPlaneOnly:
		return Target{Nowhere: true}, true, nil
	}

	requirements, err := ParseSelector(value)
	if err != nil {
		return Target{}, true, err
	}
	return Target{Requirements: requirements}, true, nil
}

// Request asks for the clusters of the object that key identifies; nil if they are the decisions of a Placement.
func (t Target) Request(compiler *selector.Compiler, key inventory.Key) (*scheduling.Request, error) {
	if t.Placement != "" {
		return nil, nil
	}
	request := &scheduling.Request{
		Key:          key,
		Tolerations:  []clusterv1beta1.Toleration{{Operator: clusterv1beta1.TolerationOpExists}},
		NotTolerated: []string{TerminatingTaint},
		NoneIsEnough: true,
	}

	if t.Nowhere {
		request.Wanted = ptr.To[int32](0)
	}
	if len(t.Requirements) == 0 {
		return request, nil
	}
	compiled, errs := compiler.Compile(selector.Paths{}, selector.Spec{LabelRequirements: t.Requirements})
	if len(errs) > 0 {
		return nil, fmt.Errorf("annotation %s: %w", SelectorAnnotation, errs.ToAggregate())
	}

	request.Predicates = []scheduling.Predicate{{Selector: compiled}}
	return request, nil
}
