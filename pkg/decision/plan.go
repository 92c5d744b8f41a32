package decision

import (
	"cmp"
	"maps"
	"slices"
	"strconv"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/placement-hub/placement-hub/pkg/scheduling"
)

// Write is what one PlacementDecision needs.
type Write struct {
	// Current is the PlacementDecision as it is; nil when it is to be created.
	Current *clusterv1beta1.PlacementDecision
	// Desired is what it is to become.
	Desired *clusterv1beta1.PlacementDecision
	// Mend says that labels or owners of ours are wrong, Fill that the decisions are.
	Mend, Fill bool

	gains  bool
	losses []string
}

// Plan is what to write for a placement, in a safe order: all Writes, then the status of the Placement, then all Deletes.
type Plan struct {
	// Writes bring pages that gain clusters before pages that lose them (see inOrder).
	Writes []Write
	// Deletes are surplus pages, from the highest group index down.
	Deletes []*clusterv1beta1.PlacementDecision
	// Groups describe the pages that stay, in the order of their indexes; Selected is how many decisions they have.
	Groups   []clusterv1beta1.DecisionGroupStatus
	Selected int
}

// Empty reports whether there is nothing to write.
func (p Plan) Empty() bool { return len(p.Writes) == 0 && len(p.Deletes) == 0 }

// NewPlan compares the answer with what exists. A held result keeps the decisions there are, and makes an empty page only where there
// is none; a placement whose name cannot stand in a label gets none at all (ours.md A1, A2).
func NewPlan(result *scheduling.Result, present Present) Plan {
	var pages []Page

	switch {
	case !result.Held():
		pages = Paginate(present, Groups(result))
	case len(present.Pages) > 0:
		pages = keep(present)
	case labelFits(present.Placement.Name):
		pages = Paginate(present, []Group{{}})
	}

	plan := Plan{}
	kept := map[string]bool{}

	for _, page := range pages {
		kept[page.Name] = true

		if write := newWrite(present.Placement, page); write.Current == nil || write.Mend || write.Fill {
			plan.Writes = append(plan.Writes, write)
		}
	}

	plan.Writes = inOrder(plan.Writes, present)
	plan.Groups, plan.Selected = describe(pages)

	for _, page := range present.Pages {
		if !kept[page.Name] {
			plan.Deletes = append(plan.Deletes, page)
		}
	}

	slices.SortStableFunc(plan.Deletes, func(a, b *clusterv1beta1.PlacementDecision) int {
		return cmp.Or(cmp.Compare(present.groupOf(b).index, present.groupOf(a).index), cmp.Compare(present.order(b), present.order(a)))
	})

	return plan
}

// keep takes every page as it is, to mend what of it is known whatever the answer.
func keep(present Present) []Page {
	pages := make([]Page, 0, len(present.Pages))

	for _, current := range present.Pages {
		group := present.groupOf(current)
		page := Page{Name: current.Name, Group: group.index, GroupName: group.name, Current: current}

		if current.Status.Decisions != nil {
			page.Clusters = make([]string, 0, len(current.Status.Decisions))
		}

		for _, decision := range current.Status.Decisions {
			page.Clusters = append(page.Clusters, decision.ClusterName)
		}

		pages = append(pages, page)
	}

	slices.SortStableFunc(pages, func(a, b Page) int { return cmp.Compare(a.Group, b.Group) })

	return pages
}

// inOrder puts pages that gain before pages that only lose, and of those that do both it puts the one that takes a cluster before the one
// that gives it away, so that no cluster that stays is missing in between. Pages that exchange clusters with each other stay in the order
// of their groups: for them there is no such order.
func inOrder(writes []Write, present Present) []Write {
	holders := map[string]int{}
	for _, page := range present.Pages {
		book(holders, page.Status.Decisions, 1)
	}

	taken := map[string]bool{}
	for _, write := range writes {
		for _, decision := range write.Desired.Status.Decisions {
			taken[decision.ClusterName] = true
		}
	}

	ordered := make([]Write, 0, len(writes))

	for left := slices.Clone(writes); len(left) > 0; {
		next := slices.IndexFunc(left, func(w Write) bool { return w.gains && w.leavesNobodyOut(holders, taken) })
		if next < 0 {
			next = max(0, slices.IndexFunc(left, func(w Write) bool { return w.gains }))
		}

		if current := left[next].Current; current != nil {
			book(holders, current.Status.Decisions, -1)
		}

		book(holders, left[next].Desired.Status.Decisions, 1)

		ordered = append(ordered, left[next])
		left = slices.Delete(left, next, next+1)
	}

	return ordered
}

