// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	requests "github.com/placement-hub/placement-hub/pkg/clusterrequest/explain"
	"github.com/placement-hub/placement-hub/pkg/explain/document"
	federated "github.com/placement-hub/placement-hub/pkg/federation/explain"
	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/placement"
	"github.com/placement-hub/placement-hub/pkg/placement/api"
)

// Board returns the Placements of the State by namespace and name, each with its decisions and why it is not satisfied.
func (s *State) Board() *document.Board {
	b := &document.Board{Empty: "no placements yet", Table: document.Table{Columns: []string{"NAMESPACE/NAME", "SELECTED", "STATUS", "DECISIONS"}}}
	var versions []string
	note := func(object metav1.Object) {
		versions = append(versions, string(object.GetUID())+"@"+object.GetResourceVersion())
	}
	for _, page := range s.Decisions {
		note(page)
	}
	placements := make([]*api.Placement, 0, len(s.Placements))
	for _, object := range s.Placements {
		note(object)
		placements = append(placements, api.Read(object))
	}
	slices.SortFunc(placements, func(x, y *api.Placement) int { return x.Key().Compare(y.Key()) })
	pages := s.PagesByPlacement()
	for _, p := range placements {
		b.Table.Rows = append(b.Table.Rows, newPlacementRow(p, placement.NewExisting(p.API.Codec(), p, pages[p.Key()])))
	}
	for _, set := range s.ClusterSets {
		note(set)
		expectCondition(b, "ManagedClusterSet "+set.Name, set.Status.Conditions, clusterv1beta2.ManagedClusterSetConditionEmpty)
	}
	for _, binding := range s.Bindings {
		note(binding)
		expectCondition(b, "ManagedClusterSetBinding "+binding.Namespace+"/"+binding.Name,
			binding.Status.Conditions, clusterv1beta2.ClusterSetBindingBoundType)
	}
	slices.Sort(b.Waiting)
	slices.Sort(versions)
	b.Versions = strings.Join(versions, " ")
	b.Summary = document.Count(len(s.Clusters), "cluster") + ", " + document.Count(len(s.ClusterSets), "set") + ", " +
		document.Count(len(placements), "placement") + ofOtherAPIs(placements)
	return b
}

// boardTitle returns "namespace/name", with the version of the API if that is not v1beta1, because two APIs may have Placements of one name.
func boardTitle(key inventory.Key) string {
	version := ""
	if adapter := api.Of(key); adapter != api.V1beta1 {
		version = adapter.Kind().Version
	}
	return document.Title(key.NamespacedName.String(), version)
}

// ObjectsBoard returns the federated objects of the State × its clusters, evaluated at a time.
func (s *State) ObjectsBoard(now time.Time) *document.Board {
	clusters := make([]string, 0, len(s.Clusters))
	for _, cluster := range s.Clusters {
		clusters = append(clusters, cluster.Name)
	}
	slices.Sort(clusters)
	return federated.NewBoard(clusters, s.ReportObjects(ObjectFilter{}, false, now).Objects)
}

// RequestsBoard returns ClusterRequests × what each of them has, among the ManagedClusters and Placements of the State.
func (s *State) RequestsBoard(objects *requests.Objects, access []openmcpv1alpha1.AccessRequest) *document.Board {
	users := requests.Users{
		Managed: s.Clusters, Access: access, Placements: len(s.Placements), Selected: map[string][]string{}, Waiting: s.Board().Pending(),
	}
	for key, pages := range s.PagesByPlacement() {
		for _, page := range pages {
			for _, cluster := range page.Clusters() {
				users.Selected[cluster] = append(users.Selected[cluster], boardTitle(key))
			}
		}
	}
	for cluster, titles := range users.Selected {
		slices.Sort(titles)
		users.Selected[cluster] = slices.Compact(titles)
	}
	return requests.NewBoard(objects, &users)
}

// ofOtherAPIs counts the Placements of other APIs than v1beta1; their titles have only the version.
func ofOtherAPIs(placements []*api.Placement) string {
	var text strings.Builder
	for _, adapter := range api.Adapters() {
		of := 0
		for _, p := range placements {
			if p.API == adapter {
				of++
			}
		}
		if adapter != api.V1beta1 && of > 0 {
			fmt.Fprintf(&text, ", %d of them of %s", of, adapter.Kind().GroupVersion())
		}
	}
	return text.String()
}

// expectCondition records an object that lacks a condition, whatever its status.
func expectCondition(b *document.Board, object string, conditions []metav1.Condition, condition string) {
	if meta.FindStatusCondition(conditions, condition) == nil {
		b.Waiting = append(b.Waiting, fmt.Sprintf("%s: condition %s is not written yet", object, condition))
	}
}

func newPlacementRow(p *api.Placement, existing placement.Existing) document.Row {
	selected := 0
	for _, page := range existing.Pages {
		selected += len(page.Decisions)
	}
	wanted := "all"
	if p.Wanted != nil {
		wanted = strconv.Itoa(int(*p.Wanted))
	}
	name := boardTitle(p.Key())
	status, message := describeStatus(p)
	row := document.NewRow(name, strconv.Itoa(selected)+"/"+wanted, status, describeDecisions(existing))
	row.Name = name
	if message != "" {
		row.Details = []string{message}
	}
	if unsettled := unsettled(p, selected); unsettled != "" {
		row.Unsettled = fmt.Sprintf("Placement %s: %s", p.Key(), unsettled)
	}
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
