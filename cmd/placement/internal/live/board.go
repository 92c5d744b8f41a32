package live

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"

	"github.com/placement-hub/placement-hub/pkg/decision"
)

// world is what a board shows.
type world struct {
	placements []clusterv1beta1.Placement
	pages      []clusterv1beta1.PlacementDecision
	sets       []clusterv1beta2.ManagedClusterSet
	bindings   []clusterv1beta2.ManagedClusterSetBinding
	clusters   int
}

// board is the state of a hub at one moment, for a person.
type board struct {
	clusters, sets int
	rows           []boardRow // by namespace and name
	unsettled      []string   // sets and bindings whose status the controllers have not written yet
	versions       string     // changes whenever one of the objects changes, save for clusters
}

// boardRow is one placement.
type boardRow struct {
	key       types.NamespacedName
	selected  string // "3/5", "3/all"
	status    string // "Satisfied", "Misconfigured", or the reason why it is not satisfied
	decisions string
	message   string // why it is not satisfied; "" when it is
	unsettled string // what is still to be written; "" when nothing is
}

func newBoard(w world) *board {
	b := &board{clusters: w.clusters, sets: len(w.sets)}
	var versions []string
	note := func(object metav1.Object) {
		versions = append(versions, string(object.GetUID())+"@"+object.GetResourceVersion())
	}

	pages := map[types.NamespacedName][]*clusterv1beta1.PlacementDecision{}
	for i := range w.pages {
		page := &w.pages[i]
		note(page)
		for _, name := range decision.PlacementsOf(page) {
			key := types.NamespacedName{Namespace: page.Namespace, Name: name}
			pages[key] = append(pages[key], page)
		}
	}
	for i := range w.placements {
		placement := &w.placements[i]
		note(placement)
		key := types.NamespacedName{Namespace: placement.Namespace, Name: placement.Name}
		b.rows = append(b.rows, newBoardRow(key, placement, decision.NewPresent(placement, pages[key]).Pages))
	}
	for i := range w.sets {
		note(&w.sets[i])
		b.expect("ManagedClusterSet "+w.sets[i].Name, w.sets[i].Status.Conditions, clusterv1beta2.ManagedClusterSetConditionEmpty)
	}
	for i := range w.bindings {
		note(&w.bindings[i])
		b.expect("ManagedClusterSetBinding "+w.bindings[i].Namespace+"/"+w.bindings[i].Name,
			w.bindings[i].Status.Conditions, clusterv1beta2.ClusterSetBindingBoundType)
	}
	slices.SortFunc(b.rows, func(x, y boardRow) int { return compareKeys(x.key, y.key) })
	slices.Sort(b.unsettled)
	slices.Sort(versions)
	b.versions = strings.Join(versions, " ")
	return b
}

func compareKeys(x, y types.NamespacedName) int {
	return cmp.Or(cmp.Compare(x.Namespace, y.Namespace), cmp.Compare(x.Name, y.Name))
}

// expect notes an object whose condition is missing. Whether it is true does not matter.
func (b *board) expect(object string, conditions []metav1.Condition, condition string) {
	if meta.FindStatusCondition(conditions, condition) == nil {
		b.unsettled = append(b.unsettled, fmt.Sprintf("%s: condition %s is not written yet", object, condition))
	}
}

// pending lists all that has not settled.
func (b *board) pending() []string {
	var pending []string
	for _, row := range b.rows {
		if row.unsettled != "" {
			pending = append(pending, fmt.Sprintf("Placement %s: %s", row.key, row.unsettled))
		}
	}
	return append(pending, b.unsettled...)
}

func newBoardRow(key types.NamespacedName, placement *clusterv1beta1.Placement, pages []*clusterv1beta1.PlacementDecision) boardRow {
	selected := 0
	for _, page := range pages {
		selected += len(page.Status.Decisions)
	}
	wanted := "all"
	if placement.Spec.NumberOfClusters != nil {
		wanted = strconv.Itoa(int(*placement.Spec.NumberOfClusters))
	}
	row := boardRow{
		key:       key,
		selected:  strconv.Itoa(selected) + "/" + wanted,
		decisions: describeDecisions(pages),
		unsettled: unsettled(placement, selected),
	}
	row.status, row.message = describeStatus(placement)
	return row
}

