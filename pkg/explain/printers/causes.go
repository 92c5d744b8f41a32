// SPDX-License-Identifier: Apache-2.0

package printers

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/placement-hub/placement-hub/pkg/scheduling"
)

const (
	// rejectedListed is the number of rejected clusters up to which a table lists each of them.
	rejectedListed = 30
	// namesOfCause bounds the clusters that are named for one cause.
	namesOfCause = 3
)

// rejected is a cluster that is not selected.
type rejected struct {
	name, verdict, clause string
}

// groupedCause is a cause, with the clusters that it rejected.
type groupedCause struct {
	verdict, clause string
	clusters        []string
}

// groups reports whether a table groups this many rejected clusters by their cause.
func (s Style) groups(rejected int) bool { return s.Grouped != "" && rejected > rejectedListed }

// groupCauses groups clusters by verdict and clause, those of the most clusters first.
func groupCauses(clusters []rejected) []*groupedCause {
	type key struct{ verdict, clause string }

	known := map[key]*groupedCause{}

	var causes []*groupedCause

	for _, cluster := range clusters {
		of := key{cluster.verdict, cluster.clause}
		if known[of] == nil {
			known[of] = &groupedCause{verdict: cluster.verdict, clause: cluster.clause}
			causes = append(causes, known[of])
		}

		known[of].clusters = append(known[of].clusters, cluster.name)
	}

	slices.SortStableFunc(causes, func(a, b *groupedCause) int {
		return cmp.Or(
			cmp.Compare(len(b.clusters), len(a.clusters)), scheduling.Stage(b.verdict).Compare(scheduling.Stage(a.verdict)),
			cmp.Compare(a.clause, b.clause),
		)
	})

	return causes
}

// writeGroupedCauses writes a line for each cause: the number of its clusters, the verdict, the first names, and the clause.
func writeGroupedCauses(out *bytes.Buffer, clusters []rejected, style Style) {
	fmt.Fprintf(out, "  not selected: %s, by cause (%s lists them)\n", Count(len(clusters), "cluster"), style.Grouped)

	causes := groupCauses(clusters)
	rows := make([][]string, 0, 1+len(causes))
	rows = append(rows, []string{"CLUSTERS", "VERDICT", "NAMES", "CAUSE"})

	for _, cause := range causes {
		names := strings.Join(cause.clusters[:min(namesOfCause, len(cause.clusters))], ", ")
		if len(cause.clusters) > namesOfCause {
			names += ", ..."
		}

		rows = append(rows, []string{
			strconv.Itoa(len(cause.clusters)), cmp.Or(cause.verdict, noValue), names, cmp.Or(oneLine(cause.clause), noValue),
		})
	}

	style.writeTable(out, rows, func(row, column int, text string) string {
		if row > 0 && column == 1 {
			return style.verdict(causes[row-1].verdict, text)
		}

		return style.header(row, column, text)
	})
}
