package inventory

import (
	"cmp"
	"slices"

	"github.com/placement-hub/placement-hub/pkg/clusterinfo"
)

// SetProfile adds a ClusterProfile of a cluster, or assigns it to another cluster.
func (i *Inventory) SetProfile(cluster string, profile clusterinfo.Profile) Affected {
	i.mu.Lock()
	defer i.mu.Unlock()

	before, known := i.profileOf[profile]
	if known && before == cluster {
		return Affected{}
	}

	var affected Affected
	if known {
		affected = i.removeProfile(before, profile)
	}

	i.profileOf[profile] = cluster

	profiles := append(slices.Clone(i.profiles[cluster]), profile) // The ClusterInfo shares the old list.
	slices.SortFunc(profiles, func(a, b clusterinfo.Profile) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})

	concerned := slices.Concat(affected.Subscribers, i.replaceProfiles(cluster, profiles).Subscribers)
	slices.SortFunc(concerned, Key.Compare)

	return Affected{Cause: CauseCluster, Subscribers: slices.Compact(concerned)}
}

// DeleteProfile removes a ClusterProfile, or one that no longer represents a cluster of the hub.
func (i *Inventory) DeleteProfile(profile clusterinfo.Profile) Affected {
	i.mu.Lock()
	defer i.mu.Unlock()

	cluster, known := i.profileOf[profile]
	if !known {
		return Affected{}
	}

	delete(i.profileOf, profile)

	return i.removeProfile(cluster, profile)
}

func (i *Inventory) removeProfile(cluster string, profile clusterinfo.Profile) Affected {
	return i.replaceProfiles(cluster, slices.DeleteFunc(slices.Clone(i.profiles[cluster]), func(other clusterinfo.Profile) bool {
		return other == profile
	}))
}

func (i *Inventory) replaceProfiles(cluster string, profiles []clusterinfo.Profile) Affected {
	if len(profiles) == 0 {
		delete(i.profiles, cluster)
	} else {
		i.profiles[cluster] = profiles
	}

	known := i.clusterInfo(cluster)
	if known == nil {
		return Affected{}
	}

	return i.replaceCluster(cluster, known.WithProfiles(profiles), nil)
}