func describeStatus(placement *clusterv1beta1.Placement) (status, message string) {
	satisfied := meta.FindStatusCondition(placement.Status.Conditions, clusterv1beta1.PlacementConditionSatisfied)
	misconfigured := meta.FindStatusCondition(placement.Status.Conditions, clusterv1beta1.PlacementConditionMisconfigured)
	switch {
	case !placement.DeletionTimestamp.IsZero():
		return "Deleting", ""
	case misconfigured != nil && misconfigured.Status == metav1.ConditionTrue:
		return decision.ReasonMisconfigured, misconfigured.Message
	case satisfied == nil && handsOff(placement):
		return "Disabled", "the annotation " + clusterv1beta1.PlacementDisableAnnotation + " tells the hub to leave it alone"
	case satisfied == nil:
		return "Pending", ""
	case satisfied.Status == metav1.ConditionTrue:
		return "Satisfied", ""
	default:
		return satisfied.Reason, satisfied.Message
	}
}

// handsOff tells whether the placement asks the hub to leave it alone.
func handsOff(placement *clusterv1beta1.Placement) bool {
	return placement.Annotations[clusterv1beta1.PlacementDisableAnnotation] == "true"
}

// unsettled says what the hub has not written yet about the placement as it is.
func unsettled(placement *clusterv1beta1.Placement, selected int) string {
	if handsOff(placement) || !placement.DeletionTimestamp.IsZero() {
		return ""
	}
	for _, kind := range []string{clusterv1beta1.PlacementConditionMisconfigured, clusterv1beta1.PlacementConditionSatisfied} {
		condition := meta.FindStatusCondition(placement.Status.Conditions, kind)
		switch {
		case condition == nil:
			return fmt.Sprintf("condition %s is not written yet", kind)
		case condition.ObservedGeneration != placement.Generation:
			return fmt.Sprintf("condition %s is about generation %d, the present one is %d", kind, condition.ObservedGeneration, placement.Generation)
		}
	}
	if told := int(placement.Status.NumberOfSelectedClusters); told != selected {
		return fmt.Sprintf("its PlacementDecisions hold %d clusters, its status says %d", selected, told)
	}
	return ""
}

// describeDecisions lists the clusters: "eu1, eu2", or by group when there are several: "canary: eu1 | eu2 eu3".
func describeDecisions(pages []*clusterv1beta1.PlacementDecision) string {
	type group struct {
		index    int
		name     string
		clusters []string
	}
	var groups []*group
	for _, page := range pages {
		if len(page.Status.Decisions) == 0 {
			continue
		}
		name := page.Labels[clusterv1beta1.DecisionGroupNameLabel]
		index, err := strconv.Atoi(page.Labels[clusterv1beta1.DecisionGroupIndexLabel])
		if err != nil {
			index = 0 // Lost or never written; the hub puts it back.
		}
		at := slices.IndexFunc(groups, func(g *group) bool { return g.index == index && g.name == name })
		if at < 0 {
			at, groups = len(groups), append(groups, &group{index: index, name: name})
		}
		for _, decided := range page.Status.Decisions {
			groups[at].clusters = append(groups[at].clusters, decided.ClusterName)
		}
	}
	slices.SortStableFunc(groups, func(x, y *group) int { return cmp.Compare(x.index, y.index) })
	switch {
	case len(groups) == 0:
		return "none"
	case len(groups) == 1 && groups[0].name == "":
		return strings.Join(groups[0].clusters, ", ")
	}
	texts := make([]string, 0, len(groups))
	for _, g := range groups {
		text := strings.Join(g.clusters, " ")
		if g.name != "" {
			text = g.name + ": " + text
		}
		texts = append(texts, text)
	}
	return strings.Join(texts, " | ")
}
