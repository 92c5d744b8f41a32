// SPDX-License-Identifier: Apache-2.0

package removalbudget

import (
	"fmt"
	"path"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

// The annotations of a Placement. PercentAnnotation and ReleaseAnnotation are those of federated objects, too.
const (
	// PercentAnnotation is the percentage of the clusters that may be removed within the Window, a whole number from 0 to 100; it overrides
	// that of the hub, and 100 means no limit.
	PercentAnnotation = "placement-hub.open-cluster-management.io/max-removal-percent"
	// CountReplacedAnnotation reports, as "true" or "false", whether a replaced cluster counts as removed; it overrides the option of the
	// hub.
	CountReplacedAnnotation = "placement-hub.open-cluster-management.io/max-removal-counts-replaced"
	// ReleaseAnnotation allows all removals while its value is the generation of the Placement.
	ReleaseAnnotation = "placement-hub.open-cluster-management.io/release-removal"
)

// DefaultLostScopeHold is how long a cluster that has left the scope stays in the decisions at most, if a Limit does not say otherwise.
const DefaultLostScopeHold = 10 * time.Minute

// satisfiedCondition is the type of a condition whose observedGeneration is that of the decisions, as for every condition of the hub.
const satisfiedCondition = "PlacementSatisfied"

// Limit is the removal limit of a hub. A nil field means unknown, for an observer of the hub; NewBudget reads it from the status then.
type Limit struct {
	// Percent is the maximal percentage of the clusters that may be removed within the Window, from 0 to NoLimit.
	Percent *int
	// CountReplaced reports whether a replaced cluster counts as removed.
	CountReplaced *bool
	// LostScopeHold is how long clusters that have left the scope stay in the decisions at most; nil means DefaultLostScopeHold.
	LostScopeHold *time.Duration
	// LastCluster is what happens to the last cluster of the decisions; nil means KeepLastCluster.
	LastCluster *LastCluster
}

// LastCluster is what a hub with a limit does when the last cluster would leave the decisions and no other cluster replaces it.
type LastCluster string

const (
	// KeepLastCluster keeps it while its only fault is that it is unreachable or unavailable, and for the LostScopeHold when it has left the scope
	// (docs/spec/differences.md B17).
	KeepLastCluster LastCluster = "keep"
	// UpstreamLastCluster lets it go, as the upstream controller does.
	UpstreamLastCluster LastCluster = "upstream"
)

// Subject is what a Budget reads of a Placement of any API.
type Subject struct {
	// API is the API group of the Placement.
	API             string
	Namespace, Name string
	Generation      int64
	Annotations     map[string]string
	// Conditions are those of its status.
	Conditions []metav1.Condition
}

// Budget is the removal budget of a Placement at a time. The zero value has no limit.
type Budget struct {
	// Percent is the maximal percentage of the clusters that may be removed within the Window, from 0 to NoLimit.
	Percent int
	// CountReplaced reports whether a replaced cluster counts as removed.
	CountReplaced bool
	// Mistake describes invalid annotations; empty when there are none.
	Mistake string
	// Released reports whether an annotation allows all removals, and SpecApplied whether the decisions for this generation were completely
	// written before (see AppliedGeneration).
	Released, SpecApplied bool
	// Unknown reports whether the limit of the hub applies, but neither the caller nor the status of the Placement has it.
	Unknown bool

	// replacedUnknown reports whether CountReplaced is unknown.
	replacedUnknown bool
	// hub is the limit of the hub alone, which holds clusters that have left the scope.
	hub hubLimit

	subject *Subject
	// condition is the existing condition; nil when there is none.
	condition *metav1.Condition
	// annotations are the base names of the annotations that override the limit of the hub.
	annotations []string
	// recorded are the recent removals that the status of the Placement records.
	recorded RecentRemovals
	// record is the condition that records them; nil when there is none.
	record *metav1.Condition
	// memory is the content of memoryRecord, which is nil when there is none.
	memory       memory
	memoryRecord *metav1.Condition
	// applied is the generation of the spec for which the decisions were last completely written; 0 if it is not known.
	applied int64
	// keepLast reports whether the last cluster stays.
	keepLast bool
}

// NewBudget returns the budget of a Placement on a hub with a limit. Unknown fields of the limit are read from the status of the Placement,
// where the hub writes the limit that it applies.
//
// An invalid annotation allows nothing: the limit of the hub applies, or without one no cluster may be removed.
func NewBudget(placement Subject, limit Limit) Budget {
	applied := AppliedGeneration(placement)
	b := Budget{
		Percent: NoLimit, SpecApplied: applied == placement.Generation, applied: applied,
		Released: placement.Annotations[ReleaseAnnotation] == strconv.FormatInt(placement.Generation, 10),
		subject:  &placement, condition: meta.FindStatusCondition(placement.Conditions, Condition),
		record:       meta.FindStatusCondition(placement.Conditions, RecordCondition),
		memoryRecord: meta.FindStatusCondition(placement.Conditions, MemoryCondition),
		keepLast:     ptr.Deref(limit.LastCluster, KeepLastCluster) == KeepLastCluster,
	}
	b.recorded, b.memory = decodeRecord(b.record), decodeMemory(b.memoryRecord)
	stated := parseLimit(b.condition)

	b = b.withPercent(limit.Percent, stated).withCountReplaced(limit.CountReplaced, stated)
	b.hub = newHubLimit(limit, stated, len(b.annotations) > 0)
	if b.Mistake != "" && b.condition != nil && strings.Contains(b.condition.Message, b.Mistake) {
		b.Unknown = false // The status says what comes of the mistake.
	}
	return b
}

// AnnotatedPercent returns the percentage of PercentAnnotation, and whether there is the annotation. A value that is no percentage is a mistake,
// which the text describes.
func AnnotatedPercent(annotations map[string]string) (percent int, annotated bool, mistake string) {
	text, annotated := annotations[PercentAnnotation]
	if !annotated {
		return 0, false, ""
	}
	percent, err := strconv.Atoi(strings.TrimSuffix(text, "%"))
	if err != nil || percent < 0 || percent > NoLimit {
		return 0, true, fmt.Sprintf("the annotation %s: %q is no whole number from 0 to %d", PercentAnnotation, text, NoLimit)
	}
	return percent, true, ""
}

// withPercent sets the percentage of the annotation, or else of the hub.
func (b Budget) withPercent(hub *int, stated parsedLimit) Budget {
	asked, annotated, mistake := AnnotatedPercent(b.subject.Annotations)
	valid := annotated && mistake == ""
	b.Mistake = mistake
	switch {
	case valid:
		b.Percent = asked
	case hub != nil:
		b.Percent = *hub
	case stated.percent != nil:
		b.Percent = *stated.percent
	default:
		b.Unknown = b.condition != nil
	}

	switch {
	case valid:
		b.annotations = append(b.annotations, path.Base(PercentAnnotation))
	case annotated && b.Percent == NoLimit:
		b.Percent = 0
		b.annotations = append(b.annotations, path.Base(PercentAnnotation))
	}
	return b
}

// withCountReplaced sets CountReplaced as the annotation has it, or else the hub.
func (b Budget) withCountReplaced(hub *bool, stated parsedLimit) Budget {
	text, annotated := b.subject.Annotations[CountReplacedAnnotation]
	if annotated {
		b.annotations = append(b.annotations, path.Base(CountReplacedAnnotation))
	}

	switch {
	case annotated && text != "true" && text != "false":
		if b.Mistake != "" {
			b.Mistake += ", and "
		}
		b.Mistake += fmt.Sprintf("the annotation %s: %q is neither true nor false", CountReplacedAnnotation, text)
		b.CountReplaced = true // A mistake opens nothing.
	case annotated:
		b.CountReplaced = text == "true"
	case hub != nil:
		b.CountReplaced = *hub
	case stated.countReplaced != nil:
		b.CountReplaced = *stated.countReplaced
	default:
		b.replacedUnknown = true
	}

	return b
}

// Forgotten reports whether a changed Placement lacks the percentage annotation of the live Placement, or has an invalid one instead, so that the
// percentage of the hub applies but is unknown: the live status has no condition to read it from.
func (l Limit) Forgotten(live, changed Subject) bool {
	was, before := live.Annotations[PercentAnnotation]
	_, after, mistake := AnnotatedPercent(changed.Annotations)
	after = after && (mistake == "" || was == changed.Annotations[PercentAnnotation])
	condition := meta.FindStatusCondition(live.Conditions, Condition)
	return l.Percent == nil && before && !after && parseLimit(condition).percent == nil
}

// Stricter returns the budget with CountReplaced, if that is unknown; false if it is known.
func (b Budget) Stricter() (Budget, bool) {
	if !b.replacedUnknown || !b.Enabled() {
		return b, false
	}
	b.CountReplaced = true
	return b, true
}

// Enabled reports whether there is a limit, for all removals or for those of clusters that have left the scope.
func (b Budget) Enabled() bool { return b.subject != nil && min(b.Percent, b.hub.percent) < NoLimit }

// MayHold reports whether there is a limit, or whether the hub may have one that is not known.
func (b Budget) MayHold() bool { return b.Enabled() || b.subject != nil && b.hub.unknown }

// AppliedGeneration returns the generation of the spec for which the decisions of a Placement were last completely written, so that a change of
// them has causes outside of the Placement if it is the current one; 0 means an unknown earlier generation. In doubt it is the current one: a
// Placement of generation 1 without conditions may come from a backup, and conditions of the upstream controller have no observedGeneration. A
// Placement without conditions at another generation was changed before its first decisions, or never was on a hub.
func AppliedGeneration(placement Subject) int64 {
	satisfied := meta.FindStatusCondition(placement.Conditions, satisfiedCondition)
	if satisfied == nil {
		if placement.Generation == 1 {
			return placement.Generation
		}
		return 0
	}
	applied := decodeMemory(meta.FindStatusCondition(placement.Conditions, MemoryCondition)).Applied

	before := meta.FindStatusCondition(placement.Conditions, Condition)
	switch seen := satisfied.ObservedGeneration; {
	case applied > 0:
		return applied
	case before != nil && before.Reason == ReasonSpecChanged:
		return 0
	case seen > 0 && seen < placement.Generation:
		return seen
	default:
		return placement.Generation
	}
}
