// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
)

// The labels that scenarios change. Concern is what exactly Concerned placements select by, and Tier what every cluster changes at once.
const (
	Concern = "benchmark.example.com/concern"
	Tier    = "tier"
)

// How often the values of labels and claims repeat.
const (
	regions = 12
	tiers   = 7
	// together is how many clusters share a cell, and how many a slot.
	together = 13
	// scored is how many clusters have scores, at least every fifth one.
	scored = 200
)

// The object and the entry of scores that placements ask for.
const (
	scoreObject = "usage"
	scoreEntry  = "headroom"
)

// born is the time of everything in a fleet.
var born = metav1.NewTime(time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC))

// ClusterName is the name of a cluster, counted from 0.
func ClusterName(i int) string { return fmt.Sprintf("cluster-%05d", i) }

// Cluster is a cluster with its status, counted from 0.
func (s Size) Cluster(i int) *clusterv1.ManagedCluster {
	name := ClusterName(i)
	cluster := &clusterv1.ManagedCluster{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{
			clusterv1beta2.ClusterSetLabel: s.exclusiveSet(i),
			"vendor":                       []string{"OpenShift", "EKS", "AKS", "GKE"}[i%4],
			"cloud":                        []string{"Amazon", "Azure", "Google", "BareMetal", "VSphere"}[i%5],
			"region":                       region(i),
			"env":                          []string{"dev", "stage", "prod"}[i%3],
			Tier:                           tier(i),
			"cell":                         cell(i),
			"clusterID":                    fmt.Sprintf("6f1e2c34-5b7a-4c8d-9e0f-%012d", i),
			"feature.open-cluster-management.io/addon-work-manager":       "available",
			"feature.open-cluster-management.io/addon-cluster-proxy":      "available",
			"feature.open-cluster-management.io/addon-managed-monitoring": []string{"available", "unhealthy"}[i%29/28],
		}},
		Spec: clusterv1.ManagedClusterSpec{
			HubAcceptsClient: true, LeaseDurationSeconds: 60,
			ManagedClusterClientConfigs: []clusterv1.ClientConfig{{
				URL: "https://api." + name + ".example.com:6443", CABundle: []byte(strings.Repeat("certificate of "+name+"\n", 20)),
			}},
		},
		Status: status(i, name),
	}
	if i < Concerning {
		cluster.Labels[Concern] = "yes"
	}
	for _, taint := range []struct {
		every int
		key   string
		kind  clusterv1.TaintEffect
	}{{41, "gpu", clusterv1.TaintEffectNoSelect}, {37, "old", clusterv1.TaintEffectPreferNoSelect}} {
		if i%taint.every == taint.every-1 {
			cluster.Spec.Taints = append(cluster.Spec.Taints, clusterv1.Taint{Key: taint.key, Value: "true", Effect: taint.kind, TimeAdded: born})
		}
	}
	return cluster
}

func region(i int) string { return "region-" + strconv.Itoa(i%regions) }
func tier(i int) string   { return strconv.Itoa(i % tiers) }

// NextTier is the tier that a cluster moves to when all of them do.
func NextTier(i int) string { return tier(i + 1) }

func cell(i int) string { return "cell-" + strconv.Itoa(i/together) }
func slot(i int) string { return "slot-" + strconv.Itoa(i/together) }

// status is what an agent reports.
func status(i int, name string) clusterv1.ManagedClusterStatus {
	claim := func(name, value string) clusterv1.ManagedClusterClaim {
		return clusterv1.ManagedClusterClaim{Name: name, Value: value}
	}
	quantity := func(n int, format resource.Format) resource.Quantity { return *resource.NewQuantity(int64(n), format) }
	free := 1 + i*37%97
	return clusterv1.ManagedClusterStatus{
		Conditions: Conditions(0),
		Capacity: clusterv1.ResourceList{
			clusterv1.ResourceCPU: quantity(100, resource.DecimalSI), clusterv1.ResourceMemory: quantity(100<<30, resource.BinarySI),
			"pods": quantity(2500, resource.DecimalSI), "ephemeral-storage": quantity(900<<30, resource.BinarySI),
		},
		Allocatable: clusterv1.ResourceList{
			clusterv1.ResourceCPU: quantity(free, resource.DecimalSI), clusterv1.ResourceMemory: quantity((1+i*53%89)<<30, resource.BinarySI),
			"pods": quantity(2500-free, resource.DecimalSI), "ephemeral-storage": quantity(800<<30, resource.BinarySI),
		},
		Version: clusterv1.ManagedClusterVersion{Kubernetes: "v1.3" + strconv.Itoa(i%6) + ".4"},
		ClusterClaims: []clusterv1.ManagedClusterClaim{
			claim("id.k8s.io", fmt.Sprintf("6f1e2c34-5b7a-4c8d-9e0f-%012d", i)),
			claim("kubeversion.open-cluster-management.io", "v1.3"+strconv.Itoa(i%6)+".4"),
			claim("platform.open-cluster-management.io", []string{"AWS", "Azure", "GCP", "BareMetal", "VSphere"}[i%5]),
			claim("product.open-cluster-management.io", []string{"OpenShift", "EKS", "AKS", "GKE"}[i%4]),
			claim("region.open-cluster-management.io", region(i)),
			claim("zone.open-cluster-management.io", "zone-"+strconv.Itoa(i%36)),
			claim("slot.example.com", slot(i)),
			claim("account.example.com", fmt.Sprintf("arn:aws:eks:%d:cluster/%s", i%9, name)),
			claim("consoleurl.cluster.open-cluster-management.io", "https://console."+name+".example.com"),
			claim("schedulable.open-cluster-management.io", "true"),
		},
	}
}

// Conditions are those of a cluster at its heartbeat of this number: nothing that a placement reads differs between two of them.
func Conditions(heartbeat int) []metav1.Condition {
	condition := func(kind, reason, message string) metav1.Condition {
		return metav1.Condition{Type: kind, Status: metav1.ConditionTrue, Reason: reason, Message: message, LastTransitionTime: born}
	}
	return []metav1.Condition{
		condition(clusterv1.ManagedClusterConditionHubAccepted, "HubClusterAdminAccepted", "Accepted by hub cluster admin"),
		condition(clusterv1.ManagedClusterConditionJoined, "ManagedClusterJoined", "Managed cluster joined"),
		condition(clusterv1.ManagedClusterConditionAvailable, "ManagedClusterAvailable", "Managed cluster is available"),
		condition("ManagedClusterConditionClockSynced", "ManagedClusterClockSynced", "heartbeat "+strconv.Itoa(heartbeat)),
	}
}

// Scores are the scores of a cluster; nil for most of them. Its namespace has the name of the cluster.
func (s Size) Scores(i int) *clusterv1alpha1.AddOnPlacementScore {
	if i%max(s.Clusters/scored, 5) > 0 {
		return nil
	}
	return &clusterv1alpha1.AddOnPlacementScore{
		ObjectMeta: metav1.ObjectMeta{Namespace: ClusterName(i), Name: scoreObject},
		Status: clusterv1alpha1.AddOnPlacementScoreStatus{
			Scores: []clusterv1alpha1.AddOnPlacementScoreItem{{Name: scoreEntry, Value: int32(i*31%201 - 100)}},
		},
	}
}
