// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	workv1 "open-cluster-management.io/api/work/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/federation"
	"github.com/placement-hub/placement-hub/pkg/hub/objects"
	"github.com/placement-hub/placement-hub/pkg/hub/queue"
	"github.com/placement-hub/placement-hub/pkg/metrics"
)

// writer writes the works and finalizers of objects. Failed and refused writes are in the notes of the cycle.
type writer struct {
	*hub
}

// The kinds of requests in the metrics.
const (
	requestApply     = "apply"
	requestPatch     = "patch"
	requestDelete    = "delete"
	requestFinalizer = "finalizer"
)

// resultOf returns the result of a request for the metrics.
func resultOf(err error) metrics.Result {
	switch {
	case err == nil:
		return metrics.WriteOK
	case queue.Outdated(err):
		return metrics.WriteOutdated
	default:
		return metrics.WriteError
	}
}

// applied is what server-side apply is sent of a ManifestWork: its status and other fields are those of others.
type applied struct {
	metav1.TypeMeta `json:",inline"`

	Metadata appliedMetadata         `json:"metadata"`
	Spec     workv1.ManifestWorkSpec `json:"spec"`
}

type appliedMetadata struct {
	Namespace   string            `json:"namespace"`
	Name        string            `json:"name"`
	Labels      map[string]string `json:"labels,omitempty"`
	Annotations map[string]string `json:"annotations,omitempty"`
}

// apply writes the work of a cluster by server-side apply. Only a work that is known to be the hub's is written with force; where another
// manager has the fields of an unknown one, the hub has not written it.
func (w *writer) apply(ctx context.Context, p *cycle, cluster string) error {
	variant := p.Variant(cluster)

	work, err := p.workOf(variant)
	if err != nil {
		p.notes.fail(cluster)

		return err
	}

	data, err := json.Marshal(applied{
		TypeMeta: work.TypeMeta, Spec: work.Spec,
		Metadata: appliedMetadata{Namespace: cluster, Name: work.Name, Labels: work.Labels, Annotations: work.Annotations},
	})
	if err != nil {
		return fmt.Errorf("encoding ManifestWork %s/%s: %w", cluster, work.Name, err)
	}

	existing, known := p.existing(cluster)
	options := []client.PatchOption{client.FieldOwner(federation.FieldManager)}

	if known {
		options = append(options, client.ForceOwnership)
	}

	answer := answerOf(cluster, work.Name)
	err = w.client.Patch(ctx, answer, client.RawPatch(types.ApplyPatchType, data), options...)
	metrics.ObserveFederationWrite(requestApply, resultOf(err))

	switch {
	case !known && apierrors.HasStatusCause(err, metav1.CauseTypeFieldManagerConflict):
		p.notes.took(cluster)

		return nil
	case withoutNamespace(err):
		p.notes.miss(cluster)

		return nil
	case err != nil:
		p.notes.refuse("ManifestWork "+cluster+"/"+work.Name, err)
		p.notes.fail(cluster)

		return fmt.Errorf("applying ManifestWork %s/%s: %w", cluster, work.Name, err)
	}

	w.assume(p, answer, &work.Spec, p.storedIn(cluster))
	p.notes.wrote(cluster, !known || existing.Deleting)

	return nil
}

// withoutNamespace reports whether a work could not be created because the namespace of its cluster does not exist or is terminating.
func withoutNamespace(err error) bool {
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return false
	}

	details := status.Status().Details

	return apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) ||
		apierrors.IsNotFound(err) && details != nil && details.Kind == namespaceResource.Resource
}

// answerOf returns what the response to a write of a work is decoded into. It has only the metadata, which saves the transfer of the payload,
// and a status that cannot be decoded does not make a write fail that was done.
func answerOf(cluster, name string) *metav1.PartialObjectMetadata {
	answer := objects.Metadata(workKind)
	answer.Namespace, answer.Name = cluster, name

	return answer
}

// assume keeps the work that a write with a spec made of the last one, nil for none, until the watch has shown it.
func (w *writer) assume(p *cycle, answer *metav1.PartialObjectMetadata, spec *workv1.ManifestWorkSpec, last *workv1.ManifestWork) {
	w.state.works.Assume(p.key, federation.WrittenWork(answer.ObjectMeta, spec, last))
}

// addFinalizer adds the finalizer to the object unless it has it.
func (w *writer) addFinalizer(ctx context.Context, p *cycle) error {
	if slices.Contains(p.Object.Meta.Finalizers, federation.Finalizer) {
		return nil
	}

	err := w.patchFinalizers(ctx, p, append(slices.Clone(p.Object.Meta.Finalizers), federation.Finalizer))
	p.notes.refuse("the finalizer "+federation.Finalizer, err)

	return err
}

// removeFinalizer removes the finalizer from the object.
func (w *writer) removeFinalizer(ctx context.Context, p *cycle) error {
	finalizers := slices.DeleteFunc(slices.Clone(p.Object.Meta.Finalizers), func(name string) bool { return name == federation.Finalizer })
	if len(finalizers) == len(p.Object.Meta.Finalizers) {
		return nil
	}

	err := w.patchFinalizers(ctx, p, finalizers)
	p.notes.refuseRemoval("the removal of the finalizer "+federation.Finalizer, err)

	return client.IgnoreNotFound(err)
}

