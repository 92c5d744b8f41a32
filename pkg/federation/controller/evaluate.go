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

	p := &cycle{key: key, memory: h.state.memories.get(key), shown: h.state.Shared.Observed.Now()}
	object := federation.Object{Kind: kind, Meta: metadata.ObjectMeta}

	excluded, err := h.excluded(ctx, p, kind, metadata)
	if err != nil {
		return nil, err
	}

	switch {
	case excluded != "":
		object.Body = federation.Body{Excluded: excluded}
	case p.memory.version == metadata.ResourceVersion:
		object.Body = p.memory.body
	default:
		if object.Meta, err = h.read(ctx, p, kind); err != nil || p.payload == nil {
			return nil, err
		}

		object.Body = p.memory.body
	}

	view, err := h.view(ctx, p, &object)
	if err != nil {
		return nil, err
	}

	p.Evaluation = federation.Evaluate(object, view, h.clock.Now())
	p.removal = freshness.Plan{Meta: object.Meta.DeepCopy(), Annotations: federation.HubAnnotations, ProvedAt: h.clock.Now()}

	return p, nil
}

// excluded returns why an object without works is never delivered, as far as its metadata decides that, or "". Such an object, as the
// ReplicaSet of a Deployment, is not read: it can change often. The works of an object that has some count on its content.
func (h *hub) excluded(
	ctx context.Context, p *cycle, kind federation.Kind, metadata *metav1.PartialObjectMetadata,
) (string, error) {
	why := federation.ExcludedByMetadata(kind, metadata)
	if why == "" {
		return "", nil
	}

	works, err := h.stored(ctx, p.key)
	if err != nil || len(works) > 0 {
		return "", err
	}

	return why, nil
}

// read reads the content of an object from the API server, keeps its payload in the cycle and everything else in the memory, and returns its
// metadata. Without a payload the object does not exist.
func (h *hub) read(ctx context.Context, p *cycle, kind federation.Kind) (metav1.ObjectMeta, error) {
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(kind.GroupVersionKind)

	identity := h.state.identity(p.key)

	err := h.live.Get(ctx, p.key.NamespacedName, object)
	if absent(err) {
		return metav1.ObjectMeta{}, nil
	}

	if err != nil {
		return metav1.ObjectMeta{}, fmt.Errorf("reading %s: %w", identity, err)
	}

	body, payload := federation.BodyOf(kind, object)
	if p.payload = payload; p.memory.version != object.GetResourceVersion() {
		p.memory.version, p.memory.body, p.memory.hashes = object.GetResourceVersion(), body, nil
		p.memory.changed = problems.LastChange(object)
	}

	return metav1.ObjectMeta{
		Namespace: object.GetNamespace(), Name: object.GetName(), UID: object.GetUID(), ResourceVersion: object.GetResourceVersion(),
		Generation: object.GetGeneration(), DeletionTimestamp: object.GetDeletionTimestamp(), Finalizers: object.GetFinalizers(),
		Annotations: federation.HubAnnotations(object.GetAnnotations()), OwnerReferences: object.GetOwnerReferences(),
	}, nil
}

// view returns what the hub knows around an object.
func (h *hub) view(ctx context.Context, p *cycle, object *federation.Object) (federation.View, error) {
	works, err := h.load(ctx, p)
	if err != nil {
		return federation.View{}, err
	}

	namespace, err := h.namespace(ctx, p.key.Namespace)
	if err != nil {
		return federation.View{}, err
	}

	p.namespace = namespace

	users, err := h.users(ctx, p.key, namespace)
	if err != nil {
		return federation.View{}, err
	}

	if p.followed = h.decisions(ctx, object, namespace); p.followed.err != nil {
		return federation.View{}, p.followed.err
	}

	return federation.View{
		Compiler: h.state.Shared.Compiler, Snapshot: h.snapshot, HubNamespace: h.namespaceName, Namespace: namespace, Works: works, Users: users,
		Unguarded: h.state.unguarded.Load(),
		Decisions: func(string) federation.Decisions { return p.followed.Decisions },
		Reached: func(d federation.Dependency) ([]string, bool) {
			return h.reached(ctx, p.key.Namespace, d)
		},
	}, nil
}

// load lists the works of the object into the cycle, and returns what of them counts.
func (h *hub) load(ctx context.Context, p *cycle) ([]federation.ExistingWork, error) {
	stored, err := h.stored(ctx, p.key)
	if err != nil {
		return nil, err
	}

	p.stored = stored

	return h.existing(p, stored)
}

// loadPayload reads the payload of the evaluated object unless the cycle has it.
func (h *hub) loadPayload(ctx context.Context, p *cycle) error {
	if p.payload != nil {
		return nil
	}

	meta, err := h.read(ctx, p, p.Object.Kind)
	if err != nil {
		return err
	}

	if p.payload == nil || meta.ResourceVersion != p.Object.Meta.ResourceVersion {
		return errChanged
	}

	return nil
}

// hash returns the hash of the works of a variant; it reads the object if the hash is not known.
func (h *hub) hash(ctx context.Context, p *cycle, variant federation.Variant) (string, error) {
	if known, found := p.memory.hashes[variant]; found {
		return known, nil
	}

	if err := h.loadPayload(ctx, p); err != nil {
		return "", err
	}

	work, err := p.workOf(variant)
	if err != nil {
		return "", err
	}

	if p.memory.hashes == nil {
		p.memory.hashes = map[federation.Variant]string{}
	}

	hash := work.Annotations[federation.HashAnnotation]
	p.memory.hashes[variant] = hash

	return hash, nil
}
