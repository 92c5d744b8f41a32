// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"fmt"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/clusterinfo"
	"github.com/placement-hub/placement-hub/pkg/clusterprofiles"
	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/selector"
)

// emptyFor is how long a set without a cluster counts as one.
const emptyFor = 2 * time.Second

// sets compiles ManagedClusterSets, each once for each generation. It is safe for concurrent use.
type sets struct {
	client   client.Reader
	compiler *selector.Compiler
	clock    clock.PassiveClock

	mu       sync.Mutex
	compiled map[string]*compiledSet
}

type compiledSet struct {
	uid        types.UID
	generation int64
	set        *inventory.ClusterSet
	// member is a cluster that the set had when all clusters were looked at; empty if there was none at the time emptyAt. The mutex of sets guards
	// both.
	member  string
	emptyAt time.Time
}

func newSets(reader client.Reader, c clock.PassiveClock) *sets {
	return &sets{client: reader, compiler: selector.NewCompiler(), clock: c, compiled: map[string]*compiledSet{}}
}

// get returns a ManagedClusterSet; nil if there is none.
func (s *sets) get(ctx context.Context, name string) (*compiledSet, error) {
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
		known = &compiledSet{uid: object.UID, generation: object.Generation, set: inventory.NewClusterSet(s.compiler, object)}
		s.compiled[name] = known
	}
	return known, nil
}

// scope returns the namespaces of the bindings that have the ClusterProfile of a cluster, or of which that is unknown: see clusterprofiles.Scope.
func (s *sets) scope(
	ctx context.Context, cluster *clusterv1.ManagedCluster, bindings []*clusterv1beta2.ManagedClusterSetBinding,
) (map[string]clusterprofiles.Membership, error) {
	var failed error
	known := map[string]clusterprofiles.Membership{}
	scope := clusterprofiles.Scope(bindings, func(name string) clusterprofiles.Membership {
		membership, asked := known[name]
		if !asked {
			var err error
			if membership, err = s.membership(ctx, name, cluster); err != nil {
				failed = err
			}
			known[name] = membership
		}
		return membership
	})
	return scope, failed
}

// membership says whether a set has a cluster. A set that does not exist has none.
func (s *sets) membership(ctx context.Context, name string, cluster *clusterv1.ManagedCluster) (clusterprofiles.Membership, error) {
	set, err := s.get(ctx, name)
	if err != nil {
		return clusterprofiles.Unknown, err
	}
	membership := clusterprofiles.NotMember
	switch {
	case set == nil:
	case set.set.Err != nil:
		membership = clusterprofiles.Unknown
	case set.has(cluster):
		membership = clusterprofiles.Member
	}
	return membership, nil
}

// has reports whether the set has a cluster. It reads the labels alone.
func (c *compiledSet) has(cluster *clusterv1.ManagedCluster) bool {
	return c.set.Contains(&clusterinfo.ClusterInfo{Name: cluster.Name, Labels: cluster.Labels})
}

// anyEmpty reports whether one of the sets that the bindings name exists and has no cluster.
func (s *sets) anyEmpty(ctx context.Context, bindings []*clusterv1beta2.ManagedClusterSetBinding) (bool, error) {
	for _, binding := range bindings {
		set, err := s.get(ctx, binding.Spec.ClusterSet)
		if err != nil {
			return false, err
		}
		if set == nil {
			continue
		}
		if empty, err := s.empty(ctx, set); empty || err != nil {
			return empty, err
		}
	}
	return false, nil
}

// empty reports whether a set has no cluster. Many ClusterProfiles ask at the same time. So it looks at the cluster that it found the last time
// before it looks at all of them, and says for emptyFor that there was none: that keeps ClusterProfiles.
func (s *sets) empty(ctx context.Context, of *compiledSet) (bool, error) {
	s.mu.Lock()
	member, emptyAt := of.member, of.emptyAt
	s.mu.Unlock()
	if member == "" && s.clock.Since(emptyAt) < emptyFor {
		return true, nil
	}
	if member != "" {
		cluster, err := get(ctx, s.client, types.NamespacedName{Name: member}, &clusterv1.ManagedCluster{})
		if err != nil {
			return false, fmt.Errorf("reading ManagedCluster %s: %w", member, err)
		}
		if cluster != nil && of.has(cluster) {
			return false, nil
		}
	}

	clusters := &clusterv1.ManagedClusterList{}
	if err := s.client.List(ctx, clusters, client.UnsafeDisableDeepCopy); err != nil {
		return false, fmt.Errorf("listing ManagedClusters: %w", err)
	}
	member = ""
	for i := range clusters.Items {
		if of.has(&clusters.Items[i]) {
			member = clusters.Items[i].Name
			break
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	of.member, of.emptyAt = member, s.clock.Now()
	return member == "", nil
}
