// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"io"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	workv1 "open-cluster-management.io/api/work/v1"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/manifests"
	"github.com/placement-hub/placement-hub/pkg/federation"
	"github.com/placement-hub/placement-hub/pkg/system"
	"github.com/placement-hub/placement-hub/test/benchmark/precomputed"
)

// deliver fills the caches of the controller of federated objects and then writes the works of the script.
func deliver(ctx context.Context, config *rest.Config, script *precomputed.WorkScript, out io.Writer) error {
	scheme := system.Scheme()
	if err := workv1.Install(scheme); err != nil {
		return fmt.Errorf("adding ManifestWorks to the scheme: %w", err)
	}
	caches, err := newCaches(config, cache.Options{
		Scheme: scheme, DefaultTransform: system.Options{Namespace: manifests.Namespace}.CacheOptions().DefaultTransform,
		ByObject: map[client.Object]cache.ByObject{&workv1.ManifestWork{}: {
			Label: labels.SelectorFromSet(labels.Set{federation.ManagedLabel: "true"}), Transform: withoutPayload,
		}},
	})
	if err != nil {
		return err
	}
	values := make(chan string, 100)
	writer := precomputed.NewWorkWriter(caches.api)
	return caches.run(ctx, watched(), listen(script.Cluster, script.Label, values), out, func(ctx context.Context) error {
		return follow(ctx, values, func(value string) error { return writer.Write(ctx, script.ByValue[value]) })
	})
}

// watched are the kinds that the hub watches for federated objects; of the objects only their metadata.
func watched() []client.Object {
	objects := federation.DefaultKinds()
	kinds := append(make([]client.Object, 0, 7+len(objects)),
		&clusterv1.ManagedCluster{}, &clusterv1beta2.ManagedClusterSet{}, &clusterv1beta2.ManagedClusterSetBinding{}, &clusterv1beta1.Placement{},
		&clusterv1beta1.PlacementDecision{}, &corev1.Namespace{}, &workv1.ManifestWork{})
	for _, kind := range objects {
		metadata := &metav1.PartialObjectMetadata{}
		metadata.SetGroupVersionKind(kind.GroupVersionKind)
		kinds = append(kinds, metadata)
	}
	return kinds
}

// withoutPayload drops what no answer needs of a work before it is cached.
func withoutPayload(in any) (any, error) {
	if work, ok := in.(*workv1.ManifestWork); ok {
		work.Spec, work.ManagedFields = workv1.ManifestWorkSpec{}, nil
	}
	return in, nil
}

var _ toolscache.TransformFunc = withoutPayload
