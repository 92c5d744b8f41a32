// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/placement-hub/placement-hub/pkg/clusterinfo"
	"github.com/placement-hub/placement-hub/pkg/placement/api"
	"github.com/placement-hub/placement-hub/pkg/scheduling"
)

// maxListedMissing is the number of clusters without a ClusterProfile that are listed.
const maxListedMissing = 10

// ProfilesNotBelieved precedes the ClusterProfiles in the message of the condition ProfilesFound that are not believed.
const ProfilesNotBelieved = "; not believed: "

// maxListedUnbelieved is the number of ClusterProfiles that are not believed that are listed.
const maxListedUnbelieved = 3

// Profiles returns the decisions as references to ClusterProfiles: for each selected cluster its profile in the namespace of the Placement,
// or else its first profile by namespace and name. Profiles whose claim is not believed do not count (docs/spec/trust.md T18). Clusters
// without a profile are left out and returned, sorted by name.
//
// A result that does not apply keeps the existing references. Without any, they are those of the clusters in the existing decisions of the Placement.
func Profiles(result *scheduling.Result, own, existing Existing) (desired Desired, missing []string) {
	if !result.Applies() && (len(existing.Pages) > 0 || !isLabelValue(existing.Placement.Name)) {
		return keepDecisions(existing, func(existing *api.Decision) api.Decision { return *existing }), nil
	}
	var decisions []api.Decision

	for _, cluster := range decidedClusters(result, own) {
		profile, found := profileFor(result.Cluster(cluster), existing.Placement.Namespace)
		if !found {
			missing = append(missing, cluster)
			continue
		}
		decisions = append(decisions, existing.Codec.Normalize(api.Decision{Cluster: cluster, Profile: profile}))
	}
	return profileDecisions(existing, decisions), missing
}

// profileDecisions returns the Desired of given decisions.
func profileDecisions(existing Existing, decisions []api.Decision) Desired {
	slices.SortFunc(decisions, func(a, b api.Decision) int { return strings.Compare(a.Cluster, b.Cluster) })
	decisions = slices.CompactFunc(decisions, func(a, b api.Decision) bool { return a.Cluster == b.Cluster })
	names, all := make([]string, len(decisions)), make([]int32, len(decisions))
	for id := range decisions {
		names[id], all[id] = decisions[id].Cluster, int32(id)
	}
	return Desired{
		pageIndex: newPageIndex(existing, clusterNames{names: names}), partitions: []partition{{clusters: all}}, groupLength: PageSize,
		decide: func(id int32) api.Decision { return decisions[id] },
	}
}

// withoutProfile returns the clusters without a ClusterProfile that the decisions of the Placement will have, sorted by name.
func withoutProfile(result *scheduling.Result, own Existing) []string {
	return slices.DeleteFunc(decidedClusters(result, own), func(cluster string) bool {
		_, found := profileFor(result.Cluster(cluster), own.Placement.Namespace)
		return found
	})
}

// decidedClusters returns the clusters that the decisions of the Placement will have, sorted by name.
func decidedClusters(result *scheduling.Result, own Existing) []string {
	if !result.Applies() {
		return slices.Sorted(maps.Keys(own.Incumbents()))
	}
	clusters := make([]string, 0, len(result.Selected))
	for _, info := range result.Selected {
		clusters = append(clusters, info.Name)
	}
	slices.Sort(clusters)
	return clusters
}

func profileFor(info *clusterinfo.ClusterInfo, namespace string) (clusterinfo.Profile, bool) {
	if info == nil {
		return clusterinfo.Profile{}, false
	}
	var (
		first clusterinfo.Profile
		found bool
	)

	for _, claim := range info.Profiles {
		switch {
		case claim.Doubt != "":
		case claim.Namespace == namespace:
			return claim.Profile, true
		case !found:
			first, found = claim.Profile, true
		}
	}
	return first, found
}

// unbelieved returns the ClusterProfiles that claim to represent a selected cluster and are not believed, sorted by cluster, namespace and
// name, each as a text with the reason.
func unbelieved(result *scheduling.Result) []string {
	var texts []string
	for _, info := range slices.SortedFunc(slices.Values(result.Selected), func(a, b *clusterinfo.ClusterInfo) int {
		return strings.Compare(a.Name, b.Name)
	}) {
		for _, claim := range info.Profiles {
			if claim.Doubt != "" {
				texts = append(texts, fmt.Sprintf("ClusterProfile %s of cluster %s (%s)", claim.Profile, info.Name, claim.Doubt))
			}
		}
	}
	return texts
}

// maxListedOthers is the number of slices of other writers that are listed.
const maxListedOthers = 3

// sayOthers returns the end of the message of the condition ProfilesFound about the slices that other writers have made; empty without any.
func sayOthers(others []*api.Page) string {
	if len(others) == 0 {
		return ""
	}
	texts := make([]string, 0, len(others))
	for _, page := range others {
		texts = append(texts, fmt.Sprintf("%s (schedulerName %q)", page.Name, page.Scheduler))
	}
	slices.Sort(texts)
	more := ""
	if len(texts) > maxListedOthers {
		texts, more = texts[:maxListedOthers], fmt.Sprintf(" and %d more", len(others)-maxListedOthers)
	}
	return "; written by another, and left alone: " + strings.Join(texts, ", ") + more +
		"; leave --sig-placement-decisions or the other writer off"
}

// ProfilesFound returns the condition ProfilesFound, which also names the ClusterProfiles that are not believed, and the slices that other writers
// have made; a stalled result keeps the existing condition.
func ProfilesFound(result *scheduling.Result, missing []string, others []*api.Page, placement *api.Placement) []metav1.Condition {
	if result.Outcome() != scheduling.Decided {
		return existingCondition(placement, ConditionProfilesFound)
	}
	condition := metav1.Condition{
		Type: ConditionProfilesFound, Status: metav1.ConditionTrue, Reason: ReasonProfilesFound,
		Message: "Every selected cluster has a ClusterProfile",
	}

	if len(missing) > 0 {
		named, more := missing, ""
		if len(named) > maxListedMissing {
			named, more = named[:maxListedMissing], ", ..."
		}
		condition.Status, condition.Reason = metav1.ConditionFalse, ReasonProfilesMissing
		condition.Message = fmt.Sprintf("%d of %d selected clusters have no ClusterProfile and are left out of the PlacementDecisions of "+
			"multicluster.x-k8s.io: %s%s", len(missing), len(result.Selected), strings.Join(named, ", "), more)
	}

	if texts := unbelieved(result); len(texts) > 0 {
		listed, more := texts, ""
		if len(listed) > maxListedUnbelieved {
			listed, more = listed[:maxListedUnbelieved], fmt.Sprintf(" and %d more", len(texts)-maxListedUnbelieved)
		}
		condition.Message += ProfilesNotBelieved + strings.Join(listed, ", ") + more + "; delete them, or correct their labels"
	}
	condition.Message += sayOthers(others)
	return []metav1.Condition{condition}
}
