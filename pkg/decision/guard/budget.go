package guard

import (
	"fmt"
	"path"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/placement-hub/placement-hub/pkg/decision/record"
)

// The annotations of a Placement.
const (
	// PercentAnnotation is the share of the clusters that may leave at once, a whole number from 0 to 100, instead of that of the hub; 100
	// is no bound.
	PercentAnnotation = "placement-hub.open-cluster-management.io/max-removal-percent"
	// CountReplacedAnnotation says, as "true" or "false" and instead of the hub, whether a cluster whose place another one takes counts as
	// removed.
	CountReplacedAnnotation = "placement-hub.open-cluster-management.io/max-removal-counts-replaced"
	// ReleaseAnnotation lets everything go while it is the generation of the placement.
	ReleaseAnnotation = "placement-hub.open-cluster-management.io/release-removal"
)

// Off is the share that is no bound.
const Off = 100

// satisfiedCondition tells which generation the decisions are for. Every condition of the hub does.
const satisfiedCondition = "PlacementSatisfied"

// Limit is what a hub was started with. A nil field is not known, as to an observer of a hub; For reads it from the status then.
type Limit struct {
	// Percent is the greatest share of the clusters that may leave within the Window, from 0 to Off.
	Percent *int
	// CountReplaced says whether a cluster whose place another one takes counts as removed.
	CountReplaced *bool
}

// Budget is what holds for a placement at a time.
type Budget struct {
	// Percent is the greatest share of the clusters that may leave within the Window, from 0 to Off.
	Percent int
	// CountReplaced says that a cluster whose place another one takes counts as removed.
	CountReplaced bool
	// Mistake says what to correct in the annotations; empty when they can be read, or are not there.
	Mistake string
	// Released says that an annotation lets everything go, and Armed that the decisions for this generation were wholly written before.
	Released, SpecApplied bool
	// Unknown says that the share of the hub decides, and neither the caller nor the status of the placement tells it.
	Unknown bool

	// replacedUnknown says that nobody tells whether clusters count that are replaced.
	replacedUnknown bool

	placement *record.Placement
	// condition is the present condition; nil when there is none.
	condition *metav1.Condition
	// annotations are the names of the annotations, without their prefix, that the limit is from.
	annotations []string
	// recorded are the departures that the status of the placement records.
	recorded RecentRemovals
	// record is the condition that they are from; nil when there is none.
	record *metav1.Condition
}

// NewBudget is the guard of a placement on a hub with a limit. What of the limit is not given is taken from the status of the placement, where the
// hub says what it goes by.
//
// An annotation that cannot be read does not open anything: the share of the hub holds, and where the hub has none, nothing may leave.
func NewBudget(placement *record.Placement, limit Limit) Budget {
	b := Budget{
		Percent: Off, SpecApplied: specApplied(placement), Released: placement.Annotations[ReleaseAnnotation] == strconv.FormatInt(placement.Generation, 10),
		placement: placement, condition: meta.FindStatusCondition(placement.Status.Conditions, Condition),
		record: meta.FindStatusCondition(placement.Status.Conditions, RecordCondition),
	}
	b.recorded = decodeRecord(b.record)
	stated := parseLimit(b.condition)

	b = b.withPercent(limit.Percent, stated).withCountReplaced(limit.CountReplaced, stated)

	if b.Mistake != "" && b.condition != nil && strings.Contains(b.condition.Message, b.Mistake) {
		b.Unknown = false // The status says what comes of the mistake.
	}

	return b
}

// withPercent takes the share from the annotation, or else from the hub.
func (b Budget) withPercent(hub *int, stated parsedLimit) Budget {
	text, annotated := b.placement.Annotations[PercentAnnotation]
	asked, err := strconv.Atoi(strings.TrimSuffix(text, "%"))
	valid := annotated && err == nil && asked >= 0 && asked <= Off

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

	if annotated && !valid {
		b.Mistake = fmt.Sprintf("the annotation %s: %q is no whole number from 0 to %d", PercentAnnotation, text, Off)
	}

	switch {
	case valid:
		b.annotations = append(b.annotations, path.Base(PercentAnnotation))
	case annotated && b.Percent == Off:
		b.Percent = 0
		b.annotations = append(b.annotations, path.Base(PercentAnnotation))
	}

	return b
}

// withCountReplaced takes from the annotation, or else from the hub, whether clusters count that are replaced.
func (b Budget) withCountReplaced(hub *bool, stated parsedLimit) Budget {
	text, annotated := b.placement.Annotations[CountReplacedAnnotation]
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

// Forgotten reports whether a changed placement lacks the share that an annotation of the live one says, so that the share of the hub decides, and
// nobody tells it: where the annotation lets everything go there is no condition to read it from.
func (l Limit) Forgotten(live, changed *record.Placement) bool {
	_, before := live.Annotations[PercentAnnotation]
	_, after := changed.Annotations[PercentAnnotation]
	condition := meta.FindStatusCondition(live.Status.Conditions, Condition)

	return l.Percent == nil && before && !after && parseLimit(condition).percent == nil
}

// Stricter is the guard of a hub on which clusters count that are replaced, where it is not known whether they do; false where it is.
func (b Budget) Stricter() (Budget, bool) {
	if !b.replacedUnknown || !b.Enabled() {
		return b, false
	}

	b.CountReplaced = true

	return b, true
}

// Enabled reports whether there is a bound. The zero value has none.
func (b Budget) Enabled() bool { return b.placement != nil && b.Percent < Off }

// specApplied reports whether the decisions for the present generation were wholly written before, so that what changes now has causes outside of
// the placement. In doubt they were: a placement that comes from a backup has no conditions, and those of the upstream controller do not say
// which generation they are for. A placement that was changed before anything was written for it has none either, and one that never was on a
// hub has no generation.
func specApplied(placement *record.Placement) bool {
	satisfied := meta.FindStatusCondition(placement.Status.Conditions, satisfiedCondition)
	if satisfied == nil {
		return placement.Generation == 1
	}

	if seen := satisfied.ObservedGeneration; seen > 0 && seen < placement.Generation {
		return false
	}

	before := meta.FindStatusCondition(placement.Status.Conditions, Condition)

	return before == nil || before.Reason != ReasonSpecChanged
}
