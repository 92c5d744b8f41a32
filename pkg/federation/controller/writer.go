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
func (w *writer) apply(ctx context.Context, c *cycle, cluster string) error {
	variant := c.Variant(cluster)

	work, err := c.workOf(variant)
	if err != nil {
		c.notes.fail(cluster)
		return err
	}

	data, err := json.Marshal(applied{
		TypeMeta: work.TypeMeta, Spec: work.Spec,
		Metadata: appliedMetadata{Namespace: cluster, Name: work.Name, Labels: work.Labels, Annotations: work.Annotations},
	})
	if err != nil {
		return fmt.Errorf("encoding ManifestWork %s/%s: %w", cluster, work.Name, err)
	}
	existing, known := c.existing(cluster)
	options := []client.PatchOption{client.FieldOwner(federation.FieldManager)}
	if known {
		options = append(options, client.ForceOwnership)
	}

	response := answerOf(cluster, work.Name)
	err = w.client.Patch(ctx, response, client.RawPatch(types.ApplyPatchType, data), options...)
	metrics.ObserveFederationWrite(requestApply, resultOf(err))
	switch {
	case !known && apierrors.HasStatusCause(err, metav1.CauseTypeFieldManagerConflict):
		c.notes.took(cluster)
		return nil
	case withoutNamespace(err):
		c.notes.miss(cluster)
		return nil
	case err != nil:
		c.notes.refuse("ManifestWork "+cluster+"/"+work.Name, err)
		c.notes.fail(cluster)
		return fmt.Errorf("applying ManifestWork %s/%s: %w", cluster, work.Name, err)
	}

	w.assume(c, response, &work.Spec, c.storedIn(cluster))
	c.notes.wrote(cluster, !known || existing.Deleting)
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
	response := objects.Metadata(workKind)
	response.Namespace, response.Name = cluster, name
	return response
}

// assume keeps the work that a write with a spec made of the last one, nil for none, until the watch has shown it.
func (w *writer) assume(c *cycle, response *metav1.PartialObjectMetadata, spec *workv1.ManifestWorkSpec, last *workv1.ManifestWork) {
	w.state.works.Assume(c.key, federation.WrittenWork(response.ObjectMeta, spec, last))
}

// addFinalizer adds the finalizer to the object unless it has it.
func (w *writer) addFinalizer(ctx context.Context, c *cycle) error {
	if slices.Contains(c.Object.Meta.Finalizers, federation.Finalizer) {
		return nil
	}
	err := w.patchFinalizers(ctx, c, append(slices.Clone(c.Object.Meta.Finalizers), federation.Finalizer))
	c.notes.refuse("the finalizer "+federation.Finalizer, err)
	return err
}

// removeFinalizer removes the finalizer from the object.
func (w *writer) removeFinalizer(ctx context.Context, c *cycle) error {
	finalizers := slices.DeleteFunc(slices.Clone(c.Object.Meta.Finalizers), func(name string) bool { return name == federation.Finalizer })
	if len(finalizers) == len(c.Object.Meta.Finalizers) {
		return nil
	}
	err := w.patchFinalizers(ctx, c, finalizers)
	c.notes.refuseRemoval("the removal of the finalizer "+federation.Finalizer, err)
	return client.IgnoreNotFound(err)
}

