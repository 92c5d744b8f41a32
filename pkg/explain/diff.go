// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"fmt"
	"maps"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/placement-hub/placement-hub/pkg/clusterinfo"
	requests "github.com/placement-hub/placement-hub/pkg/clusterrequest/explain"
	federated "github.com/placement-hub/placement-hub/pkg/federation/explain"
	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/placement/api"
	pods "github.com/placement-hub/placement-hub/pkg/podscheduling/explain"
	"github.com/placement-hub/placement-hub/pkg/scheduling"
)

// Differences is the output of the formats json and yaml for a comparison.
type Differences struct {
	// Now is the time of the evaluation.
	Now metav1.Time `json:"now"`
	// Placements are sorted by namespace, name and API.
	Placements []Difference `json:"placements"`
	// Affected counts what the files would do to all Placements; nil if they have neither ManagedClusterSets nor bindings.
	Affected *WhatIfSummary `json:"affected,omitempty"`
	// Objects are what the files would do to objects that are delivered to clusters, those that lose most first; ObjectSummary counts them.
	// Both are absent if there are no such objects. ObjectNotes name what of them could not be read.
	Objects       []federated.Difference `json:"objects,omitempty"`
	ObjectSummary *federated.Summary     `json:"objectSummary,omitempty"`
	ObjectNotes   []string               `json:"objectNotes,omitempty"`
	// Pods is what policies, classes and Tenants would change; nil if there are none in the files.
	Pods *pods.Differences `json:"pods,omitempty"`
	// Requests is what the files would change for ClusterRequests; nil if they have no request and nothing that decides about requests.
	Requests *requests.Difference `json:"requests,omitempty"`
	// Refused are the objects of the files that would not be written, besides those of Pods; nothing of them is compared.
	Refused []Refusal `json:"refused,omitempty"`
	// Notes are about all of it: which fields go, and what was not asked of the API server.
	Notes []string `json:"notes,omitempty"`
	// Otherwise is what differs if the objects of which it is not known how they are written are written by server-side apply; nil if nothing does.
	Otherwise *Differences `json:"otherwise,omitempty"`
}

// Refusal is an object of files that would not be written.
type Refusal struct {
	// Object is its kind and name.
	Object string `json:"object"`
	// Reasons are the errors of the write.
	Reasons []string `json:"reasons"`
}

// Difference is the difference between the existing decisions of one Placement, which consumers see, and the desired ones. Its JSON names
// are stable: fields may be added, and none is renamed or removed.
type Difference struct {
	// Key is the key of the Placement.
	Key inventory.Key `json:"-"`
	// Placement is "namespace/name".
	Placement string `json:"placement"`
	// API is the API group of the Placement, if that is not cluster.open-cluster-management.io.
	API string `json:"api,omitempty"`
	// New reports that the hub does not have the Placement yet.
	New bool `json:"new,omitempty"`
	// Skipped is the reason why the controller would not schedule the Placement; nothing differs then.
	Skipped string `json:"skipped,omitempty"`
	// Stalled says why there is no result, or why clusters stay that would leave, and what to correct; empty otherwise.
	Stalled string `json:"stalled,omitempty"`
	// Wanted is spec.numberOfClusters; absent when all feasible clusters are wanted.
	Wanted *int32 `json:"wanted,omitempty"`
	// Selected is the number of clusters that the decisions would have.
	Selected int `json:"selected"`
	// Gained are clusters that no decision has yet, best first.
	Gained []Gain `json:"gained"`
	// Lost are clusters that would leave the decisions, by name.
	Lost []Loss `json:"lost"`
	// Moved are the kept clusters that would change their decision group, by name.
	Moved []Move `json:"moved"`
	// Kept are the clusters that would stay in the decisions, by name.
	Kept []string `json:"kept"`
	// ChangesAt is the earliest time at which the result can change without an event because of a what-if: a toleration of a taint that it
	// adds expires, say.
	ChangesAt *metav1.Time `json:"changesAt,omitempty"`
	// Notes are warnings and conditions that a user should know.
	Notes []string `json:"notes,omitempty"`
}

// DecisionGroup identifies a decision group.
type DecisionGroup struct {
	// Index counts from 0.
	Index int32 `json:"index"`
	// Name is the groupName of the rule that makes the group; empty for the rest.
	Name string `json:"name"`
}

