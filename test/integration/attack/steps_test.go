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
func (h *arenaHub) pick() (name string, found bool) {
	names := h.placements[api.V1beta1]
	if len(names) == 0 {
		return "", false
	}
	return oneOf(h.Rand, names...), true
}

func (h *arenaHub) editPlacement(ctx context.Context, name string, change func(*clusterv1beta1.PlacementSpec)) error {
	h.noted("change Placement %s", name)
	return edit(ctx, h, client.ObjectKey{Namespace: h.namespace, Name: name}, spec, func(p *clusterv1beta1.Placement) { change(&p.Spec) })
}

// label gives clusters a label.
func (h *arenaHub) label(ctx context.Context, key, value string, clusters ...string) error {
	h.noted("label %d clusters from %s with %s=%s", len(clusters), clusters[0], key, value)
	for _, name := range clusters {
		if err := h.editCluster(ctx, name, func(c *clusterv1.ManagedCluster) { c.Labels[key] = value }); err != nil {
			return err
		}
	}
	return nil
}

func (h *arenaHub) labelThenSelect(ctx context.Context) error {
	name, found := h.pick()
	if !found {
		return nil
	}
	h.wave++
	wave := fmt.Sprintf("w%d", h.wave)
	if err := h.label(ctx, waveLabel, wave, h.clusters...); err != nil {
		return err
	}
	return h.editPlacement(ctx, name, func(s *clusterv1beta1.PlacementSpec) {
		if len(s.Predicates) == 0 || len(s.Predicates[0].RequiredClusterSelector.LabelSelector.MatchExpressions) > 0 &&
			s.Predicates[0].RequiredClusterSelector.LabelSelector.MatchExpressions[0].Key == waveLabel {
			s.Predicates = []clusterv1beta1.ClusterPredicate{byLabel(waveLabel, wave)}
		}
	})
}

func (h *arenaHub) widenThenRelabel(ctx context.Context) error {
	name, found := h.pick()
	if !found {
		return nil
	}
	to := oneOf(h.Rand, regions...)

	err := h.editPlacement(ctx, name, func(s *clusterv1beta1.PlacementSpec) {
		if len(s.Predicates) > 0 {
			s.Predicates = append(s.Predicates[:1], byRegions(to))
		}
	})
	if err != nil {
		return err
	}
	return h.label(ctx, regionLabel, to, h.someClusters()...)
}

func (h *arenaHub) bindThenMove(ctx context.Context) error {
	to := oneOf(h.Rand, h.sets...)
	h.noted("bind %s", to)
	if err := h.bind(ctx, to); err != nil {
		return err
	}
	return h.label(ctx, clusterv1beta2.ClusterSetLabel, to, h.someClusters()...)
}

// moveThenUnbind moves all clusters into one set, which is bound first, and unbinds another one.
func (h *arenaHub) moveThenUnbind(ctx context.Context) error {
	from := h.IntN(len(h.sets))
	to := (from + 1) % len(h.sets)
	h.noted("bind %s", h.sets[to])
	if err := h.bind(ctx, h.sets[to]); err != nil {
		return err
	}
	if err := h.label(ctx, clusterv1beta2.ClusterSetLabel, h.sets[to], h.clusters...); err != nil {
		return err
	}
	h.noted("unbind %s", h.sets[from])
	return h.unbind(ctx, h.sets[from])
}

func (h *arenaHub) widenSetThenRelabel(ctx context.Context) error {
	h.noted("%s selects every region", h.labelSet)
	err := edit(ctx, h, client.ObjectKey{Name: h.labelSet}, spec, func(s *clusterv1beta2.ManagedClusterSet) { h.selectInSet(s, regions...) })
	if err != nil {
		return err
	}
	return h.label(ctx, regionLabel, oneOf(h.Rand, regions...), h.someClusters()...)
}

func (h *arenaHub) raiseThenEvaluate(ctx context.Context) error {
	name, found := h.pick()
	if !found {
		return nil
	}
	count := min(scoredClusters, len(h.clusters))
	first := h.clusters[:count/2]
	h.noted("raise the scores of %d clusters from %s", len(first), first[0])

	for _, cluster := range first {
		if err := h.score(ctx, cluster, 100); err != nil {
			return err
		}
	}
	return h.editPlacement(ctx, name, func(s *clusterv1beta1.PlacementSpec) {
		s.NumberOfClusters, s.PrioritizerPolicy = ptr.To(int32(count)), exactly(demoScore(1))
		s.SpreadPolicy = clusterv1beta1.SpreadPolicy{}
	})
}

func (h *arenaHub) tolerateThenTaint(ctx context.Context) error {
	name, found := h.pick()
	if !found {
		return nil
	}
	err := h.editPlacement(ctx, name, func(s *clusterv1beta1.PlacementSpec) {
		s.Tolerations = []clusterv1beta1.Toleration{{Key: maintenanceTaint, Operator: clusterv1beta1.TolerationOpExists}}
	})
	if err != nil {
		return err
	}
	return h.taintSome(ctx, maintenanceTaint, clusterv1.TaintEffectNoSelect)
}

func (h *arenaHub) taintSome(ctx context.Context, key string, effect clusterv1.TaintEffect) error {
	clusters := h.someClusters()
	h.noted("taint %d clusters from %s with %s:%s", len(clusters), clusters[0], key, effect)
	for _, cluster := range clusters {
		if err := h.taint(ctx, cluster, key, effect); err != nil {
			return err
		}
	}
	return nil
}