// patchFinalizers sets the finalizers of the object. A conflict is that of an object that has changed.
func (w *writer) patchFinalizers(ctx context.Context, c *cycle, finalizers []string) error {
	object := objects.Metadata(c.Object.Kind.GroupVersionKind)
	object.Namespace, object.Name = c.key.Namespace, c.key.Name
	if err := w.sendFinalizers(ctx, object, &c.Object.Meta, finalizers, requestFinalizer); err != nil {
		return fmt.Errorf("changing the finalizers of %s: %w", c.Object.Identity(), err)
	}
	c.notes.wrote("", false)
	if c.memory.version == c.Object.Meta.ResourceVersion {
		c.memory.version = object.ResourceVersion // Nothing else has changed.
	}
	c.Object.Meta.ResourceVersion, c.Object.Meta.Finalizers = object.ResourceVersion, object.Finalizers
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
func (w *writer) deleteWork(ctx context.Context, c *cycle, cluster string) error {
	stored := c.storedIn(cluster)
	if stored == nil {
		return nil
	}
	err := w.client.Delete(ctx, &workv1.ManifestWork{ObjectMeta: metav1.ObjectMeta{Namespace: cluster, Name: stored.Name}},
		client.Preconditions{UID: ptr.To(stored.UID)})
	metrics.ObserveFederationWrite(requestDelete, resultOf(err))

	if err != nil && !apierrors.IsNotFound(err) {
		c.notes.refuseRemoval("the deletion of ManifestWork "+cluster+"/"+stored.Name, err)
		return fmt.Errorf("deleting ManifestWork %s/%s: %w", cluster, stored.Name, err)
	}
	if len(stored.Finalizers) == 0 || err != nil {
		w.state.works.AssumeDeleted(c.key, stored)
	} else {
		c.deleted(cluster, stored.UID)
	}
	c.notes.wrote(cluster, false)
	return nil
}

// release removes the finalizers of an agent from the work of a cluster that does not exist any more.
func (w *writer) release(ctx context.Context, c *cycle, cluster string) error {
	stored := c.storedIn(cluster)
	if stored == nil {
		return nil
	}
	others := slices.DeleteFunc(append([]string{}, stored.Finalizers...), func(name string) bool { return name == workv1.ManifestWorkFinalizer })
	if len(others) == len(stored.Finalizers) {
		return nil
	}
	return w.patchWork(c, stored, &stored.Spec, func(response *metav1.PartialObjectMetadata) error {
		return w.sendFinalizers(ctx, response, &stored.ObjectMeta, others, requestPatch)
	})
}

// patchWork has a patch of a work sent, which has the spec after it.
func (w *writer) patchWork(
	c *cycle, stored *workv1.ManifestWork, spec *workv1.ManifestWorkSpec, send func(response *metav1.PartialObjectMetadata) error,
) error {
	response := answerOf(stored.Namespace, stored.Name)
	switch err := send(response); {
	case apierrors.IsNotFound(err):
		w.state.works.AssumeDeleted(c.key, stored)
		return nil
	case err != nil:
		c.notes.refuseRemoval("a change of ManifestWork "+stored.Namespace+"/"+stored.Name+" before it is deleted", err)
		return fmt.Errorf("patching ManifestWork %s/%s: %w", stored.Namespace, stored.Name, err)
	case !response.DeletionTimestamp.IsZero() && len(response.Finalizers) == 0:
		w.state.works.AssumeDeleted(c.key, stored)
	default:
		w.assume(c, response, spec, stored)
	}

	c.notes.wrote(stored.Namespace, false)
	return nil
}

// orphan changes the work of a cluster so that its agent keeps the copies when the work is deleted.
func (w *writer) orphan(ctx context.Context, c *cycle, cluster string) error {
	stored := c.storedIn(cluster)
	if stored == nil {
		return nil
	}
	spec := stored.Spec.DeepCopy()
	spec.DeleteOption = &workv1.DeleteOption{PropagationPolicy: workv1.DeletePropagationPolicyTypeOrphan}
	return w.patchWork(c, stored, spec, func(response *metav1.PartialObjectMetadata) error {
		data, err := json.Marshal(map[string]any{
			"metadata": map[string]any{"uid": stored.UID},
			"spec": map[string]any{"deleteOption": map[string]any{
				"propagationPolicy": workv1.DeletePropagationPolicyTypeOrphan, "selectivelyOrphans": nil,
			}},
		})
		if err != nil {
			return fmt.Errorf("encoding the delete option: %w", err)
		}

		err = w.client.Patch(ctx, response, client.RawPatch(types.MergePatchType, data), client.FieldOwner(federation.FieldManager))
		metrics.ObserveFederationWrite(requestPatch, resultOf(err))
		return err //nolint:wrapcheck // Named by patchWork.
	})
}
