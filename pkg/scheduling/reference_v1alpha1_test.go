// SPDX-License-Identifier: Apache-2.0

package scheduling

import (
	"cmp"
	"fmt"
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	"pgregory.net/rapid"

	placementv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/placement/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/clusterinfo"
	"github.com/placement-hub/placement-hub/pkg/selector"
	"github.com/placement-hub/placement-hub/test/property"
)

// drawOlderSpec draws a v1alpha1 spec that reads some properties of every kind.
func drawOlderSpec(t *rapid.T) olderSpec {
	both := labelled(compare("region", metav1.LabelSelectorOpIn, "eu"))
	both.ClusterName, both.ClaimSelector = "c2", claiming(map[string]string{"id": "1"}).ClaimSelector
	return olderSpec{
		ClusterSets: some(t, "sets", 2, "a", "b", "label", "unknown"), NumberOfClusters: drawWanted(t),
		Predicates: some(t, "predicates", 2, both, placementv1alpha1.ClusterPredicate{ClusterName: "c1"},
			placementv1alpha1.ClusterPredicate{ClusterName: "c3"}, labelled(compare("zone", metav1.LabelSelectorOpNotIn, "x")),
			labelled(compare("region", metav1.LabelSelectorOpIn, "us")), claiming(map[string]string{"id": "2"}),
			claiming(nil, compare("id", metav1.LabelSelectorOpDoesNotExist))),
		AntiAffinity: rapid.SampledFrom([]placementv1alpha1.AntiAffinity{
			{}, {TopologyKey: "zone", TopologyKeyType: "Label"}, {TopologyKey: "id", TopologyKeyType: "Claim"},
		}).Draw(t, "anti-affinity"),
	}
}

// docs/spec/placement-v1alpha1.md P2 to P11, applied literally to the objects.
func TestOlderPlacementsAgainstTheRules(t *testing.T) {
	compiler := selector.NewCompiler()
	property.Check(t, func(t *rapid.T) {
		w := newRandomHub()
		clusters, incumbents, decisions := []*clusterv1.ManagedCluster{}, map[string]bool{}, map[string]int{}
		for n := range rapid.IntRange(0, 7).Draw(t, "clusters") {
			cluster := drawCluster(t, fmt.Sprintf("c%d", n))
			clusters = append(clusters, cluster)
			w.inventory.SetCluster(cluster)
			if rapid.Bool().Draw(t, "incumbent") {
				incumbents[cluster.Name] = true
			}
			decisions[cluster.Name] = rapid.IntRange(0, 3).Draw(t, "decisions")
			for i := range decisions[cluster.Name] {
				w.inventory.SetDecision(pageOf("elsewhere", fmt.Sprint(cluster.Name, "-", i), "q", cluster.Name))
			}
		}

		bound := map[string]bool{}
		for _, set := range []string{"a", "b"} {
			if bound[set] = rapid.Bool().Draw(t, "bound"); bound[set] {
				w.inventory.SetBinding(bindingOf("ns", set))
			}
			w.inventory.SetClusterSet(setOf(set, "", nil))
		}
		w.inventory.DeleteBinding("ns", "all")

		spec := drawOlderSpec(t)
		ranked := rankByRules(t, spec, bound, clusters, incumbents, decisions)
		result := Schedule(ConvertV1alpha1(compiler, olderPlacementOf(spec)), w.inventory.Snapshot(), incumbents, now)

		want := []string{}
		for _, rank := range takenByRules(spec, ranked) {
			want = append(want, ranked[rank-1].Cluster.Name)
		}
		if got := selected(result); !slices.Equal(want, got) {
			t.Fatalf("selected are %v, by the rules %v, of %d feasible ones", got, want, len(ranked))
		}

		missing := 0
		if spec.NumberOfClusters != nil {
			missing = int(*spec.NumberOfClusters) - len(want)
		}
		if result.Unscheduled != missing || result.Feasible() != len(ranked) {
			t.Fatalf("%d unscheduled and %d feasible, by the rules %d and %d", result.Unscheduled, result.Feasible(), missing, len(ranked))
		}
	})
}

