package metrics

import (
	"strconv"
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/placement-hub/placement-hub/pkg/scheduling"
)

var (
	placements = gauges(hub+"placements",
		"Placements by their condition PlacementSatisfied and the reason of it. Every placement that was evaluated is in one of them.",
		"satisfied", "reason")

	misconfigured = gauge(hub+"misconfigured_placements", "Placements with the condition PlacementMisconfigured. They keep their last decisions.")

	stalled = gauge(hub+"stalled_placements",
		"Placements that keep their last decisions because their evaluation has no result, or one that must not be written: misconfigured "+
			"ones, those whose cluster set is broken, and those with the condition RemovalHeld.")

	postponed = gauge(hub+"postponed_removals",
		"Placements of which clusters would leave the decisions, but stay because the view of the hub could not be proved to be the latest: see "+
			"the condition RemovalPostponed.")

	skipped = gauges(hub+"skipped_placements",
		"Placements that are not the hub's to schedule, by reason: disabled by annotation, or deleting.", "reason")

	decisions = gauge(hub+"decisions", "Clusters in decisions, over all placements.")

	pages = gauge(hub+"decision_pages", "PlacementDecisions that the decisions stand in.")

	clusters = gauges(hub+"placement_clusters",
		"Pairs of a placement and a cluster in its scope, by the stage that kept the cluster out (Terminating, Predicate, Taint, AntiAffinity, "+
			"Spread, Rank), or Selected, each as of the last evaluation.",
		"stage")

	celErrors = gauge(hub+"cel_errors",
		"Pairs of a CEL expression of a placement and a cluster on which it cannot be evaluated, so that it counts as not matching.")

	staleScores = gauge(hub+"stale_scores",
		"AddOnPlacementScores that are past validUntil, for each placement that reads them. They count 0.")
)

var clustersBy = resolveStages()

func resolveStages() (resolved [scheduling.StageSelected + 1]prometheus.Gauge) {
	for stage := scheduling.StageTerminating; stage <= scheduling.StageSelected; stage++ {
		resolved[stage] = clusters.WithLabelValues(stage.String())
	}

	return resolved
}

// Standing is what the gauges count of one Placement. The zero value counts nothing.
type Standing struct {
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
	// Stages counts the clusters in scope by the stage that they reached.
	Stages [scheduling.StageSelected + 1]int
	// CELErrors is the number of clusters on which an expression failed, and StaleScores that of scores past validUntil.
	CELErrors, StaleScores int
}

// add adds the Standing to the gauges if sign is 1, and subtracts it if sign is -1.
func (s *Standing) add(sign int) {
	factor := float64(sign)

	if s.Reason != "" {
		placements.WithLabelValues(strconv.FormatBool(s.Satisfied), s.Reason).Add(factor)
	}

	if s.Skipped != "" {
		skipped.WithLabelValues(s.Skipped).Add(factor)
	}

	addIf(s.Misconfigured, misconfigured, factor)
	addIf(s.Stalled, stalled, factor)
	addIf(s.Postponed, postponed, factor)
	decisions.Add(factor * float64(s.Decisions))
	pages.Add(factor * float64(s.Pages))
	celErrors.Add(factor * float64(s.CELErrors))
	staleScores.Add(factor * float64(s.StaleScores))

	for stage, of := range clustersBy {
		if of != nil && s.Stages[stage] != 0 {
			of.Add(factor * float64(s.Stages[stage]))
		}
	}
}

func addIf(is bool, of prometheus.Gauge, value float64) {
	if is {
		of.Add(value)
	}
}

// Standings has the Standing of all Placements. The gauges show them while the hub leads: a standby has no current values, and a former
// leader must not go on reporting. It is safe for concurrent use.
type Standings[K comparable] struct {
	mu      sync.Mutex
	known   map[K]Standing
	leading bool
}

// NewStandings returns Standings without any Placement, which do not lead.
func NewStandings[K comparable]() *Standings[K] { return &Standings[K]{known: map[K]Standing{}} }

// Note sets the Standing of a Placement.
func (s *Standings[K]) Note(key K, is Standing) {
	s.mu.Lock()
	defer s.mu.Unlock()

	before, found := s.known[key]
	if found && before == is {
		return
	}

	s.known[key] = is

	if s.leading {
		before.add(-1)
		is.add(1)
	}
}

// Forget drops a deleted Placement.
func (s *Standings[K]) Forget(key K) {
	s.mu.Lock()
	defer s.mu.Unlock()

	before, found := s.known[key]
	if !found {
		return
	}

	delete(s.known, key)

	if s.leading {
		before.add(-1)
	}
}

// Lead begins to report the gauges.
func (s *Standings[K]) Lead() {
	s.mu.Lock()
	defer s.mu.Unlock()

	if s.leading {
		return
	}

	s.leading = true

	for _, is := range s.known {
		is.add(1)
	}
}

// Resign resets the gauges.
func (s *Standings[K]) Resign() {
	s.mu.Lock()
	defer s.mu.Unlock()

	if !s.leading {
		return
	}

	s.leading = false

	for _, is := range s.known {
		is.add(-1)
	}
}