func book(holders map[string]int, decisions []clusterv1beta1.ClusterDecision, step int) {
	for _, decision := range decisions {
		holders[decision.ClusterName] += step
	}
}

// leavesNobodyOut reports whether every cluster that the write gives away to another page is in a second page by now.
func (w Write) leavesNobodyOut(holders map[string]int, taken map[string]bool) bool {
	return !slices.ContainsFunc(w.losses, func(cluster string) bool { return taken[cluster] && holders[cluster] < 2 })
}

func newWrite(placement *clusterv1beta1.Placement, page Page) Write {
	current := page.Current
	if current == nil {
		current = &clusterv1beta1.PlacementDecision{}
	}

	desired := &clusterv1beta1.PlacementDecision{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: placement.Namespace, Name: page.Name, UID: current.UID, ResourceVersion: current.ResourceVersion,
			Labels: labels(placement.Name, page, current.Labels), OwnerReferences: owners(placement, current.OwnerReferences),
		},
		Status: clusterv1beta1.PlacementDecisionStatus{Decisions: decisions(page.Clusters)},
	}
	write := Write{
		Current: page.Current, Desired: desired,
		Mend: !maps.Equal(current.Labels, desired.Labels) ||
			!equality.Semantic.DeepEqual(current.OwnerReferences, desired.OwnerReferences),
		// An absent list is not the same as an empty one: consumers rely on its presence.
		Fill: (current.Status.Decisions == nil) != (desired.Status.Decisions == nil) ||
			!slices.Equal(current.Status.Decisions, desired.Status.Decisions),
	}

	had, has := names(current.Status.Decisions), names(desired.Status.Decisions)
	write.losses = slices.DeleteFunc(slices.Sorted(maps.Keys(had)), func(cluster string) bool { return has[cluster] })
	write.gains = page.Current == nil || slices.ContainsFunc(page.Clusters, func(cluster string) bool { return !had[cluster] })

	return write
}

func names(decisions []clusterv1beta1.ClusterDecision) map[string]bool {
	names := make(map[string]bool, len(decisions))
	for _, decision := range decisions {
		names[decision.ClusterName] = true
	}

	return names
}

func labels(placement string, page Page, present map[string]string) map[string]string {
	labels := maps.Clone(present)
	if labels == nil {
		labels = map[string]string{}
	}

	labels[clusterv1beta1.PlacementLabel] = placement
	labels[clusterv1beta1.DecisionGroupIndexLabel] = strconv.Itoa(page.Group)
	labels[clusterv1beta1.DecisionGroupNameLabel] = page.GroupName

	return labels
}

func decisions(clusters []string) []clusterv1beta1.ClusterDecision {
	if clusters == nil {
		return nil
	}

	decisions := make([]clusterv1beta1.ClusterDecision, 0, len(clusters))
	for _, cluster := range clusters {
		decisions = append(decisions, clusterv1beta1.ClusterDecision{ClusterName: cluster})
	}

	return decisions
}

func describe(pages []Page) (groups []clusterv1beta1.DecisionGroupStatus, selected int) {
	for _, page := range pages {
		selected += len(page.Clusters)

		last := len(groups) - 1
		if last < 0 || groups[last].DecisionGroupIndex != int32(page.Group) {
			groups = append(groups, clusterv1beta1.DecisionGroupStatus{
				DecisionGroupIndex: int32(page.Group), DecisionGroupName: page.GroupName,
			})
			last++
		}

		groups[last].Decisions = append(groups[last].Decisions, page.Name)
		groups[last].ClustersCount += int32(len(page.Clusters))
	}

	return groups, selected
}
