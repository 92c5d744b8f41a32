// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"encoding/json"
	"fmt"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/placement-hub/placement-hub/pkg/placement/api"
)

const (
	// maxObjectBytes is the maximal size of an encoded Placement. etcd accepts 1.5 MiB by default (--max-request-bytes), and the difference
	// is for the managedFields, which the hub does not keep.
	maxObjectBytes = 1280 << 10
	// smallGroupBytes is a size of groups that makes no object too large, so that the size of the rest is not computed.
	smallGroupBytes = 64 << 10
	// groupBytes is the size of an encoded decision group without its numbers, name and pages, and pageBytes that of a page without its
	// name.
	groupBytes = len(`{"decisionGroupIndex":,"decisionGroupName":"","decisions":[],"clusterCount":},`)
	pageBytes  = len(`"",`)
	// listedConditionBytes is reserved for ConditionGroupsListed.
	listedConditionBytes = 1 << 10
)

// truncateGroups returns the status with the conditions of the hub, truncated so that an API server stores it. A Placement whose
// clustersPerDecisionGroup is small for its clusters has thousands of groups; without truncation its status would be rejected forever, and
// surplus pages, which are deleted after the status is written, would never be deleted.
//
// The list is truncated instead of rejecting the Placement, because the fleet may grow to that size without a change of the Placement, and
// outdated decisions would be worse than a short list. Consumers that roll out by group read the labels of the PlacementDecisions, which
// are complete, and the first group stays in the list for consumers that read only that.
func truncateGroups(placement *api.Placement, status api.Status, ours []metav1.Condition, now metav1.Time) api.Status {
	status.Conditions = conditions(placement, ours, now)
	if groupsBytes(status.Groups) <= smallGroupBytes {
		return status
	}
	without := status
	without.Groups = nil

	rest := encodedBytes(placement.API.Status(without)) // All that is not the list, as it will be.
	rest += encodedBytes(placement.Object) - encodedBytes(placement.API.Status(placement.Status))
	if list := encodedBytes(placement.API.Status(status)) - encodedBytes(placement.API.Status(without)); rest+list <= maxObjectBytes {
		return status
	}

	all := status.Groups
	listed := countFitting(all, maxObjectBytes-listedConditionBytes-rest)
	status.Groups, status.Unlisted = all[:listed:listed], all[listed:]
	status.Conditions = conditions(placement, append(ours, metav1.Condition{
		Type: ConditionGroupsListed, Status: metav1.ConditionFalse, Reason: ReasonStatusTooLarge,
		Message: fmt.Sprintf("status.decisionGroups lists %d of %d decision groups, because the Placement has no room for more. Every "+
			"PlacementDecision is there and has its labels. For fewer groups, set a greater "+
			"spec.decisionStrategy.groupStrategy.clustersPerDecisionGroup", listed, len(all)),
	}), now)
	return status
}

// countFitting returns how many of the groups fit into room bytes, at least 1.
func countFitting(groups []api.GroupStatus, room int) int {
	for i := range groups {
		room -= groupsBytes(groups[i : i+1])
		if room < 0 {
			return max(i, 1)
		}
	}
	return len(groups)
}

// groupsBytes returns an upper bound of the size of encoded groups.
func groupsBytes(groups []api.GroupStatus) int {
	bytes := 0
	for _, group := range groups {
		bytes += groupBytes + len(strconv.Itoa(group.Index)) + len(group.Name) + len(strconv.Itoa(group.Clusters))
		for _, page := range group.Pages {
			bytes += pageBytes + len(page)
		}
	}
	return bytes
}

// encodedBytes returns the size of an object as JSON, the format in which an API server stores custom resources.
func encodedBytes(object any) int {
	data, err := json.Marshal(object)
	if err != nil {
		return 0 // It came from JSON; the request reports an object that cannot be encoded.
	}
	return len(data)
}
