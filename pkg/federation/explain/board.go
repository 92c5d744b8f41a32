// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"fmt"
	"slices"
	"strings"

	"github.com/placement-hub/placement-hub/pkg/explain/document"
	"github.com/placement-hub/placement-hub/pkg/federation"
)

// NewBoard returns objects × clusters, with what keeps an object back.
func NewBoard(clusters []string, reports []Report) *document.Board {
	b := &document.Board{
		Summary: document.Count(len(clusters), "cluster") + ", " + document.Count(len(reports), "federated object"), Matrix: true,
		Empty: "no federated objects yet", Table: document.Table{Columns: slices.Concat([]string{"NAMESPACE/KIND/NAME"}, clusters)},
	}
	for i := range reports {
		report := &reports[i]
		name := report.Namespace + "/" + strings.ToLower(report.Kind) + "/" + report.Name
		cells := map[string]string{}
		var unsettled []string
		for _, cluster := range report.Clusters {
			cell := clusterCell(cluster)
			cells[cluster.Name] = cell
			if strings.HasPrefix(cell, "waiting") || strings.HasPrefix(cell, "leaving") {
				unsettled = append(unsettled, cluster.Name)
			}
		}
		row := document.NewRow(name)
		for _, cluster := range clusters {
			row.Cells = append(row.Cells, document.Span{Text: document.OrNone(cells[cluster])})
		}
		row.Name, row.Details = name, objectDetails(report)
		if len(unsettled) > 0 {
			row.Unsettled = name + ": not settled in " + strings.Join(unsettled, ", ")
		}
		b.Table.Rows = append(b.Table.Rows, row)
	}
	return b
}

// clusterCell returns the state of the ManifestWork of an object in a cluster, with the replicas of a workload; empty if there is none to be.
func clusterCell(cluster Cluster) string {
	var state string
	switch {
	case cluster.Pending == PendingConflict:
		state = "conflict"
	case cluster.Problem != "":
		state = "failed"
	case cluster.Pending == PendingWithdraw || cluster.Pending == PendingRemove:
		state = "leaving"
	case cluster.Pending == PendingHold:
		state = "held"
	case cluster.Delivered && cluster.Applied == "True" && cluster.Pending == "":
		state = "applied"
	case cluster.Delivered || cluster.Pending != "":
		state = "waiting"
	default:
		return ""
	}
	if cluster.Wanted != nil {
		state += fmt.Sprintf(" (%d)", *cluster.Wanted)
	}
	return state
}

// objectDetails says what keeps an object back, and what its agents report.
func objectDetails(report *Report) []string {
	var details []string
	if report.Message != "" {
		details = append(details, document.Labelled(report.Reason, report.Message))
	}
	if report.RemovalHeld != "" {
		details = append(details, document.Labelled(federation.ReasonRemovalHeld, report.RemovalHeld))
	}
	if report.Replicas != nil && report.Replicas.Unplaced > 0 {
		details = append(details, document.Labelled(federation.ReasonReplicasUnplaced, report.Replicas.UnplacedMessage))
	}
	for _, missing := range report.Missing {
		details = append(details, document.Labelled(federation.ReasonDependenciesMissing,
			fmt.Sprintf("%s %s does not reach %s", missing.Kind, missing.Name, strings.Join(missing.Clusters, ", "))))
	}
	for _, cluster := range report.Clusters {
		if cluster.Problem != "" {
			details = append(details, document.Labelled(cluster.Name, cluster.Problem))
		}
	}
	return details
}
