// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"fmt"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
)

const (
	// Concerned is how many placements select by the label Concern, all of them in namespaces that see every cluster.
	Concerned = 20
	// ConcernedPrefix begins their names.
	ConcernedPrefix = "concerned-"
	// Concerning is how many clusters have that label at the start.
	Concerning = 40
	// SteeredCluster is the cluster of which scenarios change the label: it has no taint.
	SteeredCluster = 45
)

// kind is one sort of placement in the mix.
type kind struct {
	name string
	// broad, narrow and large are how many of 1,000 placements are of the kind in a broad fleet, in a narrow one, where each selects few clusters,
	// and in a large one.
	broad, narrow, large int
	spec                 func(s Size, i int) clusterv1beta1.PlacementSpec
}

func kinds() []kind {
	return []kind{
		{"all", 57, 1, 0, func(Size, int) clusterv1beta1.PlacementSpec { return clusterv1beta1.PlacementSpec{} }},
		{"region", 423, 0, 0, byRegion},
		{"tier", 60, 1, 0, byTier},
		{"tolerant", 60, 1, 0, tolerant},
		{"groups", 60, 1, 0, groups},
		{"cell", 60, 395, 398, byCell},
		{"claim", 60, 290, 291, bySlot},
		{"cel", 60, 90, 90, byExpression},
		{"best", 60, 100, 100, best},
		{"resources", 40, 50, 50, byResources},
		{"score", 30, 36, 36, byScore},
		{"spread", 30, 35, 35, spread},
	}
}

// Balanced reports whether the decisions of a placement depend on those of the other placements when it is evaluated.
func Balanced(placement *clusterv1beta1.Placement) bool {
	return placement.Spec.NumberOfClusters != nil && placement.Spec.PrioritizerPolicy.Mode != clusterv1beta1.PrioritizerPolicyModeExact
}

// Placement is a placement, counted from 0. The first Concerned ones are those that the label Concern concerns.
func (s Size) Placement(i int) *clusterv1beta1.Placement {
	if i < Concerned {
		return s.named(i*4%s.Namespaces(), fmt.Sprintf("%s%02d", ConcernedPrefix, i), byLabel(Concern, "yes"))
	}
	if s.selectsAll(i) {
		return s.named(i, fmt.Sprintf("all-%05d", i), clusterv1beta1.PlacementSpec{})
	}
	draw := i * 617 % 1000 // 617 and 1000 have no common divisor, so the kinds come in turns.
	for _, kind := range kinds() {
		if draw -= s.weight(kind); draw < 0 {
			return s.named(i, fmt.Sprintf("%s-%05d", kind.name, i), kind.spec(s, i))
		}
	}
	panic("the weights of the kinds do not add up to 1000")
}

// weight is how many of 1,000 placements are of a kind.
func (s Size) weight(of kind) int {
	switch {
	case s.Large():
		return of.large
	case s.narrow():
		return of.narrow
	}
	return of.broad
}

// selectsAll reports whether a placement selects every cluster beside the kinds: in a large fleet two do, and make half of all decisions.
func (s Size) selectsAll(i int) bool { return s.Large() && (i == Concerned || i == Concerned+4) }

// Further is a placement beside those of the fleet, of a few clusters, for scenarios that create one.
func (s Size) Further(i int) *clusterv1beta1.Placement {
	return s.named(i*4, fmt.Sprintf("further-%03d", i), byCell(s, 3*i))
}

func (s Size) named(namespace int, name string, spec clusterv1beta1.PlacementSpec) *clusterv1beta1.Placement {
	return &clusterv1beta1.Placement{ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace(namespace), Name: name}, Spec: spec}
}

// cells is how many cells, and slots, there are.
func (s Size) cells() int { return (s.Clusters + together - 1) / together }

func where(labels map[string]string, claims []metav1.LabelSelectorRequirement, expressions ...string) clusterv1beta1.PlacementSpec {
	return clusterv1beta1.PlacementSpec{Predicates: []clusterv1beta1.ClusterPredicate{{
		RequiredClusterSelector: clusterv1beta1.ClusterSelector{
			LabelSelector: metav1.LabelSelector{MatchLabels: labels}, ClaimSelector: clusterv1beta1.ClusterClaimSelector{MatchExpressions: claims},
			CelSelector: clusterv1beta1.ClusterCelSelector{CelExpressions: expressions},
		},
	}}}
}

func byLabel(key, value string) clusterv1beta1.PlacementSpec {
	return where(map[string]string{key: value}, nil)
}

