// SPDX-License-Identifier: Apache-2.0

package inventory

import (
	"cmp"
	"maps"
	"slices"

	"github.com/placement-hub/placement-hub/pkg/clusterinfo"
)

// SetProfile adds a ClusterProfile, or replaces its claims: the clusters that it claims to represent, each with the reason why that is not
// believed, which is empty for a claim that is. It keeps a reference to the claims, which must not change any more.
func (i *Inventory) SetProfile(profile clusterinfo.Profile, claims map[string]string) Affected {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.replaceClaims(profile, claims)
}

// DeleteProfile removes a ClusterProfile, or one that no longer represents a cluster of the hub.
func (i *Inventory) DeleteProfile(profile clusterinfo.Profile) Affected {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.replaceClaims(profile, nil)
}

func (i *Inventory) replaceClaims(profile clusterinfo.Profile, claims map[string]string) Affected {
	before := i.claims[profile]
	if maps.Equal(before, claims) {
		return Affected{}
	}
	if len(claims) == 0 {
		delete(i.claims, profile)
	} else {
		i.claims[profile] = claims
	}
	var concerned []Key

	for cluster := range before {
		if _, still := claims[cluster]; !still {
			concerned = append(concerned, i.replaceClaim(cluster, profile, nil).Subscribers...)
		}
	}
	for cluster, doubt := range claims {
		claim := clusterinfo.ProfileClaim{Profile: profile, Doubt: doubt}
		concerned = append(concerned, i.replaceClaim(cluster, profile, &claim).Subscribers...)
	}
	slices.SortFunc(concerned, Key.Compare)
	return Affected{Cause: CauseCluster, Subscribers: slices.Compact(concerned)}
}

// replaceClaim sets the claim of a ClusterProfile to represent a cluster; nil removes it. The ClusterInfo shares the old list, which stays.
func (i *Inventory) replaceClaim(cluster string, profile clusterinfo.Profile, claim *clusterinfo.ProfileClaim) Affected {
	profiles := slices.DeleteFunc(slices.Clone(i.profiles[cluster]), func(other clusterinfo.ProfileClaim) bool {
		return other.Profile == profile
	})
	if claim != nil {
		profiles = append(profiles, *claim)
		slices.SortFunc(profiles, func(a, b clusterinfo.ProfileClaim) int {
			return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
		})
	}

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
