// SPDX-License-Identifier: Apache-2.0

package document

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

const (
	// RejectedListed is the number of rejected clusters up to which a table lists each of them.
	RejectedListed = 30
	// namesOfCause bounds the clusters that are named for one cause.
	namesOfCause = 3
)

// Rejected is a cluster that is not selected.
type Rejected struct {
	Name, Verdict, Clause string
}

// Groups reports whether a table groups this many rejected clusters by their cause.
func (o Options) Groups(rejected int) bool { return o.Grouped != "" && rejected > RejectedListed }

// Causes adds a row for each cause that rejects clusters: the number of these, the verdict, the first names, and the clause. The causes of the
// most clusters come first, after those of clusters that are held.
func (s *Section) Causes(clusters []Rejected, o Options) {
	if len(clusters) == 0 {
		return
	}
	type cause struct{ verdict, clause string }
	names := map[cause][]string{}
	var causes []cause
	for _, cluster := range clusters {
		of := cause{cluster.Verdict, cluster.Clause}
		if names[of] == nil {
			causes = append(causes, of)
		}
		names[of] = append(names[of], cluster.Name)
	}
	slices.SortStableFunc(causes, func(a, b cause) int {
		if a.verdict != b.verdict && (a.verdict == VerdictHeld || b.verdict == VerdictHeld) {
			return CompareVerdicts(a.verdict, b.verdict)
		}
		return cmp.Or(
			cmp.Compare(len(names[b]), len(names[a])), CompareVerdicts(a.verdict, b.verdict),
			cmp.Compare(a.clause, b.clause),
		)
	})
	s.Linef("not selected: %s, by cause (%s lists them)", Count(len(clusters), "cluster"), o.Grouped)
	table := Table{Columns: []string{"CLUSTERS", "VERDICT", "NAMES", "CAUSE"}}
	for _, of := range causes {
		shown := strings.Join(names[of][:min(namesOfCause, len(names[of]))], ", ")
		if len(names[of]) > namesOfCause {
			shown += ", ..."
		}
		row := NewRow(strconv.Itoa(len(names[of])), OrNone(of.verdict), shown, OrNone(OneLine(of.clause)))
		row.Cells[1].Tone = VerdictTone(of.verdict)
		table.Rows = append(table.Rows, row)
	}
	s.Table(table)
}
