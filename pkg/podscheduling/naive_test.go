// SPDX-License-Identifier: Apache-2.0

package podscheduling

import (
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/placement-hub/placement-hub/test/property"
)

// naiveTerm is a term of a required node affinity with the texts of its requirements.
type naiveTerm struct {
	object       map[string]any
	requirements map[string]bool
}

func naiveTerms(list []any) []naiveTerm {
	var terms []naiveTerm
	for _, item := range list {
		object, _ := item.(map[string]any)
		term := naiveTerm{object, map[string]bool{}}
		for _, name := range []string{expressionsField, fieldsField} {
			for _, requirement := range member[[]any](object, name) {
				term.requirements[name+canonical(requirement)] = true
			}
		}
		if len(term.requirements) > 0 {
			terms = append(terms, term)
		}
	}

	return terms
}

func (t naiveTerm) implies(other naiveTerm) bool {
	for requirement := range other.requirements {
		if !t.requirements[requirement] {
			return false
		}
	}
	return true
}

func (t naiveTerm) and(other naiveTerm) naiveTerm {
	object := maps.Clone(t.object)
	for _, name := range []string{expressionsField, fieldsField} {
		joined := slices.Clone(member[[]any](other.object, name))
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

	return naiveTerm{object, union}
}

// naiveMerge compares every term with every other one; nil means that nothing has to change.
func naiveMerge(own, wanted []naiveTerm) []naiveTerm {
	if !slices.ContainsFunc(own, func(term naiveTerm) bool { return !slices.ContainsFunc(wanted, term.implies) }) {
		return nil
	}
	var product, kept []naiveTerm
	for _, term := range own {
		for _, other := range wanted {
			product = append(product, term.and(other))
		}
	}
	for i, term := range product {
		redundant := false
		for j, other := range product {
			redundant = redundant || i != j && term.implies(other) && (j < i || !other.implies(term))
		}
		if !redundant {
			kept = append(kept, term)
		}
	}

	return kept
}

func objectsOf(terms []nodeTerm) []any {
	var objects []any
	for _, term := range terms {
		objects = append(objects, term.object)
	}
	return objects
}

// naiveInject returns the required terms of the node affinity and the items of lists after policies, each merged in the plain way.
func naiveInject(w *Workload, policies []*Policy) map[string][]any {
	after := map[string][]any{}
	for _, path := range listPaths {
		after[joined(path)] = at[[]any](w.spec, path...)
	}
	name := joined(requiredPath)
	after[name] = at[[]any](w.spec, requiredPath...)
	for _, policy := range policies {
		for _, list := range policy.inject.lists {
			for _, item := range list.items {
				same := func(other any) bool { return canonical(other) == canonical(item) }
				if items := after[joined(list.path)]; !slices.ContainsFunc(items, same) {
					after[joined(list.path)] = append(slices.Clip(items), item)
				}
			}
		}
		wanted := naiveTerms(objectsOf(policy.inject.required))
		own := naiveTerms(after[name])
		switch {
		case len(wanted) == 0 || len(after[name]) > 0 && len(own) == 0 || len(own)*len(wanted) > maxTerms:
		case len(after[name]) == 0:
			after[name] = objectsOf(policy.inject.required)
		default:
			if merged := naiveMerge(own, wanted); merged != nil {
				after[name] = nil
				for _, term := range merged {
					after[name] = append(after[name], term.object)
				}
			}
		}
	}

	return after
}

func TestInjectIsTheNaiveInjectionWithinLimits(t *testing.T) {
	property.Check(t, func(r *rapid.T) {
		policies := drawPolicies(r)
		for _, policy := range policies {
			if rapid.Bool().Draw(r, "namespaced") {
				policy.Namespace = "n"
			}
		}
		raw := podJSON(r, drawSpec(r))
		before, err := ReadWorkload(podKind, raw)
		if err != nil {
			r.Fatal(err)
		}
		after, err := ReadWorkload(podKind, injectInto(t, r, raw, policies))
		if err != nil {
			r.Fatal(err)
		}
		for name, want := range naiveInject(before, policies) {
			path := requiredPath
			for _, list := range listPaths {
				if joined(list) == name {
					path = list
				}
			}
			if diff := cmp.Diff(canonical(want), canonical(at[[]any](after.spec, path...))); diff != "" {
				r.Fatalf("%s (-want +got):\n%s", name, diff)
			}
		}
	})
}

func TestAbsorbKeepsTheSmallestSets(t *testing.T) {
	property.Check(t, func(r *rapid.T) {
		set := rapid.Custom(func(r *rapid.T) []int {
			numbers := rapid.SliceOfN(rapid.IntRange(0, 9), 1, 6).Draw(r, "numbers")
			slices.Sort(numbers)
			return slices.Compact(numbers)
		})
		sets := rapid.SliceOfN(set, 0, 40).Draw(r, "sets")
		var want []int
		for i, one := range sets {
			redundant := false
			for j, other := range sets {
				redundant = redundant || i != j && contains(one, other) && (j < i || !contains(other, one))
			}
			if !redundant {
				want = append(want, i)
			}
		}
		if diff := cmp.Diff(want, absorb(sets)); diff != "" {
			r.Fatalf("absorb(%v) (-want +got):\n%s", sets, diff)
		}
		for range 3 {
			one, other := set.Draw(r, "one"), set.Draw(r, "other")
			both := slices.Sorted(slices.Values(append(slices.Clone(one), other...)))
			if diff := cmp.Diff(slices.Compact(both), union(one, other)); diff != "" {
				r.Fatalf("union(%v, %v) (-want +got):\n%s", one, other, diff)
			}
		}
	})
}
