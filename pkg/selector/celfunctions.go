// SPDX-License-Identifier: Apache-2.0

package selector

import (
	"encoding/json"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/checker"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
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
	const scoreCost, scoreBytes = 16, 512
	cluster.meter.charge(uint64(len(set.Names)) * scoreCost)
	cluster.meter.grow(uint64(len(set.Names)) * scoreBytes)
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

// costs estimates the cost of an expression when it is compiled.
var costs = &library.CostEstimator{SizeEstimator: unknownSizes{}}

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
