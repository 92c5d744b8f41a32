// SPDX-License-Identifier: Apache-2.0

package api

import (
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	placementv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/placement/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/scheduling"
	"github.com/placement-hub/placement-hub/pkg/selector"
)

// V1alpha1 is placement.open-cluster-management.io/v1alpha1 (docs/spec/placement-v1alpha1.md P13).
var V1alpha1 Adapter = v1alpha1{}

type v1alpha1 struct{}

func (v1alpha1) Kind() schema.GroupVersionKind {
	return placementv1alpha1.GroupVersion.WithKind("Placement")
}

func (v1alpha1) Name() inventory.API       { return inventory.V1alpha1 }
func (v1alpha1) Codec() Codec              { return v1alpha1Codec{} }
func (v1alpha1) Empty() Object             { return &placementv1alpha1.Placement{} }
func (v1alpha1) EmptyList() runtime.Object { return &placementv1alpha1.PlacementList{} }

func (v1alpha1) Read(object runtime.Object) *Placement {
	placement, ok := object.(*placementv1alpha1.Placement)
	if !ok {
		return nil
	}
	return &Placement{
		ObjectMeta: placement.ObjectMeta, API: V1alpha1, Object: placement, ClusterSets: placement.Spec.ClusterSets,
		Wanted: placement.Spec.NumberOfClusters,
		Status: Status{Conditions: placement.Status.Conditions},
		convert: func(compiler *selector.Compiler) *scheduling.Request {
			return convertV1alpha1(compiler, placement)
		},
	}
}

func (v1alpha1) Spec(object runtime.Object) Spec {
	placement, ok := object.(*placementv1alpha1.Placement)
	if !ok {
		return Spec{}
	}
	return Spec{ClusterSets: &placement.Spec.ClusterSets, NumberOfClusters: &placement.Spec.NumberOfClusters}
}

func (v1alpha1) Status(status Status) any {
	return placementv1alpha1.PlacementStatus{Conditions: status.Conditions}
}

func (v1alpha1) WithoutStatus(object Object) (copied Object, status any) {
	placement, ok := object.(*placementv1alpha1.Placement)
	if !ok {
		return nil, nil
	}
	bare := &placementv1alpha1.Placement{TypeMeta: placement.TypeMeta, ObjectMeta: placement.ObjectMeta, Spec: placement.Spec}
	return bare, &bare.Status
}

type v1alpha1Codec struct{}

func (v1alpha1Codec) Key(namespace, name string) inventory.DecisionKey {
	return inventory.NewPlacementKey(inventory.V1alpha1, namespace, "").Decision(name)
}

func (v1alpha1Codec) Owner() schema.GroupVersionKind { return V1alpha1.Kind() }

func (v1alpha1Codec) Scheduler() string { return "" }

func (v1alpha1Codec) Foreign(*Page) bool { return false }

func (v1alpha1Codec) Placement(page *Page) string {
	return page.Labels[placementv1alpha1.PlacementLabel]
}

// Labels have no group, because the API has none.
func (v1alpha1Codec) Labels(placement string, _ Group) map[string]string {
	return map[string]string{placementv1alpha1.PlacementLabel: placement}
}

func (v1alpha1Codec) Group(*Page) (Group, bool) { return Group{}, true }

func (v1alpha1Codec) Empty() Object             { return &placementv1alpha1.PlacementDecision{} }
func (v1alpha1Codec) EmptyList() runtime.Object { return &placementv1alpha1.PlacementDecisionList{} }
func (v1alpha1Codec) Subresource() string       { return "" }

func (v1alpha1Codec) Read(object runtime.Object) *Page {
	decision, ok := object.(*placementv1alpha1.PlacementDecision)
	if !ok {
		return nil
	}
	page := &Page{ObjectMeta: decision.ObjectMeta, Decisions: make([]Decision, 0, len(decision.Decisions))}
	for _, d := range decision.Decisions {
		page.Decisions = append(page.Decisions, Decision{Cluster: d.ClusterName, Available: d.Available})
	}
	return page
}

func (v1alpha1Codec) Compact(object any, intern func(...*string)) bool {
	decision, ok := object.(*placementv1alpha1.PlacementDecision)
	if !ok {
		return false
	}
	CompactMeta(&decision.ObjectMeta, intern)
	decision.Decisions = CompactList(decision.Decisions)
	for i := range decision.Decisions {
		intern(&decision.Decisions[i].ClusterName)
	}
	return true
}

func (v v1alpha1Codec) Write(page *Page) Object {
	return &placementv1alpha1.PlacementDecision{ObjectMeta: *page.ObjectMeta.DeepCopy(), Decisions: v.decisions(page.Decisions)}
}

func (v1alpha1Codec) Normalize(d Decision) Decision {
	return Decision{Cluster: d.Cluster, Available: d.Available}
}

func (v v1alpha1Codec) Body(decisions []Decision) map[string]any {
	return map[string]any{"decisions": v.decisions(decisions)}
}

// decisions returns a list that is never nil, because the field is required.
func (v1alpha1Codec) decisions(decisions []Decision) []placementv1alpha1.ClusterDecision {
	written := make([]placementv1alpha1.ClusterDecision, 0, len(decisions))
	for _, d := range decisions {
		written = append(written, placementv1alpha1.ClusterDecision{ClusterName: d.Cluster, Available: d.Available})
	}
	return written
}
