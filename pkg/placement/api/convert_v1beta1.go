// SPDX-License-Identifier: Apache-2.0

package api

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/scheduling"
	"github.com/placement-hub/placement-hub/pkg/selector"
)

// convertV1beta1 converts a cluster.open-cluster-management.io/v1beta1 Placement to a Request. It validates the Placement completely,
// whether or not there is a cluster (docs/spec/differences.md A6), and collects all errors in Errors; beyond the limits it checks no more
// (docs/spec/differences.md C2a).
func convertV1beta1(compiler *selector.Compiler, placement *clusterv1beta1.Placement) *scheduling.Request {
	c := conversion{compiler: compiler, request: &scheduling.Request{
		Key:         inventory.NewPlacementKey(inventory.V1beta1, placement.Namespace, placement.Name),
		ClusterSets: slices.Clone(placement.Spec.ClusterSets),
		Wanted:      placement.Spec.NumberOfClusters,
	}}
	spec := field.NewPath("spec")
	c.name(placement.Name)
	c.wanted(spec.Child("numberOfClusters"), placement.Spec.NumberOfClusters)

	if tooMany := exceededV1beta1(&placement.Spec); len(tooMany) > 0 {
		c.addErrors(tooMany...)
		return c.request
	}

	c.request.Tolerations = placement.Spec.Tolerations
	c.predicates(spec.Child("predicates"), placement.Spec.Predicates)
	c.prioritizers(spec.Child("prioritizerPolicy"), placement.Spec.PrioritizerPolicy)
	c.tolerations(spec.Child("tolerations"), placement.Spec.Tolerations)
	c.spread(spec.Child("spreadPolicy", "spreadConstraints"), placement.Spec.SpreadPolicy.SpreadConstraints)
	c.groups(spec.Child("decisionStrategy", "groupStrategy"), placement.Spec.DecisionStrategy.GroupStrategy)
	c.order(spec.Child("sortBy"), placement.Spec.SortBy)
	c.scoreInterval(spec.Child("scoreRateLimit"), placement.Spec.ScoreRateLimit)
	return c.request
}

func (c *conversion) predicates(path *field.Path, predicates []clusterv1beta1.ClusterPredicate) {
	for i, predicate := range predicates {
		at := path.Index(i).Child("requiredClusterSelector")
		required := predicate.RequiredClusterSelector
		c.predicate(selector.Paths{
			Labels: at.Child("labelSelector"),
			Claims: at.Child("claimSelector", "matchExpressions"),
			CEL:    at.Child("celSelector", "celExpressions"),
		}, selector.Spec{
			Labels: required.LabelSelector,
			Claims: required.ClaimSelector.MatchExpressions,
			CEL:    required.CelSelector.CelExpressions,
		})
	}
}

// prioritizers resolves the weights: the defaults of the mode first, then the configurations. Of two configurations with the same
// coordinate the last one applies (docs/spec/differences.md C4), and weight 0 disables a prioritizer even if its coordinate is invalid.
func (c *conversion) prioritizers(path *field.Path, policy clusterv1beta1.PrioritizerPolicy) {
	var chosen []scheduling.Prioritizer
	switch policy.Mode {
	case "", clusterv1beta1.PrioritizerPolicyModeAdditive:
		chosen = scheduling.DefaultPrioritizers()
	case clusterv1beta1.PrioritizerPolicyModeExact:
	default:
		c.addErrors(field.NotSupported(path.Child("mode"), policy.Mode, []clusterv1beta1.PrioritizerPolicyModeType{
			clusterv1beta1.PrioritizerPolicyModeAdditive, clusterv1beta1.PrioritizerPolicyModeExact,
		}))
	}

	for i, configuration := range policy.Configurations {
		prioritizer, err := coordinate(path.Child("configurations").Index(i).Child("scoreCoordinate"), configuration.ScoreCoordinate)
		if err != nil {
			if configuration.ScoreCoordinate == nil || configuration.Weight != 0 {
				c.addErrors(err)
			}
			continue
		}
		prioritizer.Weight = configuration.Weight

		known := slices.IndexFunc(chosen, func(other scheduling.Prioritizer) bool { return sameCoordinate(prioritizer, other) })
		if known < 0 {
			chosen = append(chosen, prioritizer)
		} else {
			chosen[known] = prioritizer
		}
	}

	c.request.Prioritizers = slices.DeleteFunc(chosen, func(p scheduling.Prioritizer) bool { return p.Weight == 0 })
}

// sameCoordinate reports whether two prioritizers differ at most in their weights.
func sameCoordinate(a, b scheduling.Prioritizer) bool {
	a.Weight = b.Weight
	return a == b
}

func coordinate(path *field.Path, c *clusterv1beta1.ScoreCoordinate) (scheduling.Prioritizer, *field.Error) {
	switch {
	case c == nil:
		return scheduling.Prioritizer{}, field.Required(path, "scoreCoordinate field is required")
	case c.Type == clusterv1beta1.ScoreCoordinateTypeBuiltIn && !slices.Contains(scheduling.BuiltIns(), c.BuiltIn):
		return scheduling.Prioritizer{}, field.NotSupported(path.Child("builtIn"), c.BuiltIn, scheduling.BuiltIns())
	case c.Type == clusterv1beta1.ScoreCoordinateTypeBuiltIn:
		return scheduling.Prioritizer{BuiltIn: c.BuiltIn}, nil
	case c.AddOn == nil:
		return scheduling.Prioritizer{}, field.Required(path.Child("addOn"), "addOn should not be empty when type is AddOn")
	default:
		return scheduling.Prioritizer{Resource: c.AddOn.ResourceName, Score: c.AddOn.ScoreName}, nil
	}
}

