package story

import (
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	placementv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/placement/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/decision/record"
	"github.com/placement-hub/placement-hub/pkg/explain"
	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/scheduling"
)

// The kinds of changes.
const (
	kindLabel       = "Label"
	kindClaim       = "Claim"
	kindToleration  = "Toleration"
	kindTaint       = "Taint"
	kindBinding     = "Binding"
	kindClusterSets = "ClusterSets"
	kindNumber      = "NumberOfClusters"
	kindPoints      = "Points"
	kindCEL         = "CEL"
)

// proposal is one change that may get the cluster selected.
type proposal struct {
	kind string
	// about is what it changes, such as the key of a label: of two proposals about the same thing the first that helps is told.
	about string
	// text is such as "label region were eu" or "14 more points"; the kind decides how a sentence is made of it.
	text string
	// size is how much it asks for, compared with others.
	size int
	// change makes the changed world; more are prioritizers that are asked for in it too.
	change func(*explain.World, time.Time) (*explain.World, error)
	more   []scheduling.Prioritizer
}

// conditional reports whether the text is a condition ("label region were eu"), and not a need ("14 more points").
func (p proposal) conditional() bool {
	return p.kind == kindLabel || p.kind == kindClaim || p.kind == kindCEL || p.kind == kindTaint
}

func (p proposal) subject() string { return p.kind + " " + p.about }

// bonusName names the scores that stand for more points; no object of this name can exist, as it is no DNS name.
const bonusName = "More points"

// bonus gives the cluster more points than it has, which stand for any way to get them. They are a weight, because scores have bounds.
func bonus(cluster string, points int64) proposal {
	noun := "points"
	if points == 1 {
		noun = "point"
	}

	return proposal{
		kind: kindPoints, text: fmt.Sprintf("%d more %s", points, noun), size: usual + min(int(points/pointsPerStep), usual),
		more: []scheduling.Prioritizer{{Resource: bonusName, Score: bonusName, Weight: int32(points)}},
		change: func(world *explain.World, _ time.Time) (*explain.World, error) {
			after := *world
			after.Scores = append(slices.Clone(world.Scores), &clusterv1alpha1.AddOnPlacementScore{
				ObjectMeta: metav1.ObjectMeta{Namespace: cluster, Name: bonusName},
				Status: clusterv1alpha1.AddOnPlacementScoreStatus{
					Scores: []clusterv1alpha1.AddOnPlacementScoreItem{{Name: bonusName, Value: 1}},
				},
			})

			return &after, nil
		},
	}
}

// asking has the placement name one more of its sets.
func asking(key inventory.PlacementKey, set string) proposal {
	return proposal{
		kind: kindClusterSets, about: set, text: fmt.Sprintf("set %s in spec.clusterSets", set), size: unusual,
		change: changePlacement(key, func(object record.Object) {
			switch placement := object.(type) {
			case *clusterv1beta1.Placement:
				placement.Spec.ClusterSets = append(placement.Spec.ClusterSets, set)
			case *placementv1alpha1.Placement:
				placement.Spec.ClusterSets = append(placement.Spec.ClusterSets, set)
			}
		}),
	}
}

// without has a predicate leave an expression out, as if it were true.
func without(key inventory.PlacementKey, predicate int, expression string) proposal {
	return proposal{
		kind: kindCEL, about: expression, text: fmt.Sprintf("CEL %s of predicate %d were true", expression, predicate+1), size: rare,
		change: changePlacement(key, func(object record.Object) {
			if placement, is := object.(*clusterv1beta1.Placement); is {
				expressions := &placement.Spec.Predicates[predicate].RequiredClusterSelector.CelSelector.CelExpressions
				*expressions = slices.DeleteFunc(*expressions, func(other string) bool { return other == expression })
			}
		}),
	}
}

func changePlacement(key inventory.PlacementKey, change func(record.Object)) func(*explain.World, time.Time) (*explain.World, error) {
	return func(world *explain.World, _ time.Time) (*explain.World, error) {
		after := *world
		after.Placements = slices.Clone(world.Placements)

		for i, object := range after.Placements {
			if object.GetName() != key.Name || record.Read(object).Key() != key {
				continue
			}

			changed, is := object.DeepCopyObject().(record.Object)
			if !is {
				return nil, fmt.Errorf("a copy of Placement %s is none", key)
			}

			change(changed)
			after.Placements[i] = changed
		}

		return &after, nil
	}
}
