// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/placement-hub/placement-hub/pkg/scheduling"
)

var (
	placements = placementGauge(hub+"placements",
		"Placements by their condition PlacementSatisfied and the reason of it. Every placement that was evaluated is in one of them.",
		"satisfied", "reason")

	misconfigured = placementGauge(hub+"misconfigured_placements",
		"Placements with the condition PlacementMisconfigured. They keep their last decisions.")

	stalled = placementGauge(hub+"stalled_placements",
		"Placements that keep their last decisions because their evaluation has no result, or one that must not be written: misconfigured "+
			"ones, those whose cluster set is broken, and those with the condition RemovalHeld.")

	postponed = placementGauge(hub+"postponed_removals",
		"Placements of which clusters would leave the decisions, but stay because the view of the hub could not be proved to be the latest: see "+
			"the condition RemovalPostponed.")

	skipped = placementGauge(hub+"skipped_placements",
		"Placements that are not the hub's to schedule, by reason: disabled by annotation, or deleting.", "reason")

	decisions = placementGauge(hub+"decisions", "Clusters in decisions, over all placements.")

	pages = placementGauge(hub+"decision_pages", "PlacementDecisions that the decisions stand in.")

	clusters = placementGauge(hub+"placement_clusters",
		fmt.Sprintf("Pairs of a placement and a cluster in its scope, by the stage that kept the cluster out (%s), or %s, each as of the last "+
			"evaluation.", joinStages(scheduling.Stages()[1:scheduling.StageCount-1]), scheduling.StageSelected),
		"stage")

	celErrors = placementGauge(hub+"cel_errors",
		"Pairs of a CEL expression of a placement and a cluster on which it cannot be evaluated, so that it counts as not matching.")

	staleScores = placementGauge(hub+"stale_scores",
		"AddOnPlacementScores that are past validUntil, for each placement that reads them. They count as missing scores.")
)

// joinStages joins the names of the stages.
func joinStages(stages []scheduling.Stage) string {
	names := make([]string, 0, len(stages))
	for _, stage := range stages {
		names = append(names, string(stage))
	}
	return strings.Join(names, ", ")
}

// PlacementState is what the gauges count of one Placement. The zero value counts nothing.
type PlacementState struct {
	// Satisfied and Reason are those of the condition PlacementSatisfied; an empty reason means that there is no condition.
	Satisfied bool
	Reason    string
	// Misconfigured reports that the condition PlacementMisconfigured is true, and Stalled that the last decisions are kept.
	Misconfigured, Stalled bool
	// Postponed reports that clusters are kept which would leave the decisions, because the view may be old.
	Postponed bool
	// Skipped is the reason why the Placement is not scheduled; empty if it is. It takes few values, because it is a label.
	Skipped string
	// Decisions is the number of decisions, and Pages the number of PlacementDecisions.
	Decisions, Pages int
	// Stages counts the clusters in scope by the index in scheduling.Stages of the stage that they reached.
	Stages [scheduling.StageCount]int
	// CELErrors is the number of clusters on which an expression failed, and StaleScores that of scores past validUntil.
	CELErrors, StaleScores int
}

// add adds the state to the gauges. It names each gauge without labels, and each stage, so that they are reported if they are 0.
func (s PlacementState) add() {
	if s.Reason != "" {
		placements.WithLabelValues(strconv.FormatBool(s.Satisfied), s.Reason).Inc()
	}
	if s.Skipped != "" {
		skipped.WithLabelValues(s.Skipped).Inc()
	}

	for i, stage := range scheduling.Stages() {
		if stage != scheduling.StageScope { // Clusters out of scope are not counted.
			clusters.WithLabelValues(string(stage)).Add(float64(s.Stages[i]))
		}
	}

	misconfigured.WithLabelValues().Add(oneIf(s.Misconfigured))
	stalled.WithLabelValues().Add(oneIf(s.Stalled))
	postponed.WithLabelValues().Add(oneIf(s.Postponed))
	decisions.WithLabelValues().Add(float64(s.Decisions))
	pages.WithLabelValues().Add(float64(s.Pages))
	celErrors.WithLabelValues().Add(float64(s.CELErrors))
	staleScores.WithLabelValues().Add(float64(s.StaleScores))
}

func oneIf(is bool) float64 {
	if is {
		return 1
	}
	return 0
}

// PlacementStates have the state of each Placement.
type PlacementStates[K comparable] struct{ states[K, PlacementState] }

// NewPlacementStates returns PlacementStates without Placements that do not lead.
func NewPlacementStates[K comparable]() *PlacementStates[K] {
	return &PlacementStates[K]{newStates[K, PlacementState](ofPlacements)}
}

// ofPlacements reports the gauges without labels, and each stage, also if there is no Placement.
var ofPlacements = newCollector(PlacementState{})

// placementGauge declares a gauge of ofPlacements.
func placementGauge(name, help string, labels ...string) *prometheus.GaugeVec {
	return ofPlacements.gauge(name, help, labels...)
}