func (c *conversion) tolerations(path *field.Path, tolerations []clusterv1beta1.Toleration) {
	for i, toleration := range tolerations {
		at := path.Index(i)
		if toleration.Key == "" && toleration.Operator != clusterv1beta1.TolerationOpExists {
			c.addErrors(field.Invalid(at.Child("operator"), toleration.Operator, "If the key is empty, operator must be Exists."))
		}
		if toleration.Operator == clusterv1beta1.TolerationOpExists && toleration.Value != "" {
			c.addErrors(field.Invalid(at.Child("value"), toleration.Value, "If the operator is Exists, the value should be empty."))
		}
	}
}

func (c *conversion) spread(path *field.Path, terms []clusterv1beta1.SpreadConstraintsTerm) {
	for i, term := range terms {
		at := path.Index(i)
		constraint := scheduling.SpreadConstraint{
			Key: c.topologyKey(at, term.TopologyKey, string(term.TopologyKeyType)), MaxSkew: max(int(term.MaxSkew), 1),
		}
		if term.MaxSkew < 0 {
			c.addErrors(field.Invalid(at.Child("maxSkew"), term.MaxSkew, "must be 1 or more"))
		}

		switch term.WhenUnsatisfiable {
		case clusterv1beta1.DoNotSchedule:
			constraint.Hard = true
		case "", clusterv1beta1.ScheduleAnyway:
		default:
			c.addErrors(field.NotSupported(at.Child("whenUnsatisfiable"), term.WhenUnsatisfiable,
				[]clusterv1beta1.UnsatisfiableMaxSkewAction{clusterv1beta1.DoNotSchedule, clusterv1beta1.ScheduleAnyway}))
		}
		c.request.Spread = append(c.request.Spread, constraint)
	}
}

func (c *conversion) groups(path *field.Path, strategy clusterv1beta1.GroupStrategy) {
	for i, group := range strategy.DecisionGroups {
		at := path.Child("decisionGroups").Index(i).Child("groupClusterSelector")
		compiled, errs := c.compiler.Compile(selector.Paths{
			Labels: at.Child("labelSelector"), Claims: at.Child("claimSelector", "matchExpressions"),
		}, selector.Spec{
			Labels: group.ClusterSelector.LabelSelector, Claims: group.ClusterSelector.ClaimSelector.MatchExpressions,
		})
		c.addErrors(errs...)
		if compiled != nil {
			c.request.Groups = append(c.request.Groups, scheduling.GroupRule{Name: group.GroupName, Selector: compiled})
		}
	}

	length, err := groupLength(strategy.ClustersPerDecisionGroup)
	if err != nil {
		c.addErrors(field.Invalid(path.Child("clustersPerDecisionGroup"), strategy.ClustersPerDecisionGroup.String(), err.Error()))
	}
	c.request.GroupLength = length
}

// groupLength parses a number, a quoted number or a percentage; 0 and the empty string mean no limit (docs/spec/differences.md A2).
func groupLength(value intstr.IntOrString) (scheduling.GroupLength, error) {
	if value.String() == "" {
		return scheduling.GroupLength{}, nil
	}
	text, percent := strings.CutSuffix(value.String(), "%")

	number, err := strconv.ParseInt(text, 10, 32)
	if err != nil {
		return scheduling.GroupLength{}, fmt.Errorf("must be a number of clusters or a percentage such as 25%%: %w", err)
	}
	if percent {
		return scheduling.GroupLength{Percent: int(number)}, nil
	}
	return scheduling.GroupLength{Clusters: int(number)}, nil
}

func (c *conversion) order(path *field.Path, by clusterv1beta1.PlacementSortByType) {
	switch by {
	case "", clusterv1beta1.PlacementSortByClusterName:
		c.request.Order = scheduling.ByName
	case clusterv1beta1.PlacementSortByScore:
		c.request.Order = scheduling.ByScore
	default:
		c.addErrors(field.NotSupported(path, by, []clusterv1beta1.PlacementSortByType{
			clusterv1beta1.PlacementSortByClusterName, clusterv1beta1.PlacementSortByScore,
		}))
	}
}

// defaultScoreInterval is the default of spec.scoreRateLimit.
const defaultScoreInterval = time.Minute

func (c *conversion) scoreInterval(path *field.Path, limit string) {
	if limit == "" {
		c.request.ScoreInterval = defaultScoreInterval
		return
	}
	interval, err := parseInterval(limit)
	if err != nil {
		c.addErrors(field.Invalid(path, limit, err.Error()))
	}
	c.request.ScoreInterval = interval
}

// intervalUnits are the units of spec.scoreRateLimit, whose form is ^[0-9]+[hms]$.
var intervalUnits = map[byte]time.Duration{'h': time.Hour, 'm': time.Minute, 's': time.Second}

// parseInterval is stricter than time.ParseDuration, which accepts signs, fractions and sums. The text must not be empty.
func parseInterval(text string) (time.Duration, error) {
	last := len(text) - 1
	unit := intervalUnits[text[last]]

	number, err := strconv.ParseUint(text[:last], 10, 64)
	switch {
	case unit == 0 || errors.Is(err, strconv.ErrSyntax):
		return 0, errors.New("must be a whole number of seconds, minutes or hours, such as 30s, 1m or 2h")
	case err != nil || number > uint64(math.MaxInt64/unit):
		return 0, fmt.Errorf("must be no more than %d%c, which is 292 years", math.MaxInt64/unit, text[last])
	default:
		return time.Duration(number) * unit, nil
	}
}
