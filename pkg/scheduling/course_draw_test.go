// SPDX-License-Identifier: Apache-2.0

package scheduling

import (
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	"pgregory.net/rapid"

	"github.com/placement-hub/placement-hub/pkg/clusterinfo"
	"github.com/placement-hub/placement-hub/pkg/decoding/unreadable"
)

// expressions read one field, several, or everything; most of them fail on some clusters.
var expressions = []string{
	`true`,
	`managedCluster.scores("demo").all(s, s.value >= 0)`,
	`managedCluster.scores("demo").size() + managedCluster.scores("other").size() > 1`,
	`managedCluster.scores(managedCluster.metadata.labels["zone"]).size() > 0`,
	`has(managedCluster.metadata.annotations)`,
	`managedCluster.metadata.annotations["a"].parseJSON().x == 1`,
	`managedCluster.metadata.labels["zone"] == "x"`,
	`managedCluster.metadata.?labels["region"].orValue("") == "eu"`,
	`"zone" in managedCluster.metadata.labels`,
	`managedCluster.metadata.labels.size() > 2`,
	`managedCluster.metadata.name != "c2"`,
	`managedCluster.spec.taints.size() > 1`,
	`managedCluster.spec.taints.exists(t, t.timeAdded > "2026-01-02T03:03:05Z")`,
	`managedCluster.status.conditions.exists(c, c.type == "ManagedClusterConditionAvailable" && c.status == "True")`,
	`managedCluster.status.conditions.exists(c, c.message == "beat")`,
	`managedCluster.status.clusterClaims.exists(c, c.name == "id" && c.value == "1")`,
	`quantity(managedCluster.status.allocatable["cpu"]).isGreaterThan(quantity("1"))`,
	`managedCluster.status.version.kubernetes == "v1.33.1"`,
	`managedCluster.metadata.size() + managedCluster.status.size() > 8`,
	`managedCluster.metadata["labels"].region`,
}

// drawRichPredicate draws a predicate with any of its fields.
func drawRichPredicate(t *rapid.T) clusterv1beta1.ClusterPredicate {
	drawn := clusterv1beta1.ClusterPredicate{}
	required := &drawn.RequiredClusterSelector
	if rapid.Bool().Draw(t, "by label") {
		required.LabelSelector.MatchLabels = rapid.SampledFrom([]map[string]string{
			{"region": "eu"}, {"region": "us"}, {"zone": "x"}, {"region": "eu", "zone": "y"},
		}).Draw(t, "labels")
	}

	required.LabelSelector.MatchExpressions = some(t, "label expressions", 1,
		compare("zone", metav1.LabelSelectorOpIn, "x", "y"), compare("region", metav1.LabelSelectorOpNotIn, "eu"),
		compare("zone", metav1.LabelSelectorOpExists), compare("zone", metav1.LabelSelectorOpDoesNotExist),
		compare(clusterv1beta2.ClusterSetLabel, metav1.LabelSelectorOpIn, "a"))
	required.ClaimSelector.MatchExpressions = some(t, "claims", 1,
		compare("id", metav1.LabelSelectorOpIn, "1"), compare("id", metav1.LabelSelectorOpNotIn, "1"),
		compare("id", metav1.LabelSelectorOpDoesNotExist), compare("tier", metav1.LabelSelectorOpExists))
	if rapid.IntRange(0, 2).Draw(t, "by CEL") == 0 {
		required.CelSelector.CelExpressions = some(t, "CEL", 2, expressions...)
	}
	return drawn
}

// drawRichSpec draws a spec with any field of v1beta1.
func drawRichSpec(t *rapid.T) placementSpec {
	spec := placementSpec{
		ClusterSets: some(t, "sets", 2, "a", "b", "label", "unknown"),
		Predicates:  rapid.SliceOfN(rapid.Custom(drawRichPredicate), 0, 3).Draw(t, "predicates"),
		Tolerations: some(t, "tolerations", 2, exist("", ""), exist("", prefer), exist("full", noSelect), equal("gpu", "v", ""),
			clusterv1beta1.Toleration{Key: "gpu", Operator: clusterv1beta1.TolerationOpExists, TolerationSeconds: ptr.To(int64(60))},
			clusterv1beta1.Toleration{Operator: clusterv1beta1.TolerationOpExists, TolerationSeconds: ptr.To(int64(61))},
			clusterv1beta1.Toleration{Operator: clusterv1beta1.TolerationOpExists, TolerationSeconds: ptr.To(int64(0))}),
		NumberOfClusters: drawWanted(t),
		SortBy:           rapid.SampledFrom([]clusterv1beta1.PlacementSortByType{"", clusterv1beta1.PlacementSortByScore}).Draw(t, "order"),
	}

	policy := additive
	if rapid.Bool().Draw(t, "exact") {
		policy = exact
	}

	spec.PrioritizerPolicy = policy(some(t, "prioritizers", 3,
		addOn("demo", "x", 3), addOn("demo", "y", -2), addOn("other", "x", -10), builtIn(ResourceAllocatableCPU, -1),
		builtIn(ResourceAllocatableMemory, 2), builtIn(SpreadScore, 2), builtIn(SpreadScore, -3), builtIn(Balance, 2), builtIn(Steady, -1),
		builtIn(Balance, 0))...)
	spec.SpreadPolicy.SpreadConstraints = some(t, "spread", 2,
		softly(clusterv1beta1.TopologyKeyTypeLabel, "zone"), softly(clusterv1beta1.TopologyKeyTypeClaim, "id"),
		over(clusterv1beta1.TopologyKeyTypeClaim, "id", 1, clusterv1beta1.DoNotSchedule),
		over(clusterv1beta1.TopologyKeyTypeLabel, "zone", 2, clusterv1beta1.DoNotSchedule))
	spec.DecisionStrategy = groupsOf(some(t, "groups", 2, groupBy("first", "zone", "x"), groupBy("second", "region", "eu"),
		clusterv1beta1.DecisionGroup{GroupName: "third", ClusterSelector: clusterv1beta1.GroupClusterSelector{
			ClaimSelector: byClaim(compare("id", metav1.LabelSelectorOpNotIn, "1")).RequiredClusterSelector.ClaimSelector,
		}})...)
	spec.DecisionStrategy.GroupStrategy.ClustersPerDecisionGroup = rapid.SampledFrom([]intstr.IntOrString{
		{}, intstr.FromInt32(2), intstr.FromString("50%"),
	}).Draw(t, "length")

	return spec
}

