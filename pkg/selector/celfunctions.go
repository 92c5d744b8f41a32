package selector

import (
	"encoding/json"
	"math"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/checker"
	"github.com/google/cel-go/common"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	"k8s.io/apiserver/pkg/cel/library"
)

const (
	scoresName    = "scores"
	parseJSONName = "parseJSON"
)

// scoresFunction declares managedCluster.scores("<AddOnPlacementScore name>"), which returns a list of {name, value}. It fails if the
// object does not exist; if it has expired the list is empty, and the evaluation is requeued when an object that was read expires
// (docs/spec/differences.md C2).
func scoresFunction() cel.EnvOption {
	return cel.Function(scoresName, cel.MemberOverload("cluster_scores",
		[]*cel.Type{cel.DynType, cel.StringType}, cel.ListType(cel.DynType), cel.BinaryBinding(scores)))
}

func scores(target, name ref.Val) ref.Val {
	cluster, ok := target.(*clusterValue)
	if !ok {
		return types.NewErr("scores() is a function of %s", clusterVariable)
	}

	resource, ok := name.Value().(string)
	if !ok {
		return types.MaybeNoSuchOverloadErr(name)
	}

	set, found := cluster.info.Scores[resource]
	if !found {
		return types.NewErr("AddOnPlacementScore %q of cluster %s does not exist", resource, cluster.info.Name)
	}

	cluster.evaluation.RequeueAfterExpiry(set.ValidUntil)

	items := make([]ref.Val, 0, len(set.Names))

	if !set.Expired(cluster.evaluation.Now) {
		for _, item := range set.Names {
			items = append(items, types.NewStringInterfaceMap(types.DefaultTypeAdapter, map[string]any{
				"name": item, "value": set.Values[item],
			}))
		}
	}

	return types.NewRefValList(types.DefaultTypeAdapter, items)
}

// parseJSONFunction declares "<string>".parseJSON(), which returns the parsed value or an evaluation error.
func parseJSONFunction() cel.EnvOption {
	return cel.Function(parseJSONName, cel.MemberOverload("parse_json_string",
		[]*cel.Type{cel.StringType}, cel.DynType, cel.UnaryBinding(parseJSON)))
}

func parseJSON(text ref.Val) ref.Val {
	source, ok := text.Value().(string)
	if !ok {
		return types.MaybeNoSuchOverloadErr(text)
	}

	var parsed any
	if err := json.Unmarshal([]byte(source), &parsed); err != nil {
		return types.NewErr("failed to parse json: %v", err)
	}

	return types.DefaultTypeAdapter.NativeToValue(parsed)
}

// costModel returns the costs of scores() and parseJSON(), and those of the Kubernetes libraries for all other functions.
type costModel struct {
	library.CostEstimator
}

var costs = &costModel{CostEstimator: library.CostEstimator{SizeEstimator: unknownSizes{}}}

// CallCost returns the cost of a call that was made.
func (m *costModel) CallCost(function, overload string, args []ref.Val, result ref.Val) *uint64 {
	switch function {
	case scoresName:
		cost := uint64(common.ListCreateBaseCost)
		if list, ok := result.(traits.Lister); ok {
			cost += length(list) * (common.SelectAndIdentCost + common.MapCreateBaseCost)
		}

		return &cost
	case parseJSONName:
		cost := valueCost(result)
		if len(args) > 0 {
			if text, ok := args[0].(traits.Sizer); ok {
				cost += uint64(math.Ceil(float64(length(text)) * common.StringTraversalCostFactor))
			}
		}

		return &cost
	default:
		return m.CostEstimator.CallCost(function, overload, args, result)
	}
}

func length(value traits.Sizer) uint64 {
	if size, ok := value.Size().Value().(int64); ok && size > 0 {
		return uint64(size)
	}

	return 0
}

// valueCost returns the cost of creating a value with all its elements.
func valueCost(value ref.Val) uint64 {
	switch v := value.(type) {
	case traits.Mapper:
		cost := uint64(common.MapCreateBaseCost)

		for it := v.Iterator(); it.HasNext() == types.True; {
			cost += valueCost(v.Get(it.Next()))
		}

		return cost
	case traits.Lister:
		cost := uint64(common.ListCreateBaseCost)

		for it := v.Iterator(); it.HasNext() == types.True; {
			cost += valueCost(it.Next())
		}

		return cost
	default:
		return common.ConstCost
	}
}

// unknownSizes estimates nothing, because the object is dynamic.
type unknownSizes struct{}

// EstimateSize returns nil: the size is unknown.
func (unknownSizes) EstimateSize(checker.AstNode) *checker.SizeEstimate { return nil }

// EstimateCallCost returns nil: the cost is unknown.
//
//nolint:gocritic // The interface of cel-go.
func (unknownSizes) EstimateCallCost(string, string, *checker.AstNode, []checker.AstNode) *checker.CallEstimate {
	return nil
}
