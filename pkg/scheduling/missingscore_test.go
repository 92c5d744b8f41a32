// SPDX-License-Identifier: Apache-2.0

package scheduling

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	"pgregory.net/rapid"

	"github.com/placement-hub/placement-hub/pkg/selector"
	"github.com/placement-hub/placement-hub/test/property"
)

// worstScores has missing scores count as the worst ones.
var worstScores = map[string]string{"placement-hub.open-cluster-management.io/missing-score": "worst"}

// newScoredHub has the cluster good with the score 40, bad with -40, expired with one of 90 that has expired a second ago, other without the entry,
// and none without the object.
func newScoredHub() *randomHub {
	score := func(name string, value int32) clusterv1alpha1.AddOnPlacementScoreItem {
		return clusterv1alpha1.AddOnPlacementScoreItem{Name: name, Value: value}
	}
	w := newRandomHub(named("bad"), named("expired"), named("good"), named("none"), named("other"))
	w.inventory.SetScores(scoreOf("good", "demo", &metav1.Time{Time: now}, score("cpu", 40)))
	w.inventory.SetScores(scoreOf("bad", "demo", nil, score("cpu", -40)))
	w.inventory.SetScores(scoreOf("expired", "demo", &metav1.Time{Time: now.Add(-time.Second)}, score("cpu", 90)))
	w.inventory.SetScores(scoreOf("other", "demo", nil, score("memory", 90)))
	return w
}

// docs/spec/differences.md C3: a missing score counts 0, or the fewest points that the weight allows, also for a negative weight.
func TestMissingScores(t *testing.T) {
	for _, tc := range []struct {
		reason      string
		weight      int32
		annotations map[string]string
		order       []string
		totals      map[string]int64
		texts       map[string]string
	}{
		{
			"upstream's rule: missing scores precede negative ones", 2, nil, []string{"good", "expired", "none", "other", "bad"},
			map[string]int64{"good": 80, "expired": 0, "none": 0, "other": 0, "bad": -80}, map[string]string{
				"good": "score 80, rank 1 of 5", "bad": "rank 5 of 5, 4 wanted, 80 points below other",
				"expired": "score 0, rank 2 of 5, its score has expired, counted as 0",
				"none":    "score 0, rank 3 of 5, no score, counted as 0", "other": "score 0, rank 4 of 5, no score, counted as 0",
			},
		},
		{
			"worst: every valid score precedes", 2, worstScores, []string{"good", "bad", "expired", "none", "other"},
			map[string]int64{"good": 80, "bad": -80, "expired": -200, "none": -200, "other": -200}, map[string]string{
				"good": "score 80, rank 1 of 5", "bad": "score -80, rank 2 of 5",
				"expired": "score -200, rank 3 of 5, its score has expired, counted as the worst",
				"none":    "score -200, rank 4 of 5, no score, counted as the worst",
				"other":   "rank 5 of 5, 4 wanted, as many points as none, which comes first by name, no score, counted as the worst",
			},
		},
		{
			"worst: of a weight that prefers low scores, the highest score has the fewest points", -1, worstScores,
			[]string{"bad", "good", "expired", "none", "other"},
			map[string]int64{"bad": 40, "good": -40, "expired": -100, "none": -100, "other": -100}, map[string]string{
				"bad": "score 40, rank 1 of 5", "good": "score -40, rank 2 of 5",
				"expired": "score -100, rank 3 of 5, its score has expired, counted as the worst",
				"none":    "score -100, rank 4 of 5, no score, counted as the worst",
				"other":   "rank 5 of 5, 4 wanted, as many points as none, which comes first by name, no score, counted as the worst",
			},
		},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			placement := placementOf(placementSpec{
				NumberOfClusters: ptr.To[int32](4), PrioritizerPolicy: exact(addOn("demo", "cpu", tc.weight)),
			})
			placement.Annotations = tc.annotations
			result := newScoredHub().scheduleRequest(t, ConvertV1beta1(selector.NewCompiler(), placement))
			totals, texts, order := map[string]int64{}, map[string]string{}, make([]string, len(result.Verdicts()))
			for _, verdict := range result.Verdicts() {
				name := verdict.Cluster.Name
				totals[name], texts[name], order[verdict.Rank-1] = verdict.Score, result.Reason(verdict), name
			}
			expect(t, "order", tc.order, order)
			expect(t, "totals", tc.totals, totals)
			expect(t, "reasons", tc.texts, texts)
		})
	}
}

