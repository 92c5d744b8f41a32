// SPDX-License-Identifier: Apache-2.0

package federation

import (
	"fmt"
	"slices"
	"strings"

	"github.com/placement-hub/placement-hub/pkg/removalbudget"
)

// What keeps a cluster from further replicas, in the order in which notes name them.
const (
	limitedByMaximum      = "maxReplicas"
	limitedByWeight       = "weight 0"
	limitedByPreferences  = "missing preference"
	limitedByAvailability = "unavailability"
)

// limitOf returns what keeps a cluster from more than its planned replicas; empty if it would have taken more.
func (p *Preferences) limitOf(cluster ReplicaCluster, planned int32) string {
	preference, found := p.of(cluster.Name)
	least := preference.MinReplicas
	if !cluster.Available {
		least = cluster.Planned
	}
	switch {
	case !found:
		return limitedByPreferences
	case preference.MaxReplicas != nil && planned == *preference.MaxReplicas:
		return limitedByMaximum
	case planned < least:
		return ""
	case !cluster.Available:
		return limitedByAvailability
	case preference.Weight == 0:
		return limitedByWeight
	default:
		return ""
	}
}

// planReplicas sets the replicas of the selected clusters, and what keeps each from more.
func (e *Evaluation) planReplicas(preferences Preferences, clusters []ReplicaCluster) {
	e.Replicas = PlanReplicas(e.Object.Key(), e.Object.Body.Replicas, preferences, clusters)
	e.replicaLimits = make(map[string]string, len(clusters))
	for _, cluster := range clusters {
		e.replicaLimits[cluster.Name] = preferences.limitOf(cluster, e.Replicas[cluster.Name])
	}
}

// Unplaced returns how many replicas none of the selected clusters gets, and why: "9 of 15 replicas have no cluster: maxReplicas of c1, c2". It
// returns 0 if no cluster is selected (docs/spec/federated-selector.md 3.1.6).
func (e *Evaluation) Unplaced() (replicas int32, note string) {
	if len(e.Replicas) == 0 {
		return 0, ""
	}
	replicas = e.Object.Body.Replicas
	for _, planned := range e.Replicas {
		replicas -= planned
	}
	if replicas <= 0 {
		return 0, ""
	}

	var causes []string
	for _, limit := range []string{limitedByMaximum, limitedByWeight, limitedByPreferences, limitedByAvailability} {
		limited := slices.DeleteFunc(slices.Clone(e.Selected), func(cluster string) bool { return e.replicaLimits[cluster] != limit })
		if len(limited) > 0 {
			causes = append(causes, limit+" of "+removalbudget.Name(limited))
		}
	}
	have := "have"
	if replicas == 1 {
		have = "has"
	}
	return replicas, fmt.Sprintf("%d of %d replicas %s no cluster: %s; change the preferences, or select more clusters",
		replicas, e.Object.Body.Replicas, have, strings.Join(causes, "; "))
}

// WhyNoReplicas returns why a selected cluster of a workload gets no replicas; empty for the others.
func (e *Evaluation) WhyNoReplicas(cluster string) string {
	planned, found := e.Replicas[cluster]
	switch total := e.Object.Body.Replicas; {
	case !found || planned > 0:
		return ""
	case total == 0:
		return "0 replicas: the object has none"
	case e.replicaLimits[cluster] != "":
		return "0 replicas: " + e.replicaLimits[cluster]
	default:
		return fmt.Sprintf("0 replicas: the others get all %d", total)
	}
}
