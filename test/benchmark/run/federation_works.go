// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	workv1 "open-cluster-management.io/api/work/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/federation"
	"github.com/placement-hub/placement-hub/pkg/system"
	"github.com/placement-hub/placement-hub/test/benchmark/deliveries"
	"github.com/placement-hub/placement-hub/test/benchmark/precomputed"
)

// newWatchingClient returns a client for ManifestWorks too, that sends as many requests as it is asked to.
func newWatchingClient(config *rest.Config) (client.WithWatch, error) {
	config = rest.CopyConfig(config)
	config.WarningHandler = rest.NoWarnings{}
	scheme := system.Scheme()
	if err := workv1.Install(scheme); err != nil {
		return nil, fmt.Errorf("adding ManifestWorks to the scheme: %w", err)
	}
	api, err := client.NewWithWatch(config, client.Options{Scheme: scheme})
	if err != nil {
		return nil, fmt.Errorf("making a client: %w", err)
	}
	return api, nil
}

// readObjects returns all objects that are delivered.
func (d *deliveryStage) readObjects(ctx context.Context) ([]*unstructured.Unstructured, error) {
	var objects []*unstructured.Unstructured
	for _, kind := range federation.DefaultKinds() {
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
		for i := range deliveries.Namespaces {
			if err := d.api.List(ctx, list, client.InNamespace(deliveries.Namespace(i).Name)); err != nil {
				return nil, fmt.Errorf("listing %s: %w", kind.Resource, err)
			}
			for k := range list.Items {
				objects = append(objects, list.Items[k].DeepCopy())
			}
		}
	}
	return objects, nil
}

// readWorks returns the works of a cluster.
func (d *deliveryStage) readWorks(ctx context.Context, cluster int) ([]workv1.ManifestWork, error) {
	list := &workv1.ManifestWorkList{}
	if err := d.api.List(ctx, list, client.InNamespace(deliveries.ClusterName(cluster))); err != nil {
		return nil, fmt.Errorf("listing the ManifestWorks of %s: %w", deliveries.ClusterName(cluster), err)
	}
	return list.Items, nil
}

// floor writes the works of deliver, as fast as a client without a thought can: the same requests, as many at a time as the hub has workers.
func (d *deliveryStage) floor(ctx context.Context, scenario string) error {
	if err := d.retire(); err != nil {
		return err
	}
	var works, former precomputed.Works
	for i := range deliveries.Clusters {
		stored, err := d.readWorks(ctx, i)
		if err != nil {
			return err
		}
		for k := range stored {
			works.Apply = append(works.Apply, precomputed.Applied(&stored[k]))
			former.Delete = append(former.Delete, client.ObjectKeyFromObject(&stored[k]))
		}
	}
	writer := precomputed.NewWorkWriter(d.api)
	// A request to delete all works of a cluster can last longer than the API server permits.
	if err := writer.Write(ctx, former); err != nil {
		return err
	}
	begin := time.Now()
	if err := writer.Write(ctx, works); err != nil {
		return err
	}
	d.run.AddTime(scenario, "seconds", time.Since(begin))
	d.logf("%s: %d works in %.3f s", scenario, len(works.Apply), time.Since(begin).Seconds())
	return nil
}
