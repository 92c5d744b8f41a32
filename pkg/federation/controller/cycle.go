// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"slices"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	workv1 "open-cluster-management.io/api/work/v1"

	"github.com/placement-hub/placement-hub/pkg/federation"
	"github.com/placement-hub/placement-hub/pkg/hub/freshness"
	"github.com/placement-hub/placement-hub/pkg/inventory"
)

// cycle is one reconcile of an object.
type cycle struct {
	*federation.Evaluation

	key inventory.Key
	// memory is that of the object.
	memory *memory
	// payload is the content of the object; nil until it was read.
	payload *federation.Payload
	// stored are the works at the time of the evaluation.
	stored []*workv1.ManifestWork
	// namespace is the metadata of the Namespace of the object; nil if the cache has none.
	namespace *metav1.ObjectMeta
	// removal is what the writes that take the object from clusters rely on.
	removal freshness.Plan
	// shown is the number of the last change of the view before the evaluation, and followed are the decisions that it follows.
	shown    uint64
	followed decided
	notes    notes

	// mu protects made, and memory.deleted while works are written. made has the works of each variant, which belong to no cluster.
	mu   sync.Mutex
	made map[federation.Variant]*workv1.ManifestWork
}

// workOf returns the work of a variant, whose manifests are encoded once for all clusters. It must not be changed.
func (c *cycle) workOf(variant federation.Variant) (*workv1.ManifestWork, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if work := c.made[variant]; work != nil {
		return work, nil
	}
	work, err := c.payload.Work("", variant)
	if err != nil {
		return nil, err
	}

	if c.made == nil {
		c.made = map[federation.Variant]*workv1.ManifestWork{}
	}
	c.made[variant] = work
	return work, nil
}

// existing returns the work of a cluster at the time of the evaluation.
func (c *cycle) existing(cluster string) (federation.ExistingWork, bool) {
	i := slices.IndexFunc(c.Works, func(work federation.ExistingWork) bool { return work.Cluster == cluster && !work.Foreign })
	if i < 0 {
		return federation.ExistingWork{}, false
	}
	return c.Works[i], true
}

// storedIn returns the work of the object in a cluster; nil if it did not exist, or is not the hub's.
func (c *cycle) storedIn(cluster string) *workv1.ManifestWork {
	i := slices.IndexFunc(c.stored, func(work *workv1.ManifestWork) bool { return work.Namespace == cluster })
	if i < 0 || c.Works[i].Foreign {
		return nil
	}
	return c.stored[i]
}

// deleted notes a work that waits for its finalizers.
func (c *cycle) deleted(cluster string, uid types.UID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.memory.deleted[cluster] = uid
}

// reachedClusters returns the clusters that get the object, and those that have it, sorted: where its withdrawal is not allowed yet, or fails, its
// dependencies stay with it. What is being deleted counts unless the object is delivered, because no event follows its end then.
func (c *cycle) reachedClusters() []string {
	var clusters []string
	delivered := c.State == federation.Delivering
	if delivered {
		clusters = slices.Clone(c.Selected)
	}

	for _, work := range c.Works {
		gone := delivered && (work.Deleting || slices.Contains(c.notes.withdrawn, work.Cluster))
		if !work.Foreign && !gone {
			clusters = append(clusters, work.Cluster)
		}
	}
	slices.Sort(clusters)
	return slices.Compact(clusters)
}

// link returns what the object has to do with others.
func (c *cycle) link() link {
	of := link{}
	if c.State != federation.NotDelivered {
		of.clusters = c.reachedClusters()
		of.propagates = c.Propagates
		for _, dependency := range c.Object.Body.Dependencies {
			of.needs = append(of.needs, dependencyKey(c.key.Namespace, dependency))
		}
	}

	if c.Target.Placement != "" {
		of.placement = types.NamespacedName{Namespace: c.key.Namespace, Name: c.Target.Placement}
	}
	return of
}