// rankByRules sorts the feasible clusters by PreferNoSelect taints, by Balance and Steady, and by name.
func rankByRules(t *rapid.T, spec olderSpec, bound map[string]bool, clusters []*clusterv1.ManagedCluster, incumbents map[string]bool,
	decisions map[string]int,
) []Verdict {
	ranked, most := []Verdict{}, 0
	for _, count := range decisions {
		most = max(most, count)
	}

	for _, cluster := range clusters {
		set := cluster.Labels["cluster.open-cluster-management.io/clusterset"]
		asked := len(spec.ClusterSets) == 0 || slices.Contains(spec.ClusterSets, set)
		verdict := Verdict{Cluster: clusterinfo.New(cluster, nil)}
		fits := bound[set] && asked && cluster.DeletionTimestamp == nil && fitsByRules(t, spec.Predicates, cluster)

		for _, taint := range cluster.Spec.Taints {
			switch {
			case taint.Effect == prefer:
				verdict.Avoid++
			case taint.Effect == noSelect, !incumbents[cluster.Name]:
				fits = false
			}
		}

		verdict.Score = 100
		if count := decisions[cluster.Name]; count > 0 {
			verdict.Score = int64(100*(most-2*count)/(2*most)) * 2
		}
		if incumbents[cluster.Name] {
			verdict.Score += 100
		}
		if fits {
			ranked = append(ranked, verdict)
		}
	}

	slices.SortFunc(ranked, func(a, b Verdict) int {
		return cmp.Or(cmp.Compare(a.Avoid, b.Avoid), cmp.Compare(b.Score, a.Score), cmp.Compare(a.Cluster.Name, b.Cluster.Name))
	})
	for i := range ranked {
		ranked[i].Rank = i + 1
	}
	return ranked
}

// fitsByRules matches labels and claims with the label selectors of Kubernetes.
func fitsByRules(t *rapid.T, predicates oneOf, cluster *clusterv1.ManagedCluster) bool {
	claims := map[string]string{}
	for _, claim := range cluster.Status.ClusterClaims {
		claims[claim.Name] = claim.Value
	}

	matches := func(s metav1.LabelSelector, values map[string]string) bool {
		matcher, err := metav1.LabelSelectorAsSelector(&s)
		if err != nil {
			t.Fatal(err)
		}
		return matcher.Matches(labels.Set(values))
	}
	return len(predicates) == 0 || slices.ContainsFunc(predicates, func(p placementv1alpha1.ClusterPredicate) bool {
		return matches(p.LabelSelector, cluster.Labels) && (p.ClusterName == "" || p.ClusterName == cluster.Name) &&
			matches(metav1.LabelSelector{MatchLabels: p.ClaimSelector.MatchClaims, MatchExpressions: p.ClaimSelector.MatchExpressions}, claims)
	})
}

// takenByRules returns the ranks of the largest and best selection.
func takenByRules(spec olderSpec, ranked []Verdict) []int {
	switch spec.AntiAffinity.TopologyKeyType {
	case placementv1alpha1.TopologyKeyTypeLabel:
		return bestApart(ranked, clusterinfo.Property{Kind: clusterinfo.Label, Name: spec.AntiAffinity.TopologyKey}, spec.NumberOfClusters)
	case placementv1alpha1.TopologyKeyTypeClaim:
		return bestApart(ranked, clusterinfo.Property{Kind: clusterinfo.Claim, Name: spec.AntiAffinity.TopologyKey}, spec.NumberOfClusters)
	default: // Every cluster has its own name.
		return bestApart(ranked, clusterinfo.Property{Kind: clusterinfo.Name}, spec.NumberOfClusters)
	}
}
