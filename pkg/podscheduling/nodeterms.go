// SPDX-License-Identifier: Apache-2.0

package podscheduling

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// maxTerms bounds the product of required terms of node affinities. It is the size of the list before redundant terms are dropped.
const maxTerms = 256

// requirement is an expression or a field of a term. A field of the term that this package does not know counts as a requirement too, so
// that a term with it is never taken for one that is implied by another.
type requirement struct {
	list  string // matchExpressions or matchFields; empty for an unknown field
	key   string // the canonical text, after the name of the list or of the unknown field
	value any    // the item of the list
}

// nodeTerm is a term of a required node affinity. Its requirements are compared as a whole, as their canonical texts.
type nodeTerm struct {
	object       map[string]any // has the unknown fields
	requirements []requirement
}

// nodeTerms prepares the terms that are not empty for comparison.
func nodeTerms(list []any) []nodeTerm {
	terms := make([]nodeTerm, 0, len(list))
	for _, item := range list {
		object, _ := item.(map[string]any) // specShape has checked the type.
		if requirements := requirementsOf(object); len(requirements) > 0 {
			terms = append(terms, nodeTerm{object, requirements})
		}
	}
	return terms
}

func requirementsOf(term map[string]any) []requirement {
	var found []requirement
	for name, value := range term {
		switch items, isList := value.([]any); {
		case isList && (name == expressionsField || name == fieldsField):
			for _, item := range items {
				found = append(found, requirement{name, name + canonical(item), item})
			}
		case !absent(value):
			found = append(found, requirement{key: name + canonical(value)})
		}
	}

	return found
}

// distinct returns terms without those that are listed again, and each without the requirements that it lists again.
func distinct(terms []nodeTerm) []nodeTerm {
	var kept []nodeTerm
	seen := map[string]bool{}
	for _, term := range terms {
		term.requirements = slices.Clone(term.requirements)
		known := map[string]bool{}
		term.requirements = slices.DeleteFunc(term.requirements, func(r requirement) bool { return again(known, r.key) })
		if !again(seen, strings.Join(slices.Sorted(maps.Keys(known)), "")) {
			kept = append(kept, newTerm(term.object, term.requirements))
		}
	}
	return kept
}

// again reports whether a text is known, and adds it.
func again(known map[string]bool, text string) bool {
	found := known[text]
	known[text] = true
	return found
}

// newTerm returns a term with requirements and the unknown fields of an object.
func newTerm(object map[string]any, requirements []requirement) nodeTerm {
	object = maps.Clone(object)
	lists := map[string][]any{}
	for _, r := range requirements {
		if r.list != "" {
			lists[r.list] = append(lists[r.list], r.value)
		}
	}
	for name, items := range lists {
		object[name] = items
	}
	return nodeTerm{object, requirements}
}

// vocabulary numbers requirements by their canonical texts. The zero value is empty.
type vocabulary struct {
	numberOf     map[string]int
	requirements []requirement // by number
}

// numbers returns the requirements of a term in their order, as numbers.
func (v *vocabulary) numbers(term *nodeTerm) []int {
	if v.numberOf == nil {
		v.numberOf = map[string]int{}
	}
	numbers := make([]int, len(term.requirements))
	for i, r := range term.requirements {
		number, known := v.numberOf[r.key]
		if !known {
			number = len(v.requirements)
			v.numberOf[r.key], v.requirements = number, append(v.requirements, r)
		}
		numbers[i] = number
	}

	return numbers
}

// cost returns the cost of requirements.
func (v *vocabulary) cost(numbers []int) cost {
	c := cost{expressions: len(numbers)}
	for _, number := range numbers {
		c.bytes += len(v.requirements[number].key)
	}
	return c
}

// termList are required terms whose requirements are numbers of a vocabulary.
type termList struct {
	objects []map[string]any // have the unknown fields
	orders  [][]int          // the requirements of each term, in their order
	sets    [][]int          // the same numbers, sorted, each once
	cost    cost
}

func (v *vocabulary) list(terms []nodeTerm) *termList {
	list := &termList{}
	for i := range terms {
		order := v.numbers(&terms[i])
		list.add(terms[i].object, order, slices.Compact(slices.Sorted(slices.Values(order))), v)
	}
	return list
}

