// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/metadata"
	workv1 "open-cluster-management.io/api/work/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/federation"
	"github.com/placement-hub/placement-hub/pkg/hub/objects"
	"github.com/placement-hub/placement-hub/pkg/inventory"
)

// show lets the watches show the objects of the hub as they are.
func (w *world) show() {
	w.t.Helper()
	for _, kind := range inventory.Kinds() {
		if kind == inventory.Scores {
			continue
		}
		showKind(w, kind.New(), objects.On(func(_, after client.Object, _ bool) { w.state.Shared.Set(kind, after) },
			func(last client.Object) { w.state.Shared.Delete(kind, last) }))
	}

	for _, kind := range w.handlers.kinds(w.t.Context()) {
		showKind(w, kind.Object, kind.Handler)
	}
	for _, kind := range w.handlers.objectKinds(w.t.Context()) {
		showKind(w, kind.Object, kind.Handler)
	}
}

// showKind calls a handler for the differences between what was shown of a kind, and what there is.
func showKind(w *world, kind client.Object, handler interface {
	OnAdd(object any, initial bool)
	OnUpdate(before, after any)
	OnDelete(last any)
},
) {
	w.t.Helper()
	gvk, err := w.store.GroupVersionKindFor(kind)
	w.check(err)
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(gvk.GroupVersion().WithKind(gvk.Kind + "List"))
	w.check(w.store.List(w.t.Context(), list))
	prefix := gvk.Kind + "/"
	exists := map[string]bool{}

	for i := range list.Items {
		object, _ := kind.DeepCopyObject().(client.Object)
		object.GetObjectKind().SetGroupVersionKind(gvk)
		w.check(w.store.Get(w.t.Context(), client.ObjectKeyFromObject(&list.Items[i]), object))
		if work, is := object.(*workv1.ManifestWork); is {
			if work.Labels[federation.ManagedLabel] != "true" {
				continue
			}
			federation.CompactWork(work)
		}

		if _, is := object.(*metav1.PartialObjectMetadata); is {
			_, err = objects.CompactMetadata(federation.MetadataAnnotations)(object)
			w.check(err)
		}
		name := prefix + client.ObjectKeyFromObject(object).String()
		before := w.shown[name]
		exists[name], w.shown[name] = true, object
		switch {
		case before == nil:
			handler.OnAdd(object, false)
		case before.GetResourceVersion() != object.GetResourceVersion():
			handler.OnUpdate(before, object)
		}
	}

	for name, last := range w.shown {
		if strings.HasPrefix(name, prefix) && !exists[name] {
			delete(w.shown, name)
			handler.OnDelete(last)
		}
	}
}

// proofs answers requests for metadata from the store of a world.
type proofs struct {
	metadata.Interface

	world *world
}

func (p proofs) Resource(of schema.GroupVersionResource) metadata.Getter {
	if p.world.proving != nil {
		p.world.proving()
	}
	return proofGetter{store: p.world.store, of: of}
}

type proofGetter struct {
	metadata.Getter

	store     client.Client
	of        schema.GroupVersionResource
	namespace string
}

func (g proofGetter) Namespace(name string) metadata.ResourceInterface {
	g.namespace = name
	return g
}

// kind returns the kind of the resource, of which a world has a few.
func (g proofGetter) kind() schema.GroupVersionKind {
	return g.of.GroupVersion().WithKind(map[string]string{
		"configmaps": "ConfigMap", "deployments": "Deployment", "namespaces": "Namespace", "managedclusters": "ManagedCluster",
		"managedclustersets": "ManagedClusterSet", "managedclustersetbindings": "ManagedClusterSetBinding",
		"addonplacementscores": "AddOnPlacementScore",
	}[g.of.Resource])
}

func (g proofGetter) Get(ctx context.Context, name string, _ metav1.GetOptions, _ ...string) (*metav1.PartialObjectMetadata, error) {
	object := &metav1.PartialObjectMetadata{}
	object.SetGroupVersionKind(g.kind())
	return object, g.store.Get(ctx, types.NamespacedName{Namespace: g.namespace, Name: name}, object)
}

func (g proofGetter) List(ctx context.Context, _ metav1.ListOptions) (*metav1.PartialObjectMetadataList, error) {
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(g.of.GroupVersion().WithKind(g.kind().Kind + "List"))
	return list, g.store.List(ctx, list, client.InNamespace(g.namespace))
}
