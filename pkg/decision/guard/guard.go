package guard

import (
	"fmt"
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
	// ReleaseAnnotation lets everything go while it is the generation of the placement.
	ReleaseAnnotation = "placement-hub.open-cluster-management.io/release-removal"
)

// Off is the share that is no bound.
const Off = 100

// satisfiedCondition tells which generation the decisions are for. Every condition of the hub does.
const satisfiedCondition = "PlacementSatisfied"

// Guard is what holds for a placement at a time.
type Guard struct {
	// Percent is the greatest share of the clusters that may leave within the Window, from 0 to Off.
	Percent int
	// Mistake says what to correct in the annotation; empty when it can be read, or is not there.
	Mistake string
	// Released says that an annotation lets everything go, and Armed that the decisions for this generation were wholly written before.
	Released, Armed bool

	placement *record.Placement
	// before is the present condition; nil when there is none.
	before *metav1.Condition
	// standing says that the share is not known, and that the present condition holds a removal.
	standing bool
}

// For is the guard of a placement on a hub with a share. Nil is one that is not known, as to whoever sees a hub from outside: then a removal
// that the status says is held counts as held.
//
// An annotation that cannot be read does not open anything: the share of the hub holds, and where the hub has none, nothing may leave.
func For(placement *record.Placement, percent *int) Guard {
	g := Guard{
		Percent: Off, Armed: armed(placement), Released: placement.Annotations[ReleaseAnnotation] == strconv.FormatInt(placement.Generation, 10),
		placement: placement, before: meta.FindStatusCondition(placement.Status.Conditions, Condition),
	}

	if percent != nil {
		g.Percent = *percent
	}

	text, annotated := placement.Annotations[PercentAnnotation]
	if !annotated {
		g.standing = percent == nil && g.before != nil && g.before.Status == metav1.ConditionTrue

		return g
	}

	asked, err := strconv.Atoi(strings.TrimSuffix(text, "%"))

	switch {
	case err == nil && asked >= 0 && asked <= Off:
		g.Percent = asked
	default:
		g.Mistake = fmt.Sprintf("the annotation %s: %q is no whole number from 0 to %d", PercentAnnotation, text, Off)

		if g.Percent == Off {
			g.Percent = 0
		}
	}

	return g
}

// On reports whether there is a bound. The zero value has none.
func (g Guard) On() bool { return g.placement != nil && (g.Percent < Off || g.standing) }

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
