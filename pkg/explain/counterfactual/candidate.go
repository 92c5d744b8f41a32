// SPDX-License-Identifier: Apache-2.0

package counterfactual

import (
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/placement-hub/placement-hub/pkg/explain"
	"github.com/placement-hub/placement-hub/pkg/explain/whatif"
	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/placement/api"
	"github.com/placement-hub/placement-hub/pkg/scheduling"
)

// KindBinding is the kind of a change that binds another set to the namespace.
const KindBinding = "Binding"

// The kinds of other changes.
const (
	kindLabel       = "Label"
	kindClaim       = "Claim"
	kindToleration  = "Toleration"
	kindTaint       = "Taint"
	kindClusterSets = "ClusterSets"
	kindNumber      = "NumberOfClusters"
	kindPoints      = "Points"
	kindCEL         = "CEL"
)

// candidate is one change that may select the cluster.
type candidate struct {
	kind string
	// target is the changed thing, such as the key of a label: of two candidates with the same target the first that helps is returned.
	target string
	// text is such as "label region were eu" or "14 more points"; the kind decides on its sentence.
	text string
	// cost ranks the change; higher costs are less likely to be acceptable.
	cost int
	// apply returns the changed State; prioritizers are added to the request in it.
	apply        func(*explain.State, time.Time) (*explain.State, error)
	prioritizers []scheduling.Prioritizer
}

// conditional reports whether the text is a condition ("label region were eu"), and not a demand ("14 more points").
func (c candidate) conditional() bool {
	return c.kind == kindLabel || c.kind == kindClaim || c.kind == kindCEL || c.kind == kindTaint
}

func (c candidate) subject() string { return c.kind + " " + c.target }

// addedPointsName names the score of added points. It is not a DNS name, so that no object can have it.
const addedPointsName = "More points"

// addPoints adds points to the score of the cluster, whatever their source. They are the weight of a prioritizer, because scores have
// bounds.
func addPoints(cluster string, points int64) candidate {
	noun := "points"
	if points == 1 {
		noun = "point"
	}
	return candidate{
		kind: kindPoints, text: fmt.Sprintf("%d more %s", points, noun), cost: costUsual + min(int(points/pointsPerStep), costUsual),
		prioritizers: []scheduling.Prioritizer{{Resource: addedPointsName, Score: addedPointsName, Weight: int32(points)}},
		apply: func(state *explain.State, _ time.Time) (*explain.State, error) {
			after := *state
			after.Scores = append(slices.Clone(state.Scores), &clusterv1alpha1.AddOnPlacementScore{
				ObjectMeta: metav1.ObjectMeta{Namespace: cluster, Name: addedPointsName},
				Status: clusterv1alpha1.AddOnPlacementScoreStatus{
					Scores: []clusterv1alpha1.AddOnPlacementScoreItem{{Name: addedPointsName, Value: 1}},
				},
			})
			return &after, nil
		},
	}
}

// addClusterSet adds a set to spec.clusterSets of the Placement.
func addClusterSet(key inventory.Key, set string) candidate {
	return candidate{
		kind: kindClusterSets, target: set, text: fmt.Sprintf("set %s in spec.clusterSets", set), cost: costUnusual,
		apply: changePlacement(key, func(object api.Object) {
			sets := api.SpecOf(object).ClusterSets
			*sets = append(*sets, set)
		}),
	}
}

// dropExpression removes a CEL expression from a predicate, as if it were true.
func dropExpression(key inventory.Key, predicate int, expression string) candidate {
	return candidate{
		kind: kindCEL, target: expression, text: fmt.Sprintf("CEL %s of predicate %d were true", expression, predicate+1), cost: costRare,
		apply: changePlacement(key, func(object api.Object) {
			if placement, is := object.(*clusterv1beta1.Placement); is {
				expressions := &placement.Spec.Predicates[predicate].RequiredClusterSelector.CelSelector.CelExpressions
				*expressions = slices.DeleteFunc(*expressions, func(other string) bool { return other == expression })
			}
		}),
	}
}

func changePlacement(key inventory.Key, change func(api.Object)) func(*explain.State, time.Time) (*explain.State, error) {
	return func(state *explain.State, _ time.Time) (*explain.State, error) {
		return whatif.WithPlacement(state, key, func(object api.Object) error {
			change(object)
			return nil
		})
	}
}
