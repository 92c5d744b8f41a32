// SPDX-License-Identifier: Apache-2.0

package explaining

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/cmd/placement/internal/hubflags"
	"github.com/placement-hub/placement-hub/pkg/explain/printers"
	"github.com/placement-hub/placement-hub/pkg/placement/api"
)

// RegisterCompletions registers those of the values of flags.
func (o *Options) RegisterCompletions(cmd *cobra.Command) {
	o.Hub.RegisterCompletions(cmd, printers.WideFormats())
	apis := make([]string, 0, len(api.Adapters()))
	for _, adapter := range api.Adapters() {
		apis = append(apis, adapter.Kind().Version)
	}
	hubflags.Complete(cmd, "api", cobra.FixedCompletions(apis, cobra.ShellCompDirectiveNoFileComp))
	hubflags.Complete(cmd, "cluster", o.CompleteClusters)
}

// CompletePlacements offers the Placements of the namespace; after "NAMESPACE/" those of that namespace, after "TYPE/" workloads or
// ClusterRequests, and before that the namespaces and types too.
func (o *Options) CompletePlacements(cmd *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
	if o.All || o.AllNamespaces {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	namespace, name, slashed := strings.Cut(begun, "/")
	prefix := namespace + "/"
	if !slashed {
		namespace, name, prefix = o.CurrentNamespace(), begun, ""
	}
	var offered []string
	for _, each := range slices.Backward(explainers) {
		if each.complete != nil {
			offered = append(offered, each.complete(o, cmd, begun)...)
		}
	}
	for _, adapter := range api.Adapters() {
		if list, is := adapter.EmptyList().(client.ObjectList); is {
			for _, found := range o.Names(cmd.Context(), namespace, name, list) {
				offered = append(offered, prefix+found)
			}
		}
	}
	directive := cobra.ShellCompDirectiveNoFileComp
	if !slashed && o.Namespace == "" {
		for _, found := range o.Names(cmd.Context(), "", begun, &corev1.NamespaceList{}) {
			offered = append(offered, found+"/")
		}
		if len(offered) == 1 && strings.HasSuffix(offered[0], "/") {
			directive |= cobra.ShellCompDirectiveNoSpace
		}
	}
	slices.Sort(offered)
	return slices.Compact(offered), directive
}
