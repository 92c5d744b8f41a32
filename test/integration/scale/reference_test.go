// SPDX-License-Identifier: Apache-2.0

package scale

import (
	"context"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
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
)

// reference is what the API server holds, read at one go, and the plain engine over it: nothing in it has seen an event.
type reference struct {
	compiler   *selector.Compiler
	snapshot   *inventory.Snapshot
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
	)

	for _, list := range []client.ObjectList{&clusters, &sets, &bindings, &scores, &all} {
		if err := hub.List(ctx, list); err != nil {
			return nil, fmt.Errorf("listing %T: %w", list, err)
		}
	}
	r := &reference{
		compiler: selector.NewCompiler(), placements: all.Items, now: time.Now(),
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
	}

	for i := range sets.Items {
		inv.SetClusterSet(&sets.Items[i])
	}
	for _, which := range api.Adapters() {
		if err := r.readPages(ctx, hub, which, inv); err != nil {
			return nil, err
		}
	}
	r.snapshot = inv.Snapshot()
	return r, nil
}

// readPages takes in the decisions of an API: all of them count for Balance.
func (r *reference) readPages(ctx context.Context, hub client.Reader, which api.Adapter, inv *inventory.Inventory) error {
	list, ok := which.Codec().EmptyList().(client.ObjectList)
	if !ok {
		return fmt.Errorf("%T is no list", which.Codec().EmptyList())
	}
	if err := hub.List(ctx, list); err != nil {
		return fmt.Errorf("listing %T: %w", list, err)
	}

	err := meta.EachListItem(list, func(object runtime.Object) error {
		page := which.Codec().Read(object)
		counted := api.InventoryPage(which, page)
		r.pages[counted.Owner] = append(r.pages[counted.Owner], page)
		inv.SetDecision(counted)
		return nil
	})
	if err != nil {
		return fmt.Errorf("reading %T: %w", list, err)
	}
	return nil
}

// result is what the engine says to a placement with the decisions it has, or with none.
func (r *reference) result(p *clusterv1beta1.Placement, afresh bool) (*scheduling.Result, placement.Existing) {
	asked := api.V1beta1.Read(p)
	existing := placement.NewExisting(api.V1beta1.Codec(), asked, r.pages[asked.Key()])
	incumbents := existing.Incumbents()
	if afresh {
		incumbents = nil
	}
	return scheduling.Reference(api.V1beta1.Read(p).Request(r.compiler), r.snapshot, incumbents, r.now), existing
}

// selected are the clusters in the pages of a placement, sorted.
func (r *reference) selected(placement *clusterv1beta1.Placement) []string {
	names := []string{}
	for _, page := range r.pages[api.V1beta1.Read(placement).Key()] {
		names = append(names, page.Clusters()...)
	}
	slices.Sort(names)
	return names
}

// chosen are the clusters of an answer, sorted.
func chosen(result *scheduling.Result) []string {
	names := []string{}
	for _, verdict := range result.Best() {
		names = append(names, verdict.Cluster.Name)
	}
	slices.Sort(names)
	return names
}

// feasible are the clusters that an answer could have chosen.
func feasible(result *scheduling.Result) map[string]bool {
	names := map[string]bool{}
	for _, verdict := range result.Verdicts() {
		if verdict.Stage == scheduling.StageRank || verdict.Stage == scheduling.StageSelected {
			names[verdict.Cluster.Name] = true
		}
	}
	return names
}
