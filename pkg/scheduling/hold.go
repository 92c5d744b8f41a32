// SPDX-License-Identifier: Apache-2.0

package scheduling

import (
	"maps"
	"slices"
	"time"

	"github.com/placement-hub/placement-hub/pkg/clusterinfo"
)

// Hold returns a Held copy of the Result in which those clusters of the existing decisions stay that are leaving, although the Result does
// not select them (docs/spec/differences.md B12). Other clusters join and are replaced as far as the wanted number of clusters and the hard
// constraints permit; if none does, the copy selects nothing. Its RequeueAt is the earliest of that of the Result, the given time unless zero,
// and the time at which rejections by taints can change.
func (r *Result) Hold(existing map[string]bool, leaving []string, again time.Time) *Result {
	held := *r
	held.held, held.stages = true, nil
	held.Selected, held.Kept = r.holding(existing, leaving)
	held.RequeueAt = earliest(earliest(r.RequeueAt, again), r.taintsChangeAt)
	return &held
}

// Postpone returns a Postponed copy of the Result whose removals must wait until it is computed again at the given time, or earlier when its
// rejections can change. Clusters join it like a copy of Hold.
func (r *Result) Postpone(why Postponement, again time.Time) *Result {
	decided := r.incumbents.Decided()
	leaving := maps.Clone(decided)
	for _, info := range r.Selected {
		delete(leaving, info.Name)
	}
	postponed := r.Hold(decided, slices.Collect(maps.Keys(leaving)), again)
	postponed.postponement = &why
	return postponed
}

// holding returns the clusters that are selected while others stay, sorted by name, and those that stay. It returns nothing if the decisions
// stay as they are.
func (r *Result) holding(existing map[string]bool, leaving []string) (selected []*clusterinfo.ClusterInfo, kept []string) {
	joining := 0
	for _, info := range r.Selected {
		if !existing[info.Name] {
			joining++
		}
	}
	staying := len(r.Selected) - joining + len(leaving)

	room := joining
	if r.Request.Wanted != nil {
		room = min(joining, max(0, int(*r.Request.Wanted)-staying))
	}
	if room == 0 && staying >= len(existing) {
		return nil, nil
	}
	if r.isConstrained() && (room < joining || slices.ContainsFunc(leaving, r.IsFeasible)) {
		return nil, nil // The clusters that stay count for constraints that the selected ones keep only without them.
	}

	refused := r.worstJoining(existing, joining-room)
	for _, info := range r.Selected {
		if !refused[info.Name] {
			selected = append(selected, info)
		}
	}

	for _, name := range leaving {
		info := r.Cluster(name)
		if info == nil {
			info = &clusterinfo.ClusterInfo{Name: name} // The ManagedCluster is deleted.
		}
		selected = append(selected, info)
	}
	slices.SortFunc(selected, func(a, b *clusterinfo.ClusterInfo) int { return compareName(a, b.Name) })
	return selected, slices.Sorted(slices.Values(leaving))
}

// Changes reports whether the selected clusters differ from those of the existing decisions.
func (r *Result) Changes(existing map[string]bool) bool {
	return len(r.Selected) != len(existing) ||
		slices.ContainsFunc(r.Selected, func(info *clusterinfo.ClusterInfo) bool { return !existing[info.Name] })
}

// isConstrained reports whether the selection of a cluster can forbid that of another one.
func (r *Result) isConstrained() bool {
	return r.Request.AntiAffinity != nil || slices.ContainsFunc(r.Request.Spread, func(c SpreadConstraint) bool { return c.Hard })
}

// worstJoining returns the last n by rank of the selected clusters that the existing decisions do not have.
func (r *Result) worstJoining(existing map[string]bool, n int) map[string]bool {
	worst := map[string]bool{}
	if n == 0 {
		return worst
	}
	for _, verdict := range slices.Backward(r.Best()) {
		if name := verdict.Cluster.Name; len(worst) < n && !existing[name] {
			worst[name] = true
		}
	}
	return worst
}
