// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"slices"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/intstr"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/placement-hub/placement-hub/pkg/placement/api"
)

// An unchanged result has an empty plan, and a cluster that was added or removed needs one write.
func TestFewChangesAreOneWrite(t *testing.T) {
	for _, tc := range []struct {
		reason string
		spec   clusterv1beta1.PlacementSpec
	}{
		{"one group", clusterv1beta1.PlacementSpec{}},
		{"several groups", clusterv1beta1.PlacementSpec{DecisionStrategy: byPrefix(intstr.FromInt32(120), "canary")}},
		{"by score", byScore("60s")},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			s := newStore(placementOf(tc.spec))
			clusters := append(fleet(250), "canary-1", "canary-2")
			s.settle(t, s.schedule(shuffled(1, clusters...)))
			for _, change := range []struct {
				reason   string
				clusters []string
				writes   int
			}{
				{"nothing changed", clusters, 0},
				{"one is lost", clusters[1:], 1},
				{"one is gained", append(slices.Clip(clusters), "canary-3"), 1},
				{"one is lost and one gained", append(clusters[1:len(clusters):len(clusters)], "c-000"), 1},
			} {
				plan := s.plan(s.schedule(shuffled(1, change.clusters...)))
				expect(t, change.reason+": writes", change.writes, len(plan.Writes))
				expect(t, change.reason+": deletes", 0, len(plan.Deletes))
			}
		})
	}
}

// An unchanged result has an empty plan without scoreRateLimit, too.
func TestNoChangesAreNoWrite(t *testing.T) {
	s := newStore(placementOf(byScore("0s")))
	clusters := append(fleet(250), "canary-1", "canary-2")
	s.settle(t, s.schedule(shuffled(1, clusters...)))
	plan := s.plan(s.schedule(shuffled(1, clusters...)))
	expect(t, "nothing changed: writes", 0, len(plan.Writes))
}

// A Placement without clusters has one empty page.
func TestNothingSelectedIsOneEmptyPage(t *testing.T) {
	for _, k := range kinds {
		s := newStore(placementOf(clusterv1beta1.PlacementSpec{}))
		if k.byScore {
			s = newStore(placementOf(byScore("60s")))
		}
		none := s.schedule(stateOf())
		s.settle(t, none)
		s.at(30 * time.Second)
		plan := s.plan(none)
		expect(t, k.name+": empty", true, plan.Empty())
		expect(t, k.name+": groups", []api.GroupStatus{{Pages: []string{"p-decision-1"}}}, plan.Groups)
	}
}
