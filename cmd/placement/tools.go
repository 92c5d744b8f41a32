// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/explain"
	"github.com/placement-hub/placement-hub/pkg/explain/document"
	"github.com/placement-hub/placement-hub/pkg/explain/endpoint"
	"github.com/placement-hub/placement-hub/pkg/inventory"
)

// tool is what placement explain, diff and simulate do for one system. The commands, and the answers of the hub, loop over tools and know no system.
// A nil function is for a system that has no such thing.
type tool struct {
	// family is that of the objects that the hub explains by answer.
	family string
	// isType reports whether a type on the command line names objects that explain explains, and complete offers types and names.
	isType   func(o *explainOptions, text string) bool
	complete func(o *explainOptions, cmd *cobra.Command, begun string) []string
	explain  func(ctx context.Context, o *explainOptions, args []string, stdin io.Reader, stdout io.Writer) error
	// answer explains the objects of a question to users with fewer rights.
	answer func(ctx context.Context, e *hubExplainer, o *explainOptions, question *endpoint.Question) (document.Source, error)

	// changed reports whether files that diff applies may change what the system decides.
	changed func(o *diffOptions, given *explain.State) bool
	// read adds what decides about the system on a hub to a State; it does nothing if the files change none of it. The error unread is about missing
	// rights for some of it.
	read func(ctx context.Context, o *diffOptions, hub client.Client, given, state *explain.State) (unread, err error)
	// compare adds differences. limit leaves out of them what the user of a question may not see.
	compare func(o *diffOptions, c *comparison, differences *explain.Differences) error
	limit   func(s *shownObjects, differences *explain.Differences, question *endpoint.Question)
	// unresolved returns an error about objects for which differences have no result.
	unresolved func(differences *explain.Differences) error

	// report adds to the reports of simulate what a State without changes gives.
	report func(o *simulateOptions, in *simulated, wanted wantedObjects, reports *explain.Reports) error
	// added are the results for which simulate --add reads objects with readAdded, and reports what they change with simulate. No Placement
	// depends on these objects.
	added     explain.Concern
	readAdded func(ctx context.Context, o *simulateOptions, hub client.Client) (state *explain.State, unread, err error)
	simulate  func(a *addition, whatIf *explain.WhatIf, namespace string) (incomplete, err error)
}

// comparison is what diff compares: a hub and the hub after objects of files were applied.
type comparison struct {
	given, hub, after *explain.State
	applied           []explain.Applied
	now               time.Time
}

// wantedObjects are the objects that simulate reports: the Placements that names has, all if it is empty, for which placement is true, and without
// names objects of the other systems.
type wantedObjects struct {
	names     map[types.NamespacedName]bool
	placement func(inventory.Key) bool
}

// tools are the tools of all systems, in the order of their parts in a report. The types of explain that none of the others has are Placements.
var tools = []*tool{&placementTool, &federationTool, &podTool, &requestTool}

// toolOf returns the tool for the objects that arguments of explain name, which are of one tool.
func (o *explainOptions) toolOf(args []string) *tool {
	if len(args) == 0 {
		return &placementTool
	}
	text, _, slashed := strings.Cut(args[0], "/")
	if !slashed && len(args) == 1 {
		return &placementTool
	}
	return o.toolFor(text)
}

// toolFor returns the tool that explains the objects of a type. Namespaces that are no type lead to Placements. Of a workload that is delivered it
// explains the Pods, and its delivery beside them.
func (o *explainOptions) toolFor(text string) *tool {
	for _, each := range []*tool{&requestTool, &podTool, &federationTool} {
		if each.isType(o, text) {
			return each
		}
	}
	return &placementTool
}
