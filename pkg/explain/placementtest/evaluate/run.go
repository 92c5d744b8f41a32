// SPDX-License-Identifier: Apache-2.0

package evaluate

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/placement-hub/placement-hub/pkg/explain"
	"github.com/placement-hub/placement-hub/pkg/explain/counterfactual"
	"github.com/placement-hub/placement-hub/pkg/explain/placementtest/cases"
	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/placement/api"
)

// Files returns a State after a change of a case that names files.
type Files func(state *explain.State, c *cases.Case, change *cases.Change, now time.Time) (*explain.State, error)

// World is what cases are evaluated in.
type World struct {
	// State has the objects, with the settings of the hub. It must not change.
	State *explain.State
	Now   time.Time
	// Files carries out changes that name files.
	Files Files
	// Coverage asks for Results.Coverage.
	Coverage bool
	// Progress is called before each situation of cases that try several; nil calls nothing.
	Progress func(names []string, tried, of uint64)
}

// DefaultRemovalPercent is the removal budget of a hub that is installed as the manifests have it. It counts where neither the settings nor the
// status of a Placement say another.
const DefaultRemovalPercent = 50

// maxExplained bounds the failures with counterfactuals, which take longer than all else.
const maxExplained = 100

// run is one evaluation of cases.
type run struct {
	World

	variants *explain.Variants
	known    *vocabulary
	placed   map[inventory.Key]*api.Placement
	tests    []*test
	// before are the clusters in the decisions of the world as it is, sorted.
	before    map[inventory.Key][]string
	explained int
}

// test is a case with its Result.
type test struct {
	*cases.Case

	result *Result
	// keys are its Placements, in their order; wanted has the same. system is set for objects of other kinds.
	keys   []inventory.Key
	wanted map[inventory.Key]bool
	system bool
	// resting are the Placements whose result no situation so far has changed.
	resting map[inventory.Key]bool
}

// Run evaluates cases.
func Run(world World, given []*cases.Case) Results {
	r := &run{World: world, placed: map[inventory.Key]*api.Placement{}, before: map[inventory.Key][]string{}}
	r.State = withBudget(world.State)
	results := Results{Now: metav1.NewTime(world.Now), Cases: make([]Result, len(given))}
	wanted := map[inventory.Key]bool{}
	for _, object := range r.State.Placements {
		p := api.Read(object)
		r.placed[p.Key()] = p
	}
	for i, c := range given {
		results.Cases[i] = Result{Name: c.Metadata.Name, Description: c.Spec.Description, File: c.File, Line: c.Line, Status: Passed}
		each := &test{Case: c, result: &results.Cases[i], wanted: map[inventory.Key]bool{}, resting: map[inventory.Key]bool{}}
		each.system = c.Spec.Objects.Placement == "" && c.Spec.Objects.Placements == nil
		each.keys = r.keysOf(c)
		for _, key := range each.keys {
			wanted[key], each.wanted[key] = true, true
		}
		r.tests = append(r.tests, each)
	}
	r.variants = r.State.NewVariants(world.Now, func(key inventory.Key) bool { return wanted[key] })
	r.known = newVocabulary(r.variants.Snapshot().Clusters(), r.State)
	for _, group := range r.bySituation() {
		r.evaluate(group)
	}
	if r.cancelled() {
		for _, each := range r.tests {
			if each.result.Status == Passed && !each.complete() {
				each.result.Status = Interrupted
			}
		}
	}
	if r.Coverage && !r.cancelled() {
		results.Coverage = r.cover()
	}
	results.summarize()
	return results
}

// withBudget returns a State with the removal budget of a hub where nothing says which one it has.
func withBudget(state *explain.State) *explain.State {
	after, percent := *state, DefaultRemovalPercent
	if state.Limit.Percent == nil && !slices.ContainsFunc(state.Placements, func(object api.Object) bool {
		return len(api.Read(object).RemovalSubject().Conditions) > 0
	}) {
		after.Limit.Percent = &percent
	}
	if state.Federated.Limit.Percent == nil { // The status of no object has it.
		after.Federated.Limit.Percent = &percent
	}
	return &after
}

// cancelled reports whether the evaluation is to end, so that results are meaningless.
func (r *run) cancelled() bool {
	select {
	case <-r.State.Done:
		return true
	default:
		return false
	}
}

// fail records why a case cannot be evaluated. The first error counts.
func (t *test) fail(err error) {
	if t.result.Error == "" {
		t.result.Status, t.result.Error = Errored, err.Error()
	}
}

// complete reports whether a case has its result.
func (t *test) complete() bool { return t.result.Objects > 0 }

// keysOf returns the keys of the Placements that a case names, in their order, also if they exist only after its changes.
func (r *run) keysOf(c *cases.Case) []inventory.Key {
	objects := &c.Spec.Objects
	if objects.Placement != "" {
		return []inventory.Key{keyOf(objects)}
	}
	if objects.Placements == nil {
		return nil
	}
	var keys []inventory.Key
	for key, p := range r.placed {
		if selects(objects.Placements, p) {
			keys = append(keys, key)
		}
	}
	slices.SortFunc(keys, inventory.Key.Compare)
	return keys
}

// keyOf returns the key of the Placement that a case names.
func keyOf(objects *cases.Objects) inventory.Key {
	of := inventory.V1beta1
	for _, adapter := range api.Adapters() {
		if adapter.Kind().Group == objects.APIGroup {
			of = adapter.Name()
		}
	}
	namespace, name, _ := strings.Cut(objects.Placement, "/")
	return inventory.NewPlacementKey(of, namespace, name)
}