// docs/spec/differences.md C3: what an explanation says of each prioritizer.
func TestMissingScoreTexts(t *testing.T) {
	for _, tc := range []struct {
		reason      string
		score       string
		annotations map[string]string
		want        map[string]string
	}{
		{"upstream's rule", "cpu", nil, map[string]string{
			"expired": "score expired at 2026-01-02T03:04:04Z, counted as 0", "none": "no score, counted as 0", "other": "no score, counted as 0",
		}},
		{"worst", "cpu", worstScores, map[string]string{
			"expired": "score expired at 2026-01-02T03:04:04Z, counted as -100", "none": "no score, counted as -100",
			"other": "no score, counted as -100",
		}},
		{"an expired object without the entry has no score", "memory", nil, map[string]string{
			"bad": "no score, counted as 0", "expired": "no score, counted as 0", "good": "no score, counted as 0", "none": "no score, counted as 0",
		}},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			placement := placementOf(placementSpec{PrioritizerPolicy: exact(builtIn(Steady, 1), addOn("demo", tc.score, 1))})
			placement.Annotations = tc.annotations
			result := newScoredHub().scheduleRequest(t, ConvertV1beta1(selector.NewCompiler(), placement))
			got := map[string]string{}
			for _, prioritizer := range result.Request.Prioritizers {
				for _, verdict := range result.Verdicts() {
					if missing, is := result.MissingScore(prioritizer, verdict.Cluster); is {
						got[verdict.Cluster.Name] += missing.String()
					}
				}
			}
			expect(t, "texts", tc.want, got)
		})
	}
}

// TestReasonOfExpiredAndAbsentScores checks that a reason names both of a cluster with an expired score of one prioritizer and no score of another.
func TestReasonOfExpiredAndAbsentScores(t *testing.T) {
	result := newScoredHub().schedule(t, placementSpec{PrioritizerPolicy: exact(addOn("demo", "cpu", 1), addOn("demo", "memory", 1))})
	expect(t, "reason", "score 0, rank 3 of 5, its score has expired, no score, counted as 0", result.ReasonOf("expired"))
}

// docs/spec/differences.md C3: a CEL expression sees no expired scores, and the reason says so.
func TestExpiredScoresOfPredicates(t *testing.T) {
	result := newScoredHub().schedule(t, placementSpec{Predicates: anyOf{byCEL(`managedCluster.scores("demo").exists(s, s.value > 0)`)}})
	got := map[string]bool{}
	for _, verdict := range result.Verdicts() {
		got[verdict.Cluster.Name] = result.missingScores(verdict) == scoreExpired
	}
	expect(t, "expired", map[string]bool{"good": false, "bad": false, "expired": true, "other": false, "none": false}, got)
}

// docs/spec/differences.md C3: with the annotation, no valid score of a prioritizer gives fewer points than a missing one, which gives the points of
// some valid score.
func TestNoValidScoreIsWorseThanAMissingOne(t *testing.T) {
	property.Check(t, func(t *rapid.T) {
		weight := rapid.Int32Range(-10, 10).Filter(func(weight int32) bool { return weight != 0 }).Draw(t, "weight")
		value := rapid.Int32Range(minScore, maxScore).Draw(t, "score")
		w := newRandomHub(named("valid"), named("worst"), named("none"))
		w.inventory.SetScores(scoreOf("valid", "demo", nil, clusterv1alpha1.AddOnPlacementScoreItem{Name: "cpu", Value: value}))
		lowest := int32(minScore)
		if weight < 0 {
			lowest = maxScore
		}
		w.inventory.SetScores(scoreOf("worst", "demo", nil, clusterv1alpha1.AddOnPlacementScoreItem{Name: "cpu", Value: lowest}))

		placement := placementOf(placementSpec{PrioritizerPolicy: clusterv1beta1.PrioritizerPolicy{
			Mode: clusterv1beta1.PrioritizerPolicyModeExact, Configurations: []clusterv1beta1.PrioritizerConfig{addOn("demo", "cpu", weight)},
		}})
		placement.Annotations = worstScores
		result := same(t, ConvertV1beta1(selector.NewCompiler(), placement), w.inventory.Snapshot(), nil)
		if result.Score("none") > result.Score("valid") || result.Score("none") != result.Score("worst") {
			t.Fatalf("none has %d, valid %d, worst %d", result.Score("none"), result.Score("valid"), result.Score("worst"))
		}
	})
}
