// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/argocdrefresh"
)

// FieldManager is the field manager of the annotation.
const FieldManager = "placement-hub-argocd-refresh"

// applicationSets is the kind of ApplicationSets, whose module this repository does not have.
var applicationSets = schema.GroupVersionKind{Group: "argoproj.io", Version: "v1alpha1", Kind: "ApplicationSet"}

func emptyApplicationSet(namespace, name string) *unstructured.Unstructured {
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(applicationSets)
	object.SetNamespace(namespace)
	object.SetName(name)
	return object
}

// decisionOf returns what matters of a PlacementDecision.
func decisionOf(object *clusterv1beta1.PlacementDecision) argocdrefresh.Decision {
	decision := argocdrefresh.Decision{Name: object.Name, Labels: object.Labels}
	for i := range object.Status.Decisions {
		decision.Clusters = append(decision.Clusters, object.Status.Decisions[i].ClusterName)
	}
	return decision
}

// isConcerned returns whether a ConfigMap of a refresh names PlacementDecisions. A ConfigMap that does not exist names nothing.
func (c *controller) isConcerned(ctx context.Context, refresh argocdrefresh.Refresh) (bool, error) {
	for name := range refresh.ConfigMaps {
		var configMap corev1.ConfigMap
		err := c.reader.Get(ctx, types.NamespacedName{Namespace: c.Namespace, Name: name}, &configMap)
		if apierrors.IsNotFound(err) {
			continue
		}
		if err != nil {
			return false, fmt.Errorf("reading ConfigMap %s/%s: %w", c.Namespace, name, err)
		}
		if argocdrefresh.NamesDecisions(configMap.Data) {
			return true, nil
		}
	}
	return false, nil
}

// annotate writes the annotation.
func (c *controller) annotate(ctx context.Context, refresh argocdrefresh.Refresh) error {
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{
		"resourceVersion": refresh.ResourceVersion,
		"annotations":     map[string]string{argocdrefresh.AnnotationRefresh: argocdrefresh.RefreshRequested},
	}})
	if err != nil {
		return fmt.Errorf("encoding the annotation: %w", err)
	}
	object := emptyApplicationSet(c.Namespace, refresh.Name)
	if err := c.writer.Patch(ctx, object, client.RawPatch(types.MergePatchType, patch), client.FieldOwner(FieldManager)); err != nil {
		return fmt.Errorf("annotating ApplicationSet %s/%s: %w", c.Namespace, refresh.Name, err)
	}
	return nil
}
