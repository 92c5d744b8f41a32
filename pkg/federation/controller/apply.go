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
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	workv1 "open-cluster-management.io/api/work/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/federation"
	"github.com/placement-hub/placement-hub/pkg/hub/objects"
	"github.com/placement-hub/placement-hub/pkg/metrics"
)

var workKind = schema.GroupVersion(workv1.GroupVersion).WithKind("ManifestWork")

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
// manager has the fields of an unknown one, it is somebody else's.
func (r *reconciler) apply(ctx context.Context, p *cycle, cluster string) error {
	variant := p.Variant(cluster)

	work, err := p.made(variant)
	if err != nil {
		p.fail(cluster)

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
	err = r.client.Patch(ctx, answer, client.RawPatch(types.ApplyPatchType, data), options...)
	metrics.ObserveFederationWrite(requestApply, resultOf(err))

	switch {
	case !known && apierrors.HasStatusCause(err, metav1.CauseTypeFieldManagerConflict):
		p.took(cluster)

		return nil
	case withoutNamespace(err):
		p.missed(cluster)

		return nil
	case err != nil:
		p.refuse("ManifestWork "+cluster+"/"+work.Name, err)
		p.fail(cluster)

		return fmt.Errorf("applying ManifestWork %s/%s: %w", cluster, work.Name, err)
	}

	r.assume(p, answer, &work.Spec, p.storedIn(cluster))
	p.wrote(cluster, !known || existing.Deleting)

	return nil
}

// made returns the work of a variant, whose manifests are encoded once for all clusters. It must not be changed.
func (p *cycle) made(variant federation.Variant) (*workv1.ManifestWork, error) {
	p.writes.mu.Lock()
	defer p.writes.mu.Unlock()

	if work := p.writes.made[variant]; work != nil {
		return work, nil
	}

	work, err := p.payload.Work("", variant)
	if err != nil {
		return nil, err
	}

	if p.writes.made == nil {
		p.writes.made = map[federation.Variant]*workv1.ManifestWork{}
	}

	p.writes.made[variant] = work

	return work, nil
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
func (r *reconciler) assume(p *cycle, answer *metav1.PartialObjectMetadata, spec *workv1.ManifestWorkSpec, last *workv1.ManifestWork) {
	r.state.works.Assume(p.key, federation.WrittenWork(answer.ObjectMeta, spec, last))
}

// existing returns the work of a cluster at the time of the evaluation.
func (p *cycle) existing(cluster string) (federation.ExistingWork, bool) {
	i := slices.IndexFunc(p.Works, func(work federation.ExistingWork) bool { return work.Cluster == cluster && !work.Foreign })
	if i < 0 {
		return federation.ExistingWork{}, false
	}

	return p.Works[i], true
}

// wrote counts a request that succeeded. The cluster is one that did not have the object if delivered is true.
func (p *cycle) wrote(cluster string, delivered bool) {
	p.writes.mu.Lock()
	defer p.writes.mu.Unlock()

	p.writes.count++

	if delivered {
		p.writes.delivered = append(p.writes.delivered, cluster)
	}
}

// took notes a cluster in which the name of the work is taken.
func (p *cycle) took(cluster string) {
	p.writes.mu.Lock()
	defer p.writes.mu.Unlock()

	p.writes.taken = append(p.writes.taken, cluster)
}

// fail notes a cluster of which a write has failed.
func (p *cycle) fail(cluster string) {
	p.writes.mu.Lock()
	defer p.writes.mu.Unlock()

	p.writes.failed = append(p.writes.failed, cluster)
}

// missed notes a cluster whose work cannot be created yet.
func (p *cycle) missed(cluster string) {
	p.writes.mu.Lock()
	defer p.writes.mu.Unlock()

	p.writes.missed = append(p.writes.missed, cluster)
}

// addFinalizer adds the finalizer to the object unless it has it.
func (r *reconciler) addFinalizer(ctx context.Context, p *cycle) error {
	if slices.Contains(p.Object.Meta.Finalizers, federation.Finalizer) {
		return nil
	}

	err := r.patchFinalizers(ctx, p, append(slices.Clone(p.Object.Meta.Finalizers), federation.Finalizer))
	p.refuse("the finalizer "+federation.Finalizer, err)

	return err
}

// removeFinalizer removes the finalizer from the object.
func (r *reconciler) removeFinalizer(ctx context.Context, p *cycle) error {
	finalizers := slices.DeleteFunc(slices.Clone(p.Object.Meta.Finalizers), func(name string) bool { return name == federation.Finalizer })
	if len(finalizers) == len(p.Object.Meta.Finalizers) {
		return nil
	}

	err := r.patchFinalizers(ctx, p, finalizers)
	p.refuseRemoval("the removal of the finalizer "+federation.Finalizer, err)

	return client.IgnoreNotFound(err)
}

// patchFinalizers sets the finalizers of the object. A conflict is that of an object that has changed.
func (r *reconciler) patchFinalizers(ctx context.Context, p *cycle, finalizers []string) error {
	object := objects.Metadata(p.Object.Kind.GroupVersionKind)
	object.Namespace, object.Name = p.key.Namespace, p.key.Name

	if err := r.sendFinalizers(ctx, object, &p.Object.Meta, finalizers, requestFinalizer); err != nil {
		return fmt.Errorf("changing the finalizers of %s: %w", p.Object.Identity(), err)
	}

	p.wrote("", false)

	if p.memory.version == p.Object.Meta.ResourceVersion {
		p.memory.version = object.ResourceVersion // Nothing else has changed.
	}

	p.Object.Meta.ResourceVersion, p.Object.Meta.Finalizers = object.ResourceVersion, object.Finalizers

	return nil
}

// sendFinalizers sets the finalizers of an object that was read with the given metadata, and reads the response into the object. It counts the
// request as one of a kind.
func (r *reconciler) sendFinalizers(
	ctx context.Context, object *metav1.PartialObjectMetadata, read *metav1.ObjectMeta, finalizers []string, kind string,
) error {
	before := object.DeepCopy()
	before.ResourceVersion, before.Finalizers = read.ResourceVersion, read.Finalizers
	object.ResourceVersion, object.Finalizers = read.ResourceVersion, finalizers

	return objects.Patch(ctx, client.WithFieldOwner(r.client, federation.FieldManager), before, object,
		objects.WithObserver(func(err error) { metrics.ObserveFederationWrite(kind, resultOf(err)) }))
}

// deleteWork deletes the work of a cluster, if it is still the one that was evaluated.
func (r *reconciler) deleteWork(ctx context.Context, p *cycle, cluster string) error {
	stored := p.storedIn(cluster)
	if stored == nil {
		return nil
	}

	err := r.client.Delete(ctx, &workv1.ManifestWork{ObjectMeta: metav1.ObjectMeta{Namespace: cluster, Name: stored.Name}},
		client.Preconditions{UID: ptr.To(stored.UID)})
	metrics.ObserveFederationWrite(requestDelete, resultOf(err))

	if err != nil && !apierrors.IsNotFound(err) {
		p.refuseRemoval("the deletion of ManifestWork "+cluster+"/"+stored.Name, err)

		return fmt.Errorf("deleting ManifestWork %s/%s: %w", cluster, stored.Name, err)
	}

	if len(stored.Finalizers) == 0 || err != nil {
		r.state.works.AssumeDeleted(p.key, stored)
	} else {
		p.deleted(cluster, stored.UID)
	}

	p.wrote(cluster, false)

	return nil
}

// deleted notes a work that waits for its finalizers.
func (p *cycle) deleted(cluster string, uid types.UID) {
	p.writes.mu.Lock()
	defer p.writes.mu.Unlock()

	p.memory.deleted[cluster] = uid
}

// storedIn returns the work of the object in a cluster; nil if it did not exist, or is not the hub's.
func (p *cycle) storedIn(cluster string) *workv1.ManifestWork {
	i := slices.IndexFunc(p.stored, func(work *workv1.ManifestWork) bool { return work.Namespace == cluster })
	if i < 0 || p.Works[i].Foreign {
		return nil
	}

	return p.stored[i]
}

// release removes the finalizers of an agent from the work of a cluster that does not exist any more.
func (r *reconciler) release(ctx context.Context, p *cycle, cluster string) error {
	stored := p.storedIn(cluster)
	if stored == nil {
		return nil
	}

	others := slices.DeleteFunc(append([]string{}, stored.Finalizers...), func(name string) bool { return name == workv1.ManifestWorkFinalizer })
	if len(others) == len(stored.Finalizers) {
		return nil
	}

	return r.patchWork(p, stored, &stored.Spec, func(answer *metav1.PartialObjectMetadata) error {
		return r.sendFinalizers(ctx, answer, &stored.ObjectMeta, others, requestPatch)
	})
}

// patchWork has a patch of a work sent, which has the spec after it.
func (r *reconciler) patchWork(
	p *cycle, stored *workv1.ManifestWork, spec *workv1.ManifestWorkSpec, send func(answer *metav1.PartialObjectMetadata) error,
) error {
	answer := answerOf(stored.Namespace, stored.Name)

	switch err := send(answer); {
	case apierrors.IsNotFound(err):
		r.state.works.AssumeDeleted(p.key, stored)

		return nil
	case err != nil:
		p.refuseRemoval("a change of ManifestWork "+stored.Namespace+"/"+stored.Name+" before it is deleted", err)

		return fmt.Errorf("patching ManifestWork %s/%s: %w", stored.Namespace, stored.Name, err)
	case !answer.DeletionTimestamp.IsZero() && len(answer.Finalizers) == 0:
		r.state.works.AssumeDeleted(p.key, stored)
	default:
		r.assume(p, answer, spec, stored)
	}

	p.wrote(stored.Namespace, false)

	return nil
}
