// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/utils/ptr"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
)

// docs/spec/differences.md D2: the condition is there when there are constraints, and names the domains when they are not as asked.
func TestSpreadCondition(t *testing.T) {
	over := func(key string, action clusterv1beta1.UnsatisfiableMaxSkewAction) clusterv1beta1.SpreadPolicy {
		return clusterv1beta1.SpreadPolicy{SpreadConstraints: []clusterv1beta1.SpreadConstraintsTerm{{
			TopologyKey: key, TopologyKeyType: clusterv1beta1.TopologyKeyTypeLabel, MaxSkew: 1, WhenUnsatisfiable: action,
		}}}
	}
	for _, tc := range []struct {
		reason string
		spec   clusterv1beta1.PlacementSpec
		want   []string
	}{
		{"no constraint, no condition", clusterv1beta1.PlacementSpec{}, nil},
		{"an empty policy is none", clusterv1beta1.PlacementSpec{SpreadPolicy: clusterv1beta1.SpreadPolicy{}}, nil},
		{"as asked", clusterv1beta1.PlacementSpec{NumberOfClusters: ptr.To[int32](2), SpreadPolicy: over("prefix", clusterv1beta1.ScheduleAnyway)},
			[]string{"PlacementSpreadSatisfied=True Spread: The clusters are spread as asked"}},
		{"a hard constraint is kept", clusterv1beta1.PlacementSpec{SpreadPolicy: over("prefix", clusterv1beta1.DoNotSchedule)},
			[]string{"PlacementSpreadSatisfied=True Spread: The clusters are spread as asked"}},
		{"a wish is not", clusterv1beta1.PlacementSpec{SpreadPolicy: over("prefix", clusterv1beta1.ScheduleAnyway)}, []string{
			"PlacementSpreadSatisfied=False SkewExceeded: label prefix: c has 3 and x has 1 selected clusters, which is more than the 1 allowed " +
				"between them",
		}},
		{"nobody has the key", clusterv1beta1.PlacementSpec{SpreadPolicy: over("zone", clusterv1beta1.ScheduleAnyway)},
			[]string{"PlacementSpreadSatisfied=False DomainsMissing: no feasible cluster has the label zone"}},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			placement := placementOf(tc.spec)
			result := resultOf(placement, stateOf("c-1", "c-2", "c-3", "x-1"))
			put(placement, statusOf(result, planOf(result, existingOf(placement)), placement))
			var got []string
			for _, condition := range placement.Status.Conditions[2:] {
				got = append(got, brief(condition))
			}
			expect(t, "conditions after the first two", tc.want, got)

			if len(tc.want) == 0 {
				return
			}

			// A mistake keeps what was said with the decisions; without constraints nothing is left of it.
			placement.Spec.NumberOfClusters = ptr.To[int32](-1)
			held := resultOf(placement, stateOf("c-1"))
			kept := statusOf(held, planOf(held, existingOf(placement)), placement)
			expect(t, "while misconfigured", tc.want[0], brief(kept.Conditions[2]))
			placement.Spec = clusterv1beta1.PlacementSpec{}
			free := resultOf(placement, stateOf("c-1"))
			after := statusOf(free, planOf(free, existingOf(placement)), placement)
			if meta.FindStatusCondition(after.Conditions, ConditionSpreadSatisfied) != nil {
				t.Error("the condition stays without a constraint")
			}
		})
	}
}
