// SPDX-License-Identifier: Apache-2.0

package attack

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/placement"
	"github.com/placement-hub/placement-hub/pkg/placement/api"
	"github.com/placement-hub/placement-hub/pkg/scheduling"
	"github.com/placement-hub/placement-hub/pkg/selector"
)

const (
	// settleTimeout is how long the hub may take to settle once all faults have ended: watches are tried again after half a minute at the
	// latest, and the garbage collector looks for kinds twice a minute.
	settleTimeout = 100 * time.Second
	// quietFor is how long nothing may happen to be sure that nothing will.
	quietFor = time.Second
	// divergences must be 0.
	divergences = "placement_hub_divergences_total"
)

// settle waits until the decisions are what the reference makes of the world, and then demands that nothing is written any more.
func (a *arena) settle(ctx context.Context, w *arenaHub, h *hub) error {
	limited, cancel := context.WithTimeout(ctx, settleTimeout)
	defer cancel()

	err := persist(limited, func() error {
		if a.recorder.idle() < quietFor/2 {
			return errors.New("decisions are still being written")
		}
		return a.unsettled(limited, w)
	})
	if err != nil {
		return fmt.Errorf("the hub has not settled: %w", err)
	}
	if err := a.quiet(ctx, w, h); err != nil {
		return err
	}
	return noDivergence()
}

// quiet waits until the hub writes nothing for a time, while its decisions stay as they are. Controllers whose results no decision depends on, such
// as vocabulary, may be busy yet.
func (a *arena) quiet(ctx context.Context, w *arenaHub, h *hub) error {
	ctx, cancel := context.WithTimeout(ctx, settleTimeout)
	defer cancel()
	before, last := h.wrote()
	for pause := quietFor; ; pause = 2 * quietFor {
		if err := wait(ctx, pause); err != nil {
			return fmt.Errorf("the hub has settled, and goes on writing, at last %s: %w", last, err)
		}
		after, latest := h.wrote()
		if after == before {
			return nil
		}
		if err := a.unsettled(ctx, w); err != nil {
			return fmt.Errorf("the hub had settled, and wrote again (%s): %w", latest, err)
		}
		before, last = after, latest
	}
}

// noDivergence demands that the engine and the reference have never disagreed.
func noDivergence() error {
	families, err := ctrlmetrics.Registry.Gather()
	if err != nil {
		return fmt.Errorf("reading the metrics: %w", err)
	}

	for _, family := range families {
		if family.GetName() == divergences {
			for _, series := range family.GetMetric() {
				if count := series.GetCounter().GetValue(); count != 0 {
					return fmt.Errorf("%s is %v", divergences, count)
				}
			}
			return nil
		}
	}
	return fmt.Errorf("there is no metric %s", divergences)
}

// reference is what the API server holds, read at one go.
type reference struct {
	compiler   *selector.Compiler
	snapshot   *inventory.Snapshot
	placements []*api.Placement
	pages      map[inventory.Key][]*api.Page
	now        time.Time
}

func (a *arena) newReference(ctx context.Context, namespace string) (*reference, error) {
	r := &reference{compiler: selector.NewCompiler(), pages: map[inventory.Key][]*api.Page{}, now: a.clock.Now()}
	inv := inventory.New(r.compiler)

	lists := []client.ObjectList{
		&clusterv1alpha1.AddOnPlacementScoreList{}, &clusterv1.ManagedClusterList{}, &clusterv1beta2.ManagedClusterSetBindingList{},
		&clusterv1beta2.ManagedClusterSetList{},
	}

	for _, adapter := range api.Adapters() {
		asked, ok := adapter.EmptyList().(client.ObjectList)
		if !ok {
			return nil, fmt.Errorf("%T is no list", adapter.EmptyList())
		}
		lists = append(lists, asked, emptyPages(adapter))
	}

	for _, list := range lists {
		if err := a.admin.List(ctx, list); err != nil {
			return nil, fmt.Errorf("listing %T: %w", list, err)
		}
		err := meta.EachListItem(list, func(object runtime.Object) error { return r.take(inv, namespace, object) })
		if err != nil {
			return nil, fmt.Errorf("reading %T: %w", list, err)
		}
	}
	r.snapshot = inv.Snapshot()
	return r, nil
}

// take takes in an object. Only placements of the namespace are looked at.
func (r *reference) take(inv *inventory.Inventory, namespace string, object runtime.Object) error {
	switch object := object.(type) {
	case *clusterv1alpha1.AddOnPlacementScore:
		inv.SetScores(object)
		return nil
	case *clusterv1.ManagedCluster:
		inv.SetCluster(object)
		return nil
	case *clusterv1beta2.ManagedClusterSetBinding:
		inv.SetBinding(object)
		return nil
	case *clusterv1beta2.ManagedClusterSet:
		inv.SetClusterSet(object)
		return nil
	}

	if placement := api.Read(object); placement != nil {
		if placement.Namespace == namespace {
			r.placements = append(r.placements, placement)
		}
		return nil
	}

	for _, adapter := range api.Adapters() {
		if page := adapter.Codec().Read(object); page != nil {
			counted := api.InventoryPage(adapter, page)
			r.pages[counted.Owner] = append(r.pages[counted.Owner], page)
			inv.SetDecision(counted)
			return nil
		}
	}
	return fmt.Errorf("%T was not asked for", object)
}

