// SPDX-License-Identifier: Apache-2.0

package attack

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/utils/ptr"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/placement/api"
)

// step is a change of a world by one or more requests.
type step func(w *arenaHub, ctx context.Context) error

// keeping are steps of several requests in an order in which clusters stay selected all the time. A hub that sees the last of them before
// the first, which are of the named kind, would take the clusters away.
var keeping = []struct {
	step  step
	first string
}{
	{(*arenaHub).labelThenSelect, "managedclusters"},
	{(*arenaHub).widenThenRelabel, "placements"},
	{(*arenaHub).bindThenMove, "managedclustersetbindings"},
	{(*arenaHub).moveThenUnbind, "managedclusters"},
	{(*arenaHub).widenSetThenRelabel, "managedclustersets"},
	{(*arenaHub).raiseThenEvaluate, "addonplacementscores"},
	{(*arenaHub).tolerateThenTaint, "placements"},
	{(*arenaHub).addPredicateThenClaim, "placements"},
	{(*arenaHub).recreateUnusedSet, "placements"},
}

// changing are steps by which clusters come and go.
var changing = []step{
	(*arenaHub).relabel, (*arenaHub).relabel, (*arenaHub).move, (*arenaHub).reclaim, (*arenaHub).rescore, (*arenaHub).toggleTaint,
	(*arenaHub).toggleBinding, (*arenaHub).reselectSet, (*arenaHub).respecify, (*arenaHub).respecify, (*arenaHub).recreateCluster,
	(*arenaHub).recreatePlacement, (*arenaHub).recreateSet,
}

// unreadable are steps that make, for a moment, objects that the API server accepts and the types of Go cannot hold. The policies against
// that are away.
var unreadable = []step{(*arenaHub).spoilCluster, (*arenaHub).spoilScore, (*arenaHub).spoilPlacement}

// pick is a placement of v1beta1, and false when there is none.
func (w *arenaHub) pick() (name string, found bool) {
	names := w.placements[api.V1beta1]
	if len(names) == 0 {
		return "", false
	}
	return oneOf(w.Rand, names...), true
}

func (w *arenaHub) editPlacement(ctx context.Context, name string, change func(*clusterv1beta1.PlacementSpec)) error {
	w.noted("change Placement %s", name)
	return edit(ctx, w, client.ObjectKey{Namespace: w.namespace, Name: name}, spec, func(p *clusterv1beta1.Placement) { change(&p.Spec) })
}

// label gives clusters a label.
func (w *arenaHub) label(ctx context.Context, key, value string, clusters ...string) error {
	w.noted("label %d clusters from %s with %s=%s", len(clusters), clusters[0], key, value)
	for _, name := range clusters {
		if err := w.editCluster(ctx, name, func(c *clusterv1.ManagedCluster) { c.Labels[key] = value }); err != nil {
			return err
		}
	}
	return nil
}

func (w *arenaHub) labelThenSelect(ctx context.Context) error {
	name, found := w.pick()
	if !found {
		return nil
	}
	w.wave++
	wave := fmt.Sprintf("w%d", w.wave)
	if err := w.label(ctx, waveLabel, wave, w.clusters...); err != nil {
		return err
	}
	return w.editPlacement(ctx, name, func(s *clusterv1beta1.PlacementSpec) {
		if len(s.Predicates) == 0 || len(s.Predicates[0].RequiredClusterSelector.LabelSelector.MatchExpressions) > 0 &&
			s.Predicates[0].RequiredClusterSelector.LabelSelector.MatchExpressions[0].Key == waveLabel {
			s.Predicates = []clusterv1beta1.ClusterPredicate{byLabel(waveLabel, wave)}
		}
	})
}

func (w *arenaHub) widenThenRelabel(ctx context.Context) error {
	name, found := w.pick()
	if !found {
		return nil
	}
	to := oneOf(w.Rand, regions...)

	err := w.editPlacement(ctx, name, func(s *clusterv1beta1.PlacementSpec) {
		if len(s.Predicates) > 0 {
			s.Predicates = append(s.Predicates[:1], byRegions(to))
		}
	})
	if err != nil {
		return err
	}
	return w.label(ctx, regionLabel, to, w.someClusters()...)
}

