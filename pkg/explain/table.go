package explain

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/placement-hub/placement-hub/pkg/decision/guard"
	"github.com/placement-hub/placement-hub/pkg/scheduling"
)

const (
	// warningsShown bounds the lines of one placement: scores mostly expire on many clusters at once.
	warningsShown = 3
	// membersShown bounds the line of one decision group.
	membersShown = 10
)

// table is a report for people: a headline, what stands out, and a table of the clusters.
func (r Report) table(out *bytes.Buffer) error {
	fmt.Fprintf(out, "%s: %s\n", title(r.Placement, r.API), r.headline())

	for _, condition := range r.Conditions {
		if tells(condition) {
			fmt.Fprintf(out, "  %s=%s (%s): %s\n", condition.Type, condition.Status, condition.Reason, indented(condition.Message))
		}
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

	if err := r.clusterTable(out); err != nil {
		return fmt.Errorf("table of Placement %s: %w", r.Placement, err)
	}

	if r.OutOfScope > 0 && !r.listsOutOfScope() {
		fmt.Fprintf(out, "  out of scope: %s, %s (--all lists them)\n", count(r.OutOfScope, "cluster"), r.OutOfScopeReason)
	}

	return nil
}

// word names a placement without a space: "team-a/p", and for an API other than v1beta1 "team-a/p@placement.open-cluster-management.io".
func word(placement, api string) string {
	if api == "" {
		return placement
	}

	return placement + "@" + api
}

// title names a placement, with its API where that is said.
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
	case r.Skipped != "":
		return "skipped, as " + r.Skipped + "; " + kept
	case r.Held && len(r.Clusters) > 0:
		return "the answer is held; " + kept
	case r.Held:
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

// tells reports whether a condition says more than that all is well.
func tells(condition metav1.Condition) bool {
	switch condition.Type {
	case clusterv1beta1.PlacementConditionSatisfied:
		return condition.Status != metav1.ConditionTrue
	case clusterv1beta1.PlacementConditionMisconfigured:
		return condition.Status != metav1.ConditionFalse || strings.Contains(condition.Message, "could not be evaluated")
	case guard.Condition:
		return condition.Status != metav1.ConditionFalse || condition.Reason == guard.ReasonInvalidAnnotation
	default:
		return condition.Status != metav1.ConditionTrue
	}
}

// indented keeps the lines of a message together: compilers point at places with lines of their own.
func indented(message string) string {
	return strings.ReplaceAll(strings.TrimRight(message, "\n"), "\n", "\n    ")
}

// String is "group 0 canary: eu1, eu2".
func (g GroupReport) String() string {
	name := "group " + strconv.Itoa(int(g.Index))
	if g.Name != "" {
		name += " " + g.Name
	}

	members := g.Clusters
	if len(members) <= membersShown {
		return name + ": " + strings.Join(members, ", ")
	}

	return fmt.Sprintf("%s: %s, and %d more", name, strings.Join(members[:membersShown], ", "), len(members)-membersShown)
}

func (r Report) clusterTable(out *bytes.Buffer) error {
	if len(r.Clusters) == 0 {
		return nil
	}

	columns := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)

	var lines strings.Builder

	lines.WriteString("  CLUSTER\tVERDICT\tSCORE\tREASON\n")

	for _, cluster := range r.Clusters {
		score := "-"
		if cluster.Score != nil {
			score = strconv.FormatInt(*cluster.Score, 10)
		}

		fmt.Fprintf(&lines, "  %s\t%s\t%s\t%s\n", cluster.Name, cluster.Verdict, score, oneLine(cluster.Reason))
	}

	if _, err := columns.Write([]byte(lines.String())); err != nil {
		return fmt.Errorf("laying out: %w", err)
	}

	if err := columns.Flush(); err != nil {
		return fmt.Errorf("laying out: %w", err)
	}

	return nil
}

// listsOutOfScope holds when clusters out of scope were asked for; they come last.
func (r Report) listsOutOfScope() bool {
	return len(r.Clusters) > 0 && r.Clusters[len(r.Clusters)-1].Verdict == scheduling.StageScope.String()
}

// oneLine is for a cell of a table, where a line break or a tab would move everything.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}

	return strconv.Itoa(n) + " " + noun + "s"
}
