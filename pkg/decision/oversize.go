package decision

import (
	"encoding/json"
	"fmt"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/placement-hub/placement-hub/pkg/decision/record"
)

// ConditionGroupsListed is False while status.decisionGroups lists only the first of the decision groups, and is absent otherwise.
const ConditionGroupsListed = "PlacementDecisionGroupsListed"

// ReasonStatusTooLarge is the reason of ConditionGroupsListed.
const ReasonStatusTooLarge = "StatusTooLarge"

const (
	// maxObjectBytes bounds a Placement as it is encoded. etcd takes 1.5 MiB by default (--max-request-bytes), and the rest of that is for the
	// managedFields, which the hub does not keep.
	maxObjectBytes = 1280 << 10
	// smallGroupBytes is so little that no object becomes too large by it: the size of the rest is not asked for.
	smallGroupBytes = 64 << 10
	// groupBytes is what a decision group takes without its numbers, name and pages, and pageBytes what a page takes beside its name.
	groupBytes = len(`{"decisionGroupIndex":,"decisionGroupName":"","decisions":[],"clusterCount":},`)
	pageBytes  = len(`"",`)
	// listedConditionBytes is room for ConditionGroupsListed.
	listedConditionBytes = 1 << 10
)

// truncateGroups is the status with the conditions of ours, such that an API server stores it. A Placement whose clustersPerDecisionGroup is small
// for its clusters has thousands of groups; if its status were sent as it is, it would be refused for ever, and surplus pages, which are
// deleted after the status is written, would stay.
//
// It is the list that is cut off, and not the placement that is refused: the fleet may grow into that size without anybody's mistake, and
// decisions that no longer follow the fleet would be worse than a short list. Consumers that roll out by group read the labels of the
// PlacementDecisions, which are all there, and the first group stays in the list for those that read it alone.
func truncateGroups(placement *record.Placement, status record.Status, ours []metav1.Condition, now metav1.Time) record.Status {
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

// countFitting is how many of the groups fit into so many bytes, and at least one.
func countFitting(groups []record.GroupStatus, room int) int {
	for i := range groups {
		room -= groupsBytes(groups[i : i+1])
		if room < 0 {
			return max(i, 1)
		}
	}

	return len(groups)
}

// groupsBytes is the most that groups take when they are encoded.
func groupsBytes(groups []record.GroupStatus) int {
	bytes := 0

	for _, group := range groups {
		bytes += groupBytes + len(strconv.Itoa(group.Index)) + len(group.Name) + len(strconv.Itoa(group.Clusters))
		for _, page := range group.Pages {
			bytes += pageBytes + len(page)
		}
	}

	return bytes
}

// encodedBytes is the size of an object as JSON, which is how an API server stores custom resources.
func encodedBytes(object any) int {
	data, err := json.Marshal(object)
	if err != nil {
		return 0 // It came from JSON; what cannot be encoded is told of where it is to be written.
	}

	return len(data)
}
