// SPDX-License-Identifier: Apache-2.0

package live

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/explain"
	"github.com/placement-hub/placement-hub/pkg/explain/document"
	"github.com/placement-hub/placement-hub/pkg/explain/federated"
	"github.com/placement-hub/placement-hub/pkg/explain/hubstate"
	"github.com/placement-hub/placement-hub/pkg/federation"
)

// Federated is the Source of a hub with federated objects.
type Federated struct {
	polled

	Client client.Client
}

func (f *Federated) read(ctx context.Context) (*board, error) {
	state, err := hubstate.FederatedFromCluster(ctx, f.Client, "", nil)
	if err != nil {
		return nil, fmt.Errorf("reading what the table shows: %w", err)
	}
	clusters := make([]string, 0, len(state.Clusters))
	for _, cluster := range state.Clusters {
		clusters = append(clusters, cluster.Name)
	}
	slices.Sort(clusters)
	return newFederatedBoard(clusters, state.ReportObjects(explain.ObjectFilter{}, false, time.Now()).Objects), nil
}

// newFederatedBoard returns objects × clusters, with what keeps an object back.
func newFederatedBoard(clusters []string, reports []federated.Report) *board {
	b := &board{
		summary: document.Count(len(clusters), "cluster") + ", " + document.Count(len(reports), "federated object"), matrix: true,
		empty: "no federated objects yet", table: document.Table{Columns: slices.Concat([]string{"NAMESPACE/KIND/NAME"}, clusters)},
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
		b.table.Rows = append(b.table.Rows, row)
	}
	return b
}

// clusterCell returns the state of the ManifestWork of an object in a cluster, with the replicas of a workload; empty if there is none to be.
func clusterCell(cluster federated.Cluster) string {
	var state string
	switch {
	case cluster.Pending == federated.PendingConflict:
		state = "conflict"
	case cluster.Problem != "":
		state = "failed"
	case cluster.Pending == federated.PendingWithdraw || cluster.Pending == federated.PendingRemove:
		state = "leaving"
	case cluster.Pending == federated.PendingHold:
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
func objectDetails(report *federated.Report) []string {
	var details []string
	if report.Message != "" {
		details = append(details, labelled(report.Reason, report.Message))
	}
	if report.RemovalHeld != "" {
		details = append(details, labelled(federation.ReasonRemovalHeld, report.RemovalHeld))
	}
	for _, missing := range report.Missing {
		details = append(details, labelled(federation.ReasonDependenciesMissing,
			fmt.Sprintf("%s %s does not reach %s", missing.Kind, missing.Name, strings.Join(missing.Clusters, ", "))))
	}
	for _, cluster := range report.Clusters {
		if cluster.Problem != "" {
			details = append(details, labelled(cluster.Name, cluster.Problem))
		}
	}
	return details
}