func (l *termList) add(object map[string]any, order, set []int, v *vocabulary) {
	l.objects, l.orders, l.sets = append(l.objects, object), append(l.orders, order), append(l.sets, set)
	l.cost = l.cost.plus(v.cost(set))
}

// items returns the terms as items of a list.
func (v *vocabulary) items(l *termList) []any {
	items := make([]any, len(l.objects))
	for i, order := range l.orders {
		requirements := make([]requirement, len(order))
		for at, number := range order {
			requirements[at] = v.requirements[number]
		}
		items[i] = newTerm(l.objects[i], requirements).object
	}
	return items
}

// mergeTerms returns the required terms of a workload after those of a policy, neither of which has empty terms, and why they are not
// merged. Both lists are ORs of ANDs; the result is the product of the two without the terms that another one makes redundant: of each pair
// the requirements of the policy, then those of the workload that the policy does not have. The result is nil if nothing has to change,
// because each term of the workload already implies one of the policy.
func (v *vocabulary) mergeTerms(own, wanted *termList) (*termList, Reason) {
	implied := newLookup(wanted.sets)
	for i := range wanted.sets {
		implied.add(i)
	}
	if !slices.ContainsFunc(own.sets, func(set []int) bool { return !implied.by(set) }) {
		return nil, ""
	}
	if len(own.sets)*len(wanted.sets) > maxTerms {
		return nil, TooManyTerms
	}
	var product [][]int
	for _, set := range own.sets {
		for _, other := range wanted.sets {
			product = append(product, union(set, other))
		}
	}
	merged := &termList{}
	for _, i := range absorb(product) {
		one, other := i/len(wanted.sets), i%len(wanted.sets)
		order := slices.Clone(wanted.orders[other])
		for _, number := range own.orders[one] {
			if _, again := slices.BinarySearch(wanted.sets[other], number); !again {
				order = append(order, number)
			}
		}
		merged.add(own.objects[one], order, product[i], v)
	}

	return merged, ""
}

// absorb returns the indexes of the sets that contain no other one; of equal ones the first stays. None of the sets is empty.
func absorb(sets [][]int) []int {
	order := make([]int, len(sets))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(len(sets[a]), len(sets[b])) })
	smaller := newLookup(sets)
	var kept []int
	for _, i := range order {
		if !smaller.by(sets[i]) {
			smaller.add(i)
			kept = append(kept, i)
		}
	}
	slices.Sort(kept)

	return kept
}

// lookup finds out whether a set contains one of the sets that were added. Each is filed under its rarest number, so that only few are
// compared with a set.
type lookup struct {
	sets  [][]int
	count map[int]int
	filed map[int][]int
}

func newLookup(sets [][]int) *lookup {
	l := &lookup{sets: sets, count: map[int]int{}, filed: map[int][]int{}}
	for _, set := range sets {
		for _, number := range set {
			l.count[number]++
		}
	}
	return l
}

func (l *lookup) add(i int) {
	rarest := slices.MinFunc(l.sets[i], func(a, b int) int { return cmp.Compare(l.count[a], l.count[b]) })
	l.filed[rarest] = append(l.filed[rarest], i)
}

// by reports whether a set contains one that was added.
func (l *lookup) by(set []int) bool {
	for _, number := range set {
		if slices.ContainsFunc(l.filed[number], func(i int) bool { return contains(set, l.sets[i]) }) {
			return true
		}
	}
	return false
}

// contains reports whether a sorted set has every number of another one.
func contains(set, other []int) bool {
	if len(other) > len(set) {
		return false
	}
	at := 0
	for _, number := range other {
		for at < len(set) && set[at] < number {
			at++
		}
		if at == len(set) || set[at] != number {
			return false
		}
	}

	return true
}

// union returns the sorted numbers of two sorted sets.
func union(set, other []int) []int {
	both := make([]int, 0, len(set)+len(other))
	for len(set) > 0 && len(other) > 0 {
		switch {
		case set[0] < other[0]:
			both, set = append(both, set[0]), set[1:]
		case set[0] > other[0]:
			both, other = append(both, other[0]), other[1:]
		default:
			both, set, other = append(both, set[0]), set[1:], other[1:]
		}
	}

	return append(append(both, set...), other...)
}
