// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	federated "github.com/placement-hub/placement-hub/pkg/federation/explain"
)

// completeObjects offers the types of delivered objects before the slash, and the names of one type after it.
func (o *federatedOptions) completeObjects(cmd *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
	offered := o.objectsBegun(cmd, begun)
	directive := cobra.ShellCompDirectiveNoFileComp
	if len(offered) == 1 && strings.HasSuffix(offered[0], "/") {
		directive |= cobra.ShellCompDirectiveNoSpace
	}
	return offered, directive
}

func (o *federatedOptions) objectsBegun(cmd *cobra.Command, begun string) []string {
	text, name, slashed := strings.Cut(begun, "/")
	if o.parseKinds() != nil {
		return nil
	}
	var offered []string
	if !slashed {
		for _, kind := range o.delivered {
			if typed := strings.ToLower(kind.Kind); strings.HasPrefix(typed, begun) {
				offered = append(offered, typed+"/")
			}
		}
		return offered
	}
	kind, is := federated.FindKind(o.delivered, text)
	if !is {
		return nil
	}
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
	for _, found := range o.names(cmd.Context(), o.currentNamespace(), name, list) {
		offered = append(offered, text+"/"+found)
	}
	return offered
}
