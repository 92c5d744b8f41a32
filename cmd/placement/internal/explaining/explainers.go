// SPDX-License-Identifier: Apache-2.0

package explaining

import (
	"context"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/placement-hub/placement-hub/cmd/placement/internal/objectnames"
	"github.com/placement-hub/placement-hub/pkg/explain/tools"
)

// ObjectTypes returns the types that explain takes before a slash.
func ObjectTypes() []string {
	types := []string{"placement"}
	for _, each := range explainers {
		types = append(types, each.types()...)
	}
	slices.Sort(types)
	return slices.Compact(types)
}

// commandExplainer is what placement explain does on the command line for the objects of a System. A nil function is for a System that has no
// such thing.
type commandExplainer struct {
	of tools.System
	// types are the types that a misspelt one may mean. isType reports whether a type on the command line names objects that explain explains, and
	// complete offers types and names.
	types    func() []string
	isType   func(o *Options, text string) bool
	complete func(o *Options, cmd *cobra.Command, begun string) []string
	explain  func(ctx context.Context, o *Options, args []string, stdin io.Reader, stdout io.Writer) error
}

// The explainers of all systems. The types that none of the others has are Placements.
var (
	placementExplainer = commandExplainer{of: tools.Placements{}, explain: runPlacements}
	deliveryExplainer  = commandExplainer{of: tools.Delivery{}, types: deliveredTypes, isType: isDelivered, explain: runObjects}
	podExplainer       = commandExplainer{
		of: tools.Pods{}, types: objectnames.WorkloadTypes, isType: isWorkload, complete: (*Options).completeWorkloads, explain: runWorkloads,
	}
	requestExplainer = commandExplainer{
		of: tools.Requests{}, types: objectnames.RequestTypes, isType: isRequest, complete: (*Options).completeRequests, explain: runRequests,
	}
)

// explainers are those that have types. Of a workload that is delivered, that of Pods is the first: the report has its delivery beside them.
var explainers = []*commandExplainer{&requestExplainer, &podExplainer, &deliveryExplainer}

// explainerOf returns the explainer for the objects that arguments of explain name, which are of one system.
func (o *Options) explainerOf(args []string) *commandExplainer {
	if len(args) == 0 {
		return &placementExplainer
	}
	text, _, slashed := strings.Cut(args[0], "/")
	if !slashed && len(args) == 1 {
		return &placementExplainer
	}
	return o.explainerFor(text)
}

// explainerFor returns the explainer of the objects of a type. Namespaces that are no type lead to Placements.
func (o *Options) explainerFor(text string) *commandExplainer {
	for _, each := range explainers {
		if each.isType(o, text) {
			return each
		}
	}
	return &placementExplainer
}
