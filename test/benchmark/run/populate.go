// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/test/benchmark/fleet"
)

// clients is how many requests of the benchmark itself are under way at the same time, where it is not the one that is measured.
const clients = 16

// each calls task for 0 to n-1, several at a time.
func each(ctx context.Context, n int, task func(context.Context, int) error) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(clients)
	for i := range n {
		group.Go(func() error { return task(ctx, i) })
	}
	return group.Wait() //nolint:wrapcheck // The tasks name what they do.
}

// populate creates the objects of a fleet.
func populate(ctx context.Context, hub client.Client, size fleet.Size) error {
	create := func(ctx context.Context, object client.Object) error {
		if err := hub.Create(ctx, object); err != nil {
			return fmt.Errorf("creating %T %s/%s: %w", object, object.GetNamespace(), object.GetName(), err)
		}
		return nil
	}
	namespace := func(name string) *corev1.Namespace {
		return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
	}
	for _, set := range size.Sets() {
		if err := create(ctx, set); err != nil {
			return err
		}
	}
	for _, step := range []struct {
		n    int
		make func(context.Context, int) error
	}{
		{size.Namespaces(), func(ctx context.Context, i int) error {
			if err := create(ctx, namespace(size.Namespace(i))); err != nil {
				return err
			}
			for _, binding := range size.Bindings(i) {
				if err := create(ctx, binding); err != nil {
					return err
				}
			}
			return nil
		}},
		{size.Clusters, func(ctx context.Context, i int) error { return createCluster(ctx, hub, create, size, i) }},
		{size.Placements, func(ctx context.Context, i int) error { return create(ctx, size.Placement(i)) }},
	} {
		if err := each(ctx, step.n, step.make); err != nil {
			return err
		}
	}
	return nil
}

// createCluster creates a cluster and its scores, if it has any.
func createCluster(
	ctx context.Context, hub client.Client, create func(context.Context, client.Object) error, size fleet.Size, i int,
) error {
	cluster := size.Cluster(i)
	status := cluster.Status
	if err := create(ctx, cluster); err != nil {
		return err
	}
	cluster.Status = status
	if err := hub.Status().Update(ctx, cluster); err != nil {
		return fmt.Errorf("writing the status of ManagedCluster %s: %w", cluster.Name, err)
	}
	scores := size.Scores(i)
	if scores == nil {
		return nil
	}
	if err := create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: scores.Namespace}}); err != nil {
		return err
	}
	items := scores.Status
	if err := create(ctx, scores); err != nil {
		return err
	}
	scores.Status = items
	if err := hub.Status().Update(ctx, scores); err != nil {
		return fmt.Errorf("writing the status of AddOnPlacementScore %s/%s: %w", scores.Namespace, scores.Name, err)
	}
	return nil
}
