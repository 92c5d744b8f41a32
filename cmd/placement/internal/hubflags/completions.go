// SPDX-License-Identifier: Apache-2.0

package hubflags

import (
	"context"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/apis/scheme"
	"github.com/placement-hub/placement-hub/pkg/explain/printers"
)

// completionTimeout bounds the time that a shell waits for completions. Errors yield no completions and no message.
const completionTimeout = 2 * time.Second

// CompletionPage bounds the offered names.
const CompletionPage = 500

// CompleteClusters offers the ManagedClusters of the hub.
func (h *Hub) CompleteClusters(cmd *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
	return h.Names(cmd.Context(), "", begun, &clusterv1.ManagedClusterList{}), cobra.ShellCompDirectiveNoFileComp
}

// Complete sets how a flag of the command is completed.
func Complete(cmd *cobra.Command, flag string, by cobra.CompletionFunc) {
	if err := cmd.RegisterFlagCompletionFunc(flag, by); err != nil {
		panic(err) // The flag is not there: a mistake in the program.
	}
}

// RegisterCompletions completes the flags that find a hub, and the output formats.
func (h *Hub) RegisterCompletions(cmd *cobra.Command, formats []printers.Format) {
	texts := make([]string, 0, len(formats))
	for _, format := range formats {
		texts = append(texts, string(format))
	}
	Complete(cmd, "output", cobra.FixedCompletions(texts, cobra.ShellCompDirectiveNoFileComp))
	Complete(cmd, "context", func(_ *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
		config, err := h.flags().ToRawKubeConfigLoader().RawConfig()
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
	Complete(cmd, "namespace", h.CompleteNamespaces)
}

// CompleteNamespaces offers the namespaces of the hub.
func (h *Hub) CompleteNamespaces(cmd *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
	return h.Names(cmd.Context(), "", begun, &corev1.NamespaceList{}), cobra.ShellCompDirectiveNoFileComp
}

// CurrentNamespace returns the namespace of the flag or of the context, and without a kubeconfig the default one.
func (h *Hub) CurrentNamespace() string {
	namespace, _, err := h.flags().ToRawKubeConfigLoader().Namespace()
	if err != nil {
		return metav1.NamespaceDefault
	}
	return namespace
}

// TypedNames offers the types with the prefix begun before the slash, and the names of one type in the namespace after it.
func (h *Hub) TypedNames(
	ctx context.Context, begun string, kinds iter.Seq[schema.GroupVersionKind], find func(text string) (schema.GroupVersionKind, bool),
) []string {
	text, name, slashed := strings.Cut(begun, "/")
	var offered []string
	if !slashed {
		for kind := range kinds {
			if typed := strings.ToLower(kind.Kind); strings.HasPrefix(typed, begun) {
				offered = append(offered, typed+"/")
			}
		}
		return offered
	}
	kind, is := find(text)
	if !is {
		return nil
	}
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
	for _, found := range h.Names(ctx, h.CurrentNamespace(), name, list) {
		offered = append(offered, text+"/"+found)
	}
	return offered
}

// Names returns the names with the prefix begun; none when the hub does not respond in time.
func (h *Hub) Names(ctx context.Context, namespace, begun string, list client.ObjectList) []string {
	config, _, err := h.Find()
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
	return BegunNames(ctx, hub, kinds[0], namespace, begun)
}

// BegunNames lists the objects of a kind, which the API server sorts by name, until there are enough names or the prefix is passed. After
// an error it returns the names found so far.
func BegunNames(ctx context.Context, hub client.Reader, kind schema.GroupVersionKind, namespace, begun string) []string {
	var names []string
	for next := ""; len(names) < CompletionPage; {
		var page metav1.PartialObjectMetadataList
		page.SetGroupVersionKind(kind)
		if hub.List(ctx, &page, client.InNamespace(namespace), client.Limit(CompletionPage), client.Continue(next)) != nil {
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
