// SPDX-License-Identifier: Apache-2.0

package podscheduling

import (
	"cmp"
	"fmt"
	"slices"
)

// The limits for the PodSchedulingPolicies of one namespace in one workload: docs/spec/trust.md section 5. Cluster policies have none.
const (
	// MaxPolicies is the number of policies that match.
	MaxPolicies = 100
	// MaxExpressions is the number of expressions of the merged lists: keys of the node selector, tolerations, and the expressions of
	// affinity terms, of which each term has at least one.
	MaxExpressions = 2000
	// MaxBytes is the size of the merged lists. An API server stores no object that is much larger.
	MaxBytes = 1 << 20
)

// cost is what the limits bound.
type cost struct{ expressions, bytes int }

func (c cost) plus(other cost) cost {
	return cost{c.expressions + other.expressions, c.bytes + other.bytes}
}

func (c cost) minus(other cost) cost {
	return cost{c.expressions - other.expressions, c.bytes - other.bytes}
}

func (c cost) within() bool { return c.expressions <= MaxExpressions && c.bytes <= MaxBytes }

// itemCost returns the cost of an item of a list with its canonical text.
func itemCost(item any, key string) cost { return cost{max(1, expressionsIn(item)), len(key)} }

// expressionsIn returns the number of requirements on labels or fields in a value.
func expressionsIn(value any) int {
	object, _ := value.(map[string]any)
	count := 0
	for name, member := range object {
		switch items := member.(type) {
		case []any:
			if name == expressionsField || name == fieldsField {
				count += len(items)
			}
		case map[string]any:
			if name == labelsField {
				count += len(items)
			} else {
				count += expressionsIn(items)
			}
		}
	}

	return count
}

// tooMany is what a policy of a namespace beyond MaxPolicies is skipped with.
func tooMany(matching int) Skip {
	return Skip{Reason: TooManyTerms, Message: fmt.Sprintf("is skipped, because %d PodSchedulingPolicies of the namespace match, and only the "+
		"first %d by name are injected; delete some, or narrow their podSelectors", matching, MaxPolicies)}
}

// tooLarge is what a policy of a namespace is skipped with that exceeds MaxExpressions or MaxBytes, or comes after one that does.
func tooLarge(first *Policy) Skip {
	return Skip{Reason: TooManyTerms, Message: fmt.Sprintf("is skipped, because with the policy %s the node selector, tolerations and affinity "+
		"terms would have more than %d expressions or %d bytes; write fewer, or narrow the podSelectors", first.Name, MaxExpressions, MaxBytes)}
}

// selectorCost returns the cost of a node selector.
func selectorCost[V any](selector map[string]V) cost {
	var c cost
	for key, value := range selector {
		text, _ := any(value).(string)
		c = c.plus(cost{1, len(key) + len(text)})
	}
	return c
}

// BeyondLimits returns why policies of one namespace are beyond its limits, by their names. It injects all of them that select Pods, in the
// order of their names, into a Pod without constraints, as a review would for a Pod that all of them select. The messages name no number that
// changes with every policy of the namespace.
func BeyondLimits(policies []*Policy) map[string]string {
	ordered := slices.SortedFunc(slices.Values(policies), func(a, b *Policy) int { return cmp.Compare(a.Name, b.Name) })
	ordered = slices.DeleteFunc(ordered, func(policy *Policy) bool {
		_, selectable := policy.pods.Requirements()
		return !selectable
	})

	beyond := map[string]string{}
	for at, result := range Inject(&Workload{Kind: podKind, path: podPath, spec: map[string]any{}}, ordered).Policies {
		for _, skip := range result.Skipped {
			switch {
			case skip.Reason != TooManyTerms || skip.Field != "":
			case at >= MaxPolicies:
				beyond[result.Policy.Name] = fmt.Sprintf("the policy comes after the first %d of the namespace by name, and is skipped for a Pod "+
					"that all of these select; delete some, or narrow their podSelectors", MaxPolicies)
			default:
				beyond[result.Policy.Name] = "for a Pod that all policies of the namespace up to this one by name select, it " + skip.Message
			}
		}
	}

	return beyond
}
