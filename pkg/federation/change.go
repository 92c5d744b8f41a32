// SPDX-License-Identifier: Apache-2.0

package federation

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/selection"
)

// Change is what a change of an object, or of the defaults of its Namespace, withdraws (docs/spec/trust.md 7.2, typing errors).
type Change struct {
	// Withdrawn are the clusters that lose the object because of the change, sorted.
	Withdrawn []string
	// Kept are the clusters that would lose it because of the change, and keep it until the removal is released, sorted. MatchesNone reports
	// that this is because the selector matches no cluster in scope; otherwise the removal budget holds them.
	Kept        []string
	MatchesNone bool
}

// ChangeFrom compares the evaluation of a changed object with that of the object before the change, which is nil for a new object. What the
// controller remembers besides, and clusters that leave the scope, are no part of the change.
func (e *Evaluation) ChangeFrom(before *Evaluation, budget Budget, now time.Time) (Change, error) {
	if e.State != Delivering {
		return Change{}, nil
	}
	plan, err := e.Plan(sameHash)
	if err != nil {
		return Change{}, err
	}
	var past Past
	anyway := e.withdrawals()

	if before != nil {
		past = Past{Target: before.OwnTarget(), Selected: before.Target.String()}
		planned, err := before.Plan(sameHash)
		if err != nil {
			return Change{}, err
		}
		if before.State == Delivering {
			anyway = slices.Concat(anyway, planned.Lose)
		}
	}

	isDue := func(cluster string) bool { return slices.Contains(anyway, cluster) }
	plan.Lose = slices.DeleteFunc(plan.Lose, isDue)
	withdrawal := e.withdrawal(plan, nil, budget, past, now)
	return Change{Withdrawn: withdrawal.Allowed, Kept: withdrawal.Kept, MatchesNone: e.matchesNone}, nil
}

// sameHash is the hash of all works where only their clusters matter.
func sameHash(Variant) (string, error) { return "", nil }

// UnknownKey is a label key of a selector that is on no cluster in scope.
type UnknownKey struct {
	Key string
	// Similar is a label key of the clusters that is similar; empty if there is none.
	Similar string
}

// UnknownKeys returns the label keys of the selector that are on none of the clusters in scope, sorted, and the number of these clusters. It
// returns no key unless all labels are known.
func (e *Evaluation) UnknownKeys() (unknown []UnknownKey, candidates int) {
	if e.State != Delivering || len(e.Target.Requirements) == 0 {
		return nil, 0
	}
	missing := map[string]bool{}
	for i := range e.Target.Requirements {
		missing[e.Target.Requirements[i].Key()] = true
	}
	members, _ := e.snapshot.Candidates(e.snapshot.Scope(e.Object.Meta.Namespace, nil))
	candidates = int(members.Count())
	if candidates == 0 {
		return nil, 0
	}

	for id := range members.EachSet() {
		info := e.snapshot.ClusterInfo(id)
		if len(info.Unreadable.Under("metadata")) > 0 {
			return nil, candidates
		}
		maps.DeleteFunc(missing, func(key string, _ bool) bool { _, has := info.Labels[key]; return has })
		if len(missing) == 0 {
			return nil, candidates
		}
	}

	known := map[string]bool{}
	for id := range members.EachSet() {
		for key := range e.snapshot.ClusterInfo(id).Labels {
			known[key] = true
		}
	}
	names := slices.Sorted(maps.Keys(known))
	for _, key := range slices.Sorted(maps.Keys(missing)) {
		unknown = append(unknown, UnknownKey{Key: key, Similar: Similar(key, names)})
	}
	return unknown, candidates
}

// maxRequirementsSearched bounds the search of UnknownValues.
const maxRequirementsSearched = 20

// UnknownValue is a value that a selector requires of a label and that no cluster in scope has, although some have a similar one.
type UnknownValue struct {
	Key, Value, Similar string
	// Clusters is how many clusters in scope have the similar value.
	Clusters int
}

// UnknownValues returns the values by which a selector that matches no cluster in scope may be misspelt, in the order of its requirements.
func (e *Evaluation) UnknownValues() []UnknownValue {
	if e.State != Delivering || !e.matchesNone {
		return nil
	}
	var unknown []UnknownValue
	members, _ := e.snapshot.Candidates(e.snapshot.Scope(e.Object.Meta.Namespace, nil))
	for i := range e.Target.Requirements[:min(len(e.Target.Requirements), maxRequirementsSearched)] {
		requirement := &e.Target.Requirements[i]
		if !slices.Contains([]selection.Operator{selection.In, selection.Equals, selection.DoubleEquals}, requirement.Operator()) {
			continue
		}
		counts := map[string]int{}
		for id := range members.EachSet() {
			if value, has := e.snapshot.ClusterInfo(id).Labels[requirement.Key()]; has {
				counts[value]++
			}
		}
		if value, similar := SimilarValue(requirement.ValuesUnsorted(), counts); similar != "" {
			unknown = append(unknown, UnknownValue{Key: requirement.Key(), Value: value, Similar: similar, Clusters: counts[similar]})
		}
	}
	return unknown
}

// MaxNamed is how many clusters, label keys and values texts name.
const MaxNamed = 3

// UnknownLabels returns a text for each label key and value of the selector that no cluster in scope has, MaxNamed of both at most. Of values it has
// those that may be misspelt alone.
func (e *Evaluation) UnknownLabels() []string {
	unknown, candidates := e.UnknownKeys()
	clusters := fmt.Sprintf("%d clusters in scope", candidates)
	if candidates == 1 {
		clusters = "1 cluster in scope"
	}
	texts := make([]string, 0, MaxNamed+1)
	for _, key := range unknown[:min(len(unknown), MaxNamed)] {
		suggestion := "correct the key, or label the clusters"
		if key.Similar != "" {
			suggestion = fmt.Sprintf("did you mean %q? Correct the key, or label the clusters", key.Similar)
		}
		texts = append(texts, fmt.Sprintf("annotation %s: key %q is a label of none of the %s; %s",
			SelectorAnnotation, key.Key, clusters, suggestion))
	}
	if more := len(unknown) - MaxNamed; more > 0 {
		texts = append(texts, fmt.Sprintf("annotation %s: %d more keys are labels of none of the %s", SelectorAnnotation, more, clusters))
	}
	values := e.UnknownValues()
	for _, value := range values[:min(len(values), MaxNamed)] {
		noun := "clusters"
		if value.Clusters == 1 {
			noun = "cluster"
		}
		texts = append(texts, fmt.Sprintf("annotation %s: no cluster in scope has %s=%s; did you mean %s (%d %s)? "+
			"Correct the value, or label the clusters", SelectorAnnotation, value.Key, value.Value, value.Similar, value.Clusters, noun))
	}
	return texts
}
