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

// Guard is what holds for a placement at a time.
type Guard struct {
	// Percent is the greatest share of the clusters that may leave within the Window, from 0 to Off.
	Percent int
	// CountReplaced says that a cluster whose place another one takes counts as removed.
	CountReplaced bool
	// Mistake says what to correct in the annotations; empty when they can be read, or are not there.
	Mistake string
	// Released says that an annotation lets everything go, and Armed that the decisions for this generation were wholly written before.
	Released, Armed bool
	// Unknown says that the share of the hub decides, and neither the caller nor the status of the placement tells it.
	Unknown bool

	// replacedUnknown says that nobody tells whether clusters count that are replaced.
	replacedUnknown bool

	placement *record.Placement
	// before is the present condition; nil when there is none.
	before *metav1.Condition
	// own are the names of the annotations, without their prefix, that the limit is from.
	own []string
	// recorded are the departures that the status of the placement records.
	recorded Departures
	// record is the condition that they are from; nil when there is none.
	record *metav1.Condition
}

// For is the guard of a placement on a hub with a limit. What of the limit is not given is taken from the status of the placement, where the
// hub says what it goes by.
//
// An annotation that cannot be read does not open anything: the share of the hub holds, and where the hub has none, nothing may leave.
func For(placement *record.Placement, limit Limit) Guard {
	g := Guard{
		Percent: Off, Armed: armed(placement), Released: placement.Annotations[ReleaseAnnotation] == strconv.FormatInt(placement.Generation, 10),
		placement: placement, before: meta.FindStatusCondition(placement.Status.Conditions, Condition),
		record: meta.FindStatusCondition(placement.Status.Conditions, RecordCondition),
	}
	g.recorded = decodeDepartures(g.record)
	stated := statedLimit(g.before)

	g = g.withPercent(limit.Percent, stated).withCountReplaced(limit.CountReplaced, stated)

	if g.Mistake != "" && g.before != nil && strings.Contains(g.before.Message, g.Mistake) {
		g.Unknown = false // The status says what comes of the mistake.
	}

	return g
}

// withPercent takes the share from the annotation, or else from the hub.
func (g Guard) withPercent(hub *int, stated stated) Guard {
	text, annotated := g.placement.Annotations[PercentAnnotation]
	asked, err := strconv.Atoi(strings.TrimSuffix(text, "%"))
	valid := annotated && err == nil && asked >= 0 && asked <= Off

	switch {
	case valid:
		g.Percent = asked
	case hub != nil:
		g.Percent = *hub
	case stated.percent != nil:
		g.Percent = *stated.percent
	default:
		g.Unknown = g.before != nil
	}

	if annotated && !valid {
		g.Mistake = fmt.Sprintf("the annotation %s: %q is no whole number from 0 to %d", PercentAnnotation, text, Off)
	}

	switch {
	case valid:
		g.own = append(g.own, path.Base(PercentAnnotation))
	case annotated && g.Percent == Off:
		g.Percent = 0
		g.own = append(g.own, path.Base(PercentAnnotation))
	}

	return g
}

// withCountReplaced takes from the annotation, or else from the hub, whether clusters count that are replaced.
func (g Guard) withCountReplaced(hub *bool, stated stated) Guard {
	text, annotated := g.placement.Annotations[CountReplacedAnnotation]
	if annotated {
		g.own = append(g.own, path.Base(CountReplacedAnnotation))
	}

	switch {
	case annotated && text != "true" && text != "false":
		if g.Mistake != "" {
			g.Mistake += ", and "
		}

		g.Mistake += fmt.Sprintf("the annotation %s: %q is neither true nor false", CountReplacedAnnotation, text)
		g.CountReplaced = true // A mistake opens nothing.
	case annotated:
		g.CountReplaced = text == "true"
	case hub != nil:
		g.CountReplaced = *hub
	case stated.countReplaced != nil:
		g.CountReplaced = *stated.countReplaced
	default:
		g.replacedUnknown = true
	}

	return g
}

// Forgotten reports whether a changed placement lacks the share that an annotation of the live one says, so that the share of the hub decides, and
// nobody tells it: where the annotation lets everything go there is no condition to read it from.
func (l Limit) Forgotten(live, changed *record.Placement) bool {
	_, before := live.Annotations[PercentAnnotation]
	_, after := changed.Annotations[PercentAnnotation]
	condition := meta.FindStatusCondition(live.Status.Conditions, Condition)

	return l.Percent == nil && before && !after && statedLimit(condition).percent == nil
}

// Stricter is the guard of a hub on which clusters count that are replaced, where it is not known whether they do; false where it is.
func (g Guard) Stricter() (Guard, bool) {
	if !g.replacedUnknown || !g.On() {
		return g, false
	}

	g.CountReplaced = true

	return g, true
}

// On reports whether there is a bound. The zero value has none.
func (g Guard) On() bool { return g.placement != nil && g.Percent < Off }

// armed reports whether the decisions for the present generation were wholly written before, so that what changes now has causes outside of
// the placement. In doubt they were: a placement that comes from a backup has no conditions, and those of the upstream controller do not say
// which generation they are for. A placement that was changed before anything was written for it has none either, and one that never was on a
// hub has no generation.
func armed(placement *record.Placement) bool {
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
