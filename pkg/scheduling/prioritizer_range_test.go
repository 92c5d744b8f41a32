// SPDX-License-Identifier: Apache-2.0

package scheduling

import (
	"fmt"
	"math"
	"math/big"
	"regexp"
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	"pgregory.net/rapid"

	"github.com/placement-hub/placement-hub/pkg/selector"
	"github.com/placement-hub/placement-hub/test/property"
)

// reporting returns a cluster that reports an amount of both resources.
func reporting(name string, amount resource.Quantity) *clusterv1.ManagedCluster {
	cluster := named(name, "zone", name)
	cluster.Status.Allocatable = clusterv1.ResourceList{"cpu": amount, "memory": amount}
	cluster.Status.Capacity = cluster.Status.Allocatable
	return cluster
}

// every returns a policy with all prioritizers at one weight.
func every(weight int32) clusterv1beta1.PrioritizerPolicy {
	configurations := []clusterv1beta1.PrioritizerConfig{addOn("demo", "load", weight)}
	for _, name := range BuiltIns() {
		configurations = append(configurations, builtIn(name, weight))
	}
	return exact(configurations...)
}

// checkRanges checks the scores of clusters with these amounts, and an AddOnPlacementScore each.
func checkRanges(t interface {
	Helper()
	Errorf(format string, args ...any)
}, amounts []resource.Quantity, addOnScore, weight int32,
) {
	t.Helper()
	w := newRandomHub()
	for n, amount := range amounts {
		name := fmt.Sprintf("c%d", n)
		w.inventory.SetCluster(reporting(name, amount))
		w.inventory.SetScores(scoreOf(name, "demo", nil, clusterv1alpha1.AddOnPlacementScoreItem{Name: "load", Value: addOnScore}))
		w.inventory.SetDecision(pageOf("ns", "q-decision-1", "q", "c0", name))
	}

	request := ConvertV1beta1(selector.NewCompiler(), placementOf(placementSpec{
		PrioritizerPolicy: every(weight), SpreadPolicy: clusterv1beta1.SpreadPolicy{SpreadConstraints: []clusterv1beta1.SpreadConstraintsTerm{
			softly(clusterv1beta1.TopologyKeyTypeLabel, "zone"),
		}},
	}))
	result := Schedule(request, w.inventory.SnapshotFor(request.Key), map[string]bool{"c0": true}, now)
	for _, prioritizer := range result.Prioritizers() {
		for cluster, score := range prioritizer.Scores {
			if score < minScore || score > maxScore {
				t.Errorf("%s gives %d to %s, want -100 to 100", prioritizer.Prioritizer.Name(), score, cluster)
			}
		}
	}

	bound := int64(maxScore) * int64(len(request.Prioritizers)) * max(int64(weight), -int64(weight))
	for f, total := range result.Scores() {
		if total < -bound || total > bound {
			t.Errorf("%s has %d in all, want up to %d", f.Name, total, bound)
		}
	}
}

// C2: amounts that no cluster has get the lowest score, and leave the scores of the other clusters unmoved. The bound depends on the resource.
func TestAmountsBeyondAllBounds(t *testing.T) {
	both := []string{ResourceAllocatableCPU, ResourceAllocatableMemory}
	cpu, memory := both[:1], both[1:]
	for _, tc := range []struct {
		reason  string
		names   []string
		amounts [3]string
		want    map[string]int64
	}{
		{"infinite as a float", both, [3]string{"1e400", "0", "0"}, map[string]int64{"c0": -100, "c1": 100, "c2": 100}},
		{"the others keep their order and their scores", both, [3]string{"1e400", "64", "32"},
			map[string]int64{"c0": -100, "c1": 100, "c2": -100}},
		{"two that are beyond all bounds", both, [3]string{"1e400", "1e300", "0"}, map[string]int64{"c0": -100, "c1": -100, "c2": 100}},
		{"in both directions", both, [3]string{"1e400", "-1e400", "0"}, map[string]int64{"c0": -100, "c1": -100, "c2": 100}},
		{"all of them", both, [3]string{"1e400", "1e2147483647", "9e999"}, map[string]int64{"c0": -100, "c1": -100, "c2": -100}},
		{"capped by the type itself", both, [3]string{"16Ei", "1e400", "4Ei"}, map[string]int64{"c0": -100, "c1": -100, "c2": -100}},
		{"the most that counts of CPU", both, [3]string{"1e9", "0", "5e8"}, map[string]int64{"c0": 100, "c1": -100, "c2": 0}},
		{"more cores than any cluster has", cpu, [3]string{"1000000001", "0", "5e8"}, map[string]int64{"c0": -100, "c1": -100, "c2": 100}},
		{"as many bytes of memory", memory, [3]string{"1000000001", "0", "5e8"}, map[string]int64{"c0": 100, "c1": -100, "c2": 0}},
		{"the most that counts of memory", memory, [3]string{"9007199254740992", "0", "4Pi"}, map[string]int64{"c0": 100, "c1": -100, "c2": 0}},
		{"more memory than any cluster has", memory, [3]string{"9007199254740994", "0", "4Pi"},
			map[string]int64{"c0": -100, "c1": -100, "c2": 100}},
		{"the least there is", both, [3]string{"1e-400", "0", "2n"}, map[string]int64{"c0": 0, "c1": -100, "c2": 100}},
	} {
		for _, name := range tc.names {
			t.Run(tc.reason+"/"+name, func(t *testing.T) {
				w := newRandomHub()
				for n, amount := range tc.amounts {
					w.inventory.SetCluster(reporting(fmt.Sprintf("c%d", n), resource.MustParse(amount)))
				}
				scores, _ := only(t, w, builtIn(name, 1))
				expect(t, "scores", tc.want, scores)
			})
		}
	}
}

