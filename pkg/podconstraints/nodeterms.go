package podconstraints

import (
	"maps"
	"slices"
)

// maxTerms bounds the product of required terms of node affinities. It is the size of the list before redundant terms are dropped.
const maxTerms = 256

// maxComparisons bounds how many pairs of terms are compared to see whether anything has to be injected.
const maxComparisons = 1 << 16

// nodeTerm is a term of a required node affinity. Its requirements are compared as a whole, as their canonical texts.
type nodeTerm struct {
	object       map[string]any
	requirements map[string]bool
}

// nodeTerms prepares terms for comparison.
func nodeTerms(list []any) []nodeTerm {
	terms := make([]nodeTerm, len(list))
	for i, item := range list {
		object, _ := item.(map[string]any) // specShape has checked the type.
		terms[i] = nodeTerm{object: object, requirements: requirementsOf(object)}
	}

	return terms
}

// requirementsOf returns the requirements of a term. A field that this package does not know counts as a requirement too, so that a term
// with it is never taken for one that is implied by another.
func requirementsOf(term map[string]any) map[string]bool {
	found := map[string]bool{}
	for name, value := range term {
		switch requirements, isList := value.([]any); {
		case isList && (name == expressionsField || name == fieldsField):
			for _, requirement := range requirements {
				found[name+canonical(requirement)] = true
			}
		case !absent(value):
			found[name+canonical(value)] = true
		}
	}

	return found
}

func (t nodeTerm) empty() bool { return len(t.requirements) == 0 }

// implies reports whether the term has every requirement of another one, so that each node that it matches is matched by the other too.
func (t nodeTerm) implies(other nodeTerm) bool {
	if len(other.requirements) > len(t.requirements) {
		return false
	}
	for requirement := range other.requirements {
		if !t.requirements[requirement] {
			return false
		}
	}

	return true
}

// and returns the term that matches the nodes that both match: the requirements of the other one, then those of the term that the other
// does not have. Further fields are those of the term.
func (t nodeTerm) and(other nodeTerm) nodeTerm {
	object := maps.Clone(t.object)
	for _, name := range []string{expressionsField, fieldsField} {
		first := member[[]any](other.object, name)
		joined := slices.Clone(first)
		for _, requirement := range member[[]any](t.object, name) {
			if !other.requirements[name+canonical(requirement)] {
				joined = append(joined, requirement)
			}
		}
		if len(joined) > 0 {
			object[name] = joined
		}
	}
	union := maps.Clone(t.requirements)
	maps.Copy(union, other.requirements)

	return nodeTerm{object: object, requirements: union}
}

// mergeTerms returns the required terms of a workload after those of a policy, neither of which has empty terms, and why they are not
// merged. Both lists are ORs of ANDs; the result is the product of the two without the terms that another one makes redundant. The result
// is nil if nothing has to change, because each term of the workload already implies one of the policy.
func mergeTerms(own, wanted []nodeTerm) ([]nodeTerm, Reason) {
	product := len(own) * len(wanted)
	if product > maxComparisons {
		return nil, TooManyTerms
	}
	implied := func(term nodeTerm) bool { return slices.ContainsFunc(wanted, term.implies) }
	if !slices.ContainsFunc(own, func(term nodeTerm) bool { return !implied(term) }) {
		return nil, ""
	}
	if product > maxTerms {
		return nil, TooManyTerms
	}
	merged := make([]nodeTerm, 0, product)
	for _, term := range own {
		for _, other := range wanted {
			merged = append(merged, term.and(other))
		}
	}

	return absorb(merged), ""
}

// absorb drops the terms that imply another one; of equal ones the first stays. The terms that are left match the same nodes.
func absorb(terms []nodeTerm) []nodeTerm {
	var kept []nodeTerm
	for i, term := range terms {
		redundant := false
		for j, other := range terms {
			if i != j && term.implies(other) && (j < i || !other.implies(term)) {
				redundant = true

				break
			}
		}
		if !redundant {
			kept = append(kept, term)
		}
	}

	return kept
}

func objects(terms []nodeTerm) []any {
	list := make([]any, len(terms))
	for i := range terms {
		list[i] = terms[i].object
	}

	return list
}
