// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/apis/scheme"
	"github.com/placement-hub/placement-hub/pkg/explain/printers"
	"github.com/placement-hub/placement-hub/pkg/placement/api"
)

// completionTimeout bounds the time that a shell waits for completions. Errors yield no completions and no message.
const completionTimeout = 2 * time.Second

// completionPage bounds the offered names.
const completionPage = 500

func (o *explainOptions) registerCompletions(cmd *cobra.Command) {
	o.hubFlags.registerCompletions(cmd, printers.WideFormats())
	apis := make([]string, 0, len(api.Adapters()))
	for _, adapter := range api.Adapters() {
		apis = append(apis, adapter.Kind().Version)
	}
	complete(cmd, "api", cobra.FixedCompletions(apis, cobra.ShellCompDirectiveNoFileComp))
	complete(cmd, "cluster", o.completeClusters)
}

// completeClusters offers the ManagedClusters of the hub.
func (f *hubFlags) completeClusters(cmd *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
	return f.names(cmd.Context(), "", begun, &clusterv1.ManagedClusterList{}), cobra.ShellCompDirectiveNoFileComp
}

// complete sets how a flag of the command is completed.
func complete(cmd *cobra.Command, flag string, by cobra.CompletionFunc) {
	if err := cmd.RegisterFlagCompletionFunc(flag, by); err != nil {
		panic(err) // The flag is not there: a mistake in the program.
	}
}

// registerCompletions completes the flags that find a hub, and the output formats.
func (f *hubFlags) registerCompletions(cmd *cobra.Command, formats []printers.Format) {
	texts := make([]string, 0, len(formats))
	for _, format := range formats {
		texts = append(texts, string(format))
	}
	complete(cmd, "output", cobra.FixedCompletions(texts, cobra.ShellCompDirectiveNoFileComp))
	complete(cmd, "context", func(_ *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
		config, err := f.flags().ToRawKubeConfigLoader().RawConfig()
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		var contexts []string
		for name := range config.Contexts {
			if strings.HasPrefix(name, begun) {
				contexts = append(contexts, name)
			}
		}
		slices.Sort(contexts)
		return contexts, cobra.ShellCompDirectiveNoFileComp
	})
	complete(cmd, "namespace", f.completeNamespaces)
}

func (f *hubFlags) completeNamespaces(cmd *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
	return f.names(cmd.Context(), "", begun, &corev1.NamespaceList{}), cobra.ShellCompDirectiveNoFileComp
}

// completePlacements offers the Placements of the namespace; after "NAMESPACE/" those of that namespace, after "TYPE/" workloads or
// ClusterRequests, and before that the namespaces and types too.
func (o *explainOptions) completePlacements(cmd *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
	if o.all || o.allNamespaces {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	namespace, name, slashed := strings.Cut(begun, "/")
	prefix := namespace + "/"
	if !slashed {
		namespace, name, prefix = o.currentNamespace(), begun, ""
	}
	var offered []string
	for _, each := range slices.Backward(explainers) {
		if each.complete != nil {
			offered = append(offered, each.complete(o, cmd, begun)...)
		}
	}
	for _, adapter := range api.Adapters() {
		if list, is := adapter.EmptyList().(client.ObjectList); is {
			for _, found := range o.names(cmd.Context(), namespace, name, list) {
				offered = append(offered, prefix+found)
			}
		}
	}
	directive := cobra.ShellCompDirectiveNoFileComp
	if !slashed && o.namespace == "" {
		for _, found := range o.names(cmd.Context(), "", begun, &corev1.NamespaceList{}) {
			offered = append(offered, found+"/")
		}
		if len(offered) == 1 && strings.HasSuffix(offered[0], "/") {
			directive |= cobra.ShellCompDirectiveNoSpace
		}
	}
	slices.Sort(offered)
	return slices.Compact(offered), directive
}

func (f *hubFlags) currentNamespace() string {
	namespace, _, err := f.flags().ToRawKubeConfigLoader().Namespace()
	if err != nil {
		return metav1.NamespaceDefault
	}
	return namespace
}

// names returns the names with the prefix begun; none when the hub does not respond in time.
func (f *hubFlags) names(ctx context.Context, namespace, begun string, list client.ObjectList) []string {
	config, _, err := f.find()
	if err != nil {
		return nil
	}
	config.Timeout = completionTimeout
	hub, err := client.New(config, client.Options{Scheme: scheme.New()})
	if err != nil {
		return nil
	}
	ctx, stop := context.WithTimeout(ctx, completionTimeout)
	defer stop()
	kinds, _, err := hub.Scheme().ObjectKinds(list)
	if err != nil {
		return nil
	}
	return begunNames(ctx, hub, kinds[0], namespace, begun)
}

// begunNames lists the objects of a kind, which the API server sorts by name, until there are enough names or the prefix is passed. After
// an error it returns the names found so far.
func begunNames(ctx context.Context, hub client.Reader, kind schema.GroupVersionKind, namespace, begun string) []string {
	var names []string
	for next := ""; len(names) < completionPage; {
		var page metav1.PartialObjectMetadataList
		page.SetGroupVersionKind(kind)
		if hub.List(ctx, &page, client.InNamespace(namespace), client.Limit(completionPage), client.Continue(next)) != nil {
			break
		}
		past := false
		for _, object := range page.Items {
			if strings.HasPrefix(object.Name, begun) {
				names = append(names, object.Name)
			} else {
				past = past || object.Name > begun
			}
		}
		if next = page.Continue; next == "" || past {
			break
		}
	}
	slices.Sort(names)
	return names
}
