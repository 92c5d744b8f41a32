package integration

import (
	"context"
	"fmt"
	"slices"
	"time"

	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/decision"
	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/scheduling"
	"github.com/placement-hub/placement-hub/pkg/selector"
)

// reference is what the API server holds, read at one go, and the plain engine over it: nothing in it has seen an event.
type reference struct {
	compiler   *selector.Compiler
	snapshot   *inventory.Snapshot
	placements []clusterv1beta1.Placement
	pages      map[inventory.PlacementKey][]*clusterv1beta1.PlacementDecision
	now        time.Time
}

func newReference(ctx context.Context, api client.Reader) (*reference, error) {
	var (
		clusters clusterv1.ManagedClusterList
		sets     clusterv1beta2.ManagedClusterSetList
		bindings clusterv1beta2.ManagedClusterSetBindingList
		scores   clusterv1alpha1.AddOnPlacementScoreList
		pages    clusterv1beta1.PlacementDecisionList
		all      clusterv1beta1.PlacementList
	)

	for _, list := range []client.ObjectList{&clusters, &sets, &bindings, &scores, &pages, &all} {
		if err := api.List(ctx, list); err != nil {
			return nil, fmt.Errorf("listing %T: %w", list, err)
		}
	}

	r := &reference{
		compiler: selector.NewCompiler(), placements: all.Items, now: time.Now(),
		pages: map[inventory.PlacementKey][]*clusterv1beta1.PlacementDecision{},
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
	}

	for i := range sets.Items {
		inv.SetClusterSet(&sets.Items[i])
	}

	for i := range pages.Items {
		page := &pages.Items[i]
		owner := inventory.PlacementKey{Namespace: page.Namespace, Name: page.Labels[clusterv1beta1.PlacementLabel]}
		r.pages[owner] = append(r.pages[owner], page)

		inv.SetDecision(page)
	}

	r.snapshot = inv.Snapshot()

	return r, nil
}

// answer is what the engine says to a placement with the decisions it has, or with none.
func (r *reference) answer(placement *clusterv1beta1.Placement, afresh bool) (*scheduling.Result, decision.Present) {
	present := decision.NewPresent(placement, r.pages[client.ObjectKeyFromObject(placement)])
	incumbents := present.Incumbents()

	if afresh {
		incumbents = nil
	}

	return scheduling.Schedule(scheduling.LowerV1beta1(r.compiler, placement), r.snapshot, incumbents, r.now), present
}

// selected are the clusters in the pages of a placement, sorted.
func (r *reference) selected(placement *clusterv1beta1.Placement) []string {
	names := []string{}

	for _, page := range r.pages[client.ObjectKeyFromObject(placement)] {
		for _, d := range page.Status.Decisions {
			names = append(names, d.ClusterName)
		}
	}

	slices.Sort(names)

	return names
}

// chosen are the clusters of an answer, sorted.
func chosen(result *scheduling.Result) []string {
	names := []string{}
	for _, verdict := range result.Selected {
		names = append(names, verdict.Cluster.Name)
	}

	slices.Sort(names)

	return names
}

// feasible are the clusters that an answer could have chosen.
func feasible(result *scheduling.Result) map[string]bool {
	names := map[string]bool{}

	for _, verdict := range result.Verdicts {
		if verdict.Stage >= scheduling.StageRank {
			names[verdict.Cluster.Name] = true
		}
	}

	return names
}
