// SPDX-License-Identifier: Apache-2.0

package removalbudget_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"

	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/placement/api"
	"github.com/placement-hub/placement-hub/pkg/removalbudget"
	"github.com/placement-hub/placement-hub/pkg/scheduling"
	"github.com/placement-hub/placement-hub/pkg/selector"
)

var start = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// fixture is a hub with one bound set of all clusters, and the placement ns/p of v1beta1, whose decisions are a set of names.
type fixture struct {
	*inventory.Inventory

	placement *clusterv1beta1.Placement
	decisions map[string]bool
	// countReplaced is a part of the limit of the hub.
	countReplaced bool
	// scopeHold is how long the hub holds clusters that have left the scope, and lastCluster what it does with the last one; nil means the default.
	scopeHold   *time.Duration
	lastCluster *removalbudget.LastCluster
	// former is the spec that the decisions were written for, if it was changed since and the hub knows it.
	former *clusterv1beta1.PlacementSpec
	now    time.Time
}

// newFixture has clusters in the region eu, all decided for a placement that asks for that.
func newFixture(clusters int) *fixture {
	w := &fixture{
		Inventory: inventory.New(selector.NewCompiler()), decisions: map[string]bool{}, now: start,
		placement: &clusterv1beta1.Placement{
			ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "p", Generation: 7, Annotations: map[string]string{}},
			Spec: clusterv1beta1.PlacementSpec{Predicates: []clusterv1beta1.ClusterPredicate{{
				RequiredClusterSelector: clusterv1beta1.ClusterSelector{
					LabelSelector: metav1.LabelSelector{MatchLabels: map[string]string{"region": "eu"}},
				},
			}}},
		},
	}

	set := &clusterv1beta2.ManagedClusterSet{ObjectMeta: metav1.ObjectMeta{Name: "all"}}
	set.Spec.ClusterSelector = clusterv1beta2.ManagedClusterSelector{
		SelectorType: clusterv1beta2.LabelSelector, LabelSelector: &metav1.LabelSelector{},
	}
	w.SetClusterSet(set)
	w.bind()
	for i := range clusters {
		w.SetCluster(cluster(i))
		w.decisions[name(i)] = true
	}

	w.condition(removalbudget.ReasonNothingHeld, metav1.ConditionFalse, 7)
	return w
}

func name(i int) string { return fmt.Sprintf("c%02d", i) }

// cluster is a cluster of the region eu with a zone of its own; labels change that.
func cluster(i int, labels ...string) *clusterv1.ManagedCluster {
	c := &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{
		Name: name(i), Labels: map[string]string{"region": "eu", "zone": name(i)},
	}}
	for i := 0; i < len(labels); i += 2 {
		c.Labels[labels[i]] = labels[i+1]
	}
	return c
}

func (fx *fixture) bind() {
	fx.SetBinding(&clusterv1beta2.ManagedClusterSetBinding{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "all"}})
}

// remove deletes clusters, from the first number to the one before last.
func (fx *fixture) remove(first, last int) {
	for i := first; i < last; i++ {
		fx.DeleteCluster(name(i))
	}
}

// relabel changes clusters, from the first number to the one before last.
func (fx *fixture) relabel(first, last int, labels ...string) {
	for i := first; i < last; i++ {
		fx.SetCluster(cluster(i, labels...))
	}
}

// condition is what the status says of removals, for a generation.
func (fx *fixture) condition(reason string, status metav1.ConditionStatus, generation int64) {
	fx.placement.Status.Conditions = []metav1.Condition{
		{Type: "PlacementSatisfied", ObservedGeneration: generation},
		{Type: removalbudget.Condition, Status: status, Reason: reason, Message: "as it was", ObservedGeneration: generation},
	}
}

// result returns the current result of the scheduler.
func (fx *fixture) result() *scheduling.Result {
	request := api.V1beta1.Read(fx.placement).Request(selector.NewCompiler())
	return scheduling.Schedule(request, fx.Snapshot(), fx.decisions, fx.now)
}

// done is the progress when everything is written.
var done = removalbudget.Progress{Applied: true, Written: true}

// judge checks the current result on a hub with a percentage.
func (fx *fixture) judge(percent int) removalbudget.Result {
	limit := removalbudget.Limit{
		Percent: &percent, CountReplaced: &fx.countReplaced, LostScopeHold: fx.scopeHold, LastCluster: fx.lastCluster,
	}
	return fx.check(removalbudget.NewBudget(api.V1beta1.Read(fx.placement).RemovalSubject(), limit))
}

// check checks the current result against a budget.
func (fx *fixture) check(budget removalbudget.Budget) removalbudget.Result {
	result, incumbents := fx.result(), fx.decisions
	var before *scheduling.Result
	if fx.former != nil {
		former := fx.placement.DeepCopy()
		former.Spec = *fx.former
		before = result.For(api.V1beta1.Read(former).Request(selector.NewCompiler()))
	}
	checked := budget.Check(result, before, incumbents, fx.now)
	if checked.Held {
		result = result.Hold(incumbents, checked.Leaving, checked.RequeueAt)
	}
	return checked.Applied(result, incumbents, fx.now)
}

// edit changes the spec, as a user does. The hub knows the former spec until the decisions are written for the new one.
func (fx *fixture) edit(change func(*clusterv1beta1.PlacementSpec)) {
	if fx.former == nil {
		fx.former = fx.placement.Spec.DeepCopy()
	}
	change(&fx.placement.Spec)
	fx.placement.Generation++
}