// docs/spec/upstream-placement.md 1.8: for amounts that upstream can distinguish, the score is the exact value of the formula, truncated
// toward zero.
func TestAllocatableIsTheFormula(t *testing.T) {
	property.Check(t, func(t *rapid.T) {
		amounts := rapid.SliceOfN(rapid.Int64Range(0, 1<<40), 1, 6).Draw(t, "amounts")
		scaled := make([]float64, len(amounts))
		for i, amount := range amounts {
			scaled[i] = resource.NewQuantity(amount, resource.BinarySI).AsApproximateFloat64()
		}
		lowest, highest := amounts[0], amounts[0]
		for _, amount := range amounts {
			lowest, highest = min(lowest, amount), max(highest, amount)
		}

		for i, score := range normalize(scaled) {
			want := int64(maxScore)
			if highest > lowest {
				want = int64(math.Trunc(((scaled[i]-float64(lowest))/float64(highest-lowest) - 0.5) * 200))
				exactly, _ := new(big.Rat).Sub(big.NewRat(200*(amounts[i]-lowest), highest-lowest), big.NewRat(100, 1)).Float64()
				if difference := math.Abs(float64(score) - exactly); difference > 1+1e-9 {
					t.Fatalf("%d is %v from the exact score %v", score, difference, exactly)
				}
			}

			if score != want {
				t.Fatalf("amount %d of %d to %d has %d, want %d", amounts[i], lowest, highest, score, want)
			}
		}
	})
}

// quantities draws amounts as agents may report them, with every suffix and with exponents beyond those of a float.
func quantities() *rapid.Generator[resource.Quantity] {
	return rapid.Custom(func(t *rapid.T) resource.Quantity {
		text := rapid.StringMatching(
			`-?[0-9]{1,25}(\.[0-9]{1,12})?(n|u|m|k|M|G|T|P|E|Ki|Mi|Gi|Ti|Pi|Ei|e-?[0-9]{1,3}|)`).Draw(t, "quantity")
		quantity, err := resource.ParseQuantity(text)
		if err != nil {
			t.Skip(text, err)
		}
		return quantity
	})
}

// Scores and totals are in their ranges for all quantities, AddOn scores and weights, even those that the CRDs reject.
func TestScoresStayInTheirRanges(t *testing.T) {
	property.Check(t, func(t *rapid.T) {
		weight := rapid.Int32Range(-10, 10)
		if rapid.IntRange(0, 4).Draw(t, "beyond the CRD") == 0 {
			weight = rapid.Int32()
		}
		checkRanges(t, rapid.SliceOfN(quantities(), 1, 5).Draw(t, "amounts"), rapid.Int32().Draw(t, "score"), weight.Draw(t, "weight"))
	})
}

// FuzzScores checks the same for arbitrary quantities.
func FuzzScores(f *testing.F) {
	for _, amount := range []string{"1e400", "-1e400", "1e-400", "0", "-0", "1E", "1000000Ei", "1500m", "9e999", "-9223372036854775808"} {
		f.Add(amount, "16Gi", int32(100), int32(10))
		f.Add("1e308", amount, int32(math.MinInt32), int32(-10))
	}
	slow := regexp.MustCompile(`[eE][+-]?\d{4}`) // ParseQuantity itself takes minutes for some of these, such as 1e4217483647.

	f.Fuzz(func(t *testing.T, first, second string, score, weight int32) {
		if slow.MatchString(first) || slow.MatchString(second) {
			return
		}
		one, err := resource.ParseQuantity(first)
		other, otherErr := resource.ParseQuantity(second)
		if err == nil && otherErr == nil {
			checkRanges(t, []resource.Quantity{one, other, resource.MustParse("8")}, score, weight)
		}
	})
}
