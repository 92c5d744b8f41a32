// SPDX-License-Identifier: Apache-2.0

package argocd

import (
	"context"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/test/e2e/suite"
)

// runController imitates the ApplicationSet controller of Argo CD until the end of the test. It reconciles an ApplicationSet that is
// new or has the annotation, and never polls. Reconcile follows applicationset/controllers/applicationset_controller.go and
// applicationset/generators/duck_type.go of https://github.com/argoproj/argo-cd/tree/v3.5.7 for generators at the top.
func (p *place) runController(t *testing.T) {
	t.Helper()
	api, err := client.NewWithWatch(p.Environment.AdminConfig(), client.Options{Scheme: p.Client.Scheme()})
	suite.Must(t, err)
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(argoproj.WithKind("ApplicationSetList"))
	ctx, cancel := context.WithCancel(t.Context())
	watching, err := api.Watch(ctx, list, client.InNamespace(p.namespace))
	suite.Must(t, err)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		seen := map[string]bool{}
		for event := range watching.ResultChan() {
			set, is := event.Object.(*unstructured.Unstructured)
			if !is {
				continue // The watch ends.
			}
			if _, requested := set.GetAnnotations()[refreshAnnotation]; seen[set.GetName()] && !requested {
				continue
			}
			seen[set.GetName()] = true
			if err := reconcile(ctx, api, client.ObjectKeyFromObject(set)); err != nil && ctx.Err() == nil {
				t.Errorf("the imitated ApplicationSet controller: %v", err)
			}
		}
	}()
	t.Cleanup(func() {
		cancel()
		watching.Stop()
		<-ended
	})
}

// reconcile makes the Applications of the decisions that the generators read, deletes the others, and removes the annotation by an Update.
func reconcile(ctx context.Context, api client.Client, key client.ObjectKey) error {
	set := &unstructured.Unstructured{}
	set.SetGroupVersionKind(argoproj.WithKind("ApplicationSet"))
	if err := api.Get(ctx, key, set); err != nil {
		return client.IgnoreNotFound(err)
	}
	clusters, err := generate(ctx, api, set)
	if err != nil {
		return err
	}
	if err := writeApplications(ctx, api, set, clusters); err != nil {
		return err
	}
	annotations := set.GetAnnotations()
	if _, requested := annotations[refreshAnnotation]; !requested {
		return nil
	}
	delete(annotations, refreshAnnotation)
	set.SetAnnotations(annotations)
	err = api.Update(ctx, set)
	if apierrors.IsConflict(err) { // The queue of the real controller tries again.
		return reconcile(ctx, api, key)
	}
	return err
}

// generate returns the clusters of the decisions.
func generate(ctx context.Context, api client.Client, set *unstructured.Unstructured) ([]string, error) {
	var spec struct {
		Generators []struct {
			ClusterDecisionResource *struct {
				ConfigMapRef  string               `json:"configMapRef"`
				Name          string               `json:"name"`
				LabelSelector metav1.LabelSelector `json:"labelSelector"`
			} `json:"clusterDecisionResource"`
		} `json:"generators"`
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(set.Object["spec"].(map[string]any), &spec); err != nil {
		return nil, err
	}
	var clusters []string
	for _, generator := range spec.Generators {
		read := generator.ClusterDecisionResource
		if read == nil {
			continue
		}
		kind := &corev1.ConfigMap{}
		if err := api.Get(ctx, client.ObjectKey{Namespace: set.GetNamespace(), Name: read.ConfigMapRef}, kind); err != nil {
			return nil, err
		}
		if kind.Data["kind"] != "placementdecisions" || kind.Data["matchKey"] != "clusterName" {
			return nil, fmt.Errorf("ConfigMap %s has %v", kind.Name, kind.Data)
		}
		selector, err := metav1.LabelSelectorAsSelector(&read.LabelSelector)
		if err != nil {
			return nil, err
		}
		pages := &clusterv1beta1.PlacementDecisionList{}
		if err := api.List(ctx, pages, client.InNamespace(set.GetNamespace()), client.MatchingLabelsSelector{Selector: selector}); err != nil {
			return nil, err
		}
		for _, page := range pages.Items {
			for _, decision := range page.Status.Decisions {
				clusters = append(clusters, decision.ClusterName)
			}
		}
	}
	return clusters, nil
}

// writeApplications creates the Applications of clusters, and deletes those of the ApplicationSet that are of no cluster any more.
func writeApplications(ctx context.Context, api client.Client, set *unstructured.Unstructured, clusters []string) error {
	wanted := map[string]bool{}
	for _, cluster := range clusters {
		application := &unstructured.Unstructured{Object: map[string]any{
			"spec": map[string]any{"destination": map[string]any{"name": cluster}},
		}}
		application.SetGroupVersionKind(argoproj.WithKind("Application"))
		application.SetNamespace(set.GetNamespace())
		application.SetName(set.GetName() + "-" + cluster)
		wanted[application.GetName()] = true
		if err := client.IgnoreAlreadyExists(api.Create(ctx, application)); err != nil {
			return err
		}
	}
	present := &unstructured.UnstructuredList{}
	present.SetGroupVersionKind(argoproj.WithKind("ApplicationList"))
	if err := api.List(ctx, present, client.InNamespace(set.GetNamespace())); err != nil {
		return err
	}
	for i := range present.Items {
		if name := present.Items[i].GetName(); strings.HasPrefix(name, set.GetName()+"-") && !wanted[name] {
			if err := client.IgnoreNotFound(api.Delete(ctx, &present.Items[i])); err != nil {
				return err
			}
		}
	}
	return nil
}