// selects reports whether a selector selects a Placement.
func selects(by *cases.PlacementSelector, p *api.Placement) bool {
	selector, err := metav1.LabelSelectorAsSelector(by.Selector)
	if by.Selector == nil {
		selector = labels.Everything()
	}
	return err == nil && (by.Namespace == "" || by.Namespace == p.Namespace) && selector.Matches(labels.Set(p.Labels))
}

// bySituation groups the cases by their situation, in their order.
func (r *run) bySituation() [][]*test {
	var groups [][]*test
	at := map[string]int{}
	for _, each := range r.tests {
		id := ""
		if when := each.Spec.When; when != nil {
			encoded, err := json.Marshal(when)
			if err != nil {
				each.fail(err)
				continue
			}
			id = string(encoded)
			if len(when.Changed) > 0 {
				id += "\n" + each.File // Files are relative to that of the case.
			}
		}
		n, known := at[id]
		if !known {
			n, at[id] = len(groups), len(groups)
			groups = append(groups, nil)
		}
		groups[n] = append(groups[n], each)
	}
	return groups
}

// evaluate evaluates cases with the same situation.
func (r *run) evaluate(group []*test) {
	when := group[0].Spec.When
	switch {
	case when == nil:
		r.evaluatePresent(group)
	case len(when.Changed) > 0:
		r.evaluateChanged(group)
	default:
		r.evaluateFailures(group, when)
	}
}

// ready returns those of the cases that name only what exists.
func (r *run) ready(group []*test, known *vocabulary, exists func(inventory.Key) bool) []*test {
	var ready []*test
	for _, each := range group {
		if err := known.check(each.Case); err != nil {
			each.fail(err)
			continue
		}
		if !each.system {
			if err := r.checkObjects(each, exists); err != nil {
				each.fail(err)
				continue
			}
		}
		ready = append(ready, each)
	}
	return ready
}

// checkObjects returns an error if a case evaluates nothing. It leaves out selected Placements that the hub does not schedule.
func (r *run) checkObjects(t *test, exists func(inventory.Key) bool) error {
	if t.Spec.Objects.Placements != nil && len(t.keys) == 0 {
		return errors.New("spec.objects.placements: there is no such Placement, so that nothing is evaluated; correct labels or namespace")
	}
	skipped := ""
	for _, key := range slices.Clone(t.keys) {
		if !exists(key) {
			names := map[string]bool{}
			for other := range r.placed {
				names[other.NamespacedName.String()] = true
			}
			return unknown("spec.objects.placement", "Placement", key.NamespacedName.String(), names)
		}
		evaluation, evaluated := r.variants.Base(key)
		if evaluated && evaluation.Result == nil && (t.Spec.When == nil || len(t.Spec.When.Changed) == 0) {
			skipped = evaluation.Skipped
			t.keys = slices.DeleteFunc(t.keys, func(other inventory.Key) bool { return other == key })
			delete(t.wanted, key)
		}
	}
	if len(t.keys) == 0 {
		return fmt.Errorf("spec.objects: nothing would be evaluated, because the hub schedules no such Placement: %s", skipped)
	}
	return nil
}

// note records the result of an object in a situation.
func (r *run) note(t *test, object, when string, f *finding, counterfactuals func(cluster string) []string) {
	if f == nil {
		return
	}
	t.result.Status = Failed
	t.result.Failures++
	if t.result.Failure != nil {
		return
	}
	t.result.Failure = &Failure{Object: object, When: when, Field: f.field, Line: t.LineOf(f.field), Message: f.message}
	if f.missing != "" && r.explained < maxExplained && !r.cancelled() {
		r.explained++
		t.result.Failure.Counterfactuals = counterfactuals(f.missing)
	}
}

// check checks a Placement in a situation; state has the objects then.
func (r *run) check(t *test, key inventory.Key, when string, state *explain.State, o *outcome) {
	if r.cancelled() {
		return
	}
	r.note(t, describe(key), when, o.check(&t.Spec.Expect), func(cluster string) []string {
		searched := counterfactual.Search(state, key, cluster, r.Now)
		texts := make([]string, 0, len(searched))
		for _, found := range searched {
			texts = append(texts, found.Text)
		}
		return texts
	})
}

// describe returns "Placement team-a/web", with the API group if that is not the usual one.
func describe(key inventory.Key) string {
	text := "Placement " + key.NamespacedName.String()
	if key.API() != inventory.V1beta1 {
		text = "Placement." + api.Of(key).Kind().Group + " " + key.NamespacedName.String()
	}
	return text
}

// Decisions returns the clusters of each Placement of a world that the hub schedules and that has a valid result, by namespace and name.
func Decisions(world World) []cases.Decided {
	variants := withBudget(world.State).NewVariants(world.Now, nil)
	var decisions []cases.Decided
	for _, key := range variants.Keys() {
		evaluation, evaluated := variants.Base(key)
		if !evaluated || (&outcome{Variant: explain.Variant{After: evaluation}}).invalid() != "" {
			continue
		}
		one := cases.Decided{Placement: key.NamespacedName.String(), Clusters: decided(&evaluation)}
		if key.API() != inventory.V1beta1 {
			one.APIGroup = api.Of(key).Kind().Group
		}
		decisions = append(decisions, one)
	}
	return decisions
}
