// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"fmt"
	"slices"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/clusterinfo"
	"github.com/placement-hub/placement-hub/pkg/clusterprofiles"
	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/selector"
)

// sets compiles ManagedClusterSets, each once for each generation. It is safe for concurrent use.
type sets struct {
	client   client.Reader
	compiler *selector.Compiler

	mu       sync.Mutex
	compiled map[string]compiledSet
}

type compiledSet struct {
	uid        types.UID
	generation int64
	set        *inventory.ClusterSet
}

func newSets(reader client.Reader) *sets {
	return &sets{client: reader, compiler: selector.NewCompiler(), compiled: map[string]compiledSet{}}
}

// get returns a ManagedClusterSet; nil if there is none.
func (s *sets) get(ctx context.Context, name string) (*inventory.ClusterSet, error) {
	object := &clusterv1beta2.ManagedClusterSet{}
	err := s.client.Get(ctx, types.NamespacedName{Name: name}, object, client.UnsafeDisableDeepCopy)
	s.mu.Lock()
	defer s.mu.Unlock()
	if apierrors.IsNotFound(err) {
		delete(s.compiled, name)
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading ManagedClusterSet %s: %w", name, err)
	}

	known, exists := s.compiled[name]
	if !exists || known.uid != object.UID || known.generation != object.Generation {
		known = compiledSet{uid: object.UID, generation: object.Generation, set: inventory.NewClusterSet(s.compiler, object)}
		s.compiled[name] = known
	}
	return known.set, nil
}

// scope returns the namespaces of the bindings that have the ClusterProfile of a cluster, or of which that is unknown: see clusterprofiles.Scope.
func (s *sets) scope(
	ctx context.Context, cluster *clusterv1.ManagedCluster, bindings []*clusterv1beta2.ManagedClusterSetBinding,
) (map[string]clusterprofiles.Membership, error) {
	var failed error
	info := clusterinfo.New(cluster, nil)
	known := map[string]clusterprofiles.Membership{}
	scope := clusterprofiles.Scope(bindings, func(name string) clusterprofiles.Membership {
		if membership, asked := known[name]; asked {
			return membership
		}
		membership := clusterprofiles.NotMember
		set, err := s.get(ctx, name)
		switch {
		case err != nil:
			failed = err
		case set == nil:
		case set.Err != nil:
			membership = clusterprofiles.Unknown
		case set.Contains(info):
			membership = clusterprofiles.Member
		}
		known[name] = membership
		return membership
	})
	return scope, failed
}

// anyEmpty reports whether one of the sets that the bindings name exists and has no cluster. It reads no more clusters than it must.
func (s *sets) anyEmpty(ctx context.Context, bindings []*clusterv1beta2.ManagedClusterSetBinding) (bool, error) {
	if len(bindings) == 0 {
		return false, nil
	}
	clusters := &clusterv1.ManagedClusterList{}
	if err := s.client.List(ctx, clusters, client.UnsafeDisableDeepCopy); err != nil {
		return false, fmt.Errorf("listing ManagedClusters: %w", err)
	}
	for _, binding := range bindings {
		set, err := s.get(ctx, binding.Spec.ClusterSet)
		if err != nil {
			return false, err
		}
		if set != nil && !slices.ContainsFunc(clusters.Items, func(cluster clusterv1.ManagedCluster) bool {
			return set.Contains(clusterinfo.New(&cluster, nil))
		}) {
			return true, nil
		}
	}
	return false, nil
}
