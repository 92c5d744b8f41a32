// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/affinityclass"
	"github.com/placement-hub/placement-hub/pkg/affinityclass/reader"
)

// state is what the controllers share.
type state struct {
	*reader.Reader

	// writer sends every write as FieldManager.
	writer client.Client
	kinds  *kinds
	clock  clock.PassiveClock
	// namespace is that of the hub.
	namespace string
}

// withClass selects HelmReleases with a class.
var withClass = client.HasLabels{affinityclass.ClassLabel}

// applications returns the applications of the kinds that are in the cache; they must not be changed.
func (s *state) applications(ctx context.Context, from client.Reader, options ...client.ListOption) ([]*unstructured.Unstructured, error) {
	var found []*unstructured.Unstructured
	for _, kind := range s.kinds.synced() {
		list := newList(kind.GroupVersionKind)
		if err := from.List(ctx, list, append(options, client.UnsafeDisableDeepCopy)...); err != nil {
			return nil, fmt.Errorf("listing %s: %w", kind.definition, err)
		}
		found = append(found, pointers(list)...)
	}
	return found, nil
}

func pointers(list *unstructured.UnstructuredList) []*unstructured.Unstructured {
	objects := make([]*unstructured.Unstructured, 0, len(list.Items))
	for i := range list.Items {
		objects = append(objects, &list.Items[i])
	}
	return objects
}

// namespaceOf returns a cached Namespace, which must not be changed; nil if it does not exist.
func (s *state) namespaceOf(ctx context.Context, name string) (*corev1.Namespace, error) {
	namespace := &corev1.Namespace{}
	err := s.Cached.Get(ctx, types.NamespacedName{Name: name}, namespace, client.UnsafeDisableDeepCopy)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading Namespace %s: %w", name, err)
	}
	return namespace, nil
}

// place returns what the rules read of a Namespace.
func (s *state) place(tree *affinityclass.Tree, namespace *corev1.Namespace) affinityclass.Namespace {
	return affinityclass.Namespace{
		Name: namespace.Name, System: tree.SystemNamespace(namespace.Name, namespace.Labels, s.namespace),
		Recorded: namespace.Annotations[affinityclass.AllowedAnnotation],
	}
}

// specOf returns the spec of an application; nil if it has none.
func specOf(application *unstructured.Unstructured) map[string]any {
	spec, isMap := application.Object["spec"].(map[string]any)
	if !isMap {
		return nil
	}
	return spec
}

// classOf returns the class that the spec of an application names; empty for none.
func classOf(application *unstructured.Unstructured) string {
	class, isText := specOf(application)["affinityClass"].(string)
	if !isText {
		return ""
	}
	return class
}