func byRegion(_ Size, i int) clusterv1beta1.PlacementSpec { return byLabel("region", region(i)) }

func byTier(_ Size, i int) clusterv1beta1.PlacementSpec {
	return where(map[string]string{Tier: tier(i), "env": "prod"}, nil)
}

func byCell(s Size, i int) clusterv1beta1.PlacementSpec {
	return byLabel("cell", "cell-"+strconv.Itoa(i%s.cells()))
}

func bySlot(s Size, i int) clusterv1beta1.PlacementSpec {
	return where(nil, []metav1.LabelSelectorRequirement{
		{Key: "slot.example.com", Operator: metav1.LabelSelectorOpIn, Values: []string{"slot-" + strconv.Itoa(i%s.cells())}},
	})
}

func byExpression(s Size, i int) clusterv1beta1.PlacementSpec {
	return where(nil, nil,
		fmt.Sprintf(`managedCluster.metadata.labels["cell"] in ["cell-%d", "cell-%d"]`, i%s.cells(), (i+1)%s.cells()),
		`managedCluster.status.clusterClaims.exists(c, c.name == "schedulable.open-cluster-management.io" && c.value == "true")`)
}

func tolerant(_ Size, i int) clusterv1beta1.PlacementSpec {
	spec := byLabel("region", region(i))
	spec.Tolerations = []clusterv1beta1.Toleration{{Key: "gpu", Operator: clusterv1beta1.TolerationOpEqual, Value: "true"}}
	return spec
}

func groups(_ Size, i int) clusterv1beta1.PlacementSpec {
	spec := byLabel("region", region(i))
	canaries := clusterv1beta1.GroupClusterSelector{LabelSelector: metav1.LabelSelector{MatchLabels: map[string]string{Tier: "3"}}}
	spec.DecisionStrategy.GroupStrategy = clusterv1beta1.GroupStrategy{
		ClustersPerDecisionGroup: intstr.FromString("50%"),
		DecisionGroups:           []clusterv1beta1.DecisionGroup{{GroupName: "canary", ClusterSelector: canaries}},
	}
	return spec
}

func best(_ Size, i int) clusterv1beta1.PlacementSpec {
	spec := byLabel("env", []string{"dev", "stage", "prod"}[i%3])
	spec.NumberOfClusters = ptr.To(int32(5 + i%16))
	return spec
}

// exactly ranks by these alone, so that what others have does not matter.
func exactly(n int, coordinates ...clusterv1beta1.ScoreCoordinate) clusterv1beta1.PlacementSpec {
	policy := clusterv1beta1.PrioritizerPolicy{Mode: clusterv1beta1.PrioritizerPolicyModeExact}
	for i, coordinate := range coordinates {
		policy.Configurations = append(policy.Configurations, clusterv1beta1.PrioritizerConfig{
			ScoreCoordinate: &coordinate, Weight: int32(len(coordinates) - i),
		})
	}
	return clusterv1beta1.PlacementSpec{NumberOfClusters: ptr.To(int32(n)), PrioritizerPolicy: policy}
}

func builtIn(name string) clusterv1beta1.ScoreCoordinate {
	return clusterv1beta1.ScoreCoordinate{Type: clusterv1beta1.ScoreCoordinateTypeBuiltIn, BuiltIn: name}
}

func byResources(_ Size, i int) clusterv1beta1.PlacementSpec {
	return exactly(4+i%7, builtIn("ResourceAllocatableCPU"), builtIn("ResourceAllocatableMemory"))
}

func byScore(_ Size, i int) clusterv1beta1.PlacementSpec {
	return exactly(3+i%5, clusterv1beta1.ScoreCoordinate{
		Type: clusterv1beta1.ScoreCoordinateTypeAddOn, AddOn: &clusterv1beta1.AddOnScore{ResourceName: scoreObject, ScoreName: scoreEntry},
	}, builtIn("ResourceAllocatableCPU"))
}

func spread(_ Size, i int) clusterv1beta1.PlacementSpec {
	spec := exactly(6+i%13, builtIn("ResourceAllocatableMemory"))
	spec.SpreadPolicy.SpreadConstraints = []clusterv1beta1.SpreadConstraintsTerm{{
		TopologyKey: "region", TopologyKeyType: clusterv1beta1.TopologyKeyTypeLabel, MaxSkew: 1,
		WhenUnsatisfiable: clusterv1beta1.ScheduleAnyway,
	}}
	return spec
}
