// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	workv1 "open-cluster-management.io/api/work/v1"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/placement-hub/placement-hub/pkg/federation"
	"github.com/placement-hub/placement-hub/pkg/federation/webhook"
	"github.com/placement-hub/placement-hub/pkg/hub/queue"
	"github.com/placement-hub/placement-hub/pkg/inventory"
)

// Handlers returns the handler of federated objects by its path. It reads the inventory and the caches of the manager.
func (o Options) Handlers(mgr manager.Manager, settings queue.Settings) (map[string]admission.Handler, error) {
	kinds, err := o.Kinds(mgr.GetRESTMapper())
	if err != nil {
		return nil, err
	}
	if err := o.IndexWorks(mgr, settings); err != nil {
		return nil, err
	}

	for _, kind := range []client.Object{
		&corev1.Namespace{}, &workv1.ManifestWork{}, &clusterv1beta1.Placement{}, &clusterv1beta1.PlacementDecision{},
	} {
		if _, err := mgr.GetCache().GetInformer(context.Background(), kind, cache.BlockUntilSynced(false)); err != nil {
			return nil, fmt.Errorf("watching %T: %w", kind, err)
		}
	}
	return webhook.Handlers(webhook.Hub{
		Kinds: kinds, Namespace: settings.Namespace, Compiler: o.Inventory.Compiler, Reader: reviewReader{mgr.GetClient()},
		Limits: o.Limits, Clock: settings.Clock,
		Snapshot: func() *inventory.Snapshot {
			if !o.Inventory.Synced() {
				return nil
			}
			return o.Inventory.Inventory.Snapshot()
		},
	}), nil
}

// reviewReader reads for reviews from the cache of a manager.
type reviewReader struct {
	cached client.Reader
}

var _ webhook.Reader = reviewReader{}

// NamespaceMeta returns the metadata of a Namespace; nil if the cache has none.
func (r reviewReader) NamespaceMeta(ctx context.Context, name string) (*metav1.ObjectMeta, error) {
	return namespaceMeta(ctx, r.cached, name)
}

// Works returns the works of an object.
func (r reviewReader) Works(ctx context.Context, of federation.Identity) ([]federation.ExistingWork, error) {
	stored, err := worksNamed(ctx, r.cached, of)
	if err != nil {
		return nil, err
	}
	works, err := federation.ExistingWorksOf(of, stored)
	if err != nil {
		return nil, fmt.Errorf("reading the works of %s: %w", of, err)
	}
	return works, nil
}

// Decisions returns the decisions of a Placement.
func (r reviewReader) Decisions(ctx context.Context, placement types.NamespacedName) (federation.Decisions, error) {
	decided := decisionsOf(ctx, r.cached, placement)
	return decided.Decisions, decided.err
}

// Placements returns the names of the Placements of a namespace, sorted.
func (r reviewReader) Placements(ctx context.Context, namespace string) ([]string, error) {
	return placementNames(ctx, r.cached, namespace)
}
