package guard

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/placement-hub/placement-hub/pkg/scheduling"
)

// Condition says whether a removal is held. It is there only where there is a bound.
const Condition = "RemovalHeld"

// The reasons of the condition. It is True with the first one alone.
const (
	ReasonTooManyRemoved = "TooManyClustersRemoved"
	ReasonNothingHeld    = "NothingHeld"
	ReasonReleased       = "Released"
	// ReasonSpecChanged stands until the decisions for a changed spec are wholly written.
	ReasonSpecChanged       = "SpecChanged"
	ReasonInvalidAnnotation = "InvalidAnnotation"
)

// clustersNamed is how many clusters a text names.
const clustersNamed = 3

// Conditions are the condition of the ruling, or none where there is no bound. Written says that the decisions are, wholly, once the status
// is written.
func (r Ruling) Conditions(written bool) []metav1.Condition {
	g := r.guard

	switch {
	case !g.On():
		return nil
	case !r.answered && g.Armed && g.stillHolds():
		return []metav1.Condition{*g.before}
	}

	condition := metav1.Condition{Type: Condition, Status: metav1.ConditionFalse}

	switch {
	case r.Held:
		condition.Status, condition.Reason = metav1.ConditionTrue, ReasonTooManyRemoved
		condition.Message = r.text()
	case !g.Armed && (!written || !r.answered):
		condition.Reason = ReasonSpecChanged
		condition.Message = "The spec was changed: nothing is held until the decisions for it are wholly written, and then " + g.bound() + g.source()
	case g.Released:
		condition.Reason = ReasonReleased
		condition.Message = fmt.Sprintf("The annotation %s releases generation %d: take it away to have removals held again, where %s",
			ReleaseAnnotation, g.placement.Generation, g.bound()+g.source())
	default:
		condition.Reason = ReasonNothingHeld
		condition.Message = "Of the clusters in the decisions " + g.bound() + " for causes outside of the placement" + g.source()
	}

	if g.Mistake != "" {
		condition.Message += "; correct " + g.Mistake

		if condition.Reason == ReasonNothingHeld {
			condition.Reason = ReasonInvalidAnnotation
		}
	}

	return []metav1.Condition{condition}
}

// stillHolds reports whether the present condition holds a removal, of which nothing new is known while there is no answer.
func (g Guard) stillHolds() bool {
	return g.before != nil && g.before.Status == metav1.ConditionTrue && !g.Released
}

// bound is "no more than 30 % may leave within 10 minutes". It is read back by statedLimit.
func (g Guard) bound() string {
	share, leave := fmt.Sprintf("no more than %d %%", g.Percent), "leave"

	if g.Percent == 0 {
		share = "none"
	}

	if g.CountReplaced {
		leave = "leave or be replaced"
	}

	return fmt.Sprintf("%s may %s within %d minutes", share, leave, int(Window.Minutes()))
}

// sourceText begins the sentence that names the annotations which the limit is from.
const sourceText = ". Its annotations say so: "

// source is a sentence that names the annotations of the placement which the bound is from; empty when it is from the hub alone.
func (g Guard) source() string {
	if len(g.own) == 0 {
		return ""
	}

	return sourceText + strings.Join(g.own, ", ")
}

// stated is what a condition says of the limit of the hub; nil is what it does not say.
type stated struct {
	percent       *int
	countReplaced *bool
}

var boundText = regexp.MustCompile(`(?:none|no more than (\d{1,2}) %) may leave( or be replaced)? within `)

// statedLimit reads the limit of the hub back from the condition, where bound and source have put it. Where there is no condition, the hub
// had no bound for the placement.
func statedLimit(condition *metav1.Condition) stated {
	if condition == nil {
		return stated{}
	}

	found := boundText.FindStringSubmatch(condition.Message)
	if found == nil {
		return stated{}
	}

	_, source, _ := strings.Cut(condition.Message, sourceText)
	names, _, _ := strings.Cut(source, ".")
	names, _, _ = strings.Cut(names, ";")
	own := strings.Split(names, ", ")

	var limit stated

	if !slices.Contains(own, path.Base(PercentAnnotation)) {
		percent, err := strconv.Atoi(found[1])
		if err != nil {
			percent = 0 // The word is none.
		}

		limit.percent = &percent
	}

	if !slices.Contains(own, path.Base(CountReplacedAnnotation)) {
		limit.countReplaced = ptr.To(found[2] != "")
	}

	return limit
}

// text tells what is held, why, and how to let it go.
func (r Ruling) text() string {
	g := r.guard

	return fmt.Sprintf("%s, where %s; causes: %s%s. The decisions stay as they are until that falls below, the spec is changed, or this "+
		"generation is released: kubectl annotate --overwrite placements.%s %s -n %s %s=%d",
		r.Summary(), g.bound(), scheduling.Summarize(r.Causes), g.source(), g.placement.API.Name(), g.placement.Name, g.placement.Namespace,
		ReleaseAnnotation, g.placement.Generation)
}

// Summary is "The decisions would lose 40 of 50 clusters: c1, c2, c3 and 37 more".
func (r Ruling) Summary() string {
	earlier := ""
	if r.Left > 0 {
		earlier = fmt.Sprintf(", %d of which have left already", r.Left)
	}

	return fmt.Sprintf("The decisions would lose %d of %d clusters%s: %s", r.Removed, r.Of, earlier, Name(r.Leaving))
}

// Name names the first ones of some clusters: "c1, c2, c3 and 37 more".
func Name(clusters []string) string {
	text := strings.Join(clusters[:min(len(clusters), clustersNamed)], ", ")
	if more := len(clusters) - clustersNamed; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}

	return text
}