// Gain is a cluster that would enter the decisions.
type Gain struct {
	Cluster string `json:"cluster"`
	// Rank counts from 1 over the feasible clusters, and Score is the weighted sum of the prioritizers.
	Rank  int   `json:"rank"`
	Score int64 `json:"score"`
	// Group is its decision group.
	Group DecisionGroup `json:"group"`
	// Reason is why the cluster was selected.
	Reason string `json:"reason"`
	// Anyway says that the hub is about to do the same without the change.
	Anyway bool `json:"anyway,omitempty"`
}

// Loss is a cluster that would leave the decisions.
type Loss struct {
	Cluster string `json:"cluster"`
	// Reason is the exact clause that rejects the cluster.
	Reason string `json:"reason"`
	// Anyway says that the hub is about to do the same without the change.
	Anyway bool `json:"anyway,omitempty"`
}

// Move is a cluster that would change its decision group.
type Move struct {
	Cluster string        `json:"cluster"`
	From    DecisionGroup `json:"from"`
	To      DecisionGroup `json:"to"`
	// Anyway says that the hub is about to do the same without the change.
	Anyway bool `json:"anyway,omitempty"`
}

// Differs reports whether any cluster would be gained, lost or moved.
func (d Difference) Differs() bool { return len(d.Gained)+len(d.Lost)+len(d.Moved) > 0 }

// Differ reports whether any Placement, workload or delivered object differs.
func (d Differences) Differ() bool {
	return slices.ContainsFunc(d.Placements, Difference.Differs) || d.Affected != nil && d.Affected.Affected > 0 ||
		d.Pods != nil && d.Pods.Differ() || slices.ContainsFunc(d.Objects, federated.Difference.Differs) || d.Requests.Differ() || d.Otherwise != nil
}

// Diff compares the decisions of the wanted Placements as they exist on the hub with those that they would have if the hub became the State
// after. An evaluation without the change marks the differences that the hub is about to make anyway. Every Placement is evaluated
// independently, as by State.Evaluate.
func Diff(hub, after *State, wanted func(inventory.Key) bool, now time.Time) Differences {
	untouched := map[inventory.Key]Evaluation{}
	for _, evaluation := range hub.Evaluate(now, wanted) {
		untouched[evaluation.Placement.Key()] = evaluation
	}
	differences := Differences{Now: metav1.NewTime(now), Placements: []Difference{}}

	for _, evaluation := range after.since(hub).Evaluate(now, wanted) {
		before, exists := untouched[evaluation.Placement.Key()]
		if exists {
			forgotten := after.Limit.Forgotten(before.Placement.RemovalSubject(), evaluation.Placement.RemovalSubject())
			evaluation.LimitUnknown = evaluation.LimitUnknown || forgotten
		}
		difference := newDifference(evaluation)
		difference.New = !exists
		difference.Notes = append(notesOf(evaluation, after), difference.misspelt(evaluation)...)

		if exists {
			markAnyway(&difference, before)
		}
		differences.Placements = append(differences.Placements, difference)
	}

	return differences
}

// misspelt returns the misspeltNotes of an evaluation that has a result.
func (d Difference) misspelt(evaluation Evaluation) []string {
	if evaluation.Result == nil || d.Stalled != "" {
		return nil
	}
	return misspeltNotes(evaluation.Result)
}

// newDifference compares the existing decisions with the desired ones.
func newDifference(evaluation Evaluation) Difference {
	key := evaluation.Placement.Key()
	difference := Difference{
		Key: key, Placement: key.NamespacedName.String(), API: namedAPI(evaluation.Placement), Skipped: evaluation.Skipped,
		Wanted: evaluation.Placement.Wanted,
		Gained: []Gain{}, Lost: []Loss{}, Moved: []Move{}, Kept: []string{},
	}
	present := evaluation.Existing.Incumbents()
	result := evaluation.Result
	if result != nil && result.Outcome() != scheduling.Decided {
		difference.Stalled = stalledMessage(evaluation, "in the file")
	}

	if result == nil || !result.Applies() {
		difference.Kept = slices.AppendSeq(difference.Kept, maps.Keys(present))
		slices.Sort(difference.Kept)
		difference.Selected = len(present)
		return difference
	}
	difference.Selected = len(result.Selected)
	groups := groupsAfter(evaluation)
	selected := make(map[string]bool, len(result.Selected))

	for _, info := range result.Selected {
		selected[info.Name] = true
	}
	difference.Gained = gains(result, selected, present, groups)

	for _, name := range slices.Sorted(maps.Keys(present)) {
		if selected[name] {
			difference.Kept = append(difference.Kept, name)
		} else {
			difference.Lost = append(difference.Lost, Loss{Cluster: name, Reason: result.ReasonOf(name)})
		}
	}
	difference.Moved = moves(difference.Kept, groupsBefore(evaluation), groups)
	return difference
}