func groupBy(name string, labels ...string) clusterv1beta1.DecisionGroup {
	return clusterv1beta1.DecisionGroup{GroupName: name, ClusterSelector: clusterv1beta1.GroupClusterSelector{
		LabelSelector: byLabel(labels...).RequiredClusterSelector.LabelSelector,
	}}
}

// drawRichCluster draws a cluster with any property that a Placement can read.
func drawRichCluster(t *rapid.T, name string) *clusterv1.ManagedCluster {
	cluster := drawCluster(t, name)
	cluster.Spec.Taints = rapid.SliceOfN(rapid.Custom(drawTaint), 0, 2).Draw(t, "taints")
	if rapid.IntRange(0, 9).Draw(t, "bare") == 0 {
		cluster.Labels = nil
	}
	if cluster.Annotations != nil {
		cluster.Annotations["a"] = pick(t, "annotation", `{"x":1}`, `{"x":"1"}`, `no JSON`)
	}

	cluster.Status.ClusterClaims = append(cluster.Status.ClusterClaims, some(t, "claims", 1,
		clusterv1.ManagedClusterClaim{Name: "tier", Value: "gold"}, clusterv1.ManagedClusterClaim{Name: "id", Value: "1"})...)
	cluster.Status.Version.Kubernetes = pick(t, "version", "", "v1.33.1")

	cluster.Status.Allocatable["memory"] = resource.MustParse(pick(t, "allocatable", "1Gi", "2Gi", "1024Mi"))
	cluster.Status.Capacity["memory"] = resource.MustParse("2Gi")
	if rapid.IntRange(0, 4).Draw(t, "reports") == 0 {
		cluster.Status.Allocatable, cluster.Status.Capacity = nil, nil
	}

	if rapid.Bool().Draw(t, "beats") {
		cluster.Status.Conditions = append(cluster.Status.Conditions, metav1.Condition{
			Type: clusterv1.ManagedClusterConditionClockSynced, Message: pick(t, "message", "beat", "other"),
			LastTransitionTime: metav1.NewTime(now.Add(time.Duration(rapid.IntRange(0, 2).Draw(t, "beat")) * time.Second)),
		})
	}
	drawUnreadable(t, cluster, "status.allocatable.cpu", "spec.taints[0].timeAdded", "status.conditions[0].lastTransitionTime")
	return cluster
}

// drawUnreadable marks some objects as package decoding does.
func drawUnreadable(t *rapid.T, object metav1.Object, paths ...string) {
	if rapid.IntRange(0, 5).Draw(t, "unreadable") > 0 {
		return
	}
	fields := unreadable.Fields{{Path: pick(t, "path", paths...), Value: `"x"`, Problem: "is wrong"}}
	if err := unreadable.Mark(object, fields); err != nil {
		t.Fatal(err)
	}
}

func drawTaint(t *rapid.T) clusterv1.Taint {
	drawn := clusterv1.Taint{
		Key: pick(t, "taint", "gpu", "full", "gpu", "full", clusterinfo.IncompleteTaint), Value: pick(t, "value", "", "v"),
		Effect: rapid.SampledFrom([]clusterv1.TaintEffect{noSelect, noSelectIfNew, prefer}).Draw(t, "effect"),
	}
	switch rapid.IntRange(0, 8).Draw(t, "dated") {
	case 0:
	case 1:
		drawn.TimeAdded = clusterinfo.UnknownTime()
	case 2:
		drawn.TimeAdded = clusterinfo.PendingTime()
	default:
		drawn.TimeAdded = metav1.NewTime(now.Add(-time.Second * time.Duration(rapid.IntRange(58, 62).Draw(t, "since"))))
	}
	return drawn
}

func drawRichScore(t *rapid.T, cluster, name string) *clusterv1alpha1.AddOnPlacementScore {
	var until *metav1.Time
	if rapid.IntRange(0, 3).Draw(t, "ends") > 0 {
		until = &metav1.Time{Time: now.Add(time.Duration(rapid.IntRange(-2, 2).Draw(t, "until")) * time.Second)}
	}
	items := []clusterv1alpha1.AddOnPlacementScoreItem{}
	for _, item := range some(t, "items", 2, "x", "y") {
		items = append(items, clusterv1alpha1.AddOnPlacementScoreItem{Name: item, Value: rapid.Int32Range(-2, 2).Draw(t, "score")})
	}
	score := scoreOf(cluster, name, until, items...)
	drawUnreadable(t, score, "status.validUntil")
	return score
}
