// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"fmt"
	"slices"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	"pgregory.net/rapid"

	"github.com/placement-hub/placement-hub/pkg/clusterinfo"
	"github.com/placement-hub/placement-hub/pkg/limits"
	"github.com/placement-hub/placement-hub/pkg/scheduling"
	"github.com/placement-hub/placement-hub/pkg/selector"
	"github.com/placement-hub/placement-hub/test/property"
)

type requirement = metav1.LabelSelectorRequirement

// TestMatchRulesIsFirstMatch checks that each cluster gets the first rule whose selector matches it.
func TestMatchRulesIsFirstMatch(t *testing.T) {
	compiler := selector.NewCompiler()
	property.Check(t, func(t *rapid.T) {
		drawRequirement := rapid.Custom(func(t *rapid.T) requirement {
			r := requirement{Key: rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "key")}
			r.Operator = rapid.SampledFrom([]metav1.LabelSelectorOperator{
				metav1.LabelSelectorOpIn, metav1.LabelSelectorOpNotIn, metav1.LabelSelectorOpExists, metav1.LabelSelectorOpDoesNotExist,
			}).Draw(t, "operator")
			if r.Operator == metav1.LabelSelectorOpIn || r.Operator == metav1.LabelSelectorOpNotIn {
				r.Values = rapid.SliceOfN(rapid.SampledFrom([]string{"", "x", "y"}), 1, 3).Draw(t, "values")
			}
			return r
		})

		var rules []scheduling.GroupRule
		for range rapid.IntRange(1, 4).Draw(t, "rules") {
			compiled, errs := compiler.Compile(selector.Paths{}, selector.Spec{
				Labels: metav1.LabelSelector{MatchExpressions: rapid.SliceOfN(drawRequirement, 0, 3).Draw(t, "labels")},
				Claims: rapid.SliceOfN(drawRequirement, 0, 2).Draw(t, "claims"),
			})
			if err := errs.ToAggregate(); err != nil {
				t.Fatal(err)
			}
			rules = append(rules, scheduling.GroupRule{Selector: compiled})
		}

		clusters := make([]*clusterinfo.ClusterInfo, 0, 70)
		want := make([]int32, 0, cap(clusters))
		values := rapid.MapOfN(rapid.SampledFrom([]string{"a", "b", "c", "d", "e"}), rapid.SampledFrom([]string{"", "x", "y"}), 0, 5)
		for n := range rapid.IntRange(0, cap(clusters)).Draw(t, "clusters") {
			cluster := &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("c%d", n), Labels: values.Draw(t, "labels")}}
			for name, value := range values.Draw(t, "claims") {
				cluster.Status.ClusterClaims = append(cluster.Status.ClusterClaims, clusterv1.ManagedClusterClaim{Name: name, Value: value})
			}
			f := clusterinfo.New(cluster, nil)
			clusters = append(clusters, f)

			first := slices.IndexFunc(rules, func(rule scheduling.GroupRule) bool { return rule.Selector.Matches(f, &selector.EvalContext{}) })
			if first < 0 {
				first = len(rules)
			}
			want = append(want, int32(first))
		}

		if diff := cmp.Diff(want, matchRules(rules, clusters)); diff != "" {
			t.Fatalf("rules (-first match +got):\n%s", diff)
		}
	})
}

// BenchmarkMatchRules measures two rules by the value of one label, and the largest rules within the limits, on 10,000 clusters.
func BenchmarkMatchRules(b *testing.B) {
	clusters := make([]*clusterinfo.ClusterInfo, 0, 10_000)
	for n := range cap(clusters) {
		clusters = append(clusters, clusterinfo.New(&clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{
			Name: fmt.Sprintf("c%d", n), Labels: map[string]string{"group": strconv.Itoa(n % 3), "region": "eu", "team": strconv.Itoa(n % 500)},
		}}, nil))
	}

	group := func(n, requirements int) scheduling.GroupRule {
		expressions := make([]requirement, 0, requirements)
		for m := range requirements - 1 {
			expressions = append(expressions, requirement{Key: fmt.Sprintf("k-%d-%d", n, m), Operator: metav1.LabelSelectorOpDoesNotExist})
		}
		expressions = append(expressions, requirement{Key: "group", Operator: metav1.LabelSelectorOpIn, Values: []string{strconv.Itoa(n)}})
		compiled, errs := selector.NewCompiler().Compile(selector.Paths{}, selector.Spec{Labels: metav1.LabelSelector{MatchExpressions: expressions}})
		if err := errs.ToAggregate(); err != nil {
			b.Fatal(err)
		}
		return scheduling.GroupRule{Selector: compiled}
	}

	for name, size := range map[string][2]int{"few": {2, 1}, "largest": {limits.DecisionGroups.Max, limits.Requirements.Max}} {
		var rules []scheduling.GroupRule
		for n := range size[0] {
			rules = append(rules, group(n+1, size[1]))
		}
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				matchRules(rules, clusters)
			}
		})
	}
}
