// SPDX-License-Identifier: Apache-2.0

package admission

import (
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
)

// World has the objects that policies read besides the one of a request. It is safe for concurrent use.
type World struct {
	namespaces map[string]*corev1.Namespace
	configMaps map[types.NamespacedName]*unstructured.Unstructured
	// unread are the names of Namespaces whose labels are not known.
	unread sets.Set[string]
}

// NewWorld returns a World with Namespaces and, among objects, ConfigMaps; later ones replace those before. A Namespace that it lacks has the label
// of its name alone, unless it is one of unread.
func NewWorld(namespaces []*corev1.Namespace, objects []*unstructured.Unstructured, unread sets.Set[string]) *World {
	world := &World{namespaces: make(map[string]*corev1.Namespace, len(namespaces)), configMaps: configMapsOf(objects), unread: unread}
	for _, namespace := range namespaces {
		world.namespaces[namespace.Name] = namespace
	}
	return world
}

// configMapsOf returns the ConfigMaps among objects.
func configMapsOf(objects []*unstructured.Unstructured) map[types.NamespacedName]*unstructured.Unstructured {
	configMaps := map[types.NamespacedName]*unstructured.Unstructured{}
	for _, object := range objects {
		if object.GroupVersionKind() == corev1.SchemeGroupVersion.WithKind("ConfigMap") {
			configMaps[types.NamespacedName{Namespace: object.GetNamespace(), Name: object.GetName()}] = object
		}
	}
	return configMaps
}

// knows reports whether the labels of a Namespace are known.
func (w *World) knows(namespace string) bool {
	return w.namespaces[namespace] != nil || !w.unread.Has(namespace)
}

var _ corelisters.NamespaceLister = (*World)(nil)

// Get implements corelisters.NamespaceLister. It never returns NotFound, for which the dispatcher would ask an API server.
func (w *World) Get(name string) (*corev1.Namespace, error) {
	namespace := &corev1.Namespace{}
	if known := w.namespaces[name]; known != nil {
		namespace = known.DeepCopy()
	}
	namespace.Name = name
	if namespace.Labels == nil {
		namespace.Labels = map[string]string{}
	}
	namespace.Labels[corev1.LabelMetadataName] = name // The API server sets it.
	return namespace, nil
}

// List implements corelisters.NamespaceLister. The dispatcher does not call it.
func (w *World) List(labels.Selector) ([]*corev1.Namespace, error) {
	return nil, apierrors.NewMethodNotSupported(corev1.Resource("namespaces"), "list")
}

// parameters is the informer of ConfigMaps, of which the first that has one counts. It has no events.
type parameters []map[types.NamespacedName]*unstructured.Unstructured

// Informer implements informers.GenericInformer.
func (parameters) Informer() cache.SharedIndexInformer { return synced{} }

// Lister implements informers.GenericInformer.
func (p parameters) Lister() cache.GenericLister { return configMaps{of: p} }

// synced is an informer of which the dispatcher asks only whether it has synced.
type synced struct{ cache.SharedIndexInformer }

// HasSynced implements cache.SharedIndexInformer.
func (synced) HasSynced() bool { return true }

// configMaps lists ConfigMaps of a namespace. A paramRef names one of them, so that the dispatcher only gets.
type configMaps struct {
	cache.GenericNamespaceLister

	of        parameters
	namespace string
}

// ByNamespace implements cache.GenericLister.
func (c configMaps) ByNamespace(namespace string) cache.GenericNamespaceLister {
	c.namespace = namespace
	return c
}

// Get implements cache.GenericNamespaceLister.
func (c configMaps) Get(name string) (runtime.Object, error) {
	for _, known := range c.of {
		if found := known[types.NamespacedName{Namespace: c.namespace, Name: name}]; found != nil {
			return found, nil
		}
	}
	return nil, apierrors.NewNotFound(corev1.Resource("configmaps"), name)
}

// List implements cache.GenericNamespaceLister.
func (configMaps) List(labels.Selector) ([]runtime.Object, error) {
	return nil, apierrors.NewMethodNotSupported(corev1.Resource("configmaps"), "list")
}
