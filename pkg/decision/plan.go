package decision

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strconv"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/placement-hub/placement-hub/pkg/scheduling"
)

// Write is one step of a page. A page may be written more than once on the way to what it is to hold.
type Write struct {
	// Current is the PlacementDecision as it was when the plan was made; nil when the plan itself creates it.
	Current *clusterv1beta1.PlacementDecision
	// Desired is what it is to become by this step.
	Desired *clusterv1beta1.PlacementDecision
	// Create says that the page does not exist, Mend that labels or owners of ours are wrong, Fill that the decisions are.
	Create, Mend, Fill bool
}

// Plan is what to write for a placement, in a safe order: all Writes, then the status of the Placement, then all Deletes.
type Plan struct {
	// Writes are in an order in which no cluster that stays is ever missing from all pages (see sequence).
	Writes []Write
	// Deletes are surplus pages in a safe order. One that the plan itself creates has a name and no uid.
	Deletes []*clusterv1beta1.PlacementDecision
	// Groups describe the pages that stay, in the order of their indexes; Selected is how many decisions they have.
	Groups   []clusterv1beta1.DecisionGroupStatus
	Selected int
	// Again says that there is more to do once the plan is carried out: a name has to become free first.
	Again bool
}

// Empty reports whether there is nothing to write.
func (p Plan) Empty() bool { return len(p.Writes) == 0 && len(p.Deletes) == 0 }

// NewPlan compares the answer with what exists. A held result keeps the decisions there are, and makes an empty page only where there
// is none; a placement whose name cannot stand in a label gets none at all (ours.md A1, A2).
func NewPlan(result *scheduling.Result, present Present) Plan {
	var pages []Page

	length := math.MaxInt

	switch {
	case !result.Held():
		length = result.Request.GroupLength.Of(len(result.Selected))
		pages = Paginate(present, Groups(Portions(result), length, present))
	case len(present.Pages) > 0:
		pages = keep(present)
	case labelFits(present.Placement.Name):
		pages = Paginate(present, []Group{{}})
	}

	plan := Plan{}
	plan.Groups, plan.Selected = describe(pages)
	plan.Writes, plan.Deletes = stepsTo(present, pages, length)
	first := PageName(present.Placement.Name, 1)
	plan.Again = len(pages) == 1 && slices.ContainsFunc(plan.Deletes, func(gone *clusterv1beta1.PlacementDecision) bool {
		return gone.Name == first
	})

	return plan
}

// stepsTo are the writes and deletes that lead to the pages.
func stepsTo(
	present Present, pages []Page, length int,
) (writes []Write, deletes []*clusterv1beta1.PlacementDecision) {
	final := make(map[string]Write, len(pages))
	byName := make(map[string]Page, len(pages))

	for _, page := range pages {
		byName[page.Name] = page
		final[page.Name] = newWrite(present.Placement, page)
	}

	sequence := newSequence(present, pages, length)
	written := map[string]bool{}

	for _, move := range sequence.run() {
		name := move.slot.name

		page, planned := byName[name]
		if !planned {
			page = Page{Name: name, Group: move.slot.group.index, GroupName: move.slot.group.name}
		}

		page.Clusters = slices.AppendSeq(make([]string, 0, len(move.holds)), maps.Keys(move.holds))
		slices.Sort(page.Clusters)

		write := newWrite(present.Placement, page)
		write.Create, write.Mend, write.Fill = write.Create && !written[name], write.Mend && !written[name], true
		writes, written[name] = append(writes, write), true
	}

	// What holds the right clusters may still lack a label, or say it in the wrong way: no list at all, another order, a reason.
	for _, page := range pages {
		if write := final[page.Name]; !written[page.Name] && (write.Mend || write.Fill) {
			writes = append(writes, write)
		}
	}

	for _, gone := range sequence.deletes() {
		if gone.current.Name == "" {
			gone.current.Namespace, gone.current.Name = present.Placement.Namespace, gone.name
		}

		deletes = append(deletes, gone.current)
	}

	return writes, deletes
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

	slices.SortStableFunc(pages, func(a, b Page) int {
		return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(a.GroupName, b.GroupName))
	})

	return pages
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
	return Write{
		Current: page.Current, Desired: desired, Create: page.Current == nil,
		Mend: page.Current != nil && (!maps.Equal(current.Labels, desired.Labels) ||
			!equality.Semantic.DeepEqual(current.OwnerReferences, desired.OwnerReferences)),
		// An absent list is not the same as an empty one: consumers rely on its presence.
		Fill: (current.Status.Decisions == nil) != (desired.Status.Decisions == nil) ||
			!slices.Equal(current.Status.Decisions, desired.Status.Decisions),
	}
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
		if last < 0 || groups[last].DecisionGroupIndex != int32(page.Group) || groups[last].DecisionGroupName != page.GroupName {
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
