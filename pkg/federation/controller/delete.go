package controller

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	workv1 "open-cluster-management.io/api/work/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/federation"
	"github.com/placement-hub/placement-hub/pkg/hub/objects"
	"github.com/placement-hub/placement-hub/pkg/hub/sharedinventory"
	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/metrics"
)

var managedCluster = inventory.Clusters.Resource.GroupVersion().WithKind("ManagedCluster")

// delete deletes the works of an object that is being deleted, and then removes the finalizer (docs/spec/federated-selector.md 3.1.5).
func (r *reconciler) delete(ctx context.Context, p *cycle) (time.Duration, error) {
	d := p.Deletion()

	err := r.remove(ctx, p, d.Orphan, func(ctx context.Context, cluster string) error { return r.orphan(ctx, p, cluster) })
	if err != nil {
		return 0, err
	}

	err = r.remove(ctx, p, d.Delete, func(ctx context.Context, cluster string) error { return r.deleteWork(ctx, p, cluster) })
	if err != nil {
		return 0, err
	}

	if err := r.abandon(ctx, p, d.Release); err != nil {
		return 0, err
	}

	if p.Works, err = r.load(ctx, p); err != nil {
		return 0, err
	}

	switch d = p.Deletion(); {
	case d.Done():
		if err := r.removeFinalizer(ctx, p); err != nil {
			return 0, err
		}

		return 0, nil
	case len(d.Release)+len(d.Delete) > 0 && p.writes.count > 0:
		return time.Nanosecond, nil
	default:
		return deletionRetry, nil
	}
}

// abandon removes the finalizers of agents from works of clusters that do not exist any more, if the API server says so too.
func (r *reconciler) abandon(ctx context.Context, p *cycle, clusters []string) error {
	return r.each(ctx, clusters, func(ctx context.Context, cluster string) error {
		err := r.live.Get(ctx, types.NamespacedName{Name: cluster}, objects.Metadata(managedCluster))

		switch {
		case err == nil:
			return nil // The cluster is there again; its event enqueues the object.
		case !absent(err):
			return fmt.Errorf("reading ManagedCluster %s: %w", cluster, err)
		}

		return r.release(ctx, p, cluster)
	})
}

// orphan tells an agent that the copies stay when the work of its cluster is deleted.
func (r *reconciler) orphan(ctx context.Context, p *cycle, cluster string) error {
	stored := p.storedIn(cluster)
	if stored == nil {
		return nil
	}

	spec := stored.Spec.DeepCopy()
	spec.DeleteOption = &workv1.DeleteOption{PropagationPolicy: workv1.DeletePropagationPolicyTypeOrphan}

	return r.patchWork(p, stored, spec, func(answer *metav1.PartialObjectMetadata) error {
		data, err := json.Marshal(map[string]any{
			"metadata": map[string]any{"uid": stored.UID},
			"spec": map[string]any{"deleteOption": map[string]any{
				"propagationPolicy": workv1.DeletePropagationPolicyTypeOrphan, "selectivelyOrphans": nil,
			}},
		})
		if err != nil {
			return fmt.Errorf("encoding the delete option: %w", err)
		}

		err = r.client.Patch(ctx, answer, client.RawPatch(types.MergePatchType, data), client.FieldOwner(federation.FieldManager))
		metrics.ObserveFederationWrite(requestPatch, resultOf(err))

		return err //nolint:wrapcheck // Named by patchWork.
	})
}

// gone deletes the works of an object that does not exist, if the API server says so too: its finalizer was removed by somebody else, or its
// works were made by a hub that has ended.
func (r *reconciler) gone(ctx context.Context, key inventory.Key) (time.Duration, error) {
	p := &cycle{key: key, memory: r.state.memories.get(key)}

	for _, retries := range []backoff{r.postponed, r.changed, r.missed} {
		retries.Forget(key)
	}

	works, err := r.load(ctx, p)
	if err != nil {
		return 0, err
	}

	if len(works) == 0 {
		r.state.forget(key)

		return 0, nil
	}

	kind := r.state.kinds[key.GroupKind]
	p.removal.ProvedAt = r.clock.Now()

	err = r.live.Get(ctx, key.NamespacedName, objects.Metadata(kind.GroupVersionKind))
	if err == nil {
		return sharedinventory.NotSyncedDelay, nil // The cache is behind.
	}

	if !absent(err) {
		return 0, fmt.Errorf("reading %s: %w", r.state.identity(key), err)
	}

	// Whether the copies should stay is not known any more.
	deletion := metav1.NewTime(r.clock.Now())
	object := federation.Object{
		Kind: kind, Meta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name, DeletionTimestamp: &deletion},
	}
	p.Evaluation = federation.Evaluate(object, federation.View{Snapshot: r.snapshot, Works: works}, r.clock.Now())

	again, err := r.delete(ctx, p)
	if d := p.Deletion(); err == nil && d.Done() {
		r.state.forget(key) // No event of an own deletion enqueues the object.
	}

	return again, err
}
