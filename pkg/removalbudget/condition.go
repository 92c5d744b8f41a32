// SPDX-License-Identifier: Apache-2.0

package removalbudget

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/placement-hub/placement-hub/pkg/scheduling"
)

// Condition reports whether a removal is held. It exists only when there is a limit.
const Condition = "RemovalHeld"

// The reasons of the condition. It is True only with ReasonTooManyRemoved and ReasonLastCluster.
const (
	ReasonTooManyRemoved = "TooManyClustersRemoved"
	// ReasonLastCluster means that only the last cluster of the decisions is held (docs/spec/differences.md B17).
	ReasonLastCluster = "LastCluster"
	ReasonNothingHeld = "NothingHeld"
	ReasonReleased    = "Released"
	// ReasonSpecChanged stays until the decisions for a changed spec are completely written.
	ReasonSpecChanged       = "SpecChanged"
	ReasonInvalidAnnotation = "InvalidAnnotation"
)

// Conditions returns the condition of the Result, or none without a limit. Written reports whether the decisions are completely written.
func (r Result) Conditions(written bool) []metav1.Condition {
	b := r.budget
	switch {
	case !b.Enabled():
		return nil
	case !r.valid && b.stillBlocks():
		return []metav1.Condition{*b.condition}
	case b.Percent >= NoLimit && !r.Held:
		return nil // Only clusters that leave the scope would be held.
	}
	condition := metav1.Condition{Type: Condition, Status: metav1.ConditionFalse}

	switch {
	case r.Held:
		condition.Status, condition.Reason = metav1.ConditionTrue, ReasonTooManyRemoved
		if !slices.ContainsFunc(r.holds, func(h hold) bool { return !h.Last }) {
			condition.Reason = ReasonLastCluster
		}
		condition.Message = b.unlessReworded(r.message())
	case !b.SpecApplied && (!written || !r.valid):
		condition.Reason = ReasonSpecChanged
		condition.Message = "The spec was changed: the clusters that it excludes leave, and of the others " + b.limitText() + b.annotationsText()
	case b.Released:
		condition.Reason = ReasonReleased
		condition.Message = fmt.Sprintf("The annotation %s releases generation %d: take it away to have removals held again, where %s",
			ReleaseAnnotation, b.subject.Generation, b.limitText()+b.annotationsText())
	default:
		condition.Reason = ReasonNothingHeld
		condition.Message = "Of the clusters in the decisions " + b.limitText() + " for causes outside of the placement" + b.annotationsText()
	}

	if b.Mistake != "" {
		condition.Message += "; correct " + b.Mistake
		if condition.Reason == ReasonNothingHeld {
			condition.Reason = ReasonInvalidAnnotation
		}
	}
	return []metav1.Condition{condition}
}

// stillBlocks reports whether the existing condition blocks a removal, which stays so while there is no valid scheduling.Result.
func (b Budget) stillBlocks() bool {
	return b.condition != nil && b.condition.Status == metav1.ConditionTrue && (!b.Released || !b.hub.until.IsZero())
}

// limitText returns "no more than 30 % may leave within 10 minutes". parseLimit parses it.
func (b Budget) limitText() string {
	share, leave := fmt.Sprintf("no more than %d %%", b.Percent), "leave"
	if b.Percent == 0 {
		share = "none"
	}
	if b.CountReplaced {
		leave = "leave or be replaced"
	}
	return fmt.Sprintf("%s may %s within %d minutes", share, leave, int(Window.Minutes()))
}

// annotationsPrefix begins the sentence that lists the annotations which override the limit of the hub.
const annotationsPrefix = ". Its annotations say so: "

// annotationsText returns a sentence that lists the annotations which override the limit of the hub; empty when there are none.
func (b Budget) annotationsText() string {
	if len(b.annotations) == 0 {
		return ""
	}
	return annotationsPrefix + strings.Join(b.annotations, ", ")
}

// parsedLimit is the limit of the hub in a condition; nil means that the condition does not have it.
type parsedLimit struct {
	percent       *int
	countReplaced *bool
	// until is when the clusters that have left the scope leave; zero if none is held.
	until time.Time
}

var (
	// summaryText matches the sentence of Summary, and untilText that of scopeText.
	summaryText = regexp.MustCompile(`^The decisions would lose \d+ of (\d+) clusters`)
	untilText   = regexp.MustCompile(`left the scope \(\d+\) leave at (\S+Z)`)
)

var boundText = regexp.MustCompile(`(?:none|no more than (\d{1,2}) %) may leave( or be replaced)? within `)