// patchFinalizers sets the finalizers of the object. A conflict is that of an object that has changed.
func (w *writer) patchFinalizers(ctx context.Context, p *cycle, finalizers []string) error {
	object := objects.Metadata(p.Object.Kind.GroupVersionKind)
	object.Namespace, object.Name = p.key.Namespace, p.key.Name

	if err := w.sendFinalizers(ctx, object, &p.Object.Meta, finalizers, requestFinalizer); err != nil {
		return fmt.Errorf("changing the finalizers of %s: %w", p.Object.Identity(), err)
	}

	p.notes.wrote("", false)

	if p.memory.version == p.Object.Meta.ResourceVersion {
		p.memory.version = object.ResourceVersion // Nothing else has changed.
	}

	p.Object.Meta.ResourceVersion, p.Object.Meta.Finalizers = object.ResourceVersion, object.Finalizers

	return nil
}

// sendFinalizers sets the finalizers of an object that was read with the given metadata, and reads the response into the object. It counts the
// request as one of a kind.
func (w *writer) sendFinalizers(
	ctx context.Context, object *metav1.PartialObjectMetadata, read *metav1.ObjectMeta, finalizers []string, kind string,
) error {
	before := object.DeepCopy()
	before.ResourceVersion, before.Finalizers = read.ResourceVersion, read.Finalizers
	object.ResourceVersion, object.Finalizers = read.ResourceVersion, finalizers

	return objects.Patch(ctx, client.WithFieldOwner(w.client, federation.FieldManager), before, object,
		objects.WithObserver(func(err error) { metrics.ObserveFederationWrite(kind, resultOf(err)) }))
}

// deleteWork deletes the work of a cluster, if it is still the one that was evaluated.
func (w *writer) deleteWork(ctx context.Context, p *cycle, cluster string) error {
	stored := p.storedIn(cluster)
	if stored == nil {
		return nil
	}

	err := w.client.Delete(ctx, &workv1.ManifestWork{ObjectMeta: metav1.ObjectMeta{Namespace: cluster, Name: stored.Name}},
		client.Preconditions{UID: ptr.To(stored.UID)})
	metrics.ObserveFederationWrite(requestDelete, resultOf(err))

	if err != nil && !apierrors.IsNotFound(err) {
		p.notes.refuseRemoval("the deletion of ManifestWork "+cluster+"/"+stored.Name, err)

		return fmt.Errorf("deleting ManifestWork %s/%s: %w", cluster, stored.Name, err)
	}

	if len(stored.Finalizers) == 0 || err != nil {
		w.state.works.AssumeDeleted(p.key, stored)
	} else {
		p.deleted(cluster, stored.UID)
	}

	p.notes.wrote(cluster, false)

	return nil
}

// release removes the finalizers of an agent from the work of a cluster that does not exist any more.
func (w *writer) release(ctx context.Context, p *cycle, cluster string) error {
	stored := p.storedIn(cluster)
	if stored == nil {
		return nil
	}

	others := slices.DeleteFunc(append([]string{}, stored.Finalizers...), func(name string) bool { return name == workv1.ManifestWorkFinalizer })
	if len(others) == len(stored.Finalizers) {
		return nil
	}

	return w.patchWork(p, stored, &stored.Spec, func(answer *metav1.PartialObjectMetadata) error {
		return w.sendFinalizers(ctx, answer, &stored.ObjectMeta, others, requestPatch)
	})
}

// patchWork has a patch of a work sent, which has the spec after it.
func (w *writer) patchWork(
	p *cycle, stored *workv1.ManifestWork, spec *workv1.ManifestWorkSpec, send func(answer *metav1.PartialObjectMetadata) error,
) error {
	answer := answerOf(stored.Namespace, stored.Name)

	switch err := send(answer); {
	case apierrors.IsNotFound(err):
		w.state.works.AssumeDeleted(p.key, stored)

		return nil
	case err != nil:
		p.notes.refuseRemoval("a change of ManifestWork "+stored.Namespace+"/"+stored.Name+" before it is deleted", err)

		return fmt.Errorf("patching ManifestWork %s/%s: %w", stored.Namespace, stored.Name, err)
	case !answer.DeletionTimestamp.IsZero() && len(answer.Finalizers) == 0:
		w.state.works.AssumeDeleted(p.key, stored)
	default:
		w.assume(p, answer, spec, stored)
	}

	p.notes.wrote(stored.Namespace, false)

	return nil
}

// orphan changes the work of a cluster so that its agent keeps the copies when the work is deleted.
func (w *writer) orphan(ctx context.Context, p *cycle, cluster string) error {
	stored := p.storedIn(cluster)
	if stored == nil {
		return nil
	}

	spec := stored.Spec.DeepCopy()
	spec.DeleteOption = &workv1.DeleteOption{PropagationPolicy: workv1.DeletePropagationPolicyTypeOrphan}

	return w.patchWork(p, stored, spec, func(answer *metav1.PartialObjectMetadata) error {
		data, err := json.Marshal(map[string]any{
			"metadata": map[string]any{"uid": stored.UID},
			"spec": map[string]any{"deleteOption": map[string]any{
				"propagationPolicy": workv1.DeletePropagationPolicyTypeOrphan, "selectivelyOrphans": nil,
			}},
		})
		if err != nil {
			return fmt.Errorf("encoding the delete option: %w", err)
		}

		err = w.client.Patch(ctx, answer, client.RawPatch(types.MergePatchType, data), client.FieldOwner(federation.FieldManager))
		metrics.ObserveFederationWrite(requestPatch, resultOf(err))

		return err //nolint:wrapcheck // Named by patchWork.
	})
}
