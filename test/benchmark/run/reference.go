// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/placement"
	"github.com/placement-hub/placement-hub/pkg/placement/api"
	"github.com/placement-hub/placement-hub/pkg/scheduling"
	"github.com/placement-hub/placement-hub/pkg/selector"
	"github.com/placement-hub/placement-hub/test/benchmark/fleet"
)

// reference is what the API server holds, read at one go, and the plain engine over it: nothing in it has seen an event.
type reference struct {
	compiler   *selector.Compiler
	snapshot   *inventory.Snapshot
	bindings   map[string][]string // sets by namespace
	placements []clusterv1beta1.Placement
	pages      map[inventory.Key][]*api.Page
	now        time.Time
}

func newReference(ctx context.Context, hub client.Reader) (*reference, error) {
	var (
		clusters clusterv1.ManagedClusterList
		sets     clusterv1beta2.ManagedClusterSetList
		bindings clusterv1beta2.ManagedClusterSetBindingList
		scores   clusterv1alpha1.AddOnPlacementScoreList
		all      clusterv1beta1.PlacementList
		pages    clusterv1beta1.PlacementDecisionList
	)
	for _, list := range []client.ObjectList{&clusters, &sets, &bindings, &scores, &all, &pages} {
		if err := hub.List(ctx, list); err != nil {
			return nil, fmt.Errorf("listing %T: %w", list, err)
		}
	}
	r := &reference{
		compiler: selector.NewCompiler(), bindings: map[string][]string{}, placements: all.Items, now: time.Now(),
		pages: map[inventory.Key][]*api.Page{},
	}
	inv := inventory.New(r.compiler)
	for i := range scores.Items {
		inv.SetScores(&scores.Items[i])
	}
	for i := range clusters.Items {
		inv.SetCluster(&clusters.Items[i])
	}
	for i := range bindings.Items {
		inv.SetBinding(&bindings.Items[i])
		r.bindings[bindings.Items[i].Namespace] = append(r.bindings[bindings.Items[i].Namespace], bindings.Items[i].Spec.ClusterSet)
	}
	for i := range sets.Items {
		inv.SetClusterSet(&sets.Items[i])
	}
	for i := range pages.Items {
		page := api.V1beta1.Codec().Read(&pages.Items[i])
		counted := api.InventoryPage(api.V1beta1, page)
		r.pages[counted.Owner] = append(r.pages[counted.Owner], page)
		inv.SetDecision(counted)
	}
	r.snapshot = inv.Snapshot()
	return r, nil
}

// sampled is how many placements of a large fleet there are to one that is compared: for each the reference looks at every cluster.
const sampled = 40

// sample leaves a part of the placements, with all of those that scenarios change.
func (r *reference) sample() {
	n := 0
	r.placements = slices.DeleteFunc(r.placements, func(p clusterv1beta1.Placement) bool {
		if strings.HasPrefix(p.Name, fleet.ConcernedPrefix) {
			return false
		}
		n++
		return n%sampled != 0
	})
}

// questions are the placements, by number, that ask the same in the same scope. In the worlds of the benchmark what a placement has does
// not change what it may have, so one result is for all of them; it is large, so it is not kept.
func (r *reference) questions() (map[string][]int, error) {
	same := map[string][]int{}
	for i := range r.placements {
		placement := &r.placements[i]
		spec, err := json.Marshal(placement.Spec)
		if err != nil {
			return nil, fmt.Errorf("comparing Placement %s/%s: %w", placement.Namespace, placement.Name, err)
		}
		sets := slices.Sorted(slices.Values(r.bindings[placement.Namespace]))
		question := strings.Join(sets, ",") + string(spec)
		same[question] = append(same[question], i)
	}
	return same, nil
}

// differences compares every decision and every status with the reference, and says what differs.
func (r *reference) differences(ctx context.Context) ([]string, error) {
	questions, err := r.questions()
	if err != nil {
		return nil, err
	}
	found := make([]string, len(r.placements))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	for _, numbers := range questions {
		group.Go(func() error {
			request := api.V1beta1.Read(&r.placements[numbers[0]]).Request(r.compiler)
			result := scheduling.Reference(request, r.snapshot, nil, r.now)
			for _, i := range numbers {
				placement := &r.placements[i]
				if text := r.difference(placement, result); text != "" {
					found[i] = fmt.Sprintf("Placement %s/%s %s", placement.Namespace, placement.Name, text)
				}
			}
			return ctx.Err()
		})
	}
	err = group.Wait()
	return slices.DeleteFunc(found, func(text string) bool { return text == "" }), err
}

// difference says what is wrong with the decisions of a placement; empty: nothing.
func (r *reference) difference(p *clusterv1beta1.Placement, result *scheduling.Result) string {
	asked := api.V1beta1.Read(p)
	existing := placement.NewExisting(api.V1beta1.Codec(), asked, r.pages[asked.Key()])
	var selected []string
	for _, page := range existing.Pages {
		if len(page.Decisions) > placement.PageSize {
			return fmt.Sprintf("has %d decisions in page %s", len(page.Decisions), page.Name)
		}
		selected = append(selected, page.Clusters()...)
	}
	slices.Sort(selected)
	want := chosen(result)
	switch reported := int(p.Status.NumberOfSelectedClusters); {
	case reported != len(selected):
		return fmt.Sprintf("says that it has %d clusters and has %d", reported, len(selected))
	case fleet.Balanced(p):
		// Others have moved since it was evaluated, which wakes nobody: it has as many as it can, and all of them fit.
		if len(selected) != len(want) {
			return fmt.Sprintf("has %d clusters, want %d", len(selected), len(want))
		}
		if stray := without(selected, feasible(result)); len(stray) > 0 {
			return fmt.Sprintf("has %v, which do not fit", stray)
		}
		return ""
	case !slices.Equal(selected, want):
		return fmt.Sprintf("has %d clusters, want %d; too many: %v, too few: %v", len(selected), len(want),
			without(selected, want), without(want, selected))
	}
	if plan := placement.NewPlan(result, existing, metav1.NewTime(r.now)); !plan.Empty() {
		return fmt.Sprintf("is settled and leaves %d writes and %d deletes to do", len(plan.Writes), len(plan.Deletes))
	}
	return ""
}

// without are the names of one sorted list that are not in another.
func without(names, others []string) []string {
	var left []string
	for _, name := range names {
		if _, found := slices.BinarySearch(others, name); !found {
			left = append(left, name)
		}
	}
	return left
}

// chosen returns the selected clusters of a result, sorted.
func chosen(result *scheduling.Result) []string {
	names := make([]string, 0, len(result.Selected))
	for _, verdict := range result.Best() {
		names = append(names, verdict.Cluster.Name)
	}
	slices.Sort(names)
	return names
}

// feasible returns the feasible clusters of a result, sorted.
func feasible(result *scheduling.Result) []string {
	var names []string
	for _, verdict := range result.Verdicts() {
		if verdict.Stage == scheduling.StageRank || verdict.Stage == scheduling.StageSelected {
			names = append(names, verdict.Cluster.Name)
		}
	}
	slices.Sort(names)
	return names
}
