// SPDX-License-Identifier: Apache-2.0

package evaluate

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/placement-hub/placement-hub/pkg/clusterinfo"
	"github.com/placement-hub/placement-hub/pkg/explain"
	"github.com/placement-hub/placement-hub/pkg/explain/placementtest/cases"
	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/scheduling"
)

// outcome is what happened to a Placement.
type outcome struct {
	explain.Variant

	// selected are the clusters in the decisions, and before those of the world as it is. Both are sorted.
	selected, before []string
}

// newOutcome returns the outcome of a Placement.
func (r *run) newOutcome(variant explain.Variant) *outcome {
	o := &outcome{Variant: variant, selected: decided(&variant.After)}
	if variant.Before == nil {
		return o
	}
	key := variant.Before.Placement.Key()
	before, known := r.before[key]
	if !known {
		before = decided(variant.Before)
		r.before[key] = before
	}
	o.before = before
	return o
}

// decided returns the clusters in the decisions of an evaluation, sorted.
func decided(evaluation *explain.Evaluation) []string {
	var names []string
	for _, clusters := range evaluation.Pages {
		names = append(names, clusters...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// invalid says why a Placement has no result of which anything can be expected; empty if it has one.
func (o *outcome) invalid() string {
	result := o.After.Result
	switch {
	case result == nil:
		return "the hub does not schedule it: " + o.After.Skipped
	case len(result.Errors) > 0:
		return "it is misconfigured, so that its last decisions stay: " + result.Errors.ToAggregate().Error()
	case len(result.BrokenSets) > 0:
		return fmt.Sprintf("its last decisions stay, because the selector of the set %s is broken: %v", result.BrokenSets[0].Name,
			result.BrokenSets[0].Err)
	case result.Outcome() == scheduling.Invalid:
		return "it has no valid result, so that its last decisions stay"
	default:
		return ""
	}
}

// check returns the first clause that does not hold; nil if all do.
func (o *outcome) check(expect *cases.Expect) *finding {
	const path = "spec.expect"
	if why := o.invalid(); why != "" {
		return found("spec.objects", "%s", why)
	}
	checks := []func() *finding{
		func() *finding { return o.chosen().check(path+".selected", expect.Selected) },
		func() *finding {
			if expect.NotSelected == nil {
				return nil
			}
			return o.others().check(path+".notSelected", expect.NotSelected)
		},
		func() *finding { return o.checkReasons(path+".because", expect.Because) },
		func() *finding { return checkCounts(path+".counts", expect.Counts, o.selected, o.Snapshot) },
		func() *finding { return o.checkGroups(path+".groups", expect.Groups) },
		func() *finding { return o.checkOrder(path+".order", expect.Order) },
		func() *finding { return o.checkStates(path, expect) },
	}
	for _, check := range checks {
		if f := check(); f != nil {
			return f
		}
	}
	return nil
}

// chosen are the clusters in the decisions.
func (o *outcome) chosen() *group {
	return &group{
		is: "is selected", isNot: "is not selected", names: o.selected, labels: labelsIn(o.Snapshot), reason: o.reason, selection: true,
	}
}

// others are the clusters that are not in the decisions.
func (o *outcome) others() *group {
	var names []string
	for _, cluster := range o.Snapshot.Clusters() {
		if _, selected := slices.BinarySearch(o.selected, cluster.Name); !selected {
			names = append(names, cluster.Name)
		}
	}
	slices.Sort(names)
	return &group{is: "is not selected", isNot: "is selected", names: names, labels: labelsIn(o.Snapshot), reason: o.reason}
}

func labelsIn(snapshot *inventory.Snapshot) func(string) map[string]string {
	return func(name string) map[string]string {
		if info := snapshot.Cluster(name); info != nil {
			return info.Labels
		}
		return nil
	}
}

// reason says why a cluster is in the decisions or not.
func (o *outcome) reason(cluster string) string {
	reason := o.After.Result.ReasonOf(cluster)
	if _, selected := slices.BinarySearch(o.selected, cluster); selected && o.After.Result.KeepsLeaving() {
		if hold := o.After.Holds()[cluster]; hold != nil {
			return reason + "; it " + hold.Release
		}
	}
	return reason
}

func (o *outcome) checkReasons(field string, reasons []cases.Because) *finding {
	for i, because := range reasons {
		at := fmt.Sprintf("%s[%d]", field, i)
		verdict, exists := o.After.Result.VerdictOf(because.Cluster)
		reason := o.After.Result.ReasonOf(because.Cluster)
		switch {
		case !exists:
			return found(at+".cluster", "%s: %s", because.Cluster, reason)
		case because.Stage != "" && verdict.Stage.String() != because.Stage:
			return found(at+".stage", "%s has the verdict %s instead of %s: %s", because.Cluster, verdict.Stage, because.Stage, reason)
		case because.Clause != "" && !strings.Contains(reason, because.Clause):
			return found(at+".clause", "the reason for %s does not contain %q: it is %s: %s", because.Cluster, because.Clause, verdict.Stage, reason)
		}
	}
	return nil
}

// property returns the label or claim of a topology.
func property(topology, kind string) clusterinfo.Property {
	if kind == "Claim" {
		return clusterinfo.Property{Kind: clusterinfo.Claim, Name: topology}
	}
	return clusterinfo.Property{Kind: clusterinfo.Label, Name: topology}
}

// checkCounts checks how clusters are distributed.
func checkCounts(field string, counts []cases.Count, selected []string, snapshot *inventory.Snapshot) *finding {
	for i := range counts {
		at, count := fmt.Sprintf("%s[%d]", field, i), &counts[i]
		key := property(count.Topology, count.TopologyType)
		byValue := map[string][]string{}
		for _, cluster := range selected {
			if info := snapshot.Cluster(cluster); info != nil {
				if value, has := info.Value(key); has {
					byValue[value] = append(byValue[value], cluster)
				}
			}
		}
		values := slices.Sorted(maps.Keys(byValue))
		for _, value := range slices.Sorted(maps.Keys(count.Values)) {
			bound := count.Values[value]
			what := fmt.Sprintf("%s %s selects %s", key, value, shown(byValue[value]))
			if f := checkBound(at+".values."+value, &bound, len(byValue[value]), what); f != nil {
				return f
			}
		}
		for _, value := range values {
			what := fmt.Sprintf("%s %s selects %s", key, value, shown(byValue[value]))
			if f := checkBound(at+".each", count.Each, len(byValue[value]), what); f != nil {
				return f
			}
		}
		if f := checkBound(at+".distinct", count.Distinct, len(values), fmt.Sprintf("the values of %s are %s", key, shown(values))); f != nil {
			return f
		}
	}
	return nil
}

// checkGroups compares the decision groups, without empty ones.
func (o *outcome) checkGroups(field string, groups []cases.Group) *finding {
	if groups == nil {
		return nil
	}
	var names []string
	var members [][]string
	for _, status := range o.After.Plan.Groups {
		var clusters []string
		for _, page := range status.Pages {
			clusters = append(clusters, o.After.Pages[page]...)
		}
		if len(clusters) > 0 {
			slices.Sort(clusters)
			names, members = append(names, status.Name), append(members, clusters)
		}
	}
	wanted := make([]string, 0, len(groups))
	for _, each := range groups {
		wanted = append(wanted, each.Name)
	}
	if !slices.Equal(wanted, names) {
		return found(field, "the decision groups are %q instead of %q", names, wanted)
	}
	for i := range groups {
		in := &group{
			is: "is in the group", isNot: "is not in the group", names: members[i], labels: labelsIn(o.Snapshot),
			reason: func(string) string { return "" },
		}
		if f := in.check(fmt.Sprintf("%s[%d].clusters", field, i), groups[i].Clusters); f != nil {
			return f
		}
	}
	return nil
}

// checkOrder checks the ranks of clusters.
func (o *outcome) checkOrder(field string, clusters []string) *finding {
	before := scheduling.Verdict{}
	for i, cluster := range clusters {
		at := fmt.Sprintf("%s[%d]", field, i)
		verdict, exists := o.After.Result.VerdictOf(cluster)
		if !exists || verdict.Rank == 0 {
			return found(at, "%s has no rank: %s", cluster, o.After.Result.ReasonOf(cluster))
		}
		if i > 0 && verdict.Rank < before.Rank {
			return found(at, "%s comes before %s: rank %d with %d points, and rank %d with %d points",
				cluster, clusters[i-1], verdict.Rank, verdict.Score, before.Rank, before.Score)
		}
		before = verdict
	}
	return nil
}

// checkStates checks what is true of the whole Placement.
func (o *outcome) checkStates(path string, expect *cases.Expect) *finding {
	if satisfied := o.After.Satisfied(); expect.Satisfied != nil && satisfied != *expect.Satisfied {
		return found(path+".satisfied", "it is %t: %d clusters are selected, and %d are missing", satisfied, len(o.selected),
			o.After.Result.Unscheduled)
	}
	var held []string
	if o.After.Result.Outcome() == scheduling.Held {
		held = slices.Sorted(maps.Keys(o.After.Holds()))
	}
	if f := checkHeld(path+".heldByBudget", expect.HeldByBudget, held); f != nil {
		return f
	}
	return checkMoves(path+".moves", expect.Moves, o.before, o.selected)
}

// checkHeld checks whether the removal budget holds clusters.
func checkHeld(field string, expected *bool, held []string) *finding {
	switch {
	case expected == nil || *expected == (len(held) > 0):
		return nil
	case len(held) > 0:
		return found(field, "the removal budget holds clusters: %s", shown(held))
	default:
		return found(field, "the removal budget holds no cluster")
	}
}

// checkMoves checks how many clusters join or leave; both lists are sorted.
func checkMoves(field string, expected *cases.Bound, before, after []string) *finding {
	if expected == nil {
		return nil
	}
	joined, left := missing(after, before), missing(before, after)
	return checkBound(field, expected, max(len(joined), len(left)), fmt.Sprintf("%s joined, %s left", shown(joined), shown(left)))
}

// missing returns the names of the first list that the second lacks; both are sorted.
func missing(names, from []string) []string {
	var lacks []string
	for _, name := range names {
		for len(from) > 0 && from[0] < name {
			from = from[1:]
		}
		if len(from) == 0 || from[0] != name {
			lacks = append(lacks, name)
		}
	}
	return lacks
}
