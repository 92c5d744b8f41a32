// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	workv1 "open-cluster-management.io/api/work/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/federation"
	"github.com/placement-hub/placement-hub/pkg/hub/objects"
	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/scheduling"
)

// hub is what the controller reads: what the event handlers keep, the caches and the API server. Its fields are set once.
type hub struct {
	// state is shared with the event handlers.
	state  *state
	client client.Client
	// objects is the cache of the delivered objects, and live reads from the API server.
	objects, live client.Reader
	clock         clock.PassiveClock
	// namespaceName is the namespace of the hub.
	namespaceName string
}

// snapshot subscribes an object with its request, and returns the snapshot for its evaluation.
func (h *hub) snapshot(request *scheduling.Request) *inventory.Snapshot {
	h.state.Shared.Inventory.Subscribe(request.Key, request.Dependencies())
	return h.state.Shared.Inventory.SnapshotFor(request.Key)
}

// stored returns the ManifestWorks of the name that the works of an object have, with the last own writes.
func (h *hub) stored(ctx context.Context, key inventory.Key) ([]*workv1.ManifestWork, error) {
	cached, err := worksNamed(ctx, h.client, h.state.identity(key))
	if err != nil {
		return nil, err
	}
	return h.state.works.List(key, cached), nil
}

// existing returns what of works counts. A work that the hub has deleted is being deleted, also before the watch shows that.
func (h *hub) existing(c *cycle, stored []*workv1.ManifestWork) ([]federation.ExistingWork, error) {
	works, err := federation.ExistingWorksOf(h.state.identity(c.key), stored)
	if err != nil {
		return nil, fmt.Errorf("reading the works of %s: %w", h.state.identity(c.key), err)
	}
	deleted := map[string]types.UID{}
	for i, work := range stored {
		if uid, found := c.memory.deleted[work.Namespace]; found && uid == work.UID {
			works[i].Deleting, deleted[work.Namespace] = true, uid
		}
	}

	c.memory.deleted = deleted
	return works, nil
}

// decisions returns the decisions of the Placement that an object or its Namespace names.
func (h *hub) decisions(ctx context.Context, object *federation.Object, namespace *metav1.ObjectMeta) decided {
	if namespace == nil {
		return decided{}
	}
	target, err := federation.Choose(object.Meta.Annotations, namespace.Annotations)
	if err != nil || target.Placement == "" {
		return decided{} // The evaluation returns the error.
	}

	found := decisionsOf(ctx, h.client, types.NamespacedName{Namespace: namespace.Name, Name: target.Placement})
	if found.missing {
		names, err := placementNames(ctx, h.client, namespace.Name)
		found.Decisions, found.err = federation.MissingPlacement(target.Placement, names), err
	}
	return found
}

// users returns the workloads that propagate an object.
func (h *hub) users(ctx context.Context, key inventory.Key, namespace *metav1.ObjectMeta) (federation.Users, error) {
	if namespace == nil || !federation.CanBePropagated(string(key.GroupKind)) {
		return federation.Users{}, nil
	}
	users := federation.Users{Clusters: h.state.links.propagated(key)}

	for of, kind := range h.state.kinds {
		if federation.CanBePropagated(string(of)) {
			continue
		}
		list := objects.MetadataList(kind.GroupVersionKind)
		if err := h.objects.List(ctx, list, client.InNamespace(key.Namespace), client.UnsafeDisableDeepCopy); err != nil {
			return federation.Users{}, fmt.Errorf("listing %s of Namespace %s: %w", kind.Resource, key.Namespace, err)
		}

		for i := range list.Items {
			user := keyOf(of, &list.Items[i])
			if _, known := h.state.links.clusters(user); known || !federation.Propagates(list.Items[i].Annotations, namespace.Annotations) ||
				metav1.GetControllerOf(&list.Items[i]) != nil {
				continue
			}
			users.Pending = h.state.identity(user).String()
		}
	}

	return users, nil
}

// reached returns the clusters to which a dependency is delivered; false if it exists and was not evaluated yet.
func (h *hub) reached(ctx context.Context, namespace string, d federation.Dependency) ([]string, bool) {
	key := dependencyKey(namespace, d)
	if clusters, known := h.state.links.clusters(key); known {
		return clusters, true
	}
	kind, delivered := h.state.kinds[key.GroupKind]
	if !delivered {
		return nil, true
	}
	err := h.objects.Get(ctx, key.NamespacedName, objects.Metadata(kind.GroupVersionKind), client.UnsafeDisableDeepCopy)
	return nil, apierrors.IsNotFound(err)
}

// namespace returns the metadata of a Namespace; nil if the cache has none.
func (h *hub) namespace(ctx context.Context, name string) (*metav1.ObjectMeta, error) {
	return namespaceMeta(ctx, h.client, name)
}

// latest returns the metadata that the cache has of the object; nil if it has none.
func (h *hub) latest(ctx context.Context, c *cycle) (*metav1.ObjectMeta, error) {
	metadata := objects.Metadata(h.state.kinds[c.key.GroupKind].GroupVersionKind)
	err := h.objects.Get(ctx, c.key.NamespacedName, metadata, client.UnsafeDisableDeepCopy)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading %s from the cache: %w", h.state.identity(c.key), err)
	}
	return &metadata.ObjectMeta, nil
}