// gains returns the selected clusters that no decision has yet. It computes ranks only if there are any.
func gains(result *scheduling.Result, selected, present map[string]bool, groups map[string]DecisionGroup) []Gain {
	gained := []Gain{}
	isNew := func(info *clusterinfo.ClusterInfo) bool { return selected[info.Name] && !present[info.Name] }
	if !slices.ContainsFunc(result.Selected, isNew) {
		return gained
	}

	for _, verdict := range result.Best() {
		if name := verdict.Cluster.Name; isNew(verdict.Cluster) {
			gained = append(gained, Gain{
				Cluster: name, Rank: verdict.Rank, Score: verdict.Score, Group: groups[name], Reason: result.Reason(verdict),
			})
		}
	}
	return gained
}

// moves compares the groups of the clusters that stay. A cluster that is in two groups, because the hub is about to move it, moves only
// when its new group is neither of them.
func moves(kept []string, before map[string][]DecisionGroup, after map[string]DecisionGroup) []Move {
	moved := []Move{}
	for _, name := range kept {
		if groups := before[name]; len(groups) > 0 && !slices.Contains(groups, after[name]) {
			moved = append(moved, Move{Cluster: name, From: groups[0], To: after[name]})
		}
	}
	return moved
}

// groupsBefore returns the decision groups of the clusters on the existing pages. A cluster has none if its only page is being deleted.
func groupsBefore(evaluation Evaluation) map[string][]DecisionGroup {
	holds := make(map[string][]string, len(evaluation.Existing.Pages))
	for _, page := range evaluation.Existing.Pages {
		holds[page.Name] = page.Clusters()
	}
	groups := map[string][]DecisionGroup{}
	eachInGroup(evaluation.Existing.Groups(), holds, func(cluster string, group DecisionGroup) {
		groups[cluster] = append(groups[cluster], group)
	})
	return groups
}

func groupsAfter(evaluation Evaluation) map[string]DecisionGroup {
	groups := map[string]DecisionGroup{}
	eachInGroup(evaluation.Plan.Groups, evaluation.Pages, func(cluster string, group DecisionGroup) { groups[cluster] = group })
	return groups
}

func eachInGroup(groups []api.GroupStatus, pages map[string][]string, take func(string, DecisionGroup)) {
	for _, status := range groups {
		group := DecisionGroup{Index: int32(status.Index), Name: status.Name}
		for _, page := range status.Pages {
			for _, cluster := range pages[page] {
				take(cluster, group)
			}
		}
	}
}

// markAnyway marks the differences that come without the change too, and adds a note with their number.
func markAnyway(d *Difference, before Evaluation) {
	if before.Result == nil || !before.Result.Applies() {
		return
	}
	groups := groupsAfter(before)
	count := 0

	mark := func(anyway bool, flag *bool) {
		if *flag = anyway; anyway {
			count++
		}
	}
	for i := range d.Gained {
		_, selected := groups[d.Gained[i].Cluster]
		mark(selected, &d.Gained[i].Anyway)
	}

	for i := range d.Lost {
		_, selected := groups[d.Lost[i].Cluster]
		mark(!selected, &d.Lost[i].Anyway)
	}
	for i := range d.Moved {
		group, selected := groups[d.Moved[i].Cluster]
		mark(selected && group == d.Moved[i].To, &d.Moved[i].Anyway)
	}

	if count > 0 {
		d.Notes = append(d.Notes, fmt.Sprintf(
			"due anyway: %d of the differences, because the written decisions are behind the present state of the hub", count))
	}
}