func (w *arenaHub) bindThenMove(ctx context.Context) error {
	to := oneOf(w.Rand, w.sets...)
	w.noted("bind %s", to)
	if err := w.bind(ctx, to); err != nil {
		return err
	}
	return w.label(ctx, clusterv1beta2.ClusterSetLabel, to, w.someClusters()...)
}

// moveThenUnbind moves all clusters into one set, which is bound first, and unbinds another one.
func (w *arenaHub) moveThenUnbind(ctx context.Context) error {
	from := w.IntN(len(w.sets))
	to := (from + 1) % len(w.sets)
	w.noted("bind %s", w.sets[to])
	if err := w.bind(ctx, w.sets[to]); err != nil {
		return err
	}
	if err := w.label(ctx, clusterv1beta2.ClusterSetLabel, w.sets[to], w.clusters...); err != nil {
		return err
	}
	w.noted("unbind %s", w.sets[from])
	return w.unbind(ctx, w.sets[from])
}

func (w *arenaHub) widenSetThenRelabel(ctx context.Context) error {
	w.noted("%s selects every region", w.labelSet)
	err := edit(ctx, w, client.ObjectKey{Name: w.labelSet}, spec, func(s *clusterv1beta2.ManagedClusterSet) { w.selectInSet(s, regions...) })
	if err != nil {
		return err
	}
	return w.label(ctx, regionLabel, oneOf(w.Rand, regions...), w.someClusters()...)
}

func (w *arenaHub) raiseThenEvaluate(ctx context.Context) error {
	name, found := w.pick()
	if !found {
		return nil
	}
	count := min(scoredClusters, len(w.clusters))
	first := w.clusters[:count/2]
	w.noted("raise the scores of %d clusters from %s", len(first), first[0])

	for _, cluster := range first {
		if err := w.score(ctx, cluster, 100); err != nil {
			return err
		}
	}
	return w.editPlacement(ctx, name, func(s *clusterv1beta1.PlacementSpec) {
		s.NumberOfClusters, s.PrioritizerPolicy = ptr.To(int32(count)), exactly(demoScore(1))
		s.SpreadPolicy = clusterv1beta1.SpreadPolicy{}
	})
}

func (w *arenaHub) tolerateThenTaint(ctx context.Context) error {
	name, found := w.pick()
	if !found {
		return nil
	}
	err := w.editPlacement(ctx, name, func(s *clusterv1beta1.PlacementSpec) {
		s.Tolerations = []clusterv1beta1.Toleration{{Key: maintenanceTaint, Operator: clusterv1beta1.TolerationOpExists}}
	})
	if err != nil {
		return err
	}
	return w.taintSome(ctx, maintenanceTaint, clusterv1.TaintEffectNoSelect)
}

func (w *arenaHub) taintSome(ctx context.Context, key string, effect clusterv1.TaintEffect) error {
	clusters := w.someClusters()
	w.noted("taint %d clusters from %s with %s:%s", len(clusters), clusters[0], key, effect)
	for _, cluster := range clusters {
		if err := w.taint(ctx, cluster, key, effect); err != nil {
			return err
		}
	}
	return nil
}

func (w *arenaHub) addPredicateThenClaim(ctx context.Context) error {
	name, found := w.pick()
	if !found {
		return nil
	}
	to := oneOf(w.Rand, platforms...)

	err := w.editPlacement(ctx, name, func(s *clusterv1beta1.PlacementSpec) {
		if len(s.Predicates) > 0 {
			s.Predicates = append(s.Predicates[:1], byPlatforms(to))
		}
	})
	if err != nil {
		return err
	}
	return w.claimSome(ctx, to)
}

func (w *arenaHub) claimSome(ctx context.Context, platform string) error {
	clusters := w.someClusters()
	w.noted("%d clusters from %s claim %s", len(clusters), clusters[0], platform)
	for _, cluster := range clusters {
		if err := w.claim(ctx, cluster, platform); err != nil {
			return err
		}
	}
	return nil
}

// recreateUnusedSet has every placement that asks for a set ask for all, and then deletes that set.
func (w *arenaHub) recreateUnusedSet(ctx context.Context) error {
	set := oneOf(w.Rand, w.sets...)
	for _, name := range w.placements[api.V1beta1] {
		err := w.editPlacement(ctx, name, func(s *clusterv1beta1.PlacementSpec) {
			if slices.Contains(s.ClusterSets, set) {
				s.ClusterSets = nil
			}
		})
		if err != nil {
			return err
		}
	}

	if err := w.label(ctx, clusterv1beta2.ClusterSetLabel, w.sets[(slices.Index(w.sets, set)+1)%len(w.sets)], w.clusters...); err != nil {
		return err
	}
	return w.recreateNamedSet(ctx, set)
}

