// SPDX-License-Identifier: Apache-2.0

package api

import (
	"strconv"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/scheduling"
	"github.com/placement-hub/placement-hub/pkg/selector"
)

// placementRuleLabel is on PlacementDecisions of the older PlacementRule API, which use the same names and are never written.
const placementRuleLabel = "cluster.open-cluster-management.io/placementrule"

// V1beta1 is cluster.open-cluster-management.io/v1beta1.
var V1beta1 Adapter = v1beta1{}

type v1beta1 struct{}

func (v1beta1) Kind() schema.GroupVersionKind {
	return schema.GroupVersion(clusterv1beta1.GroupVersion).WithKind("Placement")
}

func (v1beta1) Name() inventory.API       { return inventory.V1beta1 }
func (v1beta1) Codec() Codec              { return v1beta1Codec{} }
func (v1beta1) Empty() Object             { return &clusterv1beta1.Placement{} }
func (v1beta1) EmptyList() runtime.Object { return &clusterv1beta1.PlacementList{} }

func (v1beta1) Read(object runtime.Object) *Placement {
	placement, ok := object.(*clusterv1beta1.Placement)
	if !ok {
		return nil
	}
	status := Status{
		Conditions: placement.Status.Conditions, Selected: int(placement.Status.NumberOfSelectedClusters),
		LastScoreUpdate: placement.Status.LastScoreUpdateTime,
	}

	for _, group := range placement.Status.DecisionGroups {
		status.Groups = append(status.Groups, GroupStatus{
			Group: Group{Index: int(group.DecisionGroupIndex), Name: group.DecisionGroupName},
			Pages: group.Decisions, Clusters: int(group.ClustersCount),
		})
	}
	return &Placement{
		ObjectMeta: placement.ObjectMeta, API: V1beta1, Object: placement, ClusterSets: placement.Spec.ClusterSets,
		Wanted: placement.Spec.NumberOfClusters, Status: status,
		convert: func(compiler *selector.Compiler) *scheduling.Request {
			return convertV1beta1(compiler, placement)
		},
	}
}

func (v1beta1) Spec(object runtime.Object) Spec {
	placement, ok := object.(*clusterv1beta1.Placement)
	if !ok {
		return Spec{}
	}
	return Spec{ClusterSets: &placement.Spec.ClusterSets, NumberOfClusters: &placement.Spec.NumberOfClusters}
}

func (v1beta1) Status(status Status) any {
	written := clusterv1beta1.PlacementStatus{
		Conditions: status.Conditions, NumberOfSelectedClusters: int32(status.Selected), LastScoreUpdateTime: status.LastScoreUpdate,
	}
	for _, group := range status.Groups {
		written.DecisionGroups = append(written.DecisionGroups, clusterv1beta1.DecisionGroupStatus{
			DecisionGroupIndex: int32(group.Index), DecisionGroupName: group.Name, Decisions: group.Pages,
			ClustersCount: int32(group.Clusters),
		})
	}
	return written
}

func (v1beta1) WithoutStatus(object Object) (copied Object, status any) {
	placement, ok := object.(*clusterv1beta1.Placement)
	if !ok {
		return nil, nil
	}
	bare := &clusterv1beta1.Placement{TypeMeta: placement.TypeMeta, ObjectMeta: placement.ObjectMeta, Spec: placement.Spec}
	return bare, &bare.Status
}

type v1beta1Codec struct{}

func (v1beta1Codec) Key(namespace, name string) inventory.DecisionKey {
	return inventory.NewPlacementKey(inventory.V1beta1, namespace, "").Decision(name)
}

func (v1beta1Codec) Owner() schema.GroupVersionKind { return V1beta1.Kind() }

func (v1beta1Codec) Scheduler() string { return "" }

func (v1beta1Codec) Foreign(page *Page) bool {
	_, older := page.Labels[placementRuleLabel]
	return older
}

func (v1beta1Codec) Placement(page *Page) string { return page.Labels[clusterv1beta1.PlacementLabel] }

func (v1beta1Codec) Labels(placement string, group Group) map[string]string {
	return map[string]string{
		clusterv1beta1.PlacementLabel:          placement,
		clusterv1beta1.DecisionGroupIndexLabel: strconv.Itoa(group.Index),
		clusterv1beta1.DecisionGroupNameLabel:  group.Name,
	}
}

func (v1beta1Codec) Group(page *Page) (Group, bool) {
	index, err := strconv.Atoi(page.Labels[clusterv1beta1.DecisionGroupIndexLabel])
	return Group{Index: index, Name: page.Labels[clusterv1beta1.DecisionGroupNameLabel]}, err == nil
}

func (v1beta1Codec) Empty() Object             { return &clusterv1beta1.PlacementDecision{} }
func (v1beta1Codec) EmptyList() runtime.Object { return &clusterv1beta1.PlacementDecisionList{} }
func (v1beta1Codec) Subresource() string       { return "status" }

func (v1beta1Codec) Read(object runtime.Object) *Page {
	decision, ok := object.(*clusterv1beta1.PlacementDecision)
	if !ok {
		return nil
	}
	page := &Page{ObjectMeta: decision.ObjectMeta}
	if decision.Status.Decisions != nil {
		page.Decisions = make([]Decision, 0, len(decision.Status.Decisions))
	}

	for _, d := range decision.Status.Decisions {
		page.Decisions = append(page.Decisions, Decision{Cluster: d.ClusterName, Reason: d.Reason, Score: d.Score})
	}
	return page
}

func (v1beta1Codec) Compact(object any, intern func(...*string)) bool {
	decision, ok := object.(*clusterv1beta1.PlacementDecision)
	if !ok {
		return false
	}
	CompactMeta(&decision.ObjectMeta, intern)
	decision.Status.Decisions = CompactList(decision.Status.Decisions)
	for i := range decision.Status.Decisions {
		intern(&decision.Status.Decisions[i].ClusterName)
	}
	return true
}

func (v v1beta1Codec) Write(page *Page) Object {
	return &clusterv1beta1.PlacementDecision{
		ObjectMeta: *page.ObjectMeta.DeepCopy(), Status: clusterv1beta1.PlacementDecisionStatus{Decisions: v.decisions(page.Decisions)},
	}
}

// Normalize drops the reason, because consumers process every change of it (docs/spec/differences.md B7).
func (v1beta1Codec) Normalize(d Decision) Decision {
	return Decision{Cluster: d.Cluster, Score: d.Score}
}

func (v v1beta1Codec) Body(decisions []Decision) map[string]any {
	return map[string]any{"status": map[string]any{"decisions": v.decisions(decisions)}}
}

func (v1beta1Codec) decisions(decisions []Decision) []clusterv1beta1.ClusterDecision {
	if decisions == nil {
		return nil
	}
	written := make([]clusterv1beta1.ClusterDecision, 0, len(decisions))
	for _, d := range decisions {
		written = append(written, clusterv1beta1.ClusterDecision{ClusterName: d.Cluster, Reason: d.Reason, Score: d.Score})
	}
	return written
}
