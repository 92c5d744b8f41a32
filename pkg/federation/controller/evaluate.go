// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/federation"
	"github.com/placement-hub/placement-hub/pkg/hub/freshness"
	"github.com/placement-hub/placement-hub/pkg/hub/objects"
	"github.com/placement-hub/placement-hub/pkg/hub/problems"
	"github.com/placement-hub/placement-hub/pkg/inventory"
)

// evaluate runs the pipeline for an object; nil if the object does not exist.
func (h *hub) evaluate(ctx context.Context, key inventory.Key) (*cycle, error) {
	kind := h.state.kinds[key.GroupKind]
	metadata := objects.Metadata(kind.GroupVersionKind)

	err := h.objects.Get(ctx, key.NamespacedName, metadata, client.UnsafeDisableDeepCopy) // It is only read.
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading %s from the cache: %w", h.state.identity(key), err)
	}
	c := &cycle{key: key, memory: h.state.memories.get(key), shown: h.state.Shared.Observed.Now()}
	object := federation.Object{Kind: kind, Meta: metadata.ObjectMeta}

	excluded, err := h.excluded(ctx, c, kind, metadata)
	if err != nil {
		return nil, err
	}

	switch {
	case excluded != "":
		object.Body = federation.Body{Excluded: excluded}
	case c.memory.version == metadata.ResourceVersion:
		object.Body = c.memory.body
	default:
		if object.Meta, err = h.read(ctx, c, kind); err != nil || c.payload == nil {
			return nil, err
		}
		object.Body = c.memory.body
	}

	view, err := h.view(ctx, c, &object)
	if err != nil {
		return nil, err
	}
	c.Evaluation = federation.Evaluate(object, view, h.clock.Now())
	c.removal = freshness.Plan{Meta: object.Meta.DeepCopy(), Annotations: federation.HubAnnotations, ProvedAt: h.clock.Now()}
	return c, nil
}

// excluded returns why an object without works is never delivered, as far as its metadata decides that, or "". Such an object, as the
// ReplicaSet of a Deployment, is not read: it can change often. The works of an object that has some count on its content.
func (h *hub) excluded(
	ctx context.Context, c *cycle, kind federation.FederatedKind, metadata *metav1.PartialObjectMetadata,
) (string, error) {
	why := federation.ExcludedByMetadata(kind, metadata)
	if why == "" {
		return "", nil
	}
	works, err := h.stored(ctx, c.key)
	if err != nil || len(works) > 0 {
		return "", err
	}
	return why, nil
}

// read reads the content of an object from the API server, keeps its payload in the cycle and everything else in the memory, and returns its
// metadata. Without a payload the object does not exist.
func (h *hub) read(ctx context.Context, c *cycle, kind federation.FederatedKind) (metav1.ObjectMeta, error) {
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(kind.GroupVersionKind)
	identity := h.state.identity(c.key)

	err := h.live.Get(ctx, c.key.NamespacedName, object)
	if absent(err) {
		return metav1.ObjectMeta{}, nil
	}
	if err != nil {
		return metav1.ObjectMeta{}, fmt.Errorf("reading %s: %w", identity, err)
	}

	body, payload := federation.BodyOf(kind, object)
	if c.payload = payload; c.memory.version != object.GetResourceVersion() {
		c.memory.version, c.memory.body, c.memory.hashes = object.GetResourceVersion(), body, nil
		c.memory.changed = problems.LastChange(object)
	}
	return metav1.ObjectMeta{
		Namespace: object.GetNamespace(), Name: object.GetName(), UID: object.GetUID(), ResourceVersion: object.GetResourceVersion(),
		Generation: object.GetGeneration(), DeletionTimestamp: object.GetDeletionTimestamp(), Finalizers: object.GetFinalizers(),
		Annotations: federation.HubAnnotations(object.GetAnnotations()), OwnerReferences: object.GetOwnerReferences(),
	}, nil
}

// view returns what the hub knows around an object.
func (h *hub) view(ctx context.Context, c *cycle, object *federation.Object) (federation.View, error) {
	works, err := h.load(ctx, c)
	if err != nil {
		return federation.View{}, err
	}
	namespace, err := h.namespace(ctx, c.key.Namespace)
	if err != nil {
		return federation.View{}, err
	}
	c.namespace = namespace

	users, err := h.users(ctx, c.key, namespace)
	if err != nil {
		return federation.View{}, err
	}
	if c.followed = h.decisions(ctx, object, namespace); c.followed.err != nil {
		return federation.View{}, c.followed.err
	}
	return federation.View{
		Compiler: h.state.Shared.Compiler, Snapshot: h.snapshot, HubNamespace: h.namespaceName, Namespace: namespace, Works: works, Users: users,
		Unguarded: h.state.unguarded.Load(),
		Decisions: func(string) federation.Decisions { return c.followed.Decisions },
		Reached: func(d federation.Dependency) ([]string, bool) {
			return h.reached(ctx, c.key.Namespace, d)
		},
	}, nil
}

// load lists the works of the object into the cycle, and returns what of them counts.
func (h *hub) load(ctx context.Context, c *cycle) ([]federation.ExistingWork, error) {
	stored, err := h.stored(ctx, c.key)
	if err != nil {
		return nil, err
	}
	c.stored = stored
	return h.existing(c, stored)
}

// loadPayload reads the payload of the evaluated object unless the cycle has it.
func (h *hub) loadPayload(ctx context.Context, c *cycle) error {
	if c.payload != nil {
		return nil
	}
	meta, err := h.read(ctx, c, c.Object.Kind)
	if err != nil {
		return err
	}
	if c.payload == nil || meta.ResourceVersion != c.Object.Meta.ResourceVersion {
		return errChanged
	}
	return nil
}

// hash returns the hash of the works of a variant; it reads the object if the hash is not known.
func (h *hub) hash(ctx context.Context, c *cycle, variant federation.Variant) (string, error) {
	if known, found := c.memory.hashes[variant]; found {
		return known, nil
	}
	if err := h.loadPayload(ctx, c); err != nil {
		return "", err
	}
	work, err := c.workOf(variant)
	if err != nil {
		return "", err
	}

	if c.memory.hashes == nil {
		c.memory.hashes = map[federation.Variant]string{}
	}
	hash := work.Annotations[federation.HashAnnotation]
	c.memory.hashes[variant] = hash
	return hash, nil
}
