package explain

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/placement-hub/placement-hub/pkg/decision/removalbudget"
	"github.com/placement-hub/placement-hub/pkg/scheduling"
)

const (
	// warningsShown bounds the warnings of one Placement: scores mostly expire on many clusters at once.
	warningsShown = 3
	// membersShown bounds the clusters of one decision group in a line.
	membersShown = 10
	// causesShown bounds the rejection causes of one Placement.
	causesShown = 5
)

// Style configures tables for people.
type Style struct {
	// Scores adds the ranks and the scores of every prioritizer to the table of the clusters.
	Scores bool
	// Wide adds the existing decision and the decision group of each cluster.
	Wide bool
	// Color adds terminal colours.
	Color bool
	// All is the flag that lists the clusters out of scope, for a hint.
	All string
}

// Table writes a report for people: Head, and a table of the clusters.
func (r Report) Table(out *bytes.Buffer, style Style) {
	r.Head(out, style)
	r.clusterTable(out, style)

	if r.OutOfScope > 0 && !r.listsOutOfScope() {
		fmt.Fprintf(out, "  out of scope: %s, %s (%s lists them)\n", count(r.OutOfScope, "cluster"), r.OutOfScopeReason, style.All)
	}
}

// Head writes the headline, notable conditions, notes and warnings, without the clusters.
func (r Report) Head(out *bytes.Buffer, style Style) {
	fmt.Fprintf(out, "%s: %s\n", style.Bold(title(r.Placement, r.API)), r.headline())

	for _, condition := range r.Conditions {
		if isNotable(condition) {
			fmt.Fprintf(out, "  %s=%s (%s): %s\n", style.alarm(condition.Type), condition.Status, condition.Reason,
				Printable(indented(condition.Message)))
		}
	}

	if style.Scores {
		r.writeCauses(out)
	}

	for _, note := range r.Notes {
		fmt.Fprintf(out, "  %s\n", Printable(indented(note)))
	}

	for i, warning := range r.Warnings {
		if i == warningsShown {
			fmt.Fprintf(out, "  warnings not shown: %d\n", len(r.Warnings)-warningsShown)

			break
		}

		fmt.Fprintf(out, "  warning: %s\n", warning)
	}

	if r.ChangesAt != nil {
		fmt.Fprintf(out, "  may change by itself at %s\n", r.ChangesAt.UTC().Format(time.RFC3339))
	}

	if len(r.Groups) > 1 {
		for _, group := range r.Groups {
			fmt.Fprintf(out, "  %s\n", group)
		}
	}
}

// writeCauses writes the rejection causes, unless a condition has them, and the decisions that are still to be written.
func (r Report) writeCauses(out *bytes.Buffer) {
	causes := r.Causes
	if len(causes) > 0 && slices.ContainsFunc(r.Conditions, func(condition metav1.Condition) bool {
		return strings.Contains(condition.Message, causes[0].Clause)
	}) {
		causes = nil
	}

	for i, cause := range causes {
		if i == causesShown {
			fmt.Fprintf(out, "  causes not shown: %d\n", len(causes)-causesShown)

			break
		}

		fmt.Fprintf(out, "  %s: %s\n", count(cause.Clusters, "cluster"), Printable(oneLine(cause.Clause)))
	}

	if r.Behind != nil {
		fmt.Fprintf(out, "  decisions are behind: %s\n", r.Behind)
	}
}

// String returns "eu1 to be gained; us1, us2 to be lost".
func (b BehindReport) String() string {
	var parts []string

	for _, part := range []struct {
		clusters []string
		what     string
	}{{b.Gained, "to be gained"}, {b.Lost, "to be lost"}, {b.Moved, "to change the decision group"}} {
		if len(part.clusters) > 0 {
			parts = append(parts, abbreviate(part.clusters)+" "+part.what)
		}
	}

	return strings.Join(parts, "; ")
}

// qualifiedName returns "team-a/p", and for an API other than v1beta1 "team-a/p@placement.open-cluster-management.io".
func qualifiedName(placement, api string) string {
	if api == "" {
		return placement
	}

	return placement + "@" + api
}

// QualifiedName returns "team-a/p", and for an API other than v1beta1 "team-a/p@placement.open-cluster-management.io".
func (r Report) QualifiedName() string { return qualifiedName(r.Placement, r.API) }

// title returns the name of a Placement, with its API in parentheses if that is not empty.
func title(placement, api string) string {
	if api == "" {
		return placement
	}

	return placement + " (" + api + ")"
}

func (r Report) headline() string {
	selected := len(r.Selected)
	kept := "has no decisions yet"

	if selected > 0 {
		kept = "keeps the " + count(selected, "cluster") + " of its last decisions"
	}

	switch {
	case r.Unanswered != "":
		return "no explanation, " + r.Unanswered + "; the decisions have " + count(selected, "cluster")
	case r.Skipped != "":
		return "skipped, as " + r.Skipped + "; " + kept
	case r.Stalled && len(r.Clusters) > 0:
		return "the answer is held; " + kept
	case r.Stalled:
		return "no answer; " + kept
	case r.Wanted != nil:
		return fmt.Sprintf("%d of %d wanted selected", selected, *r.Wanted)
	case selected == 0:
		return "none selected"
	case selected < r.Feasible:
		return fmt.Sprintf("%d of %d feasible selected", selected, r.Feasible)
	case selected == 1:
		return "the only feasible cluster selected"
	default:
		return fmt.Sprintf("all %d feasible selected", selected)
	}
}

// isNotable reports whether a condition has more information than its normal state.
func isNotable(condition metav1.Condition) bool {
	switch condition.Type {
	case clusterv1beta1.PlacementConditionSatisfied:
		return condition.Status != metav1.ConditionTrue
	case clusterv1beta1.PlacementConditionMisconfigured:
		return condition.Status != metav1.ConditionFalse || strings.Contains(condition.Message, "could not be evaluated")
	case removalbudget.Condition:
		return condition.Status != metav1.ConditionFalse || condition.Reason == removalbudget.ReasonInvalidAnnotation
	default:
		return condition.Status != metav1.ConditionTrue
	}
}

// indented indents the further lines of a message: CEL compilers point at positions with lines of their own.
func indented(message string) string {
	return strings.ReplaceAll(strings.TrimRight(message, "\n"), "\n", "\n    ")
}

// String returns "group 0 canary: eu1, eu2".
func (g GroupReport) String() string {
	name := "group " + strconv.Itoa(int(g.Index))
	if g.Name != "" {
		name += " " + g.Name
	}

	return name + ": " + abbreviate(g.Clusters)
}

// abbreviate returns the first names, and the number of the others.
func abbreviate(members []string) string {
	if len(members) <= membersShown {
		return strings.Join(members, ", ")
	}

	return fmt.Sprintf("%s, and %d more", strings.Join(members[:membersShown], ", "), len(members)-membersShown)
}

// listsOutOfScope reports whether the report lists clusters out of scope; they come last.
func (r Report) listsOutOfScope() bool {
	return len(r.Clusters) > 0 && r.Clusters[len(r.Clusters)-1].Verdict == scheduling.StageScope.String()
}

// oneLine replaces line breaks and tabs, which would break the layout of a cell.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}

	return strconv.Itoa(n) + " " + noun + "s"
}