func (w *arenaHub) relabel(ctx context.Context) error {
	if w.chance(2) {
		return w.label(ctx, tierLabel, oneOf(w.Rand, tiers...), w.someClusters()...)
	}
	return w.label(ctx, regionLabel, oneOf(w.Rand, regions...), w.someClusters()...)
}

func (w *arenaHub) move(ctx context.Context) error {
	return w.label(ctx, clusterv1beta2.ClusterSetLabel, oneOf(w.Rand, w.sets...), w.someClusters()...)
}

func (w *arenaHub) reclaim(ctx context.Context) error {
	return w.claimSome(ctx, oneOf(w.Rand, platforms...))
}

func (w *arenaHub) rescore(ctx context.Context) error {
	cluster := w.clusters[w.IntN(min(scoredClusters, len(w.clusters)))]
	w.noted("score %s", cluster)
	return w.score(ctx, cluster, int32(w.IntN(100)))
}

func (w *arenaHub) toggleTaint(ctx context.Context) error {
	if w.chance(2) {
		key := oneOf(w.Rand, maintenanceTaint, newTaint)
		return w.taintSome(ctx, key, oneOf(w.Rand, clusterv1.TaintEffectNoSelect, clusterv1.TaintEffectNoSelectIfNew))
	}
	clusters := w.someClusters()
	w.noted("untaint %d clusters from %s", len(clusters), clusters[0])

	for _, cluster := range clusters {
		if err := w.editCluster(ctx, cluster, func(c *clusterv1.ManagedCluster) { c.Spec.Taints = nil }); err != nil {
			return err
		}
	}
	return nil
}

func (w *arenaHub) toggleBinding(ctx context.Context) error {
	set := oneOf(w.Rand, append([]string{w.labelSet}, w.sets...)...)
	bound, err := w.bound(ctx, set)
	if err != nil {
		return err
	}
	w.noted("bind or unbind %s, which is bound: %t", set, bound)
	if bound {
		return w.unbind(ctx, set)
	}
	return w.bind(ctx, set)
}

func (w *arenaHub) reselectSet(ctx context.Context) error {
	of := []string{oneOf(w.Rand, regions...), oneOf(w.Rand, regions...)}
	w.noted("%s selects %v", w.labelSet, of)
	return edit(ctx, w, client.ObjectKey{Name: w.labelSet}, spec, func(s *clusterv1beta2.ManagedClusterSet) { w.selectInSet(s, of...) })
}

func (w *arenaHub) respecify(ctx context.Context) error {
	name, found := w.pick()
	if !found {
		return nil
	}
	asked := w.specV1beta1()
	return w.editPlacement(ctx, name, func(s *clusterv1beta1.PlacementSpec) { *s = asked })
}

func (w *arenaHub) recreateCluster(ctx context.Context) error {
	name := oneOf(w.Rand, w.clusters...)
	w.noted("delete and create %s", name)
	cluster := &clusterv1.ManagedCluster{}
	cluster.Name = name
	if err := w.remove(ctx, cluster); err != nil {
		return err
	}
	return w.createCluster(ctx, name)
}

func (w *arenaHub) recreatePlacement(ctx context.Context) error {
	name, found := w.pick()
	if !found {
		return nil
	}
	w.noted("delete and create Placement %s", name)
	placement := w.newPlacement(api.V1beta1, name)
	if err := w.remove(ctx, placement); err != nil {
		return err
	}
	return w.create(ctx, placement)
}

func (w *arenaHub) recreateSet(ctx context.Context) error {
	return w.recreateNamedSet(ctx, oneOf(w.Rand, w.sets...))
}

func (w *arenaHub) recreateNamedSet(ctx context.Context, name string) error {
	w.noted("delete and create %s", name)
	set := &clusterv1beta2.ManagedClusterSet{}
	set.Name = name
	if err := w.remove(ctx, set); err != nil {
		return err
	}
	again := &clusterv1beta2.ManagedClusterSet{}
	again.Name = name
	return w.create(ctx, again)
}
