// SPDX-License-Identifier: Apache-2.0

package live

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"

	"github.com/placement-hub/placement-hub/pkg/explain"
	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/placement"
	"github.com/placement-hub/placement-hub/pkg/placement/api"
)

// table is the state of a hub at one moment.
type table struct {
	clusters, sets int
	rows           []tableRow // by namespace and name
	unsettled      []string   // sets and bindings whose status the controllers have not written yet
	versions       string     // changes whenever one of the objects changes, save for clusters
}

// tableRow is a Placement.
type tableRow struct {
	key       inventory.Key
	selected  string // "3/5", "3/all"
	status    string // "Satisfied", "Misconfigured", or the reason why it is not satisfied
	decisions string
	message   string // why it is not satisfied; "" when it is
	unsettled string // the status that is still to be written; "" for none
}

func newTable(state *explain.State) *table {
	b := &table{clusters: len(state.Clusters), sets: len(state.ClusterSets)}
	var versions []string
	note := func(object metav1.Object) {
		versions = append(versions, string(object.GetUID())+"@"+object.GetResourceVersion())
	}

	for _, page := range state.Decisions {
		note(page)
	}
	pages := state.PagesByPlacement()
	for _, object := range state.Placements {
		note(object)
		p := api.Read(object)
		b.rows = append(b.rows, newTableRow(p, placement.NewExisting(p.API.Codec(), p, pages[p.Key()])))
	}
	for _, set := range state.ClusterSets {
		note(set)
		b.expectCondition("ManagedClusterSet "+set.Name, set.Status.Conditions, clusterv1beta2.ManagedClusterSetConditionEmpty)
	}
	for _, binding := range state.Bindings {
		note(binding)
		b.expectCondition("ManagedClusterSetBinding "+binding.Namespace+"/"+binding.Name,
			binding.Status.Conditions, clusterv1beta2.ClusterSetBindingBoundType)
	}
	slices.SortFunc(b.rows, func(x, y tableRow) int { return x.key.Compare(y.key) })
	slices.Sort(b.unsettled)
	slices.Sort(versions)
	b.versions = strings.Join(versions, " ")
	return b
}

// expectCondition records an object that lacks a condition, whatever its status.
func (t *table) expectCondition(object string, conditions []metav1.Condition, condition string) {
	if meta.FindStatusCondition(conditions, condition) == nil {
		t.unsettled = append(t.unsettled, fmt.Sprintf("%s: condition %s is not written yet", object, condition))
	}
}

// pending lists the objects that have not settled.
func (t *table) pending() []string {
	var pending []string
	for _, row := range t.rows {
		if row.unsettled != "" {
			pending = append(pending, fmt.Sprintf("Placement %s: %s", row.key, row.unsettled))
		}
	}
	return append(pending, t.unsettled...)
}

func newTableRow(placement *api.Placement, existing placement.Existing) tableRow {
	selected := 0
	for _, page := range existing.Pages {
		selected += len(page.Decisions)
	}
	wanted := "all"
	if placement.Wanted != nil {
		wanted = strconv.Itoa(int(*placement.Wanted))
	}
	row := tableRow{
		key:       placement.Key(),
		selected:  strconv.Itoa(selected) + "/" + wanted,
		decisions: describeDecisions(existing),
		unsettled: unsettled(placement, selected),
	}
	row.status, row.message = describeStatus(placement)
	return row
}

func describeStatus(p *api.Placement) (status, message string) {
	satisfied := meta.FindStatusCondition(p.Status.Conditions, placement.ConditionSatisfied)
	misconfigured := meta.FindStatusCondition(p.Status.Conditions, placement.ConditionMisconfigured)
	managed, reason := p.Managed()
	switch {
	case !p.DeletionTimestamp.IsZero():
		return "Deleting", ""
	case misconfigured != nil && misconfigured.Status == metav1.ConditionTrue:
		return placement.ReasonMisconfigured, misconfigured.Message
	case satisfied == nil && !managed:
		return "Disabled", reason
	case satisfied == nil:
		return "Pending", ""
	case satisfied.Status == metav1.ConditionTrue:
		return "Satisfied", ""
	default:
		return satisfied.Reason, satisfied.Message
	}
}

// unsettled says which status fields of the Placement the hub has not written yet; empty when it has written all.
func unsettled(p *api.Placement, selected int) string {
	if managed, _ := p.Managed(); !managed {
		return ""
	}
	for _, kind := range []string{placement.ConditionMisconfigured, placement.ConditionSatisfied} {
		condition := meta.FindStatusCondition(p.Status.Conditions, kind)
		switch {
		case condition == nil:
			return fmt.Sprintf("condition %s is not written yet", kind)
		case condition.ObservedGeneration != p.Generation:
			return fmt.Sprintf("condition %s is about generation %d, the present one is %d", kind, condition.ObservedGeneration, p.Generation)
		}
	}
	if shown := p.Status.Selected; p.API == api.V1beta1 && shown != selected {
		return fmt.Sprintf("its PlacementDecisions hold %d clusters, its status says %d", selected, shown)
	}
	return ""
}

// describeDecisions lists the clusters: "eu1, eu2", or by group when there are several: "canary: eu1 | eu2 eu3".
func describeDecisions(existing placement.Existing) string {
	type group struct {
		api.Group
		clusters []string
	}
	var groups []*group
	for _, page := range existing.Pages {
		if len(page.Decisions) == 0 {
			continue
		}
		named, found := existing.Codec.Group(page)
		if !found {
			named.Index = 0 // Lost or never written; the hub puts it back.
		}
		at := slices.IndexFunc(groups, func(g *group) bool { return g.Group == named })
		if at < 0 {
			at, groups = len(groups), append(groups, &group{Group: named})
		}
		groups[at].clusters = append(groups[at].clusters, page.Clusters()...)
	}
	slices.SortStableFunc(groups, func(x, y *group) int { return cmp.Compare(x.Index, y.Index) })
	switch {
	case len(groups) == 0:
		return "none"
	case len(groups) == 1 && groups[0].Name == "":
		return strings.Join(groups[0].clusters, ", ")
	}
	texts := make([]string, 0, len(groups))
	for _, g := range groups {
		text := strings.Join(g.clusters, " ")
		if g.Name != "" {
			text = g.Name + ": " + text
		}
		texts = append(texts, text)
	}
	return strings.Join(texts, " | ")
}
