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

// federatedInterval is the time between two reads of a hub with few federated objects.
const federatedInterval = 500 * time.Millisecond

// noDelivery is the cell of a cluster that is not selected and has no ManifestWork of the object.
const noDelivery = "-"

// Federated is the Source of a hub with federated objects. It reads all objects from the API server twice a second, because it is made for
// the few objects of a sample.
type Federated struct {
	Client client.Client
}

// Changed returns a channel that is closed when it is time to read again.
func (f *Federated) Changed() <-chan struct{} {
	due := make(chan struct{})
	time.AfterFunc(federatedInterval, func() { close(due) })
	return due
}

func (f *Federated) read(ctx context.Context) (content, error) {
	state, err := hubstate.FederatedFromCluster(ctx, f.Client, "", nil)
	if err != nil {
		return nil, fmt.Errorf("reading what the table shows: %w", err)
	}
	clusters := make([]string, 0, len(state.Clusters))
	for _, cluster := range state.Clusters {
		clusters = append(clusters, cluster.Name)
	}
	slices.Sort(clusters)
	return &federatedTable{clusters: clusters, reports: state.ReportObjects(explain.ObjectFilter{}, false, time.Now()).Objects}, nil
}

// federatedTable is objects × clusters.
type federatedTable struct {
	clusters []string // sorted
	reports  []federated.Report
}

func (t *federatedTable) summary() string {
	return document.Count(len(t.clusters), "cluster") + ", " + document.Count(len(t.reports), "federated object")
}

// body renders the objects, with what keeps one of them back below its row.
func (t *federatedTable) body() []string {
	rows := append(make([][]string, 0, 1+len(t.reports)), append([]string{"NAMESPACE/KIND/NAME"}, t.clusters...))
	for _, report := range t.reports {
		rows = append(rows, t.cells(report))
	}
	var lines []string
	for i, line := range aligned(rows) {
		lines = append(lines, line)
		if i > 0 {
			for _, detail := range objectDetails(t.reports[i-1]) {
				lines = append(lines, columnGap+detail)
			}
		}
	}
	if len(t.reports) == 0 {
		lines = append(lines, "no federated objects yet")
	}
	return lines
}

func (t *federatedTable) changes() []change {
	changes := make([]change, 0, len(t.reports))
	for _, report := range t.reports {
		cells := []string{objectTitle(report)}
		for i, cell := range t.cells(report)[1:] {
			if cell != noDelivery {
				cells = append(cells, t.clusters[i]+" "+cell)
			}
		}
		for _, detail := range objectDetails(report) {
			cells = append(cells, "("+detail+")")
		}
		changes = append(changes, change{
			title: objectTitle(report), line: strings.Join(cells, columnGap), unsettled: len(unsettledClusters(report)) > 0,
		})
	}
	return changes
}

func (t *federatedTable) pending() []string {
	var pending []string
	for _, report := range t.reports {
		if clusters := unsettledClusters(report); len(clusters) > 0 {
			pending = append(pending, objectTitle(report)+": not settled in "+strings.Join(clusters, ", "))
		}
	}
	return pending
}

// version is the table itself: whatever it does not show does not count as a change.
func (t *federatedTable) version() string { return strings.Join(t.body(), "\n") }

// objectTitle returns "namespace/kind/name".
func objectTitle(report federated.Report) string {
	return report.Namespace + "/" + strings.ToLower(report.Kind) + "/" + report.Name
}

// cells returns the row of an object.
func (t *federatedTable) cells(report federated.Report) []string {
	cells := append(make([]string, 0, 1+len(t.clusters)), objectTitle(report))
	for _, name := range t.clusters {
		cell := noDelivery
		if at := slices.IndexFunc(report.Clusters, func(c federated.Cluster) bool { return c.Name == name }); at >= 0 {
			cell = clusterCell(report.Clusters[at])
		}
		cells = append(cells, cell)
	}
	return cells
}

// clusterCell returns the state of the ManifestWork of an object in a cluster, with the replicas of a workload.
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
		return noDelivery
	}
	if cluster.Wanted != nil {
		state += fmt.Sprintf(" (%d)", *cluster.Wanted)
	}
	return state
}

// objectDetails says what keeps an object back, and what its agents report.
func objectDetails(report federated.Report) []string {
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

// labelled returns "label: text" in one line; the label may be empty.
func labelled(label, text string) string {
	if label != "" {
		text = label + ": " + text
	}
	return oneLine(text)
}

// unsettledClusters returns the clusters in which something is still to happen.
func unsettledClusters(report federated.Report) []string {
	var names []string
	for _, cluster := range report.Clusters {
		switch cell := clusterCell(cluster); {
		case strings.HasPrefix(cell, "waiting"), strings.HasPrefix(cell, "leaving"):
			names = append(names, cluster.Name)
		}
	}
	return names
}