// unsettled says what the hub has still to do in a world.
func (a *arena) unsettled(ctx context.Context, w *arenaHub) error {
	r, err := a.newReference(ctx, w.namespace)
	if err != nil {
		return err
	}
	var errs []error

	for _, placement := range r.placements {
		key := placement.Key()
		if err := a.recorder.shows(placement.API, key, r.pages[key]); err != nil {
			errs = append(errs, err)
		}
		if err := r.difference(placement); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", key, err))
		}
	}

	if len(r.placements) != len(w.truth.placements) {
		errs = append(errs, fmt.Errorf("%d placements exist, want %d", len(r.placements), len(w.truth.placements)))
	}
	return errors.Join(errs...)
}

// difference says what is not as the reference has it.
func (r *reference) difference(p *api.Placement) error {
	existing := placement.NewExisting(p.API.Codec(), p, r.pages[p.Key()])
	result := scheduling.Reference(p.Request(r.compiler), r.snapshot, existing.Incumbents(), r.now)
	if len(existing.Pages) != len(r.pages[p.Key()]) {
		return fmt.Errorf("%d of its %d pages are its own", len(existing.Pages), len(r.pages[p.Key()]))
	}
	if err := r.statusDifference(p, existing); err != nil {
		return err
	}

	if result.Outcome() != scheduling.Decided {
		return nil
	}
	selected, want := clustersOf(existing), bestOf(result)

	if natureOf(p) == dependent {
		fits := map[string]bool{}
		for _, verdict := range result.Verdicts() {
			fits[verdict.Cluster.Name] = verdict.Feasible() // Which of its kind is taken depends on the others.
		}
		stray := slices.DeleteFunc(slices.Clone(selected), func(name string) bool { return fits[name] })
		if len(stray) > 0 || len(selected) != len(want) {
			return fmt.Errorf("has %d clusters, want %d; these do not fit: %v\nhas %v\nwant %v", len(selected), len(want), stray, selected, want)
		}
		return nil
	}

	if diff := cmp.Diff(want, selected); diff != "" {
		return fmt.Errorf("has %d clusters, want %d (-want +got):\n%s", len(selected), len(want), diff)
	}
	if plan := placement.NewPlan(result, existing, metav1.NewTime(r.now)); !plan.Empty() {
		return fmt.Errorf("leaves %d writes and %d deletes to do", len(plan.Writes), len(plan.Deletes))
	}
	return nil
}

// statusDifference says what the status claims that does not stand in the pages.
func (r *reference) statusDifference(p *api.Placement, existing placement.Existing) error {
	for _, condition := range p.Status.Conditions {
		if condition.ObservedGeneration != p.Generation {
			return fmt.Errorf("the condition %s is of generation %d, and the spec of %d", condition.Type, condition.ObservedGeneration,
				p.Generation)
		}
	}
	if len(p.Status.Conditions) == 0 {
		return errors.New("has no conditions")
	}

	if postponed := meta.FindStatusCondition(p.Status.Conditions, placement.ConditionRemovalPostponed); postponed != nil {
		return fmt.Errorf("a removal is postponed: %s", postponed.Message)
	}
	if p.API != api.V1beta1 {
		return nil
	}
	if count := len(clustersOf(existing)); p.Status.Selected != count {
		return fmt.Errorf("says that it has %d clusters, and has %d", p.Status.Selected, count)
	}

	var listed, names []string
	for _, group := range p.Status.Groups {
		listed = append(listed, group.Pages...)
	}
	for _, page := range existing.Pages {
		names = append(names, page.Name)
	}
	slices.Sort(listed)
	slices.Sort(names)

	if !slices.Equal(listed, names) {
		return fmt.Errorf("its status lists the pages %s, and there are %s", strings.Join(listed, " "), strings.Join(names, " "))
	}
	return nil
}

// clustersOf are the clusters of the pages, sorted.
func clustersOf(existing placement.Existing) []string {
	names := []string{}
	for _, page := range existing.Pages {
		names = append(names, page.Clusters()...)
	}
	slices.Sort(names)
	return names
}

// bestOf are the clusters of an answer, sorted.
func bestOf(result *scheduling.Result) []string {
	names := []string{}
	for _, verdict := range result.Best() {
		names = append(names, verdict.Cluster.Name)
	}
	slices.Sort(names)
	return names
}