func (h *arenaHub) addPredicateThenClaim(ctx context.Context) error {
	name, found := h.pick()
	if !found {
		return nil
	}
	to := oneOf(h.Rand, platforms...)

	err := h.editPlacement(ctx, name, func(s *clusterv1beta1.PlacementSpec) {
		if len(s.Predicates) > 0 {
			s.Predicates = append(s.Predicates[:1], byPlatforms(to))
		}
	})
	if err != nil {
		return err
	}
	return h.claimSome(ctx, to)
}

func (h *arenaHub) claimSome(ctx context.Context, platform string) error {
	clusters := h.someClusters()
	h.noted("%d clusters from %s claim %s", len(clusters), clusters[0], platform)
	for _, cluster := range clusters {
		if err := h.claim(ctx, cluster, platform); err != nil {
			return err
		}
	}
	return nil
}

// recreateUnusedSet has every placement that asks for a set ask for all, and then deletes that set.
func (h *arenaHub) recreateUnusedSet(ctx context.Context) error {
	set := oneOf(h.Rand, h.sets...)
	for _, name := range h.placements[api.V1beta1] {
		err := h.editPlacement(ctx, name, func(s *clusterv1beta1.PlacementSpec) {
			if slices.Contains(s.ClusterSets, set) {
				s.ClusterSets = nil
			}
		})
		if err != nil {
			return err
		}
	}

	if err := h.label(ctx, clusterv1beta2.ClusterSetLabel, h.sets[(slices.Index(h.sets, set)+1)%len(h.sets)], h.clusters...); err != nil {
		return err
	}
	return h.recreateNamedSet(ctx, set)
}

func (h *arenaHub) relabel(ctx context.Context) error {
	if h.chance(2) {
		return h.label(ctx, tierLabel, oneOf(h.Rand, tiers...), h.someClusters()...)
	}
	return h.label(ctx, regionLabel, oneOf(h.Rand, regions...), h.someClusters()...)
}

func (h *arenaHub) move(ctx context.Context) error {
	return h.label(ctx, clusterv1beta2.ClusterSetLabel, oneOf(h.Rand, h.sets...), h.someClusters()...)
}

func (h *arenaHub) reclaim(ctx context.Context) error {
	return h.claimSome(ctx, oneOf(h.Rand, platforms...))
}

func (h *arenaHub) rescore(ctx context.Context) error {
	cluster := h.clusters[h.IntN(min(scoredClusters, len(h.clusters)))]
	h.noted("score %s", cluster)
	return h.score(ctx, cluster, int32(h.IntN(100)))
}

func (h *arenaHub) toggleTaint(ctx context.Context) error {
	if h.chance(2) {
		key := oneOf(h.Rand, maintenanceTaint, newTaint)
		return h.taintSome(ctx, key, oneOf(h.Rand, clusterv1.TaintEffectNoSelect, clusterv1.TaintEffectNoSelectIfNew))
	}
	clusters := h.someClusters()
	h.noted("untaint %d clusters from %s", len(clusters), clusters[0])

	for _, cluster := range clusters {
		if err := h.editCluster(ctx, cluster, func(c *clusterv1.ManagedCluster) { c.Spec.Taints = nil }); err != nil {
			return err
		}
	}
	return nil
}

func (h *arenaHub) toggleBinding(ctx context.Context) error {
	set := oneOf(h.Rand, append([]string{h.labelSet}, h.sets...)...)
	bound, err := h.bound(ctx, set)
	if err != nil {
		return err
	}
	h.noted("bind or unbind %s, which is bound: %t", set, bound)
	if bound {
		return h.unbind(ctx, set)
	}
	return h.bind(ctx, set)
}

func (h *arenaHub) reselectSet(ctx context.Context) error {
	of := []string{oneOf(h.Rand, regions...), oneOf(h.Rand, regions...)}
	h.noted("%s selects %v", h.labelSet, of)
	return edit(ctx, h, client.ObjectKey{Name: h.labelSet}, spec, func(s *clusterv1beta2.ManagedClusterSet) { h.selectInSet(s, of...) })
}

func (h *arenaHub) respecify(ctx context.Context) error {
	name, found := h.pick()
	if !found {
		return nil
	}
	asked := h.specV1beta1()
	return h.editPlacement(ctx, name, func(s *clusterv1beta1.PlacementSpec) { *s = asked })
}

func (h *arenaHub) recreateCluster(ctx context.Context) error {
	name := oneOf(h.Rand, h.clusters...)
	h.noted("delete and create %s", name)
	cluster := &clusterv1.ManagedCluster{}
	cluster.Name = name
	if err := h.remove(ctx, cluster); err != nil {
		return err
	}
	return h.createCluster(ctx, name)
}

func (h *arenaHub) recreatePlacement(ctx context.Context) error {
	name, found := h.pick()
	if !found {
		return nil
	}
	h.noted("delete and create Placement %s", name)
	placement := h.newPlacement(api.V1beta1, name)
	if err := h.remove(ctx, placement); err != nil {
		return err
	}
	return h.create(ctx, placement)
}

func (h *arenaHub) recreateSet(ctx context.Context) error {
	return h.recreateNamedSet(ctx, oneOf(h.Rand, h.sets...))
}

func (h *arenaHub) recreateNamedSet(ctx context.Context, name string) error {
	h.noted("delete and create %s", name)
	set := &clusterv1beta2.ManagedClusterSet{}
	set.Name = name
	if err := h.remove(ctx, set); err != nil {
		return err
	}
	again := &clusterv1beta2.ManagedClusterSet{}
	again.Name = name
	return h.create(ctx, again)
}
