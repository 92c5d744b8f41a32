// SPDX-License-Identifier: Apache-2.0

package counterfactual

import (
	"cmp"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/placement-hub/placement-hub/pkg/clusterinfo"
	"github.com/placement-hub/placement-hub/pkg/explain"
	"github.com/placement-hub/placement-hub/pkg/explain/whatif"
	"github.com/placement-hub/placement-hub/pkg/scheduling"
	"github.com/placement-hub/placement-hub/pkg/selector"
)

const (
	// noPredicate is the index for clauses that belong to no predicate.
	noPredicate = -1
	// maxFailingClauses is how many clauses may fail for candidates to be proposed: the largest set of changes.
	maxFailingClauses = 2
	// maxValues bounds the values that are tried for one key.
	maxValues = 5
	// anyValue is tried where any value matches and no feasible cluster has one.
	anyValue = "true"
)

// newCandidate returns the candidate of a change of package whatif.
func (s *clusterSearch) newCandidate(kind, about string, size int, text string, change whatif.Change) candidate {
	return candidate{kind: kind, target: about, cost: size, text: text, apply: func(state *explain.State, now time.Time) (*explain.State, error) {
		return change.Apply(state, now)
	}}
}

func (s *clusterSearch) evalContext() *selector.EvalContext { return &selector.EvalContext{Now: s.now} }

func failing(clauses []selector.Clause) []selector.Clause {
	return slices.DeleteFunc(clauses, func(clause selector.Clause) bool { return clause.Matches })
}

// satisfyClauses returns candidates that satisfy the first failing clause. The second one is left to the next change.
func (s *clusterSearch) satisfyClauses(
	result *scheduling.Result, info *clusterinfo.ClusterInfo, failing []selector.Clause, predicate int,
) []candidate {
	if len(failing) == 0 || len(failing) > maxFailingClauses {
		return nil
	}
	clause := failing[0]
	if clause.Expression != "" {
		return s.satisfyExpression(result, info, clause, predicate)
	}
	if clause.Key.Kind != clusterinfo.Label && clause.Key.Kind != clusterinfo.Claim {
		return nil // Other properties cannot be changed.
	}

	switch clause.Operator {
	case metav1.LabelSelectorOpIn:
		return s.setValues(info, clause.Key, clause.Values)
	case metav1.LabelSelectorOpExists:
		return s.setValues(info, clause.Key, append(commonValues(result, clause.Key), anyValue))
	case selector.OpGreaterThan, selector.OpLessThan:
		return s.setValues(info, clause.Key, beyond(clause))
	default:
		return []candidate{s.unsetValue(clause.Key)}
	}
}

// beyond returns the number nearest to the bound of a comparison that satisfies it; nothing if there is no such label value.
func beyond(clause selector.Clause) []string {
	bound, err := strconv.ParseInt(clause.Values[0], 10, 64)
	switch {
	case err != nil:
		return nil
	case clause.Operator == selector.OpGreaterThan && bound < math.MaxInt64:
		return []string{strconv.FormatInt(bound+1, 10)}
	case clause.Operator == selector.OpLessThan && bound > 0:
		return []string{strconv.FormatInt(bound-1, 10)}
	default:
		return nil
	}
}

// literal matches a string in a CEL expression.
var literal = regexp.MustCompile(`"([^"\\]*)"|'([^'\\]*)'`)

// satisfyExpression tries, for the labels that an expression reads, the strings in it and the values of feasible clusters. The last
// candidate is that the expression were true.
func (s *clusterSearch) satisfyExpression(
	result *scheduling.Result, info *clusterinfo.ClusterInfo, clause selector.Clause, predicate int,
) []candidate {
	texts := make([]string, 0, maxValues)
	for _, match := range literal.FindAllStringSubmatch(clause.Expression, maxValues) {
		texts = append(texts, match[1]+match[2])
	}
	var candidates []candidate

	for _, key := range clause.Reads {
		if key.Kind != clusterinfo.Label || key.Name == "" {
			continue
		}
		values := slices.DeleteFunc(append(commonValues(result, key), texts...), func(value string) bool { return value == key.Name })
		candidates = append(candidates, s.setValues(info, key, values)...)
		candidates = append(candidates, s.unsetValue(key))
	}
	return append(candidates, dropExpression(s.key, predicate, clause.Expression))
}

// setValues returns candidates that give the cluster one of the values.
func (s *clusterSearch) setValues(info *clusterinfo.ClusterInfo, key clusterinfo.Property, values []string) []candidate {
	present, has := info.Value(key)
	known := map[string]bool{}
	var candidates []candidate
	for _, value := range values {
		if known[value] || has && value == present || len(candidates) == maxValues {
			continue
		}
		known[value] = true
		candidates = append(candidates, s.setValue(key, value))
	}
	return candidates
}

// setValue gives the cluster a label or claim, and unsetValue removes it.
func (s *clusterSearch) setValue(key clusterinfo.Property, value string) candidate {
	text := key.String() + " were " + value
	if value == "" {
		text = key.String() + " were empty"
	}
	if key.Kind == clusterinfo.Claim {
		return s.newCandidate(kindClaim, key.Name, costUsual, text, whatif.Claim{Cluster: s.cluster, Name: key.Name, Value: value})
	}
	return s.newCandidate(kindLabel, key.Name, costUsual, text, whatif.Label{Cluster: s.cluster, Key: key.Name, Value: value})
}

func (s *clusterSearch) unsetValue(key clusterinfo.Property) candidate {
	if key.Kind == clusterinfo.Claim {
		return s.newCandidate(kindClaim, key.Name, costUsual, key.String()+" were not set", whatif.Unclaim{Cluster: s.cluster, Name: key.Name})
	}
	return s.newCandidate(kindLabel, key.Name, costUsual, key.String()+" were not set", whatif.Unlabel{Cluster: s.cluster, Key: key.Name})
}

// commonValues returns the values of feasible clusters, those of the most clusters first, at most maxValues.
func commonValues(result *scheduling.Result, key clusterinfo.Property) []string {
	counts := map[string]int{}
	for info := range result.Scores() {
		if value, has := info.Value(key); has {
			counts[value]++
		}
	}
	values := slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b))
	})
	return values[:min(len(values), maxValues)]
}