// record sets or removes the records in the status.
func (fx *fixture) record(conditions ...metav1.Condition) {
	meta.RemoveStatusCondition(&fx.placement.Status.Conditions, removalbudget.RecordCondition)
	meta.RemoveStatusCondition(&fx.placement.Status.Conditions, removalbudget.MemoryCondition)
	fx.placement.Status.Conditions = append(fx.placement.Status.Conditions, conditions...)
}

// reserve records the coming removals, as the hub does before it writes.
func (fx *fixture) reserve(ruling removalbudget.Result) {
	if condition, needed := ruling.Reserve(); needed {
		meta.SetStatusCondition(&fx.placement.Status.Conditions, condition)
	}
}

// step is one evaluation, of which all is written that is not held.
func (fx *fixture) step(percent int) removalbudget.Result {
	return fx.stepUntil(percent, toTheEnd, nil)
}

// The places where a process can end while it carries an answer out.
const (
	afterTheReserve = "after the reserve"
	withinThePages  = "within the pages"
	afterThePages   = "after the pages"
	toTheEnd        = "to the end"
)

// stepUntil is one evaluation by a process that ends at a place. Clusters that stay are those that such an end leaves in the decisions.
func (fx *fixture) stepUntil(percent int, end string, stays map[string]bool) removalbudget.Result {
	ruling, before := fx.judge(percent), fx.decisions
	fx.reserve(ruling)
	if end == afterTheReserve {
		return ruling
	}
	result := fx.result()
	if ruling.Held {
		result = result.Hold(fx.decisions, ruling.Leaving, ruling.RequeueAt)
	}

	if result.Applies() {
		decisions := map[string]bool{}
		for _, f := range result.Selected {
			decisions[f.Name] = true
		}
		for cluster := range fx.decisions {
			if end == withinThePages && stays[cluster] {
				decisions[cluster] = true
			}
		}
		fx.decisions = decisions
	}

	if end == toTheEnd {
		fx.record(fx.records(ruling, before)...)
		fx.hold(ruling)
	}
	return ruling
}

// records returns the records that the hub writes with the status, which has the number of clusters.
func (fx *fixture) records(ruling removalbudget.Result, before map[string]bool) []metav1.Condition {
	if len(before) != len(fx.decisions) {
		return ruling.Record(done)
	}
	return ruling.Recorded(done)
}

// hold replaces the condition by that of a ruling while it blocks a removal.
func (fx *fixture) hold(ruling removalbudget.Result) {
	for _, condition := range ruling.Conditions(true) {
		if condition.Status != metav1.ConditionTrue {
			condition.Message = "as it was"
		}
		condition.ObservedGeneration, condition.LastTransitionTime = fx.placement.Generation, metav1.Time{Time: fx.now}
		meta.SetStatusCondition(&fx.placement.Status.Conditions, condition)
	}
}

// settle is one evaluation, after which the conditions are those of the hub for the present generation.
func (fx *fixture) settle(percent int) {
	before := fx.decisions
	ruling := fx.step(percent)
	fx.former = nil
	conditions := slices.Concat([]metav1.Condition{{Type: "PlacementSatisfied"}}, fx.records(ruling, before), ruling.Conditions(true))
	for i := range conditions {
		conditions[i].ObservedGeneration, conditions[i].LastTransitionTime = fx.placement.Generation, metav1.Time{Time: fx.now}
		before := meta.FindStatusCondition(fx.placement.Status.Conditions, conditions[i].Type)
		if before != nil && before.Status == conditions[i].Status {
			conditions[i].LastTransitionTime = before.LastTransitionTime
		}
	}
	fx.placement.Status.Conditions = conditions
}

// conditionText returns the condition of a Result on one line; empty when there is none.
func conditionText(ruling removalbudget.Result) string {
	lines := []string{}
	for _, c := range ruling.Conditions(true) {
		lines = append(lines, fmt.Sprintf("%s=%s (%s): %s", c.Type, c.Status, c.Reason, c.Message))
	}
	return strings.Join(lines, "\n")
}

// gone says what of the decisions is held back: "3 of 10: c00 c01 c02".
func gone(ruling removalbudget.Result) string {
	if !ruling.Held {
		return ""
	}
	return fmt.Sprintf("%d of %d: %s", ruling.Count.Removed(), ruling.Count.Total, strings.Join(ruling.Leaving, " "))
}

// toUS is an edit that excludes every cluster of newFixture, and meaningless one that means what is there.
func toUS(spec *clusterv1beta1.PlacementSpec) {
	spec.Predicates[0].RequiredClusterSelector.LabelSelector.MatchLabels = map[string]string{"region": "us"}
}

func meaningless(spec *clusterv1beta1.PlacementSpec) {
	spec.PrioritizerPolicy.Mode = clusterv1beta1.PrioritizerPolicyModeAdditive
}

func wanted(n int32) func(*fixture) {
	return func(w *fixture) { w.placement.Spec.NumberOfClusters = ptr.To(n) }
}

func expect[V any](t *testing.T, what string, want, got V) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

func sorted(decisions map[string]bool) []string {
	names := make([]string, 0, len(decisions))
	for name := range decisions {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
