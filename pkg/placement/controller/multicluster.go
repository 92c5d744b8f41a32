// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"fmt"
	"strconv"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterinventory "sigs.k8s.io/cluster-inventory-api/apis/v1alpha1"

	"github.com/placement-hub/placement-hub/pkg/clusterinfo"
	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/placement/api"
)

// SchedulerName is the scheduler name in PlacementDecisions of multicluster.x-k8s.io.
const SchedulerName = "placement-hub"

// Multicluster is the api.Codec of the PlacementDecisions of multicluster.x-k8s.io.
var Multicluster api.Codec = multicluster{}

// multicluster is the format of the PlacementDecisions of multicluster.x-k8s.io, which SIG Multicluster defines. A v1beta1 Placement owns
// them. Each slice is a decision group of one page, and its index counts from 0 without gaps. Decisions name a cluster by its
// ClusterProfile.
type multicluster struct{}

func (multicluster) Key(namespace, name string) inventory.DecisionKey {
	return inventory.NewPlacementKey(inventory.API(clusterinventory.Group), namespace, "").Decision(name)
}

func (multicluster) Owner() schema.GroupVersionKind { return api.V1beta1.Kind() }

func (multicluster) Scheduler() string { return SchedulerName }

// Foreign returns true for the mirrors that Open Cluster Management makes of PlacementDecisions behind its feature gate SIGPlacementDecision: they
// have a label of the cluster manager, which no slice of the hub has.
func (multicluster) Foreign(page *api.Page) bool {
	_, mirrored := page.Labels[clusterinventory.LabelClusterManagerKey]
	return mirrored && page.Scheduler != SchedulerName
}

func (multicluster) Placement(page *api.Page) string {
	return page.Labels[clusterinventory.PlacementKeyLabel]
}

func (multicluster) Labels(placement string, group api.Group) map[string]string {
	return map[string]string{
		clusterinventory.DecisionKeyLabel:   placement,
		clusterinventory.PlacementKeyLabel:  placement,
		clusterinventory.DecisionIndexLabel: strconv.Itoa(group.Index),
	}
}

func (multicluster) Group(page *api.Page) (api.Group, bool) {
	index, err := strconv.Atoi(page.Labels[clusterinventory.DecisionIndexLabel])
	return api.Group{Index: index}, err == nil
}

func (multicluster) Empty() api.Object         { return &clusterinventory.PlacementDecision{} }
func (multicluster) EmptyList() runtime.Object { return &clusterinventory.PlacementDecisionList{} }
func (multicluster) Subresource() string       { return "" }

func (m multicluster) Read(object runtime.Object) *api.Page {
	decision, ok := object.(*clusterinventory.PlacementDecision)
	if !ok {
		return nil
	}
	page := &api.Page{
		ObjectMeta: decision.ObjectMeta, Scheduler: decision.SchedulerName, Decisions: make([]api.Decision, 0, len(decision.Decisions)),
	}

	for _, d := range decision.Decisions {
		profile := clusterinfo.Profile{Namespace: d.ClusterProfileRef.Namespace, Name: d.ClusterProfileRef.Name}
		if profile.Namespace == "" {
			profile.Namespace = decision.Namespace
		}
		own := m.Normalize(api.Decision{Profile: profile})
		own.Reason = d.Reason
		page.Decisions = append(page.Decisions, own)
	}
	return page
}

func (multicluster) Compact(object any, intern func(...*string)) bool {
	decision, ok := object.(*clusterinventory.PlacementDecision)
	if !ok {
		return false
	}
	api.CompactMeta(&decision.ObjectMeta, intern)
	decision.Decisions = api.CompactList(decision.Decisions)
	for i := range decision.Decisions {
		intern(&decision.Decisions[i].ClusterProfileRef.Namespace, &decision.Decisions[i].ClusterProfileRef.Name)
	}
	return true
}

func (m multicluster) Write(page *api.Page) api.Object {
	return &clusterinventory.PlacementDecision{
		ObjectMeta: *page.ObjectMeta.DeepCopy(), Decisions: m.decisions(page.Decisions), SchedulerName: SchedulerName,
	}
}

func (multicluster) Normalize(d api.Decision) api.Decision {
	return api.Decision{Cluster: d.Profile.Namespace + "/" + d.Profile.Name, Profile: d.Profile}
}

func (m multicluster) Body(decisions []api.Decision) map[string]any {
	return map[string]any{"decisions": m.decisions(decisions), "schedulerName": SchedulerName}
}

func (multicluster) decisions(decisions []api.Decision) []clusterinventory.ClusterDecision {
	written := make([]clusterinventory.ClusterDecision, 0, len(decisions))
	for _, d := range decisions {
		written = append(written, clusterinventory.ClusterDecision{
			ClusterProfileRef: clusterinventory.ClusterProfileReference{Namespace: d.Profile.Namespace, Name: d.Profile.Name},
		})
	}
	return written
}

// clusterManager is the name of the cluster manager whose ClusterProfiles represent ManagedClusters.
const clusterManager = "open-cluster-management"

// claimsOf returns the ManagedClusters that a ClusterProfile claims to represent by its name and its label, each with the reason why that is
// not believed, which is empty for a claim that is. A profile of another cluster manager claims none.
//
// Open Cluster Management gives a profile the name of the cluster, and the labels of its name and of the cluster manager, when it creates the
// profile. They identify the cluster and never change, unlike the label of the cluster set, which follows a ManagedCluster with a delay: a
// comparison of that label would take decisions away until it has followed. A missing label contradicts nothing.
func claimsOf(profile *clusterinventory.ClusterProfile) map[string]string {
	if profile.Spec.ClusterManager.Name != clusterManager {
		return nil
	}
	if manager, labelled := profile.Labels[clusterinventory.LabelClusterManagerKey]; labelled && manager != clusterManager {
		return claims(profile, fmt.Sprintf("its label %s is %q, and its spec.clusterManager.name %q",
			clusterinventory.LabelClusterManagerKey, manager, clusterManager))
	}

	if cluster := profile.Labels[clusterv1.ClusterNameLabelKey]; cluster != "" && cluster != profile.Name {
		return claims(profile, fmt.Sprintf("its label %s is %q, and its name, which is that of the ManagedCluster, %q",
			clusterv1.ClusterNameLabelKey, cluster, profile.Name))
	}
	return claims(profile, "")
}

// claims returns the clusters that the name and the label of a ClusterProfile say, with a doubt.
func claims(profile *clusterinventory.ClusterProfile, doubt string) map[string]string {
	clusters := map[string]string{profile.Name: doubt}
	if cluster := profile.Labels[clusterv1.ClusterNameLabelKey]; cluster != "" {
		clusters[cluster] = doubt
	}
	return clusters
}
