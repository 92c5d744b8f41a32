// SPDX-License-Identifier: Apache-2.0

package hubstate

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	workv1 "open-cluster-management.io/api/work/v1"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/explain"
	"github.com/placement-hub/placement-hub/pkg/federation"
)

// FederatedWatcher reads delivered objects from a hub, then from watches. The methods of its Watcher have to be called after Watch.
type FederatedWatcher struct {
	*Watcher

	namespace string
	delivered []federation.FederatedKind
	// foreign are the works of others at the first read.
	foreign []*workv1.ManifestWork
}

// NewFederatedWatcher returns a FederatedWatcher of the objects of a namespace, or of all when it is empty, and reads them once, with the State
// and the error of FederatedFromCluster. It is nil if there is an error. Watch starts its watches; a forbidden one ends it.
//
// Kinds that the hub does not serve, or that the user may not list, are not watched, and later States name them as the first one does.
func NewFederatedWatcher(
	ctx context.Context, config *rest.Config, hub client.Reader, namespace string, kinds []federation.FederatedKind,
) (*FederatedWatcher, *explain.State, error) {
	if kinds == nil {
		kinds = federation.DefaultKinds()
	}
	w := &FederatedWatcher{Watcher: newWatcher(explain.OfDelivery), namespace: namespace, delivered: kinds}
	w.hub = hub

	state, err := FederatedFromCluster(ctx, refusals{hub, w.refused}, namespace, kinds)
	if err != nil {
		return nil, state, err
	}
	w.foreign = foreignIn(state.Federated.Works)
	named := cache.ByObject{}
	var namespaces []string

	if namespace != "" {
		namespaces = append(namespaces, namespace)
		named.Field = fields.OneTermEqualSelector(nameField, namespace)
	}

	options := cache.Options{ByObject: map[client.Object]cache.ByObject{
		&corev1.Namespace{}:    named,
		&workv1.ManifestWork{}: {Label: labels.SelectorFromSet(labels.Set(managedWorks))},
	}}
	if err := w.open(config, options, namespaces...); err != nil {
		return nil, nil, err
	}
	return w, state, nil
}

// Watch starts the watches, and returns when they are in sync. They end with ctx.
func (w *FederatedWatcher) Watch(ctx context.Context) error {
	kinds := w.Watcher.kinds(explain.OfDelivery, func(*explain.Kind) bool { return true })
	for _, kind := range w.delivered {
		list := kind.GroupVersion().WithKind(kind.Kind + "List")
		if w.refused[list] != nil {
			continue
		}
		kinds = append(kinds, untyped(kind.GroupVersionKind))
	}
	return w.watch(ctx, kinds)
}

// Read returns the State from the caches, as FederatedFromCluster does from a hub.
func (w *FederatedWatcher) Read(ctx context.Context) (*explain.State, error) {
	return FederatedFromCluster(ctx, rememberedForeign{watchedReader{w.hub, w.Watcher}, w.foreign}, w.namespace, w.delivered)
}

// refusals reads from a hub, and keeps the errors of kinds that it does not serve or that the user may not list.
type refusals struct {
	client.Reader

	byKind map[schema.GroupVersionKind]error
}

func (r refusals) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	err := r.Reader.List(ctx, list, options...)
	if apierrors.IsForbidden(err) || isUnserved(err) {
		r.byKind[kindIn(list)] = err
	}
	return err //nolint:wrapcheck // Its kind decides what is done.
}