// parseLimit parses the limit of the hub from the condition, where limitText and annotationsText wrote it. Without a condition, the hub had
// no limit for the Placement.
func parseLimit(condition *metav1.Condition) parsedLimit {
	if condition == nil {
		return parsedLimit{}
	}
	found := boundText.FindStringSubmatch(condition.Message)
	if found == nil {
		return parsedLimit{}
	}

	_, source, _ := strings.Cut(condition.Message, annotationsPrefix)
	names, _, _ := strings.Cut(source, ".")
	names, _, _ = strings.Cut(names, ";")
	own := strings.Split(names, ", ")

	limit := parsedLimit{until: parseUntil(condition.Message)}
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

// parseUntil returns the time that scopeText wrote; zero if there is none.
func parseUntil(message string) time.Time {
	found := untilText.FindStringSubmatch(message)
	if found == nil {
		return time.Time{}
	}
	until, err := time.Parse(time.RFC3339, found[1])
	if err != nil {
		return time.Time{} // Others have edited the text.
	}
	return until
}

// heldBefore reports whether the existing condition describes a removal that is held of this generation.
func (b Budget) heldBefore() bool {
	return b.condition != nil && b.condition.Status == metav1.ConditionTrue && b.condition.ObservedGeneration == b.subject.Generation
}

// heldBase returns the number of clusters that the percentage referred to when the removal that the condition describes was blocked; 0 if
// it describes none of this generation.
func (b Budget) heldBase() int {
	if !b.heldBefore() {
		return 0
	}
	found := summaryText.FindStringSubmatch(b.condition.Message)
	if found == nil {
		return 0
	}

	base, err := strconv.Atoi(found[1])
	if err != nil {
		return 0 // The number is too large for one of clusters.
	}
	return base
}

const (
	// releaseText follows "These clusters stay in the decisions until that falls below", and formerReleaseText did so in earlier versions.
	releaseText       = ", or this generation is released: "
	formerReleaseText = ", the spec is changed, or this generation is released: "
)

// unlessReworded returns a message, or that of the existing condition if an earlier version of the hub has written the same in other words, so
// that no
// status is written for these.
func (b Budget) unlessReworded(message string) string {
	if !b.heldBefore() {
		return message
	}
	reworded := strings.Replace(b.condition.Message, formerReleaseText, releaseText, 1)
	if reworded == message || reworded == message+" "+b.releaseSentence() {
		return b.condition.Message
	}
	return message
}

// releaseSentence returns the sentence on how to release clusters that the budget of the Placement holds.
func (b Budget) releaseSentence() string {
	return "These clusters stay in the decisions until that falls below" + releaseText + b.releaseCommand()
}

func (b Budget) releaseCommand() string {
	return fmt.Sprintf("kubectl annotate --overwrite placements.%s %s -n %s %s=%d",
		b.subject.API, b.subject.Name, b.subject.Namespace, ReleaseAnnotation, b.subject.Generation)
}

// message describes the held removal, its reasons, and how to release it.
func (r Result) message() string {
	b := r.budget
	var outside, inside, last []hold
	for _, h := range r.holds {
		switch {
		case h.Until != nil:
			outside = append(outside, h)
		case h.Last:
			last = append(last, h)
		default:
			inside = append(inside, h)
		}
	}
	if len(inside)+len(last) == 0 {
		b = b.own()
	}
	text := fmt.Sprintf("%s, where %s; causes: %s%s. ", r.Summary(), b.limitText(), scheduling.Summarize(r.Rejections), b.annotationsText())
	text += scopeText(outside)

	switch {
	case len(inside) > 0:
		text += r.budget.releaseSentence()
	case len(last) > 0:
		text += "The last cluster stays in the decisions until it is available again, or another one can replace it" + releaseText +
			r.budget.releaseCommand()
	}
	return strings.TrimSuffix(text, " ")
}

// scopeText returns the sentence on the clusters that have left the scope; empty without any. parseUntil parses it.
func scopeText(outside []hold) string {
	if len(outside) == 0 {
		return ""
	}
	clusters := 0
	for _, h := range outside {
		clusters += len(h.Clusters)
	}
	first := slices.MinFunc(outside, func(a, b hold) int { return a.until().Compare(b.until()) })
	return fmt.Sprintf("Clusters that left the scope (%d) leave at %s, whatever the annotations say: bring them back into a bound set to keep "+
		"them. ", clusters, first.until().UTC().Format(time.RFC3339))
}

// Summary returns "The decisions would lose 40 of 50 clusters: c1, c2, c3 and 37 more".
func (r Result) Summary() string {
	earlier := ""
	if r.Count.Past > 0 {
		earlier = fmt.Sprintf(", %d of which have left already", r.Count.Past)
	}
	return fmt.Sprintf("The decisions would lose %s%s: %s", r.Count, earlier, Name(r.Leaving))
}
