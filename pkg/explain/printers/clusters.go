package printers

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"github.com/placement-hub/placement-hub/pkg/explain"
)

// writeClusters writes the table of the clusters of a Report.
func writeClusters(out *bytes.Buffer, r explain.Report, style Style) {
	if len(r.Clusters) == 0 {
		return
	}

	places := map[string]string{}

	for _, group := range r.Groups {
		for _, cluster := range group.Clusters {
			places[cluster] = strings.TrimSpace(strconv.Itoa(int(group.Index)) + " " + group.Name)
		}
	}

	rows := make([][]string, 0, len(r.Clusters)+1)
	rows = append(rows, clusterColumns(r, style))

	for _, cluster := range r.Clusters {
		rows = append(rows, clusterCells(r, cluster, places, style))
	}

	writeTable(out, rows, func(row, column int, text string) string {
		if row > 0 && column == 1 {
			return style.verdict(r.Clusters[row-1].Verdict, text)
		}

		return style.header(row, column, text)
	})
}

func clusterColumns(r explain.Report, style Style) []string {
	columns := []string{"CLUSTER", "VERDICT"}

	if style.Scores {
		columns = append(columns, "RANK")
	}

	columns = append(columns, "SCORE")

	if style.Scores {
		for _, prioritizer := range r.Prioritizers {
			columns = append(columns, fmt.Sprintf("%s x%d", strings.ToUpper(prioritizer.Name), prioritizer.Weight))
		}
	}

	if style.Wide {
		columns = append(columns, "DECIDED", "GROUP")
	}

	return append(columns, "REASON")
}

func clusterCells(r explain.Report, cluster explain.ClusterReport, places map[string]string, style Style) []string {
	score, rank := noValue, noValue
	if cluster.Score != nil {
		score, rank = strconv.FormatInt(*cluster.Score, 10), strconv.Itoa(cluster.Rank)
	}

	cells := []string{cluster.Name, cluster.Verdict}

	if style.Scores {
		cells = append(cells, rank)
	}

	cells = append(cells, score)

	if style.Scores {
		for _, prioritizer := range r.Prioritizers {
			if given, feasible := cluster.Scores[prioritizer.Name]; feasible {
				cells = append(cells, strconv.FormatInt(given, 10))
			} else {
				cells = append(cells, noValue)
			}
		}
	}

	if style.Wide {
		decided, place := "no", noValue
		if cluster.Decided {
			decided = "yes"
		}

		if in, has := places[cluster.Name]; has {
			place = in
		}

		cells = append(cells, decided, place)
	}

	return append(cells, oneLine(cluster.Reason))
}
