// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/manifests"
	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/system"
	"github.com/placement-hub/placement-hub/test/benchmark/precomputed"
)

// grant fills the caches of the controller of ClusterRequests and then grants the requests of the script as they are created.
func grant(ctx context.Context, config *rest.Config, script *precomputed.GrantScript, out io.Writer) error {
	options := system.Options{Namespace: manifests.Namespace}.CacheOptions()
	options.Scheme = system.Scheme()
	caches, err := newCaches(config, options)
	if err != nil {
		return err
	}
	g := newGranter(caches, caches.api, script)
	kinds := []client.Object{
		&openmcpv1alpha1.Purpose{}, &openmcpv1alpha1.ClusterProvider{}, &openmcpv1alpha1.TraitEquivalence{}, &openmcpv1alpha1.Cluster{},
		&openmcpv1alpha1.ClusterRequestGrant{}, &openmcpv1alpha1.ClusterRequest{},
	}
	return caches.run(ctx, kinds, g.listen(), out, g.follow)
}

// granter grants the requests that it knows.
type granter struct {
	cached  client.Reader
	writer  *precomputed.GrantWriter
	known   map[types.NamespacedName]*precomputed.Granted
	created chan *openmcpv1alpha1.ClusterRequest
}

func newGranter(cached client.Reader, api client.Client, script *precomputed.GrantScript) *granter {
	g := &granter{
		cached: cached, writer: precomputed.NewGrantWriter(api), known: map[types.NamespacedName]*precomputed.Granted{},
		created: make(chan *openmcpv1alpha1.ClusterRequest, 100),
	}
	for i := range script.Grants {
		g.known[client.ObjectKeyFromObject(&script.Grants[i].Grant)] = &script.Grants[i]
	}
	return g
}

// listen hands on every new request that is known.
func (g *granter) listen() toolscache.ResourceEventHandler {
	return toolscache.ResourceEventHandlerFuncs{AddFunc: func(object any) {
		request, is := object.(*openmcpv1alpha1.ClusterRequest)
		if is && g.known[client.ObjectKeyFromObject(request)] != nil {
			g.created <- request
		}
	}}
}

// follow grants every request that is handed on, until ctx ends.
func (g *granter) follow(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case request := <-g.created:
			if err := g.grant(ctx, request); err != nil {
				return err
			}
		}
	}
}

// grant does the writes for a request.
func (g *granter) grant(ctx context.Context, request *openmcpv1alpha1.ClusterRequest) error {
	granted := g.known[client.ObjectKeyFromObject(request)]
	if err := g.writer.AddFinalizer(ctx, request); err != nil {
		return err
	}
	cluster := &openmcpv1alpha1.Cluster{}
	ref := granted.Grant.Spec.ClusterRef
	if err := g.cached.Get(ctx, types.NamespacedName{Namespace: ref.Namespace, Name: ref.Name}, cluster); err != nil {
		return fmt.Errorf("reading Cluster %s/%s: %w", ref.Namespace, ref.Name, err)
	}
	if err := join(cluster, request.UID, granted.Grant.Spec.Prefix); err != nil {
		return err
	}
	stored := &metav1.PartialObjectMetadata{ObjectMeta: cluster.ObjectMeta}
	stored.SetGroupVersionKind(openmcpv1alpha1.GroupVersion.WithKind("Cluster"))
	if err := g.writer.Join(ctx, stored, cluster); err != nil {
		return err
	}
	for i := range granted.Grant.OwnerReferences {
		granted.Grant.OwnerReferences[i].UID = request.UID
	}
	return g.writer.Grant(ctx, granted)
}

// join adds the finalizer and the prefix of a request to a Cluster.
func join(cluster *openmcpv1alpha1.Cluster, request types.UID, prefix string) error {
	prefixes := map[types.UID]string{}
	if text := cluster.Annotations[openmcpv1alpha1.PrefixesAnnotation]; text != "" {
		if err := json.Unmarshal([]byte(text), &prefixes); err != nil {
			return fmt.Errorf("reading the prefixes of Cluster %s/%s: %w", cluster.Namespace, cluster.Name, err)
		}
	}
	prefixes[request] = prefix
	text, err := json.Marshal(prefixes)
	if err != nil {
		return fmt.Errorf("encoding the prefixes of Cluster %s/%s: %w", cluster.Namespace, cluster.Name, err)
	}
	if cluster.Annotations == nil {
		cluster.Annotations = map[string]string{}
	}
	cluster.Annotations[openmcpv1alpha1.PrefixesAnnotation] = string(text)
	cluster.Finalizers = append(cluster.Finalizers, openmcpv1alpha1.RequestFinalizerPrefix+string(request))
	return nil
}
