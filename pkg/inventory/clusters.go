// SPDX-License-Identifier: Apache-2.0

package inventory

import (
	"maps"

	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/placement-hub/placement-hub/pkg/clusterinfo"
)

// SetCluster adds or updates a cluster. It keeps a reference to the object, which must not change any more.
func (i *Inventory) SetCluster(cluster *clusterv1.ManagedCluster) Affected {
	cluster = i.assumptions.cluster(cluster)
	i.mu.Lock()
	defer i.mu.Unlock()
	after, verdicts := i.prepare(cluster.Name, func() *clusterinfo.ClusterInfo {
		if known := i.clusterInfo(cluster.Name); known != nil {
			return known.Update(cluster)
		}
		return clusterinfo.New(cluster, i.scores[cluster.Name]).WithProfiles(i.profiles[cluster.Name])
	})
	return i.replaceCluster(cluster.Name, after, verdicts)
}

// CompareCluster returns the properties in which a ManagedCluster differs from the known one, as clusterinfo.ChangedProperties does. A nil
// cluster does not exist.
func (i *Inventory) CompareCluster(name string, cluster *clusterv1.ManagedCluster) []clusterinfo.Property {
	i.mu.Lock()
	known := i.clusterInfo(name)
	i.mu.Unlock()
	switch {
	case cluster == nil:
		return clusterinfo.ChangedProperties(known, nil)
	case known == nil:
		return changedObject(name)
	default:
		return clusterinfo.ChangedProperties(known, known.Update(i.assumptions.cluster(cluster)))
	}
}

// DeleteCluster removes a cluster; its scores and profiles stay.
func (i *Inventory) DeleteCluster(name string) Affected {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.replaceCluster(name, nil, nil)
}

// replaceCluster replaces the state of a cluster. The verdicts are those of selectors with CEL that are known for the new state.
func (i *Inventory) replaceCluster(name string, after *clusterinfo.ClusterInfo, verdicts preparedVerdicts) Affected {
	before := i.clusterInfo(name)

	changes := clusterinfo.ChangedProperties(before, after)
	if len(changes) == 0 {
		if after != nil {
			// The new object replaces the old one, so that the old one can be collected.
			i.infos.set(i.clusters.live[name], after)
		}
		return Affected{}
	}
	i.changed(anyChange)

	var id uint
	if before == nil {
		id = i.ids.acquire(name)
		i.clusters.set(name, id)
	} else {
		id = i.clusters.live[name]
	}
	was := i.setsContaining(id, before)

	i.infos.set(id, after)
	i.alive.set(id, after != nil && !after.Terminating)
	i.tainted.set(id, after != nil && len(after.Taints) > 0)
	i.unreadable.set(id, after != nil && after.HasUnreadable())
	flipped := i.views.update(id, before, after, changes, i.generation, verdicts)
	affected := i.affectedByCluster(clusterChange{
		name: name, id: id, before: before, after: after, changes: changes, flipped: flipped, setsBefore: was, setsAfter: i.setsContaining(id, after),
	})

	if after == nil {
		i.clusters.remove(name)
		i.ids.release(id)
	}
	return affected
}

// SetScores adds or updates an AddOnPlacementScore, whose namespace is the name of the cluster.
func (i *Inventory) SetScores(object *clusterv1alpha1.AddOnPlacementScore) Affected {
	set := clusterinfo.NewScoreSet(object)
	return i.replaceScores(object.Namespace, object.Name, &set)
}

// DeleteScores removes an AddOnPlacementScore.
func (i *Inventory) DeleteScores(cluster, name string) Affected {
	return i.replaceScores(cluster, name, nil)
}

func (i *Inventory) replaceScores(cluster, name string, set *clusterinfo.ScoreSet) Affected {
	i.mu.Lock()
	defer i.mu.Unlock()

	scores := maps.Clone(i.scores[cluster]) // The ClusterInfo shares the old map.
	if set == nil {
		delete(scores, name)
	} else {
		if scores == nil {
			scores = map[string]clusterinfo.ScoreSet{}
		}
		scores[name] = *set
	}

	if len(scores) == 0 {
		delete(i.scores, cluster)
	} else {
		i.scores[cluster] = scores
	}
	if i.clusterInfo(cluster) == nil {
		return Affected{}
	}

	after, verdicts := i.prepare(cluster, func() *clusterinfo.ClusterInfo {
		known := i.clusterInfo(cluster)
		if known == nil {
			return nil // It was deleted meanwhile.
		}
		return known.WithScores(i.scores[cluster])
	})
	return i.replaceCluster(cluster, after, verdicts)
}

// Rebuild computes everything that is derived from the objects anew: views, cached verdicts and counts. It is for the case that a
// comparison with the reference has shown a difference.
func (i *Inventory) Rebuild() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.views.index.build(i.eachCluster)
	for _, v := range i.views.byIdentity {
		i.views.rebuild(v)
		if v.celCache != nil {
			v.celCache.clear()
		}
		i.views.changed[v] = struct{}{}
	}

	i.alive, i.tainted, i.unreadable = newFlags(), newFlags(), newFlags()
	for id, info := range i.eachCluster {
		i.alive.set(id, !info.Terminating)
		i.tainted.set(id, len(info.Taints) > 0)
		i.unreadable.set(id, info.HasUnreadable())
	}
	i.decisions.recount()
	i.changed(anyChange)
}
