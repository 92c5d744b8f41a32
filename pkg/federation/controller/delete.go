// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"

	"github.com/placement-hub/placement-hub/pkg/federation"
	"github.com/placement-hub/placement-hub/pkg/hub/objects"
	"github.com/placement-hub/placement-hub/pkg/hub/sharedinventory"
	"github.com/placement-hub/placement-hub/pkg/inventory"
)

// deletion ends the delivery of objects that are being deleted, or are gone.
type deletion struct {
	*writer

	retries *retries
}

// delete deletes the works of an object that is being deleted, and then removes the finalizer (docs/spec/federated-selector.md 3.1.5).
func (d *deletion) delete(ctx context.Context, c *cycle) (time.Duration, error) {
	planned := c.Deletion()

	err := d.remove(ctx, c, planned.Orphan, func(ctx context.Context, cluster string) error { return d.orphan(ctx, c, cluster) })
	if err != nil {
		return 0, err
	}
	err = d.remove(ctx, c, planned.Delete, func(ctx context.Context, cluster string) error { return d.deleteWork(ctx, c, cluster) })
	if err != nil {
		return 0, err
	}

	if err := d.abandon(ctx, c, planned.Release); err != nil {
		return 0, err
	}
	if c.Works, err = d.load(ctx, c); err != nil {
		return 0, err
	}

	switch left := c.Deletion(); {
	case left.Done():
		if err := d.removeFinalizer(ctx, c); err != nil {
			return 0, err
		}
		return 0, nil
	case len(left.Release)+len(left.Delete) > 0 && c.notes.count > 0:
		return time.Nanosecond, nil
	default:
		return deletionRetry, nil
	}
}

// gone deletes the works of an object that does not exist, if the API server says so too: its finalizer was removed by somebody else, or its
// works were made by a hub that has ended. Works that a tool has restored stay, because it may restore their object later.
func (d *deletion) gone(ctx context.Context, key inventory.Key) (time.Duration, error) {
	c := &cycle{key: key, memory: d.state.memories.get(key)}
	d.retries.forget(key)
	works, err := d.load(ctx, c)
	if err != nil {
		return 0, err
	}
	found := len(works)
	works = slices.DeleteFunc(works, func(work federation.ExistingWork) bool { return work.Restored })
	if left := found - len(works); left > 0 {
		klog.FromContext(ctx).Info("ManifestWorks were restored without their object; they stay until it is there", "object", key.String(),
			"manifestWorks", left)
	}
	if len(works) == 0 {
		d.state.forget(key)
		return 0, nil
	}

	kind := d.state.kinds[key.GroupKind]
	c.removal.ProvedAt = d.clock.Now()

	err = d.live.Get(ctx, key.NamespacedName, objects.Metadata(kind.GroupVersionKind))
	if err == nil {
		return sharedinventory.NotSyncedDelay, nil // The cache is behind.
	}
	if !absent(err) {
		return 0, fmt.Errorf("reading %s: %w", d.state.identity(key), err)
	}

	// Whether the copies should stay is not known any more.
	deletion := metav1.NewTime(d.clock.Now())
	object := federation.Object{
		Kind: kind, Meta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name, DeletionTimestamp: &deletion},
	}
	c.Evaluation = federation.Evaluate(object, federation.View{Snapshot: d.snapshot, Works: works}, d.clock.Now())

	again, err := d.delete(ctx, c)
	if left := c.Deletion(); err == nil && left.Done() {
		d.state.forget(key) // No event of an own deletion enqueues the object.
	}
	return again, err
}
