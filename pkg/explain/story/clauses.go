package story

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/placement-hub/placement-hub/pkg/clusterinfo"
	"github.com/placement-hub/placement-hub/pkg/explain"
	"github.com/placement-hub/placement-hub/pkg/explain/overlay"
	"github.com/placement-hub/placement-hub/pkg/scheduling"
	"github.com/placement-hub/placement-hub/pkg/selector"
)

const (
	// noPredicate is for clauses that are of no predicate.
	noPredicate = -1
	// together is how many clauses may fail for anything to be proposed: no more than changes that are told together.
	together = 2
	// examples is how many values of one key are tried.
	examples = 5
	// anyValue is tried where any value will do and no cluster shows one.
	anyValue = "true"
)

// overlay is a proposal that a change of the world carries out.
func (s *search) overlay(kind, about string, size int, text string, change overlay.Change) proposal {
	return proposal{kind: kind, about: about, size: size, text: text, change: func(world *explain.World, now time.Time) (*explain.World, error) {
		return change.Apply(world, now)
	}}
}

func (s *search) pass() *selector.EvalContext { return &selector.EvalContext{Now: s.now} }

func failing(clauses []selector.Clause) []selector.Clause {
	return slices.DeleteFunc(clauses, func(clause selector.Clause) bool { return clause.Matches })
}

// towards lets the first of failing clauses hold. The others are left to the next change.
func (s *search) towards(result *scheduling.Result, f *clusterinfo.ClusterInfo, failing []selector.Clause, predicate int) []proposal {
	if len(failing) == 0 || len(failing) > together {
		return nil
	}

	clause := failing[0]
	if clause.Expression != "" {
		return s.towardsExpression(result, f, clause, predicate)
	}

	if clause.Key.Kind != clusterinfo.Label && clause.Key.Kind != clusterinfo.Claim {
		return nil // Nothing gets another name.
	}

	switch clause.Operator {
	case metav1.LabelSelectorOpIn:
		return s.values(f, clause.Key, clause.Values)
	case metav1.LabelSelectorOpExists:
		return s.values(f, clause.Key, append(seen(result, clause.Key), anyValue))
	default:
		return []proposal{s.lacking(clause.Key)}
	}
}

// literal is a text in a CEL expression.
var literal = regexp.MustCompile(`"([^"\\]*)"|'([^'\\]*)'`)

// towardsExpression tries, for the labels that an expression reads, the texts in it and the values that feasible clusters have. What helps
// beyond that is that the expression were true.
func (s *search) towardsExpression(result *scheduling.Result, f *clusterinfo.ClusterInfo, clause selector.Clause, predicate int) []proposal {
	texts := make([]string, 0, examples)

	for _, match := range literal.FindAllStringSubmatch(clause.Expression, examples) {
		texts = append(texts, match[1]+match[2])
	}

	var proposals []proposal

	for _, key := range clause.Reads {
		if key.Kind != clusterinfo.Label || key.Name == "" {
			continue
		}

		values := slices.DeleteFunc(append(seen(result, key), texts...), func(value string) bool { return value == key.Name })
		proposals = append(proposals, s.values(f, key, values)...)
		proposals = append(proposals, s.lacking(key))
	}

	return append(proposals, without(s.key, predicate, clause.Expression))
}

// values are proposals that the cluster had one of some values.
func (s *search) values(f *clusterinfo.ClusterInfo, key clusterinfo.Property, values []string) []proposal {
	present, has := f.Value(key)
	known := map[string]bool{}

	var proposals []proposal

	for _, value := range values {
		if known[value] || has && value == present || len(proposals) == examples {
			continue
		}

		known[value] = true
		proposals = append(proposals, s.having(key, value))
	}

	return proposals
}

// having is that the cluster had a value, and lacking that it had none.
func (s *search) having(key clusterinfo.Property, value string) proposal {
	text := key.String() + " were " + value
	if value == "" {
		text = key.String() + " were empty"
	}

	if key.Kind == clusterinfo.Claim {
		return s.overlay(kindClaim, key.Name, usual, text, overlay.Claim{Cluster: s.cluster, Name: key.Name, Value: value})
	}

	return s.overlay(kindLabel, key.Name, usual, text, overlay.Label{Cluster: s.cluster, Key: key.Name, Value: value})
}

func (s *search) lacking(key clusterinfo.Property) proposal {
	if key.Kind == clusterinfo.Claim {
		return s.overlay(kindClaim, key.Name, usual, key.String()+" were not set", overlay.Unclaim{Cluster: s.cluster, Name: key.Name})
	}

	return s.overlay(kindLabel, key.Name, usual, key.String()+" were not set", overlay.Unlabel{Cluster: s.cluster, Key: key.Name})
}

// seen are the values that feasible clusters have, those of the most clusters first.
func seen(result *scheduling.Result, key clusterinfo.Property) []string {
	counts := map[string]int{}

	for f := range result.Scores() {
		if value, has := f.Value(key); has {
			counts[value]++
		}
	}

	values := slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b))
	})

	return values[:min(len(values), examples)]
}
