// SPDX-License-Identifier: Apache-2.0

package placement

import "github.com/placement-hub/placement-hub/pkg/removalbudget"

// The reasons of the two conditions (docs/spec/upstream-placement.md 1.11).
const (
	ReasonMisconfigured         = "Misconfigured"
	ReasonSucceedConfigured     = "Succeedconfigured"
	ReasonNoBindings            = "NoManagedClusterSetBindings"
	ReasonNoIntersection        = "NoIntersection"
	ReasonAllSetsEmpty          = "AllManagedClusterSetsEmpty"
	ReasonNoClusterMatched      = "NoManagedClusterMatched"
	ReasonAllScheduled          = "AllDecisionsScheduled"
	ReasonNotAllScheduled       = "NotAllDecisionsScheduled"
	maxMessageBytes             = 32768
	configurationsPassedMessage = "Placement configurations check pass"
)

// The conditions that every placement has, of whatever API.
const (
	ConditionMisconfigured = "PlacementMisconfigured"
	ConditionSatisfied     = "PlacementSatisfied"
)

// ConditionSpreadSatisfied reports whether the selected clusters satisfy the spread constraints; it exists only when there are some
// (docs/spec/differences.md D2).
const ConditionSpreadSatisfied = "PlacementSpreadSatisfied"

// ReasonSpread is the reason of a spread condition that is True.
const ReasonSpread = "Spread"

// ConditionRemovalPostponed reports that a result removes clusters, which are kept until it is proved that the result was not computed on
// an old state of the hub (docs/spec/differences.md B10). It exists only while it is True.
const ConditionRemovalPostponed = "RemovalPostponed"

// The reasons of ConditionRemovalPostponed.
const (
	// ReasonWatchBehind means that the API server returns later versions than the watches of the hub.
	ReasonWatchBehind = "WatchBehind"
	// ReasonReadFailed means that reading from the API server failed.
	ReasonReadFailed = "ReadFailed"
)

// ConditionGroupsListed is False while status.decisionGroups lists only the first of the decision groups, and is absent otherwise.
const ConditionGroupsListed = "PlacementDecisionGroupsListed"

// ReasonStatusTooLarge is the reason of ConditionGroupsListed.
const ReasonStatusTooLarge = "StatusTooLarge"

// ConditionProfilesFound reports whether every selected cluster has a ClusterProfile. It exists only when decisions are also written as
// references to ClusterProfiles.
const ConditionProfilesFound = "PlacementClusterProfilesFound"

// The reasons of ConditionProfilesFound.
const (
	ReasonProfilesFound   = "AllClusterProfilesFound"
	ReasonProfilesMissing = "ClusterProfilesMissing"
)

// ownConditions are the types of all conditions of the hub.
var ownConditions = []string{
	ConditionMisconfigured, ConditionSatisfied, ConditionSpreadSatisfied, ConditionProfilesFound, ConditionRemovalPostponed,
	ConditionGroupsListed, removalbudget.RecordCondition, removalbudget.MemoryCondition, removalbudget.Condition,
}
